"""Carries out the transitions of ``connection_states``: dials, hang-ups, setup, moves at a goAway, retries, the end.

It knows nothing of calls or turns. Each input is handed what the session is in the middle of (``Snapshot``), where that
decides something, and returns what is to be done, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Literal, TypeAlias

from msgspec import Struct, field

from livetools.errors import LiveToolsError, SetupTimeout
from livetools.events import Reconnecting
from livetools.protocol.calls.driver_actions import Close, Dial, EndSession, Hangup
from livetools.setup.plan_fields import Plan

from . import close_codes
from .connection_states import TABLE as MOVES
from .connection_states import USABLE, LinkEvent, LinkState
from .reconnect_policy import Attempts, ReconnectPolicy

#: Seconds left when a goAway does not say: the field may be absent.
UNSAID = 5.0
#: The share of the time left after which a move no longer waits for a quiet moment. Of the usual 50 s (measured
#: 2026-09-10 and 2026-10-09) it leaves 10 for the dial and the setup.
LATEST = 0.8
#: Seconds to wait for the handle that follows a turn.
HANDLE_TIMEOUT = 0.5
#: Seconds at least between two attempts of a planned move.
AT_LEAST = 0.05
#: Seconds to wait for the old socket's close handshake.
CLOSING = 1.0
#: Seconds that a planned move waits for a pong.
MOVE_PONG_TIMEOUT = 10.0
#: Seconds until the pong is looked for again: it is not an input.
PONG_CHECK_INTERVAL = 0.25


class Snapshot(Struct, frozen=True):
    """What the session is doing when the connection asks."""

    #: A call is open; or something is expected from the model; or nobody would lose anything with the connection.
    doing: Literal["tool", "turn", "idle"] = "idle"
    asked: bool = False  # a pong is awaited that will say what was read
    follows: bool = False  # a result follows as text: of a call that was lost, or that is in the background


class SendSetup(Struct, frozen=True, gc=False):
    """Write the setup to this link, which shows this handle; ``None``: a session begins that knows nothing."""

    link: int
    handle: str | None


class Begin(Struct, frozen=True, gc=False):
    """A session is open: the ``first`` one, or ``restored`` from a handle, or another that knows nothing."""

    first: bool
    restored: bool


class Lose(Struct, frozen=True):
    """Everything on the current link is gone; a generation that was under way never continues."""

    close: Close


class Loss(Struct, frozen=True):
    """How a connection on which the session stood was lost."""

    close: Close
    calls: tuple[str, ...] = ()  # those that were open: their names and ids

    @property
    def how(self) -> str:
        """The close in words."""
        return close_codes.in_words(self.close)


#: What an input leads to; the machine carries it out.
Consequence: TypeAlias = Dial | Hangup | SendSetup | Begin | Lose | Reconnecting | EndSession


class Transition(Struct):
    """One input on its way through the table, and what it leads to."""

    now: float
    snapshot: Snapshot = Snapshot()
    close: Close = Close()
    time_left: float | None = None
    error: Exception | None = None  # what the close comes to
    stale: bool = False  # the handle is not known any more: another dial shows none
    consequences: list[Consequence] = field(default_factory=list)


class Connection:
    """The state, its deadline, and the sockets."""

    def __init__(self, plan: Plan, policy: ReconnectPolicy | None, random: Callable[[], float]) -> None:
        self.state = LinkState.NEW
        self.due = inf  # the deadline of the state
        self.attempts = Attempts(policy, random)
        self.current = 0  # the socket in use
        self.next = 0  # the socket that was dialled last; 0: none
        self.handle = plan.handle
        self.advanced_at = -inf  # something was written, or a turn has ended, since the newest handle came
        self.stood = False  # a session has begun once
        self.losses = 0  # of connections on which it was open; planned moves do not count
        self.last_loss: Loss | None = None
        self._resumption, self._patience = plan.resumption, plan.setup_timeout
        self._shown: str | None = None  # the handle in the setup that was sent last
        self._leave_by = inf  # past this the service cuts the line
        self._away_at = -inf  # the last goAway came
        self._not_before = -inf  # no dial earlier: one has just failed, a socket is just closing
        self._alive: set[int] = set()
        self._reasons: tuple[tuple[int, str], ...] = ()  # closes that are retried once

    @property
    def usable(self) -> bool:
        """Whether frames may be written to the current socket."""
        return self.state in USABLE

    @property
    def cannot_move(self) -> bool:
        """Whether the open connection is the last one: no dial is left."""
        return self.state in (LinkState.LIVE, LinkState.LEAVING) and not self.attempts.may_dial()

    # Inputs that move it

    def connect(self, now: float) -> list[Consequence]:
        """The user wants a session."""
        return self._move(LinkEvent.CONNECT, Transition(now))

    def opened(self, link: int, snapshot: Snapshot, now: float) -> list[Consequence]:
        """A socket is open, its upgrade done."""
        event = self._event_of(link, LinkEvent.OPENED, LinkEvent.NEXT_OPENED)
        return self._move(event, Transition(now, snapshot))

    def completed(self, now: float) -> list[Consequence]:
        """The service has completed the setup."""
        return self._move(LinkEvent.COMPLETE, Transition(now))

    def gone(
        self, link: int, close: Close, snapshot: Snapshot, now: float, calls: Iterable[str] = ()
    ) -> list[Consequence]:
        """A socket ended, or could not be opened. ``calls``: those that are open, in words."""
        self._alive.discard(link)
        # Before the move, which changes the state: only the loss of an open session counts, not a failed dial or a
        # clean end.
        event = self._event_of(link, LinkEvent.GONE, LinkEvent.NEXT_GONE)
        transition = Transition(now, snapshot, close)
        if event is LinkEvent.GONE and self.usable and self._verdict(transition)[0] is not None:
            self.losses, self.last_loss = self.losses + 1, Loss(close, tuple(calls))
        return self._move(event, transition)

    def go_away(self, time_left: float | None, now: float) -> None:
        """The service will cut this connection; ``inf``: we want another one, at the next quiet moment.

        This does nothing by itself; ``tick`` and ``planned_move`` do.
        """
        self._away_at = now
        self._move(LinkEvent.GO_AWAY, Transition(now, time_left=time_left))

    def tick(self, snapshot: Snapshot, now: float) -> list[Consequence]:
        """Act on the time: what was to happen by now."""
        # A timeout of the setup is a close like another: the table decides by it whether to dial again. It is an error
        # of its own only where no session was ever open: later it is a failed attempt among others. The shell, which
        # knows how far the dial has got, says what to check.
        error = None if self.stood else SetupTimeout(f"no session within {self._patience:g} s")
        timeout = Close(1006, "no answer in time", error=error)
        late = self._move(LinkEvent.DUE, Transition(now, snapshot, timeout)) if self.due <= now else []
        return late + self.planned_move(snapshot, now)

    def planned_move(self, snapshot: Snapshot, now: float) -> list[Consequence]:
        """Move to another connection before a goAway's end, if one has come and the moment is quiet."""
        if self._planned_move_at(snapshot) > now:
            return []
        # The pong says what has been read: what was not goes again on the next socket. Ten seconds are a share of the
        # 50 s that the service leaves; a pong of a busy session took up to 30 s (sip-to-ai#14, 2026-09), which is not
        # waited for.
        if snapshot.asked and now < self._away_at + MOVE_PONG_TIMEOUT:
            self._not_before = now + PONG_CHECK_INTERVAL
            return []
        return self._move(LinkEvent.QUIET, Transition(now, snapshot))

    def close(self, now: float, error: Exception | None = None) -> list[Consequence]:
        """The user closes the session, or a limit of the user's, with this error."""
        return self._move(LinkEvent.CLOSE, Transition(now, error=error))

    # Facts

    def handed(self, handle: str) -> None:
        """A handle that restores the session in its present state."""
        self.handle, self.advanced_at = handle, -inf

    def conversation_advanced(self, now: float) -> None:
        """Something was said or done: a handle that came before does not hold all of the conversation."""
        self.advanced_at = now

    def wake_at(self, snapshot: Snapshot) -> float:
        """When ``tick`` has something to do."""
        return min(self.due, self._planned_move_at(snapshot))

    # Inside

    def _event_of(self, link: int, current: LinkEvent, next: LinkEvent) -> LinkEvent | None:
        """``current`` if this is the current socket, ``next`` if it is its successor; ``None`` for any older one."""
        if link == self.current:
            return current
        return next if link == self.next else None

    def _move(self, event: LinkEvent | None, transition: Transition) -> list[Consequence]:
        """Apply the table to the event, then to each event that an effect decides. A pair that is not in the table
        does nothing.
        """
        while event is not None and (line := MOVES.get((self.state, event))) is not None:
            event = None
            state, effects = line
            # Each is the method of its name. They see the state that is left, and set the deadline of the next one.
            for effect in effects:
                event = getattr(self, f"_{effect.name.lower()}")(transition)
            self.state = state
        return transition.consequences

    def _planned_move_at(self, snapshot: Snapshot) -> float:
        """When it may begin: no open call, nothing expected, and the handle that follows a turn is there."""
        if self.state is not LinkState.LEAVING or snapshot.doing != "idle" or not self.attempts.may_dial():
            return inf
        # A newer handle follows a turn, and older ones do not hold that turn: it is waited for, though not for long.
        return max(self._not_before, self.advanced_at + HANDLE_TIMEOUT if self._resumption else -inf)

    def _dial(self, transition: Transition) -> None:
        self.next = self.attempts.dial()
        # One deadline for the dial and the setup together: setup_timeout covers everything from TCP to setupComplete.
        self.due = transition.now + self._patience
        self._alive.add(self.next)
        transition.consequences.append(Dial(self.next))

    def _send_setup(self, transition: Transition) -> None:
        # A handle of the user's is shown on the first dial even where the setup asks for no handles.
        self._shown = self.handle if self._resumption or not self.stood else None
        transition.consequences.append(SendSetup(self.current, self._shown))

    def _begin(self, transition: Transition) -> None:
        # Before stood is set: it tells the first session from the others.
        transition.consequences.append(Begin(not self.stood, self._shown is not None))
        self.stood = True
        self.due = self._leave_by = inf
        self._not_before = -inf
        self.attempts.stood()

    def _plan(self, transition: Transition) -> None:
        left = UNSAID if transition.time_left is None else max(0.0, transition.time_left)
        delay = self.attempts.go_away_delay(self.current, transition.time_left)
        # A second goAway gives no more time than the first, and an earlier delay is kept.
        self._leave_by = min(self._leave_by, transition.now + left)
        self._leave(max(self._not_before, transition.now + delay), transition.now)

    def _put_off(self, transition: Transition) -> None:
        # AT_LEAST even where the policy has no delay: a socket that fails at once would otherwise be dialled in a
        # circle.
        self._leave(transition.now + max(AT_LEAST, self.attempts.retry_delay()), transition.now)

    def _wait(self, transition: Transition) -> None:
        self._leave(transition.now + AT_LEAST, transition.now)

    def _leave(self, not_before: float, now: float) -> None:
        """Leave the socket from then on, at the latest when the last share of its time begins."""
        self._not_before = not_before
        latest = max(not_before, now + LATEST * max(0.0, self._leave_by - now))
        self.due = latest if self.attempts.may_dial() else inf  # else it is used to its end

    def _hangup(self, transition: Transition) -> None:
        self._drop(self.current, transition)
        # Until it is closed no other socket may show the handle.
        self.due = self._not_before = transition.now + CLOSING

    def _hangup_next(self, transition: Transition) -> None:
        self._drop(self.next, transition)

    def _drop(self, link: int, transition: Transition) -> None:
        # A socket that has ended already needs no hang-up. Its end may have been reported in this very input.
        if link in self._alive:
            self._alive.discard(link)
            transition.consequences.append(Hangup(link))

    def _lose(self, transition: Transition) -> None:
        transition.consequences.append(Lose(transition.close))

    def _adopt(self, transition: Transition) -> None:
        self.current, self.due = self.next, transition.now + self._patience

    def _check(self, transition: Transition) -> LinkEvent:
        """A user who spoke while the socket was opened would lose the answer, and the model its calls."""
        return LinkEvent.QUIET if transition.snapshot.doing == "idle" else LinkEvent.SPOKEN

    def _judge(self, transition: Transition) -> LinkEvent:
        """Whether the close makes another dial worthwhile, and the policy allows it."""
        error, retry = self._verdict(transition)
        # An unknown handle (1008 on 3.8, 1007 elsewhere) fails on each dial: without it a new session begins.
        if retry == "fresh" and self.handle is not None:
            self.handle, transition.stale = None, True
        # By code and reason over the whole session: the second close with the same words is no accident.
        if retry == "once":
            retry = "no" if (transition.close.code, transition.close.reason) in self._reasons else "yes"
            self._reasons += ((transition.close.code, transition.close.reason),)
        transition.error = error
        # A clean end: nothing to retry, and no error to report.
        if error is None:
            return LinkEvent.GIVE_UP
        # A session that was never open is not retried, so that a wrong key fails at once. A stale handle is the
        # exception.
        if retry != "no" and (self.stood or transition.stale) and self.attempts.may_dial():
            return LinkEvent.AGAIN
        # The error of the last attempt alone would hide why it was dialled again.
        if self.last_loss is not None and (made := self.attempts.made):
            history = f"The connection was lost before ({self.last_loss.how}); attempts to restore it: {made}"
            error.args = (f"{str(error).rstrip('.')}. {history}",)
        return LinkEvent.GIVE_UP

    def _verdict(self, transition: Transition) -> tuple[LiveToolsError | None, close_codes.Retry]:
        """What the close means in this state: its error (``None``: a clean end), and whether to dial again."""
        # A close with 1000 ends the session in order, except after a goAway or while a call is open (a lost one and one
        # in the background, too): then the service drops it.
        doing = transition.snapshot.doing
        planned = self.state is not LinkState.LIVE or doing == "tool" or transition.snapshot.follows
        phase = {LinkState.DIALING: "connect", LinkState.SETUP: "setup"}.get(self.state, doing)
        return close_codes.judge(transition.close, phase, planned=planned)

    def _retry(self, transition: Transition) -> None:
        # Not before the old socket may be closed: it could still hold the session that the handle restores.
        delay = max(self.attempts.retry_delay(at_once=transition.stale), self._not_before - transition.now)
        self.due = self._not_before = transition.now + delay
        transition.consequences.append(Reconnecting(self.attempts.made, delay, str(transition.error)))

    def _end(self, transition: Transition) -> None:
        # Both, the current socket and a successor that is being opened.
        for link in sorted(self._alive):
            self._drop(link, transition)
        self.due = inf
        transition.consequences.append(EndSession(transition.error))
