"""The session: the verbs a user has, and the events a user sees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, overload

import anyio

from livetools.protocol import outgoing
from livetools.protocol.errors import ConcurrencyError, ConfigError, LocalProtocolError
from livetools.protocol.events import Call, Event, HandedOff, Usage
from livetools.protocol.images import image
from livetools.protocol.outbox import Receipt
from livetools.protocol.pcm import Samples, pcm_bytes, sample_rate
from livetools.protocol.profiles import ModelProfile
from livetools.protocol.transcript import Transcript
from livetools.tools import Agent
from livetools.tools.results import error_outcome, outcome

from .assembly import Assembly
from .exchange import Asking, Reply, Stream
from .host import Host
from .wake import make_wake

if TYPE_CHECKING:
    from typing_extensions import Buffer  # typing's own from Python 3.12 on

    from livetools.protocol.terms import Plan

    from .session_driver import SessionDriver


class Session:
    """A conversation with a live model, over turns and reconnects. Made by ``connect``; enter it to open it.

    Belongs to the event loop, and the thread, in which it was entered. ``async for event in session`` yields
    every event of its life, to one loop at a time, beside any ``ask``; a second loop at the same time raises
    ``ConcurrencyError``. When the session ends with an error, each that waits on it is raised that error;
    leaving the context raises it only if nobody has seen it.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._host = Host("livetools session")
        self._driver: SessionDriver | None = None
        self._rate = 0  # of the audio that is sent
        self._samples = Samples()  # of it
        self._ended = False  # the iterator has been raised the error

    async def __aenter__(self) -> Self:
        """Connect, and return when the session stands.

        Raises ``ConnectFailed``, ``SetupTimeout``, ``SetupRejected``, ``RemoteProtocolError``, or what the
        service closed with (``AuthenticationError``, ``ModelNotFound`` …). Cancelling leaves nothing behind.
        """
        if self._driver is not None:
            raise LocalProtocolError("a session is entered once; connect() again for another one")
        self._driver = await self._assembly.start(self._host, self)
        if self._driver.error is not None:
            self._driver.seen(self._driver.error)
            await self._host.stop(grace=1.0)
            raise self._driver.error
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the session, stop its tools and wait for their end, but for threads that block, and not for long."""
        driver = self._here()
        if not driver.over.is_set:
            driver.machine.close(driver.clock.now())
            driver.step()
        if driver.workers.serving() is not None:
            return  # left by one of its own tools, which cannot wait for its own end
        await self._host.stop(grace=self._assembly.grace)
        if exc is None and driver.error is not None and not driver.told:
            driver.told = True
            raise driver.error

    async def aclose(self) -> None:
        """End the session: its loop ends without an error, its tools are stopped. Idempotent.

        Returns when the session is over; sockets and tools are awaited by leaving the context.
        """
        driver = self._here()
        if not driver.over.is_set:
            driver.machine.close(driver.clock.now())
            await driver.follow()
        await driver.over.wait()

    # What is told

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        """The next event. Cancelling loses none. Raises, once, the error that ended the session."""
        driver = self._here()
        event = driver.inbox.take() or await driver.inbox.get()
        if event is not None:
            return event
        if driver.error is not None and not self._ended:
            self._ended = True
            raise driver.why_over()
        raise StopAsyncIteration

    async def ask(self, text: str, timeout: float | None = None) -> Reply:
        """Send a user turn and wait for the whole answer, calls and their answers included.

        Interrupted, or cut by a change of connections, it returns what was heard (``reply.interrupted``); so it
        does where the model falls silent in the middle (``reply.stalled``). Raises ``NoAnswer`` (a
        ``TimeoutError``) if nothing was said and nothing called for ``stall_timeout``, ``TimeoutError`` after
        ``timeout`` seconds, ``ConcurrencyError`` beside another exchange or inside a tool that the model waits
        for, ``ConfigError`` for a blank text, ``LocalProtocolError`` inside :meth:`activity`, and what ended the
        session. Cancelling gives the answer up, not the turn: the events go on, and a late answer is never given
        to the next question, which may take 2 s longer for that.
        """
        _checked_timeout(timeout)
        asking = self._asking(text)
        try:
            with anyio.fail_after(timeout):
                return await asking.reply()
        finally:
            asking.leave()

    def stream(self, text: str) -> AsyncIterator[str]:
        """As :meth:`ask`, piece by piece: the model's text, or the transcript of what it says.

        The loop may be broken off: that gives the answer up, as cancelling ``ask`` does.
        """
        return Stream(lambda: self._asking(text), self._host.require_loop)

    # What is sent

    async def send_text(self, text: str) -> None:
        """Send a user turn. Returns when its frame was handed to a socket; it waits while the line is away.

        Never lost: it is sent, or this raises what ended the session. Cancelling does not take it back.
        Inside a tool that the model waits for, it returns at once where the text has to wait for the answer.
        """
        driver = self._live()
        _checked_text(text)
        self._said(text)
        await self._sent(driver.machine.send_text(text, driver.clock.now()))

    async def generate_reply(self, instructions: str | None = None) -> None:
        """Let the model speak though the user has said nothing: a greeting, a reminder.

        It waits for a quiet moment, so that nobody is talked over: two seconds after the last word of either
        side, twenty at most, and never into the model's own turn; before anything was said it is quiet at once.
        ``instructions`` (``"Greet the caller."``) go as a user's turn that the transcript does not hold. Without
        them nothing is said to the model where that is enough to make it speak (3.8).

        Returns when it was handed to a socket; what the model says comes as events. Cancelling takes it back if
        it still waits. Inside a tool that the model waits for, it returns at once.

        ::

            async with connect(MODEL, tools=[...]) as session:
                await session.generate_reply("Greet the caller, and ask what you can do.")
        """
        if instructions is not None:
            _checked_text(instructions)
        if instructions is not None and not instructions.strip():
            raise ConfigError("instructions is blank: say what the model should say, or leave it out")
        driver = self._live()
        receipt = driver.machine.generate_reply(instructions, driver.clock.now())
        try:
            await self._sent(receipt)
        except anyio.get_cancelled_exc_class():
            driver.machine.dispatch.take_back(receipt)
            raise

    async def send_content(
        self,
        turns: Sequence[Mapping[str, Any]] | Mapping[str, Any],  # contents, as google-genai's
        turn_complete: bool = True,
    ) -> None:
        """Send turns (``{"role": ..., "parts": [...]}``, google-genai's types too), as ``send_text`` does.

        Raises ``LocalProtocolError`` on models that take content only before the first turn (3.1).
        """
        from livetools.protocol.configuration import history

        if not isinstance(turn_complete, bool):
            raise ConfigError(f"turn_complete={turn_complete!r:.40}: True or False is expected")
        driver = self._live()
        contents = list(history(turns if isinstance(turns, list | tuple) else [turns]))
        receipt = driver.machine.send_content(contents, turn_complete, driver.clock.now())
        self.transcript.user_content(contents)
        await self._sent(receipt)

    async def send_audio(self, pcm: Buffer, rate: int = 16000) -> None:
        """Send 16-bit little-endian mono PCM at ``rate`` Hz: bytes, or an array of int16. Chunks of 20 to 100 ms
        serve best, and may be cut anywhere: half a sample waits for its other half.

        Late audio is worth nothing: it is dropped, and told (``InputDropped``), where the model would close
        for it, and past 2 MiB that the line does not take. Raises ``LocalProtocolError`` for another
        ``rate``, ``ConfigError`` for floats and whatever else is not such sound.
        """
        sound, hertz = pcm_bytes(pcm), sample_rate(rate)
        self._rate = self._rate or hertz
        if hertz != self._rate:
            raise LocalProtocolError(
                f"audio at {rate} Hz after audio at {self._rate} Hz: the service closes a session for it. Resample"
            )
        whole = self._samples.whole(sound)
        for listener in self._assembly.listeners:
            listener.sound(whole, hertz)
        await self._media(outgoing.audio(whole, hertz) if whole else b"", "audio")

    async def send_video(self, jpeg: Buffer) -> None:
        """Send one frame of video, a JPEG (or PNG, or WebP); the model looks at about one a second.

        Raises ``ConfigError`` for another format, and for raw pixels: the service would close the session.
        """
        await self._media(outgoing.video(*image(jpeg)), "video")

    async def end_audio(self) -> None:
        """The microphone is off: what was sent is heard now. Audio may follow later.

        Raises ``LocalProtocolError`` where the config turns automatic activity detection off: there the end of
        an :meth:`activity` says it.
        """
        driver = self._live()
        driver.machine.end_audio(driver.clock.now())
        self._samples.clear()
        await driver.follow()

    @asynccontextmanager
    async def activity(self) -> AsyncIterator[None]:
        """Push-to-talk: the user speaks inside the block. The config must turn automatic detection off.

        The service is told that it begins with the first audio (on 3.1 a text will do), and of a block without
        any it is told nothing. Audio outside of a block is dropped, and told (``InputDropped``). A text inside
        of it is a part of what is said on 3.1, and goes out after its end elsewhere. However the block is
        left, the activity ends, and the model answers what was said.

        Raises ``LocalProtocolError`` where detection is automatic, and inside another activity.
        """
        driver = self._live()
        driver.machine.activity(True, driver.clock.now())
        await driver.follow()
        try:
            yield
        finally:
            driver.machine.activity(False, driver.clock.now())
            self._samples.clear()
            await driver.follow()

    async def interrupt(self) -> None:
        """Cut the model's turn off; ``Interrupted`` follows. Calls go on: only the service cancels them."""
        driver = self._live()
        driver.machine.interrupt(driver.clock.now())
        await driver.follow()

    # Calls

    async def respond(self, call: Call, value: object) -> None:
        """Answer a call that has no handler; an exception as ``value`` is an error for the model.

        Raises ``LocalProtocolError`` if the call is not open (answered, cancelled, timed out), or has a handler,
        whose answer is the one.
        """
        driver, run = self._live(), self._open_run(call)
        policy = driver.machine.calls.records[run].policy
        if policy is not None and policy.handled:
            raise LocalProtocolError(
                f"{call.name} has a handler, which answers its calls: respond() is for tools that are only declared"
            )
        done = (
            error_outcome(value, call.name)
            if isinstance(value, Exception)
            else outcome(value, driver.machine.plan.response_key)
        )
        await driver.settled(run, done)

    async def approve(self, call: Call) -> None:
        """Let a call run that waits (``ApprovalRequested``); ``LocalProtocolError`` if it does not wait."""
        await self._decide(call, None)

    async def refuse(self, call: Call, reason: str = "") -> None:
        """Refuse a call that waits; the model reads ``reason``. ``LocalProtocolError`` if it does not wait."""
        await self._decide(call, reason)

    @overload
    async def update(self, instructions: Agent, /) -> None: ...
    @overload
    async def update(self, instructions: object = None, tools: Iterable[object] | None = None) -> None: ...
    async def update(self, instructions: object = None, tools: Iterable[object] | None = None) -> None:
        """Change the instructions or the tools (all of them) while the session runs, or hand over to an ``Agent``.

        By ``contextUpdate`` where the model takes it (its cache is lost: the next turn costs more), else with
        another connection at the next quiet moment; until then the model goes on as it was. Model and voice stay,
        and so does the conversation. Returns when it is sent; of an agent ``HandedOff`` is told then. Raises
        ``LocalProtocolError`` where neither is possible, ``ConfigError`` for what the model would refuse. Open calls
        go on.
        """
        driver, handed_off = self._live(), None
        if isinstance(instructions, Agent):
            if tools is not None:
                raise ConfigError("update(agent, tools=...): the agent has its own tools; leave tools out")
            agent, handed_off = instructions, HandedOff(instructions.name)
        else:
            agent = Agent(instructions, tools)
        await self._sent(self._assembly.update(driver, agent, handed_off))

    # Facts

    @property
    def handle(self) -> str | None:
        """The newest handle: ``connect(handle=...)`` goes on from here, for two hours, in any process."""
        return self._running().machine.handle

    @property
    def usage(self) -> Usage:
        """Tokens of the session so far."""
        return self._running().machine.usage

    @property
    def transcript(self) -> Transcript:
        """The conversation as ``contents``, with every function call and its response."""
        return self._assembly.transcript

    @property
    def model(self) -> str:
        """The model's name, as the service knows it (``models/...`` or a resource of Vertex AI)."""
        return self._assembly.plan.model

    @property
    def tools(self) -> Mapping[str, bool]:
        """The functions that the model may call, by name: whether a handler answers, or :meth:`respond` must."""
        return {name: policy.handled for name, policy in self._assembly.plan.policies.items()}

    @property
    def profile(self) -> ModelProfile:
        """What is known of the model."""
        return self._assembly.plan.profile

    @property
    def plan(self) -> Plan:
        """What was decided before the session was dialled: the model, the setup, the policy of each tool."""
        return self._assembly.plan

    def stats(self) -> dict[str, Any]:  # plain values
        """Who owes what, by name: open calls, what is expected from the model, threads in use, what was lost."""
        driver = self._running()
        return {
            **driver.machine.stats(),
            **driver.workers.stats(),
            "events_dropped": driver.inbox.dropped,
        }

    # Inside

    def _running(self) -> SessionDriver:
        if self._driver is None:
            raise LocalProtocolError("the session is not open: async with connect(...) as session")
        return self._driver

    def _here(self) -> SessionDriver:
        """The driver of a session that is used where it belongs."""
        driver = self._running()
        self._host.require_loop()
        return driver

    def _live(self) -> SessionDriver:
        """The driver of a session that is open and used where it belongs."""
        driver = self._here()
        if driver.over.is_set:
            raise driver.why_over()
        return driver

    def _asking(self, text: str) -> Asking:
        driver = self._live()
        if (call := driver.awaited()) is not None:
            raise ConcurrencyError(
                f"asked inside the tool {call.name}, which the model waits for: it answers only when the tool has"
                " returned. Return first, or declare the tool behavior='background'"
            )
        _checked_text(text)
        if not text.strip():
            raise ConfigError("the question is blank: the model would not answer it")
        asking = Asking(driver, text)
        self._said(text)
        return asking

    def _said(self, text: str) -> None:
        """The user says this in text."""
        self.transcript.user_text(text)
        if self._assembly.guardrails is not None:
            self._assembly.guardrails.typed(text)

    async def _sent(self, receipt: Receipt) -> None:
        wake = make_wake()
        receipt.notify = wake.set
        driver = self._running()
        await driver.follow()
        while not receipt.done:
            if driver.awaited() is not None or driver.machine.input.held_back(receipt):
                return  # it may be held until this very tool has returned, or this very block is left
            await wake.wait()
        if receipt.error is not None:
            driver.seen(receipt.error)
            raise receipt.error

    async def _media(self, frame: bytes, kind: str) -> None:
        driver = self._live()
        if frame:
            driver.media(frame, kind)
        await driver.follow_up()

    def _open_run(self, call: Call) -> int:
        run = self._live().machine.run_of(call)
        if run is None:
            raise LocalProtocolError(f"the call {call.name} ({call.id}) is not open any more")
        return run

    async def _decide(self, call: Call, refusal: str | None) -> None:
        driver = self._live()
        run, now = self._open_run(call), driver.clock.now()
        machine = driver.machine
        waited = machine.approve(run, now) if refusal is None else machine.refuse(run, refusal, now)
        await driver.follow()
        if not waited:
            raise LocalProtocolError(f"the call {call.name} ({call.id}) does not wait for approval")


def _checked_text(text: object) -> None:
    if not isinstance(text, str):
        raise ConfigError(f"the text is a {type(text).__name__}, {text!r:.40}: a string is expected")


def _checked_timeout(timeout: object) -> None:
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (number and timeout == timeout):
        raise ConfigError(f"timeout={timeout!r:.40}: a number of seconds is expected, or None for no limit")
