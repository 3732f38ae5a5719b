"""Carries out the transitions of ``link.TABLE``: dials, hang-ups, the setup, moves at a goAway, retries, the end.

It knows nothing of calls or turns. The machine gives it the facts it must decide by (``Snapshot``), and is told
through ``ConnectionListener`` when a session begins, when everything on a link is lost, and when all is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

from . import close_codes, outgoing
from .actions import Action, Close, Dial, End, Hangup
from .errors import (
    ConnectFailed,
    LiveToolsError,
    RemoteProtocolError,
    SessionClosed,
    SetupRejected,
    SetupTimeout,
)
from .events import Event, Reconnecting
from .link import HANDLE, READABLE, USABLE, Link, LinkEffect, LinkEvent, LinkState
from .plan_types import Plan
from .reconnect_policy import ReconnectPolicy

#: Seconds that a planned move waits for a pong, and how often it looks.
PONG, LOOK = 10.0, 0.25
#: What a socket that is not answered for ``setup_timeout`` comes to.
LATE = Close(1006, "no answer in time")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the session is in the middle of."""

    calls: bool  # open calls
    idle: bool  # nothing is expected from the model
    ended_at: float  # when its last turn ended
    asked: bool = False  # a pong is awaited that will say what was read

    @property
    def calm(self) -> bool:
        """Whether nobody would lose anything if the connection were replaced."""
        return self.idle and not self.calls


class ConnectionListener(Protocol):
    """Whom the connection asks and tells: the machine."""

    def snapshot(self) -> Snapshot: ...
    def new_session(
        self,
    ) -> list[Mapping[str, Any]]: ...  # a session begins that knows nothing: its contents so far
    def began(self, restored: bool, now: float) -> None: ...
    def lost(self, now: float, close: Close) -> None: ...
    def over(self, error: Exception | None, now: float) -> None: ...


class Connection:
    """The link's effects: actions, events, and the setup frames that are drained."""

    def __init__(
        self,
        plan: Plan,
        policy: ReconnectPolicy | None,
        random: Callable[[], float],
        owner: ConnectionListener,
        tell: Callable[[Event], None],
        act: Callable[[Action], None],
    ) -> None:
        self.plan, self._owner, self._tell, self._act = plan, owner, tell, act
        self.told = plan  # of the setup that was sent last
        self.link = Link(policy, random, plan.handle)
        self.setups: list[tuple[int, bytes]] = []
        self.seed: list[Mapping[str, Any]] = []  # what follows the setup under way
        self.stood = False  # a session has begun once
        self.away = False  # a goAway was seen on this link, or the session wants to move
        self.handle_at = -inf
        self.advanced_at = -inf  # something was written, or a turn has ended
        self.handle_outdated = False  # the conversation has advanced since the newest handle came
        self._away_at = -inf  # the last goAway came
        self._must_move = False  # the move under way can wait for no quiet moment
        self._alive: set[int] = set()
        self._reasons: set[tuple[int, str]] = set()  # closes that are retried once

    @property
    def usable(self) -> bool:
        """Whether frames may be written to the current socket."""
        return self.link.state in USABLE

    def reads(self, link: int) -> bool:
        """Whether a frame of this socket counts: it is the current one, and has not ended."""
        return link == self.link.current and self.link.state in READABLE

    # Inputs

    def opened(self, link: int, now: float) -> None:
        """A socket stands, its upgrade done."""
        if link == self.link.current:
            self._do(LinkEvent.OPENED, now)
        elif link == self.link.next:
            # Whoever has spoken while it was dialled would lose the answer, and the model its calls.
            spoken = not self._must_move and not self._owner.snapshot().calm
            self._do(LinkEvent.SPOKEN if spoken else LinkEvent.NEXT_OPENED, now)
        elif link in self._alive:
            self._act(Hangup(link))

    def gone(self, link: int, close: Close, now: float) -> None:
        """A socket ended, or could not be opened."""
        self._alive.discard(link)
        if link == self.link.current:
            self._do(LinkEvent.GONE, now, close)
        elif link == self.link.next:
            self._do(LinkEvent.NEXT_GONE, now, close)

    def on(self, what: LinkEvent, now: float, time_left: float | None = None) -> None:
        """CONNECT, COMPLETE, GO_AWAY or CLOSE."""
        self._do(what, now, None, time_left)

    def handed(self, handle: str, now: float) -> None:
        """A handle that restores the session as it stands."""
        self.link.handle, self.handle_at, self.handle_outdated = handle, now, False

    def conversation_advanced(self, now: float) -> None:
        """Something was said or done: a handle that came before does not hold all of the conversation."""
        self.advanced_at, self.handle_outdated = now, True

    def go_away(self, time_left: float | None, now: float) -> None:
        """The service will cut this connection; ``inf``: we want another one, at the next quiet moment."""
        self.away, self._away_at = True, now
        if self.link.policy is not None:
            self.on(LinkEvent.GO_AWAY, now, time_left)

    def tick(self, now: float) -> None:
        """Act on the time: what was to happen by now."""
        if self.link.due <= now:
            self.link.due = inf
            self._do(LinkEvent.DUE, now, LATE)
        self.move_if_quiet(now)

    def move_if_quiet(self, now: float) -> None:
        """Move, if one is planned and the moment is quiet."""
        if self.link.state is not LinkState.LEAVING or self._quiet_at() > now:
            return
        if now < self._away_at + PONG and self._owner.snapshot().asked:
            self.link.not_before = now + LOOK
        else:
            self._do(LinkEvent.MAY_MOVE, now)

    def wake_at(self) -> float:
        """When ``tick`` has something to do."""
        return min(self.link.due, self._quiet_at()) if self.link.state is LinkState.LEAVING else self.link.due

    # Inside

    def _quiet_at(self) -> float:
        """When the move may begin: no open call, nothing due, and the handle that follows a turn is there."""
        snapshot, link = self._owner.snapshot(), self.link
        if not (snapshot.calm and link.may_dial()):
            return inf
        follows = not self.plan.resumption or self.handle_at >= snapshot.ended_at
        return max(link.not_before, -inf if follows else snapshot.ended_at + HANDLE)

    def _do(
        self, on: LinkEvent, now: float, close: Close | None = None, time_left: float | None = None
    ) -> None:
        for what in self.link.move(on):
            DO[what](self, now, close or Close(), time_left)

    def _dial(self, now: float, close: Close, time_left: float | None) -> None:
        self.link.current = self._number(now)

    def _dial_next(self, now: float, close: Close, time_left: float | None) -> None:
        self._must_move = close is LATE
        if self.link.may_dial():
            self.link.next = self._number(now)
        else:
            self.link.state = LinkState.LEAVING  # out of dials: the old socket is used to its end

    def _number(self, now: float) -> int:
        link = self.link.number(now, self.plan.setup_timeout)
        self._alive.add(link)
        self._act(Dial(link))
        return link

    def _send_setup(self, now: float, close: Close, time_left: float | None) -> None:
        link = self.link
        link.shown = link.handle if self.plan.resumption or not self.stood else None
        self.seed = self._owner.new_session() if link.shown is None else []
        message = self.plan.setup_message(link.shown, fresh=bool(self.seed))
        self.told = self.plan
        self.setups.append((link.current, outgoing.encode(message)))

    def _begin(self, now: float, close: Close, time_left: float | None) -> None:
        self.link.began()
        self.away = False
        self._owner.began(self.link.shown is not None, now)
        self.stood = True

    def _plan(self, now: float, close: Close, time_left: float | None) -> None:
        self.link.plan_move(time_left, now)

    def _put_off(self, now: float, close: Close, time_left: float | None) -> None:
        self.link.put_off(now)

    def _wait(self, now: float, close: Close, time_left: float | None) -> None:
        self.link.wait_on(now)

    def _hangup(self, now: float, close: Close, time_left: float | None) -> None:
        self._drop(self.link.current)
        self.link.hung_up(now)

    def _hangup_next(self, now: float, close: Close, time_left: float | None) -> None:
        self._drop(self.link.next)

    def _drop(self, link: int) -> None:
        if link in self._alive:
            self._alive.discard(link)
            self._act(Hangup(link))

    def _lose(self, now: float, close: Close, time_left: float | None) -> None:
        self._owner.lost(now, close)

    def _adopt(self, now: float, close: Close, time_left: float | None) -> None:
        self.link.adopt(now, self.plan.setup_timeout)

    def _retry(self, now: float, close: Close, time_left: float | None) -> None:
        """Dial again, or give up: by the close, and within the policy."""
        link = self.link
        error, retry = self._judge(close)
        stale = retry == "fresh" and link.handle is not None
        if stale:
            link.handle = None
        if retry == "once":
            retry = "no" if (close.code, close.reason) in self._reasons else "yes"
            self._reasons.add((close.code, close.reason))
        if error is None or retry == "no" or not (self.stood or stale):
            return self._end(now, error)
        tried = link.attempt
        delay = link.wait(now, at_once=stale)
        if delay is None:
            if tried and link.policy is not None:
                error.add_note(f"gave up after {tried} attempts and {link.dials} dials in all")
            return self._end(now, error)
        self._tell(Reconnecting(link.attempt, delay, str(error)))
        return None

    def _judge(self, close: Close) -> tuple[LiveToolsError | None, str]:
        """The error of a close (``None``: a clean end), and whether it is worth another dial."""
        line, phase = self.link.state, self.phase()
        if phase in ("connect", "setup") and close is LATE and not self.stood:
            return self._too_late(), "no"
        if close.error is not None:
            error = close.error
            if not isinstance(error, LiveToolsError):
                error = ConnectFailed(f"could not connect: {error}")
            final = isinstance(error, (RemoteProtocolError, SetupRejected))
            final = final or (isinstance(error, SessionClosed) and not error.retryable)
            return error, "no" if final else "yes"
        planned = self.away or self._owner.snapshot().calls or line is LinkState.SWAPPING
        if close.code == 1000 and phase not in ("connect", "setup"):
            if not planned:
                return None, "no"
            return close_codes.error(close.code, close.reason, phase), "yes"
        error = close_codes.error(close.code, close.reason, phase, close.note)
        return error, close_codes.classify(close.code, close.reason, phase=phase).retry

    def _too_late(self) -> LiveToolsError:
        return SetupTimeout(
            f"no session within {self.plan.setup_timeout:g} s: the service did not complete the setup. "
            "Suspect optional fields of the config that this model does not know, then the network; "
            "setup_timeout= gives it longer"
        )

    def phase(self) -> str:
        """What was going on, for errors."""
        line = self.link.state
        if line in (LinkState.NEW, LinkState.DIALING, LinkState.WAITING):
            return "connect"
        if line is LinkState.SETUP:
            return "setup"
        snapshot = self._owner.snapshot()
        return "tool" if snapshot.calls else "idle" if snapshot.idle else "turn"

    def _end(self, now: float, error: Exception | None) -> None:
        self.link.state, self.link.due = LinkState.CLOSED, inf
        for link in sorted(self._alive):
            self._drop(link)
        self._owner.over(error, now)
        self._act(End(error))

    def _close(self, now: float, close: Close, time_left: float | None) -> None:
        self._end(now, None)


DO = {
    LinkEffect.DIAL: Connection._dial,
    LinkEffect.DIAL_NEXT: Connection._dial_next,
    LinkEffect.SEND_SETUP: Connection._send_setup,
    LinkEffect.BEGIN: Connection._begin,
    LinkEffect.PLAN: Connection._plan,
    LinkEffect.PUT_OFF: Connection._put_off,
    LinkEffect.WAIT: Connection._wait,
    LinkEffect.HANGUP: Connection._hangup,
    LinkEffect.HANGUP_NEXT: Connection._hangup_next,
    LinkEffect.LOSE: Connection._lose,
    LinkEffect.ADOPT: Connection._adopt,
    LinkEffect.RETRY: Connection._retry,
    LinkEffect.END: Connection._close,
}
