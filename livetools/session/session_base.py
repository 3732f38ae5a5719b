"""The base of a session: its facts, the verbs that send something, and its driver while it is open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from livetools.errors import ConcurrencyError, ConfigError, LocalProtocolError
from livetools.events import Usage
from livetools.protocol.input.audio_format import Samples, pcm_bytes, same_rate
from livetools.protocol.input.image_format import image
from livetools.protocol.messages import outgoing
from livetools.protocol.transcript.transcript import Transcript
from livetools.session.running.session_driver import SessionDriver
from livetools.session.running.task_host import Host
from livetools.setup.config_fields import history
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan_fields import Plan
from livetools.transport.loop.timer import in_time

from .ask_and_reply import Reply, settled
from .startup import Startup

if TYPE_CHECKING:
    from typing_extensions import Buffer  # typing's own from Python 3.12 on


class SessionBase:
    """The facts of a session, and the verbs that send something. They are apart from the others, so that
    ``help(Session)`` fits on a page.
    """

    def __init__(self, assembly: Startup) -> None:
        self._assembly = assembly
        self._host = Host("livetools session")
        self._entered: bool | None = None  # False: it was closed before there was anything to open
        self._driver: SessionDriver | None = None  # of a session that was opened
        self._opening: SessionDriver | None = None  # the same one, from before that
        self._rate = 0  # of the audio that is sent
        self._samples = Samples()  # of it

    @property
    def handle(self) -> str | None:
        """The newest handle: ``connect(handle=...)`` resumes from here, for two hours, in any process."""
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
        """The functions that the model may call: name → whether a handler answers; if not, :meth:`respond` must."""
        return {name: policy.handled for name, policy in self.plan.policies.items()}

    @property
    def profile(self) -> ModelProfile:
        """What is known of the model."""
        return self._assembly.plan.profile

    @property
    def plan(self) -> Plan:
        """What ``connect`` and ``update`` decided: the model, the setup message, the policy of each tool."""
        return self._assembly.plan if self._driver is None else self._driver.machine.next_plan

    @property
    def pending(self) -> list[str]:
        """What is still to come, in words; empty when nothing is.

        Named are open calls (those that wait for an approval, for a slot or for :meth:`respond`, lost ones and those in
        the background, too), results that are due as text, texts that were not sent yet, and a turn that the model is
        expected to begin or to end. Sound and video are never in it. ``stats()["waiting_for"]`` has the same in one
        string. A loop that leaves at ``TurnComplete`` when this is empty cuts off no call. It always leaves: what was
        pending at one ``TurnComplete`` brings another when it ends, with the reason ``NOTHING_PENDING`` if no turn ends
        then. Where nobody loops, :meth:`wait_until_settled` waits for that.

        ::

            async for event in session:
                if isinstance(event, TurnComplete) and not session.pending:
                    break
        """
        return self._running().machine.pending

    async def wait_until_settled(self, timeout: float | None = None) -> Reply:
        """Wait until nothing is :attr:`pending`: every call is answered, every late result is spoken of.

        Returns what the model said since the last ``ask`` returned, or since the session began. The session continues.
        ``reply.interrupted`` says that a lost connection, or the end of the session, has cut the last of it off.
        This is what to call after a reply that was ``interrupted`` by a lost connection, and before a session is left
        while calls may run; asking the same question again would run its calls again. Beside a loop over the events
        both see everything; sound from before this was called is kept where somebody has asked, or nobody loops (the
        last 4 MiB, and of words and calls beside a loop the last 512 KiB).

        Raises ``TimeoutError`` after ``timeout`` seconds (``None``: no limit), which names what is open,
        ``ConcurrencyError`` inside a tool or a hook, which would wait for its own end, and the error that ended the
        session. Cancelling ends nothing but the waiting.

        ::

            reply = await session.ask("Book a table for two.")
            if reply.interrupted:  # the connection was lost, and the tool runs on
                reply = await session.wait_until_settled(timeout=60)
        """
        driver = self._live()
        seconds = checked_timeout(timeout, "timeout")
        if driver.tasks.inside():
            raise ConcurrencyError(
                "wait_until_settled() inside a tool or hook waits for itself: return first"
            )
        try:
            return await in_time(partial(settled, driver), seconds)
        # Where nothing is open any more, there is nothing to name.
        except TimeoutError:
            still = ", ".join(driver.machine.pending)
            if not still:
                raise
            raise TimeoutError(f"not settled after {seconds:g} s; still open: {still}") from None

    @property
    def unsaved(self) -> list[str]:
        """What the newest handle does not hold, in words: what is :attr:`pending`, messages that may not have been
        read, a turn that has ended since. It would be lost if the process died now; :meth:`park` waits until this is
        empty.
        """
        return self._running().machine.unsaved

    @property
    def parked(self) -> bool:
        """Whether ``park()`` closed the session (not a tool, the service or ``aclose()``): it may be resumed."""
        return self._running().machine.lost_by_parking is not None

    def stats(self) -> dict[str, Any]:  # plain values
        """What the session waits for: open calls, what is expected from the model, threads in use, what was lost.

        ``waiting_for`` has what is :attr:`pending`, and is empty if nothing is. ``latency`` holds ``first_output`` and
        ``last_output`` (from the end of the user's input to the first and the last audio or text of the answer) and
        ``call`` (from its arrival to its answer), each with ``count``, and ``mean``, ``p50``, ``p90``, ``p99``, ``max``
        in seconds. ``history_dropped`` counts the steps of the transcript that were dropped because of ``max_history``.
        ``losses`` counts the connections that were lost, planned moves apart; ``last_loss`` (``None`` before the first)
        has the ``code`` of the last one, ``how`` it ended in words, and the ``calls`` that were open.
        ``loop_blocks`` maps the names of tools that blocked the event loop for 0.25 s or longer to how often they did.
        """
        driver = self._running()
        return {
            **driver.machine.stats(),
            **driver.tasks.stats(),
            "events_dropped": driver.inbox.dropped,
            "history_dropped": self.transcript.dropped,
        }

    # What is sent

    async def send_text(self, text: str) -> None:
        """Send a user turn. Returns when its frame is written to a socket; waits while there is no connection.

        The text is never lost: it is sent, or this raises the error that ended the session. Cancelling does not take it
        back. Inside a tool whose answer the text must wait for (the model waits for the tool, or a blocking call waits
        for its ``max_concurrency`` slot), it returns at once.
        """
        driver = self._live()
        checked_text(text)
        self._said(text)
        await driver.handed_over(driver.machine.send_text(text, driver.clock.now()))

    async def generate_reply(self, instructions: str | None = None) -> None:
        """Make the model speak without a question from the user: a greeting, a reminder.

        It waits for a quiet moment: two seconds after the last word of either side, at most twenty, and never during
        the model's own turn. At the start of a session it does not wait. ``instructions`` (``"Greet the caller."``) are
        sent as a user turn, which the transcript does not hold. Without them an empty turn is sent to models that speak
        on one (3.8).

        Returns when it is written to a socket; what the model says comes as events. Cancelling takes it back while it
        still waits. Inside a tool whose answer it must wait for, it returns at once, as :meth:`send_text` does.

        ::

            async with connect(MODEL, tools=[...]) as session:
                await session.generate_reply("Greet the caller, and ask what you can do.")
        """
        if instructions is not None:
            checked_text(instructions, "instructions is blank: say what is to be said, or leave it out")
        driver = self._live()
        receipt = driver.machine.generate_reply(instructions, driver.clock.now())
        try:
            await driver.handed_over(receipt)
        # Unlike the user's own text it may be taken back: nothing is lost that somebody has said.
        except anyio.get_cancelled_exc_class():
            driver.machine.take_back(receipt)
            raise

    async def send_content(
        self, turns: Sequence[Mapping[str, Any]] | Mapping[str, Any], turn_complete: bool = True
    ) -> None:
        """Send turns (``{"role": ..., "parts": [...]}``, or google-genai's types). Returns as ``send_text`` does.

        Raises ``LocalProtocolError`` on models that accept content only before the first turn (3.1).
        """
        if not isinstance(turn_complete, bool):
            raise ConfigError(f"turn_complete={turn_complete!r:.40}: True or False is expected")
        driver = self._live()
        contents = list(history(turns if isinstance(turns, list | tuple) else [turns]))
        receipt = driver.machine.send_content(contents, turn_complete, driver.clock.now())
        self.transcript.user_content(contents)
        await driver.handed_over(receipt)

    async def send_audio(self, pcm: Buffer, rate: int = 16000) -> None:
        """Send 16-bit little-endian mono PCM at ``rate`` Hz: bytes, or an array of int16. Chunks of 20 to 100 ms
        are best; they may be cut anywhere, even within a sample.

        Audio is never sent late. It is dropped, and reported by ``InputDropped``, while the model would close the
        session for it. While there is no connection, and where the line is slow, the newest 2 MiB of audio and video
        wait (as base64), and the oldest beyond that are dropped. On an open line a single chunk may be larger.

        Raises ``LocalProtocolError`` if ``rate`` changes, ``ConfigError`` for floats and everything else that is not
        16-bit PCM.
        """
        sound = pcm_bytes(pcm)
        if not (type(rate) is int and 0 < rate == self._rate):  # else it was checked before
            rate = self._rate = same_rate(rate, self._rate)
        # A chunk may end within a sample; that byte goes with the next one.
        whole = self._samples.whole(sound)
        self._assembly.listeners.tell("user_sound", whole, rate)
        driver = self._live()
        if whole:
            driver.media(outgoing.audio(whole, rate), "audio")
        if driver.has_more:  # fifty times a second and session: no coroutine more than it takes
            await driver.flush()

    async def send_video(self, jpeg: Buffer) -> None:
        """Send one frame of video, a JPEG (or PNG, or WebP); the model looks at about one a second.

        Raises ``ConfigError`` for another format, and for raw pixels: the service would close the session.
        """
        frame = outgoing.video(*image(jpeg))
        driver = self._live()
        driver.media(frame, "video")
        await driver.flush()

    async def end_audio(self) -> None:
        """Say that the microphone is off: the model answers what was sent. More audio may follow later.

        3.8 ends a user's turn only by silence, so one second of silence is sent there.

        Raises ``LocalProtocolError`` if the config turns automatic activity detection off: then the end of an
        :meth:`activity` block does this.
        """
        driver = self._live()
        driver.machine.end_audio(driver.clock.now(), self._rate)
        self._samples.clear()
        await driver.follow()

    @asynccontextmanager
    async def activity(self) -> AsyncIterator[None]:
        """Push-to-talk: the user speaks inside the block. The config must turn automatic detection off.

        When the block ends, in whatever way, the model answers what was said in it. The activity begins with the first
        audio (on 3.1 also with a text); a block without any sends nothing. Audio outside a block is dropped, and
        reported by ``InputDropped``. On 3.1 a text inside the block is a part of the activity; elsewhere it is sent
        after its end.

        Raises ``LocalProtocolError`` if detection is automatic, and inside another activity.
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
        """Stop the model's turn; ``Interrupted`` follows. Calls continue: only the service cancels them.

        3.8 gets a message, and stops; 2.5 gets one, and may finish its turn first. 3.1 can only be cut off by speech:
        nothing is sent there, and it generates its turn to the end. On every model the rest of that turn is withheld
        from the events and from an ``ask``. Does nothing while no turn of the model is expected.
        """
        await self._live().cut_off(False)

    # Inside

    def _running(self) -> SessionDriver:
        if self._driver is not None:
            return self._driver
        # The call of an earlier process may begin in the very step that opens the session, before it is entered.
        if self._opening is not None and self._opening.tasks.inside():
            return self._opening
        raise LocalProtocolError("the session is not open: async with connect(...) as session")

    def _here(self) -> SessionDriver:
        """The driver of a session that is used where it belongs."""
        # On the path of every event, so the loops are only compared here; require_loop finds the words for the error.
        driver = self._driver or self._running()
        try:
            if self._host.here() is self._host.loop:
                return driver
        except RuntimeError:  # no loop runs here
            pass
        self._host.require_loop()
        return driver

    def _live(self) -> SessionDriver:
        """The driver of a session that is open and used where it belongs."""
        driver = self._here()
        if driver.over.is_set():
            raise driver.why_over()
        return driver

    def _said(self, text: str) -> None:
        """The user says this in text."""
        self.transcript.user_text(text)
        self._assembly.listeners.tell("typed", text)


def checked_text(text: object, if_blank: str = "") -> None:
    """Raise ``ConfigError`` unless it is a text, and with the words ``if_blank`` where nothing is in it."""
    if not isinstance(text, str):
        raise ConfigError(f"the text is a {type(text).__name__}, {text!r:.40}: a string is expected")
    if if_blank and not text.strip():
        raise ConfigError(if_blank)


def checked_timeout(timeout: object, name: str) -> float | None:
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout == timeout:
        return timeout
    if timeout is None:
        return None
    raise ConfigError(f"{name}={timeout!r:.40}: a number of seconds is expected, or None for no limit")
