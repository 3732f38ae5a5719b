"""Drives one session: adds sockets, the inbox for events, and the end of the session to ``Driver``."""

from __future__ import annotations

from collections.abc import Awaitable, Container, Sequence

import anyio

from livetools.errors import ConcurrencyError, SetupTimeout
from livetools.events import Call, Event, SessionStarted
from livetools.log import get_logger
from livetools.protocol.calls.call_states import Phase, Record
from livetools.protocol.calls.driver_actions import Action, Close, Dial, EndSession, Hangup, Hurry, Outcome
from livetools.protocol.connection import close_codes
from livetools.protocol.input.resend import Receipt
from livetools.protocol.session_machine import Machine
from livetools.session.handlers.run_tool import ToolRunner, warn_unread
from livetools.session.handlers.tasks import Tasks
from livetools.session.listening.guardrails import Guardrails, check_words
from livetools.session.startup import Startup
from livetools.tools import SessionLike
from livetools.transport.loop.timer import GAP
from livetools.transport.loop.wake import Wake, make_wake

from . import leaving
from .connection_log import NOTED, ConnectionLog
from .driver import Driver
from .hand_off import hand_off
from .sockets import Sockets
from .task_host import OnReady, Starter
from .unread_events import UnreadEvents

log = get_logger("livetools.session")


class SessionDriver(Driver[Machine]):
    """Serves one session from its first dial to its end.

    Transcript and listeners hear every event before the user sees it. ``over``, and then ``error``: how it ended.
    """

    def __init__(
        self, startup: Startup, starter: Starter, session: SessionLike, left: Sequence[Call], ready: OnReady
    ) -> None:
        """``left``: calls of an earlier process. ``ready``: the session is open, or never will be."""
        plan, hooks, listeners = startup.plan, startup.hooks, startup.listeners
        machine = Machine(plan, reconnect=startup.policy, transcript=startup.transcript, left=left)
        self.sockets = Sockets(starter, startup.dialer, startup.endpoint, self)
        super().__init__(machine, startup.clock, starter, self.sockets.standing, listeners.taps)
        self.tasks = Tasks(starter, ToolRunner(self, plan.response_key, hooks, startup.deps, session))
        self._transcript, self._listeners, self._ready = startup.transcript, listeners, ready
        self.inbox = UnreadEvents()
        self._line_log = ConnectionLog(self.clock)
        self.error: Exception | None = None
        self.told = False  # the user has seen it: leaving the session need not raise it
        if check_words(hooks):
            words = Guardrails(hooks, session, plan.transcribed, self.tasks.errand, self.cut_off)
            listeners.add(words, "the check of the words")

    async def run(self) -> None:
        """Open the session, serve it to its end, leave in order."""
        try:
            self.machine.connect(self.clock.now())
            self.background()
            await self.over.wait()
            self._ready()  # if it never opened: its caller need not wait for the clean-up to learn why
            with anyio.move_on_after(leaving.LAST_WORDS):
                await self.tasks.wind_down(self.give_up)
                await self.sockets.gone()
        finally:
            # Cut off in the middle (Ctrl-C in a tool), it would leave tasks that wait without end.
            self.close()
            self.end()
            self.sockets.close()

    # What the machine wants

    def perform(self, action: Action) -> None:
        """Do what the machine wants done at once."""
        match action:
            case Dial(link):
                self.sockets.dial(link)
            case Hangup(link):
                self.sockets.hang_up(link)
            case Hurry(link):
                self.sockets.hurry(link)
            case EndSession(error):
                self._over(error)
            case _:
                super().perform(action)

    def _over(self, error: Exception | None) -> None:
        if isinstance(error, SetupTimeout):
            error = self.sockets.progress.timed_out(self.machine.plan.setup_timeout)
        self.error = error
        self.inbox.close(None if error is None else self.why_over)
        self.over.set()

    def show(self, events: Sequence[Event]) -> None:
        """Show each event to the transcript and the listeners, and then to the iterator."""
        if not NOTED.isdisjoint(map(type, events)):
            self._line_log.events(events)
            if any(type(event) is SessionStarted for event in events):
                self._ready()
        for event in events:
            self._transcript.event(event)
            for listener in self._listeners.all:
                listener.tell("event", event)
        self.inbox.put(events)

    def media(self, frame: bytes, kind: str) -> None:
        """Send audio or video: past the queues, where nothing waits."""
        # Media on an open line that is idle needs no queue; everything else keeps its order in the machine.
        if not self.stream(self.machine.media_link(), frame):
            self.machine.send_media(frame, kind, self.clock.now())
            self.step()

    def hand_off(self, run: int, outcome: Outcome) -> Outcome:
        """See :func:`.hand_off.hand_off`."""
        return hand_off(self.machine, run, outcome, self.clock.now())

    def approved(self, run: int, verdict: bool | str | None) -> None:
        """As any driver; where a person must decide and no loop would tell one, say so: the call only waits."""
        record = self.machine.record(run)
        if verdict is True and not self.inbox.iterated and record is not None:
            warn_unread(record.call.name, record.policy.approval_timeout)
        super().approved(run, verdict)

    async def cut_off(self, answer: bool) -> None:
        """The rest of the model's turn is not wanted, and not reported. ``answer``: of the one that answers the user's
        last words, if it has not begun."""
        self.machine.interrupt(self.clock.now(), answer)
        await self.follow()

    # What the sockets tell

    def opened(self, link: int) -> None:
        """A connection is open."""
        if self.frame_taps is not None:
            self.frame_taps.opened(link)
        self._line_log.opened(self.sockets.standing[link])
        self.machine.opened(link, self.clock.now())
        self.background()

    def received(self, link: int, data: bytes) -> None:
        """A message came."""
        if self.frame_taps is not None:
            self.frame_taps.frame("server", link, data)
        now = self.clock.now()
        self.machine.receive(link, data, now, overdue=now > self.timer.due + GAP)
        self.background()

    def disconnected(self, link: int, close: Close) -> None:
        """A connection ended, or never was."""
        if self.frame_taps is not None:
            self.frame_taps.closed(link, close)
        before = self.machine.last_loss
        self.machine.disconnected(link, self.blocked_loop.explain(close), self.clock.now())
        # A connection that was replaced as planned, or never was open, is not counted as a loss.
        if (loss := self.machine.last_loss) is not None and loss is not before:
            self._line_log.lost(loss)
        self.background()

    # What the verbs ask

    async def handed_over(self, receipt: Receipt) -> None:
        """Wait until the receipt is done, or until waiting on would be a deadlock: for the caller's own tool, for the
        slot that it holds, or for the end of the caller's activity."""
        wake = make_wake()
        receipt.watch(wake.set)
        await self.follow()
        while not (receipt.done or self.machine.would_deadlock(receipt, self.tasks.serving())):
            await self.woken(wake)
        self.check(receipt)

    def woken(self, wake: Wake) -> Awaitable[None]:
        """Wait for ``wake``. Inside a tool every input sets it: a call may wait for that tool's slot now."""
        return wake.wait() if self.tasks.serving() is None else self._woken(wake)

    async def _woken(self, wake: Wake) -> None:
        with self.machine.watched(wake.set):
            await wake.wait()

    def check_answerable(self, calls: Container[int] = ()) -> None:
        """Raise ``ConcurrencyError`` where an answer waits for the handler or the approval that asks here: the model
        itself does, or one of these calls, which the answer includes."""
        run = self.tasks.serving()
        asker = None if run is None else self.machine.record(run)
        if asker is not None and (call := self.machine.held_up_by(asker.run, calls)) is not None:
            raise ConcurrencyError(_why_unanswerable(asker, call))

    def check(self, receipt: Receipt) -> None:
        """Raise why this was not handed to a socket."""
        if receipt.error is not None:
            self.told = self.told or receipt.error is self.error
            raise receipt.error

    def why_over(self) -> Exception:
        """What a verb raises on a session that is over."""
        self.told = True
        return self.error or close_codes.over()


def _why_unanswerable(asker: Record, call: Record) -> str:
    name = asker.call.name
    if call is asker:
        return (
            f"asked inside the tool {name}, which the model waits for: it answers only when the tool has returned."
            " Return first, or declare the tool behavior='background'"
        )
    needs, change = "slot", "max_concurrency, or the tool's concurrency"
    if call.phase is Phase.LEADER:
        needs, change = "result", "the tool's duplicates"
    return (
        f"asked inside the tool {name}, and the answer waits for the call {call.call.name} ({call.call.id}), which"
        f" needs the {needs} of {name}. Return first, or change {change}"
    )
