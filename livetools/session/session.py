"""``Session``: the verbs of a user, and the events that a user sees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self, overload

from anyio.abc import TaskGroup

from livetools.errors import ConcurrencyError, ConfigError, LocalProtocolError
from livetools.events import Call, Event, HandedOff
from livetools.log import get_logger
from livetools.protocol.connection import close_codes
from livetools.protocol.connection.parking import PARKING_TIMEOUT
from livetools.tools import Agent, Instructions, ToolLike
from livetools.tools.results.outcomes import error_outcome, outcome
from livetools.transport.loop.timer import in_time

from .ask_and_reply import Asking, Reply, Stream
from .running import leaving
from .running.hand_off import change
from .running.session_driver import SessionDriver
from .running.task_host import OnReady, Starter
from .session_base import SessionBase, checked_text, checked_timeout

log = get_logger("livetools.session")


class Session(SessionBase):
    """A conversation with a live model, over turns and reconnects. Made by ``connect``; enter it to open it.

    ``async for event in session`` yields every event of the session, also while an ``ask`` runs. Only one loop may do
    so at a time; a second raises ``ConcurrencyError``. Use a session only in the event loop and thread that entered it.
    An error that ends it is raised to everything that waits; leaving the context raises it only if nothing else did.

    Inherited: methods that send (``send_text``, ``activity`` …), and facts (``pending``, ``stats`` …).

    ::

        async with connect(MODEL, tools=[get_weather]) as session:
            print(await session.ask("Weather in Oslo?"), session.usage.total_tokens)
    """

    if not TYPE_CHECKING:  # checkers report these slips themselves, as long as they see no such methods

        def __enter__(self) -> NoReturn:
            raise TypeError("a session is entered with async with: async with connect(...) as session")

        def __exit__(self, *exc: object) -> None:
            """Never called; Python looks for it before it calls ``__enter__``."""

        def __await__(self) -> NoReturn:
            raise TypeError(
                "connect() is not awaited, it is entered: async with connect(...) as session (in an exit stack: "
                "await stack.enter_async_context(connect(...)))"
            )

    async def __aenter__(self) -> Self:
        """Connect, and return when the session is open.

        Raises ``ConnectFailed``, ``SetupTimeout``, ``SetupRejected``, ``RemoteProtocolError``, or what the
        service closed with (``AuthenticationError``, ``ModelNotFound`` …). Cancelling leaves nothing behind.
        """
        if self._entered is not None:
            raise LocalProtocolError("a session is entered once; connect() again for another one")
        self._entered = True
        left = await self._assembly.load(self)
        if not self._entered:
            raise close_codes.over()
        await self._host.start(partial(self._run, left))
        self._driver = self._opening  # from now on: what a verb sends must not precede the setup
        driver = self._here()
        if driver.error is not None:
            await self._host.stop(grace=leaving.LEAVE_UNOPENED)
            raise driver.error
        return self

    async def _run(self, left: Sequence[Call], group: TaskGroup, ready: OnReady) -> None:
        assembly, listeners = self._assembly, self._assembly.listeners
        # Before the handlers are made, which inherit the context variables that a hook sets.
        listeners.observe(assembly.hooks, self)
        if assembly.keeper is not None:
            listeners.add(assembly.keeper, "the handle store")
            group.start_soon(assembly.keeper.run)
        async with Starter(group) as starter:
            self._opening = driver = SessionDriver(assembly, starter, self, left, ready)
            try:
                await driver.run()
                if assembly.keeper is not None:
                    await assembly.keeper.finish()
            finally:
                listeners.tell("ended", driver.error)

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Close the session, and wait some seconds for its tools to stop. A thread that blocks is abandoned."""
        driver = self._here()
        driver.close()
        if driver.tasks.inside():
            return  # left by one of its own tools or hooks, which cannot wait for its own end
        await self._host.stop(grace=leaving.LEAVE)
        # An error of the body goes first, and one that a verb has raised is not raised twice.
        if error is None and driver.error is not None and not driver.told:
            raise driver.error

    async def aclose(self) -> None:
        """End the session: its loop ends without an error, its tools are stopped. Idempotent.

        Returns when the session is over, at once if it was never entered. Leaving the context awaits sockets and tools.
        """
        driver = self._driver or self._opening  # a session that is being opened is closed as well
        if driver is None:
            if self._entered:  # its store is still asked: there is nothing to open behind that
                self._entered = False
            return
        self._host.require_loop()
        driver.close()
        await driver.flush()
        await driver.over.wait()

    async def park(self, within: float = PARKING_TIMEOUT) -> str | None:
        """Close at the next quiet moment, and return the handle with which another process resumes the session.

        A moment is quiet when no call is open or runs in the background, every text is read and answered, nobody
        speaks, and the service has given a handle that holds all of it. If none comes within ``within`` seconds, the
        session is closed anyway: running tools are stopped, the model forgets an open call, unread texts are lost, and
        a warning names them. ``None``: nothing was said. What ``update`` has changed is not in the handle (a warning).

        Raises ``LocalProtocolError`` if the session has no handles, ``ConcurrencyError`` inside a tool, and the error
        that ended the session. If it is cancelled, the session continues.
        """
        driver = self._live()
        seconds = checked_timeout(within, "within") or 0.0
        if not driver.machine.plan.resumption:
            raise LocalProtocolError(
                f"{self.model} is asked for no handles, so the session cannot continue elsewhere: leave reconnect"
                " on, or give a handle_store"
            )
        if driver.tasks.inside():
            raise ConcurrencyError("park() inside a tool or a hook waits for its end: call it from outside")
        machine = driver.machine
        until = machine.park(driver.clock.now(), seconds)
        try:
            await driver.follow()
            await driver.over.wait()
        except BaseException:
            machine.stay(until)
            raise
        await self._host.ended()
        if driver.error is not None:
            raise driver.why_over()
        if machine.lost_by_parking:
            still = ", ".join(machine.lost_by_parking)
            log.warning("parked after %g s, before it was quiet; still open: %s", seconds, still)
        self._assembly.parked(machine.next_plan)
        return machine.handle

    # What is reported

    def __aiter__(self) -> AsyncIterator[Event]:
        if self._driver is not None:
            self._driver.machine.said.read_by_loop()
        return self

    def __anext__(self) -> Coroutine[Any, Any, Event]:
        """The next event. Cancelling loses no event. Raises, once, the error that ended the session."""
        return self._here().inbox.next()

    async def ask(self, text: str, timeout: float | None = None) -> Reply:
        """Send a user turn and wait for the whole answer, with all calls that the model makes for it.

        If it is interrupted, or the connection is lost, the reply is what was said so far, with ``reply.interrupted``;
        if the model falls silent in the middle, with ``reply.stalled``.

        Raises ``NoAnswer`` (a ``TimeoutError``) if the model neither speaks nor calls for ``stall_timeout`` seconds,
        ``TimeoutError`` after ``timeout`` seconds, ``ConcurrencyError`` while another ``ask`` or ``stream`` runs or
        inside a tool that the model or the answer waits for, ``ConfigError`` for a blank text, ``LocalProtocolError``
        inside :meth:`activity`, and the error that ended the session. Cancelling gives up the answer, but the model's
        turn and the events continue. A late answer never answers the next question, which may take 2 s longer.
        """
        checked_timeout(timeout, "timeout")
        asking = self._asking(text)
        try:
            return await in_time(asking.reply, timeout)
        finally:
            asking.leave()

    def stream(self, text: str) -> AsyncIterator[str]:
        """Like :meth:`ask`, but yields the text of the answer, or the transcript of the speech, piece by piece.

        Leaving the loop early gives up the answer, as cancelling ``ask`` does.
        """
        return Stream(lambda: self._asking(text), self._host.require_loop)

    # Calls

    async def respond(self, call: Call, value: object) -> None:
        """Answer a call of a tool without a handler. An exception as ``value`` gives the model an error.

        Raises ``LocalProtocolError`` if the call is not open (answered, cancelled, timed out), or has a handler.
        """
        driver, run = self._open_run(call)
        record = driver.machine.record(run)
        if record is not None and record.policy.handled:
            raise LocalProtocolError(
                f"{call.name} has a handler, which answers its calls: respond() is for tools that are only declared"
            )
        if isinstance(value, Exception):
            done = error_outcome(value, call.name)
        else:
            done = outcome(value, driver.machine.plan.response_key)
        driver.settled(run, done)
        await driver.flush()

    async def approve(self, call: Call) -> None:
        """Let a call run that waits for approval. ``LocalProtocolError`` if it does not wait, or has been cancelled."""
        await self._decide(call, None)

    async def refuse(self, call: Call, reason: str = "") -> None:
        """Refuse a call that waits for approval; the model reads ``reason``. Raises as :meth:`approve` does."""
        await self._decide(call, reason)

    @overload
    async def update(self, instructions: Agent, /) -> None: ...
    @overload
    async def update(
        self, instructions: Instructions | None = None, tools: Iterable[ToolLike] | None = None
    ) -> None: ...
    async def update(
        self, instructions: Agent | Instructions | None = None, tools: Iterable[ToolLike] | None = None
    ) -> None:
        """Replace the instructions or the tools (all of them) while the session runs, or hand over to an ``Agent``.

        Model, voice, conversation and open calls stay. It is a ``contextUpdate`` if the model supports that (which
        empties its cache: the next turn costs more), else another connection at the next quiet moment.

        Returns when the update is sent; inside a tool at once, if sending must wait for that tool's answer. For an
        agent, the event ``HandedOff`` follows. Raises ``LocalProtocolError`` if neither way is possible,
        ``ConfigError`` for what the model would refuse.
        """
        driver, handed_off = self._live(), None
        if isinstance(instructions, Agent):
            if tools is not None:
                raise ConfigError("update(agent, tools=...): the agent has its own tools; leave tools out")
            agent, handed_off = instructions, HandedOff(instructions.name)
        else:
            agent = Agent(instructions, tools)
        await driver.handed_over(change(driver.machine, agent, driver.clock.now(), handed_off))

    # Inside

    def _asking(self, text: str) -> Asking:
        driver = self._live()
        driver.check_answerable()
        checked_text(text, "the question is blank: the model would not answer it")
        asking = Asking(driver, text)
        self._said(text)
        return asking

    def _open_run(self, call: Call) -> tuple[SessionDriver, int]:
        driver = self._live()
        if not isinstance(call, Call):
            raise ConfigError(
                f"{call!r:.40} is a {type(call).__name__}: the Call of an event is expected, as in"
                " case ToolStarted(call): await session.respond(call, value)"
            )
        run = driver.machine.run_of(call)
        if run is None:
            raise LocalProtocolError(f"the call {call.name} ({call.id}) is not open any more")
        return driver, run

    async def _decide(self, call: Call, refusal: str | None) -> None:
        driver, run = self._open_run(call)
        # The machine decides whether it still waits: it may have timed out since it was asked.
        waited = driver.machine.judge(run, refusal, driver.clock.now())
        await driver.follow()
        if not waited:
            raise LocalProtocolError(f"the call {call.name} ({call.id}) does not wait for approval")
