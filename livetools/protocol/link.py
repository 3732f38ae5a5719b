"""The state table of the connection: dialling, setup, goAway, the old and the next socket, giving up.

A link is one socket, numbered. Facts: the service cuts a connection after about ten minutes (1008 at 590 s, measured
2026-09-10 and 2026-10-09) and announces it with ``goAway`` 50 s before; a resume is refused while the old socket of the
session still stands; a handle restores the conversation, never a generation that was under way.

==========  ==================================================================
NEW         nothing yet
DIALING     a socket is being opened; there is no other
SETUP       open; the setup was sent, setupComplete is awaited
LIVE        open and usable
LEAVING     live, but the service will cut it: a quiet moment is awaited
MOVING      still live; the next socket is being opened
SWAPPING    the next is open; the old one is closing
WAITING     none; the next attempt is made at ``due``
CLOSED      the end
==========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from math import inf

from .reconnect_policy import ReconnectPolicy

#: Seconds left when a goAway does not say: the field may be absent.
UNSAID = 5.0
#: The share of the time left after which a move no longer waits for a quiet moment.
LATEST = 0.8
#: Seconds to wait for the handle that follows a turn.
HANDLE = 0.5
#: Seconds at least between two attempts of a planned move.
AT_LEAST = 0.05
#: Seconds to wait for the old socket's close handshake.
CLOSING = 1.0


class LinkState(Enum):
    """Where the connection stands."""

    __hash__ = object.__hash__  # Enum's own is Python code, and every drain asks whether the line is usable

    NEW = auto()
    DIALING = auto()
    SETUP = auto()
    LIVE = auto()
    LEAVING = auto()
    MOVING = auto()
    SWAPPING = auto()
    WAITING = auto()
    CLOSED = auto()


class LinkEvent(Enum):
    """What can happen to it."""

    CONNECT = auto()  # the user wants a session
    OPENED = auto()  # the current socket is open
    COMPLETE = auto()  # the service has completed the setup
    GONE = auto()  # the current socket has closed, or could not be opened
    NEXT_OPENED = auto()  # the successor's socket is open
    SPOKEN = auto()  # it is, but somebody has spoken meanwhile, and there is time to wait
    NEXT_GONE = auto()  # the successor's socket has closed, or could not be opened
    GO_AWAY = auto()  # the service will cut the connection, or the user wants another one
    MAY_MOVE = auto()  # nothing is open or expected, and the handle of the last turn came or was waited for
    DUE = auto()  # the deadline of the state has passed
    CLOSE = auto()  # the user closes the session


class LinkEffect(Enum):
    """What follows."""

    DIAL = auto()  # open a socket, which becomes the current one
    DIAL_NEXT = auto()  # open a socket for the successor, beside the current one
    SEND_SETUP = auto()  # write the setup, with the newest handle
    BEGIN = auto()  # the session stands: reset the attempts, and write what waits
    PLAN = auto()  # set how long the move may wait for a quiet moment
    PUT_OFF = auto()  # the successor could not be opened: set when to try again
    WAIT = auto()  # wait for the next quiet moment
    HANGUP = auto()  # close the current socket
    HANGUP_NEXT = auto()  # close the successor's socket
    LOSE = auto()  # tell calls, turns and outbox that the current socket is lost
    ADOPT = auto()  # make the successor the current link
    RETRY = auto()  # wait for the next dial, or give up: the close and the policy decide
    END = auto()  # close every socket and end the session


_CLOSE = (None, (LinkEffect.END,))

#: Where each input leads (``None``: what follows decides: RETRY to WAITING or CLOSED, END to CLOSED), and what follows.
TABLE: Mapping[tuple[LinkState, LinkEvent], tuple[LinkState | None, tuple[LinkEffect, ...]]] = {
    (LinkState.NEW, LinkEvent.CONNECT): (LinkState.DIALING, (LinkEffect.DIAL,)),
    (LinkState.NEW, LinkEvent.CLOSE): _CLOSE,
    (LinkState.DIALING, LinkEvent.OPENED): (LinkState.SETUP, (LinkEffect.SEND_SETUP,)),
    (LinkState.DIALING, LinkEvent.GONE): (None, (LinkEffect.RETRY,)),
    (LinkState.DIALING, LinkEvent.DUE): (None, (LinkEffect.HANGUP, LinkEffect.RETRY)),
    (LinkState.DIALING, LinkEvent.CLOSE): _CLOSE,
    (LinkState.SETUP, LinkEvent.COMPLETE): (LinkState.LIVE, (LinkEffect.BEGIN,)),
    # Something may have come before setupComplete.
    (LinkState.SETUP, LinkEvent.GONE): (None, (LinkEffect.RETRY, LinkEffect.LOSE)),
    (LinkState.SETUP, LinkEvent.DUE): (None, (LinkEffect.HANGUP, LinkEffect.RETRY, LinkEffect.LOSE)),
    (LinkState.SETUP, LinkEvent.CLOSE): _CLOSE,
    (LinkState.LIVE, LinkEvent.GONE): (None, (LinkEffect.RETRY, LinkEffect.LOSE)),
    (LinkState.LIVE, LinkEvent.GO_AWAY): (LinkState.LEAVING, (LinkEffect.PLAN,)),
    (LinkState.LIVE, LinkEvent.CLOSE): _CLOSE,
    (LinkState.LEAVING, LinkEvent.GO_AWAY): (LinkState.LEAVING, (LinkEffect.PLAN,)),
    (LinkState.LEAVING, LinkEvent.MAY_MOVE): (LinkState.MOVING, (LinkEffect.DIAL_NEXT,)),
    (LinkState.LEAVING, LinkEvent.DUE): (LinkState.MOVING, (LinkEffect.DIAL_NEXT,)),
    (LinkState.LEAVING, LinkEvent.GONE): (None, (LinkEffect.RETRY, LinkEffect.LOSE)),
    (LinkState.LEAVING, LinkEvent.CLOSE): _CLOSE,
    (LinkState.MOVING, LinkEvent.NEXT_OPENED): (LinkState.SWAPPING, (LinkEffect.HANGUP,)),
    (LinkState.MOVING, LinkEvent.SPOKEN): (LinkState.LEAVING, (LinkEffect.HANGUP_NEXT, LinkEffect.WAIT)),
    (LinkState.MOVING, LinkEvent.NEXT_GONE): (LinkState.LEAVING, (LinkEffect.PUT_OFF,)),
    (LinkState.MOVING, LinkEvent.DUE): (LinkState.LEAVING, (LinkEffect.HANGUP_NEXT, LinkEffect.PUT_OFF)),
    (LinkState.MOVING, LinkEvent.GONE): (LinkState.DIALING, (LinkEffect.LOSE, LinkEffect.ADOPT)),
    (LinkState.MOVING, LinkEvent.CLOSE): _CLOSE,
    (LinkState.SWAPPING, LinkEvent.GONE): (
        LinkState.SETUP,
        (LinkEffect.LOSE, LinkEffect.ADOPT, LinkEffect.SEND_SETUP),
    ),
    (LinkState.SWAPPING, LinkEvent.DUE): (
        LinkState.SETUP,
        (LinkEffect.LOSE, LinkEffect.ADOPT, LinkEffect.SEND_SETUP),
    ),
    (LinkState.SWAPPING, LinkEvent.NEXT_GONE): (None, (LinkEffect.RETRY, LinkEffect.LOSE)),
    (LinkState.SWAPPING, LinkEvent.CLOSE): _CLOSE,
    (LinkState.WAITING, LinkEvent.DUE): (LinkState.DIALING, (LinkEffect.DIAL,)),
    (LinkState.WAITING, LinkEvent.CLOSE): _CLOSE,
}

#: States in which frames may be written to the current socket.
USABLE = frozenset({LinkState.LIVE, LinkState.LEAVING, LinkState.MOVING})
#: States in which the current socket stands, and what comes from it counts.
READABLE = USABLE | {LinkState.SETUP, LinkState.SWAPPING}


class Link:
    """Where the connection stands, and what its deadlines are. ``move`` returns what must be done."""

    def __init__(
        self, policy: ReconnectPolicy | None, random: Callable[[], float], handle: str | None
    ) -> None:
        self.policy, self.random = policy, random
        self.state = LinkState.NEW
        self.current = 0  # the socket in use
        self.next = 0  # its successor, while one is being opened; else 0
        self.handle = handle
        self.shown: str | None = None  # the handle that the current setup showed
        self.due = inf
        self.leave_by = inf  # past this the service cuts the line
        self.not_before = -inf  # no dial earlier: a move has just failed, a socket is just closing
        self.dials = 0
        self.attempt = 0
        self._streak = 0
        self._moves = 0  # planned by the service, in a row: no turn has ended since the first of them
        self._moves_from = 0  # the socket that the last of them leaves

    def move(self, on: LinkEvent) -> tuple[LinkEffect, ...]:
        """Move; what is not in the table does nothing."""
        entry = TABLE.get((self.state, on))
        if entry is None:
            return ()
        state, effects = entry
        if state is not None:
            self.state = state
            if state in USABLE or state is LinkState.CLOSED:
                self.due = inf
        return effects

    def number(self, now: float, patience: float) -> int:
        """A number for another socket, which must stand within ``patience`` seconds."""
        self.dials += 1
        self.due = now + patience
        return self.dials

    def adopt(self, now: float, patience: float) -> None:
        """The successor is the current socket now, and has ``patience`` seconds for what is left of its setup."""
        self.current, self.next, self.due = self.next, 0, now + patience

    def began(self) -> None:
        """A session stands: the next drop has all its attempts."""
        self.attempt = 0
        self.leave_by = inf
        self.not_before = -inf

    def proved(self) -> None:
        """The session did something useful: delays start again from ``initial``. Until then they grow, for a flapping
        server."""
        self._streak = self._moves = 0

    def plan_move(self, time_left: float | None, now: float) -> None:
        """A goAway: the move waits for a quiet moment, but not past its share of the time.

        A service that says goAway on one new connection after another is dialled less and less often. ``inf``: it is
        the user who wants to move.
        """
        if time_left != inf and self._moves_from != self.current:
            self._moves, self._moves_from = self._moves + 1, self.current
            if self._moves > 1:
                policy = self.policy or ReconnectPolicy()
                self.not_before = now + policy.delay(self._moves - 1, self.random())
        self.leave_by = min(self.leave_by, now + max(0.0, UNSAID if time_left is None else time_left))
        self.due = self._latest(now)

    def hung_up(self, now: float) -> None:
        """The current socket is closing; until it is closed no other may show a handle."""
        self.not_before = now + CLOSING
        if self.state is LinkState.SWAPPING:
            self.due = self.not_before

    def put_off(self, now: float) -> None:
        """The next socket could not be opened: try again a little later, if there is time."""
        self.next = 0
        self.attempt += 1
        self._streak += 1
        policy = self.policy or ReconnectPolicy()
        self.not_before = now + max(AT_LEAST, policy.delay(self._streak, self.random()))
        self.due = self._latest(now)

    def wait_on(self, now: float) -> None:
        """The moment is not quiet any more: the move waits for the next one."""
        self.next = 0
        self.not_before = now + AT_LEAST
        self.due = self._latest(now)

    def _latest(self, now: float) -> float:
        """When the move no longer waits for quiet; after a move that failed, not at once."""
        return max(self.not_before, now + LATEST * max(0.0, self.leave_by - now))

    def may_dial(self) -> bool:
        """Whether the policy allows another dial."""
        policy = self.policy
        return policy is not None and self.attempt < policy.attempts and self.dials <= policy.budget

    def wait(self, now: float, *, at_once: bool = False) -> float | None:
        """Count another attempt; its delay in seconds, or ``None``: give up."""
        policy = self.policy
        if policy is None or not self.may_dial():
            return None
        self.attempt += 1
        self._streak += 1
        # A stale handle is redialled at once, but only within the first two attempts: later ones wait, in case the
        # server keeps doing it.
        at_once = at_once and self._streak <= 2
        delay = 0.0 if at_once else policy.delay(self._streak, self.random())
        delay = max(delay, self.not_before - now)
        self.state, self.due = LinkState.WAITING, now + delay
        return delay
