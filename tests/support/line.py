"""The connection in a small world: every input it can meet, and a book beside it that knows what must hold.

The world plays the shell (it dials, hangs up, reports each end once) and the service (it completes a setup that it was
sent on a socket that stands). It never looks into the link to know which sockets there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from livetools.events import Reconnecting
from livetools.protocol.calls.driver_actions import Close, Dial, EndSession, Hangup
from livetools.protocol.connection.connection_states import USABLE, LinkState
from livetools.protocol.connection.dials_and_moves import (
    AT_LEAST,
    CLOSING,
    LATEST,
    UNSAID,
    Begin,
    Connection,
    Consequence,
    Lose,
    SendSetup,
    Snapshot,
)
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.plan_fields import Plan

from .search import Path

POLICY = ReconnectPolicy(attempts=2, initial=0.25, maximum=1.0, jitter=0.0, budget=3)

#: A close of each kind of verdict.
CLOSES = {
    "drop": Close(1006),
    "clean": Close(1000),
    "refused": Close(1007, "API key not valid. Please pass a valid API key."),
    "stale": Close(1008, "BidiGenerateContent session not found"),
    "odd": Close(3003, "who knows"),  # worth one more dial, and not two
}


@dataclass
class Socket:
    """What the shell knows of one socket."""

    link: int
    dialled: float  # when
    open: bool = False
    gone: bool = False
    hung_up: float = inf  # when
    shown: float = inf  # when the setup was sent
    resumes: bool = False  # it showed a handle
    stood: bool = False  # its setup was completed
    lost: bool = False  # it was told that what hung on it is lost


class World:
    """One connection, one shell, one service."""

    INPUTS = (
        ("connect",),
        ("opened", "first"),
        ("opened", "last"),
        ("complete",),
        ("gone", "first", "drop"),
        ("gone", "last", "drop"),
        ("gone", "first", "clean"),
        ("gone", "last", "refused"),
        ("gone", "last", "stale"),
        ("gone", "first", "odd"),
        ("handle",),
        ("go_away", "50"),
        ("go_away", ""),
        ("go_away", "0"),
        ("calls",),
        ("idle",),
        ("due",),
        ("wait", "0.1"),
        ("wait", "6"),
        ("close",),
    )

    def __init__(self, plan: Plan, policy: ReconnectPolicy | None = POLICY) -> None:
        self.plan, self.policy = plan, policy
        self.now = 0.0
        self.sockets: list[Socket] = []
        self.ended: list[Exception | None] = []
        self.closed = False  # by the user
        self.forced = False  # the last socket was dialled since no quiet moment came
        self.failed_at = -inf  # the last move that came to nothing
        self.told = 0  # as many sockets had been dialled when another dial was told
        self.stands = False  # a session has begun and was not lost
        self.began_before = False
        self.since_began = 0  # dials
        self.leave_by = inf  # when the service cuts the socket in use
        self.dial_by = inf  # a goAway was heard, or a move failed: until then the next socket is dialled
        self.in_call, self.model_idle = False, True
        self.connection = Connection(plan, policy, lambda: 0.5)

    @property
    def calm_now(self) -> bool:
        return self.model_idle and not self.in_call

    @property
    def standing_now(self) -> Snapshot:
        return Snapshot("tool" if self.in_call else "idle" if self.model_idle else "turn")

    def play(self, step: tuple[str, ...]) -> None:
        getattr(self, step[0])(*step[1:])
        if step[0] != "connect":
            self.do(
                self.connection.planned_move(self.standing_now, self.now)
            )  # as the machine does after each
        self.check()

    # What can happen

    def connect(self) -> None:
        self.do(self.connection.connect(self.now))

    def opened(self, which: str) -> None:
        """A dial succeeds, or a socket that was hung up meanwhile stands after all."""
        dialling = [s for s in self.sockets if not s.open and not s.gone]
        if dialling:
            one = dialling[0 if which == "first" else -1]
            one.open = True
            self.do(self.connection.opened(one.link, self.standing_now, self.now))

    def complete(self) -> None:
        """The service completes the newest setup that was sent."""
        one = next((s for s in reversed(self.sockets) if s.shown < inf and not s.gone), None)
        if one is not None and one.link == self.connection.current:
            self.do(self.connection.completed(self.now))

    def gone(self, which: str, kind: str) -> None:
        """A socket ends: a clean end by itself is told of one that stood only."""
        alive = [s for s in self.sockets if not s.gone]
        if not alive:
            return
        one = alive[0 if which == "first" else -1]
        one.gone = True
        by_us = one.hung_up < inf
        if not by_us:
            self.has_failed(one)
        may = self.began_before and not self.ended and not by_us and kind == "drop" and self.may_dial()
        close = Close(1000, "", by_us=True) if by_us else CLOSES[kind]
        self.do(self.connection.gone(one.link, close, self.standing_now, self.now))
        assert not (may and self.ended), "given up, though another dial was allowed"
        if self.stands and not one.open and self.leave_by < inf:
            self.must_dial()

    def handle(self) -> None:
        if self.stands:
            self.connection.handed("h")

    def go_away(self, seconds: str) -> None:
        if self.stands and not self.ended:
            self.leave_by = min(self.leave_by, self.now + (float(seconds) if seconds else UNSAID))
            self.must_dial()
            self.connection.go_away(float(seconds) if seconds else None, self.now)

    def may_dial(self) -> bool:
        """Whether the policy allows another dial."""
        policy = self.policy
        return bool(policy and len(self.sockets) <= policy.budget and self.since_began < policy.attempts)

    def must_dial(self) -> None:
        """The next socket is dialled in time, unless that is done, or no dial is left."""
        moving = any(not (s.stood or s.gone or s.hung_up < inf) for s in self.sockets)
        if self.policy and not moving and self.may_dial():
            share = LATEST * max(0.0, self.leave_by - self.now)
            self.dial_by = min(self.dial_by, self.now + max(share, self.policy.maximum))

    def calls(self) -> None:
        self.in_call = not self.in_call

    def idle(self) -> None:
        """The model's turn begins or ends."""
        self.model_idle = not self.model_idle
        if self.model_idle:
            self.connection.conversation_advanced(self.now)

    def due(self) -> None:
        """The clock runs to where the connection wants to be woken."""
        if self.wake_at() < inf:
            self.now = max(self.now, self.wake_at())
            self.tick()

    def wait(self, seconds: str) -> None:
        """Time passes; the clock wakes the connection early, or late."""
        self.now += float(seconds)
        self.tick()

    def tick(self) -> None:
        self.do(self.connection.tick(self.standing_now, self.now))
        assert self.wake_at() > self.now, "it asks to be woken for ever"
        assert self.now < self.dial_by or self.ended, "the time was let pass, and nothing was dialled"
        for one in self.sockets:
            waits = not one.open and not one.gone and one.hung_up == inf
            assert not waits or self.now < one.dialled + 2 * self.plan.setup_timeout, "a dial without an end"

    def close(self) -> None:
        self.closed = self.closed or not self.ended
        self.do(self.connection.close(self.now))
        assert self.ended, "closed, and no end"

    # What the connection decides

    def wake_at(self) -> float:
        return self.connection.wake_at(self.standing_now)

    def do(self, consequences: Iterable[Consequence]) -> None:
        for what in consequences:
            match what:
                case Dial(link):
                    self.dial(link)
                case Hangup(link):
                    self.hang_up(self.socket(link))
                case SendSetup(link, handle):
                    self.send_setup(self.socket(link), handle)
                case Begin(first, restored):
                    self.begin(first, restored)
                case Lose():
                    self.lose()
                case Reconnecting(_, delay):
                    assert not self.ended, "another dial is told after the end"
                    self.told = len(self.sockets)
                    assert abs(self.connection.due - self.now - delay) < 1e-6, (
                        "it is not dialled when it was told"
                    )
                case EndSession(error):
                    self.ended.append(error)

    def socket(self, link: int) -> Socket:
        return next(s for s in self.sockets if s.link == link)

    def begin(self, first: bool, restored: bool) -> None:
        assert not self.ended, "a session began after the end"
        assert not self.stands, "a session began while another stood"
        assert first is not self.began_before, "two first sessions, or none"
        current = self.socket(self.connection.current)
        assert restored == current.resumes, "told to be restored without a handle, or fresh with one"
        current.stood = self.stands = self.began_before = True
        self.since_began = 0

    def lose(self) -> None:
        begun = [s for s in self.sockets if s.shown < inf and not s.lost]
        assert begun, "something was lost twice, or with a socket on which nothing began"
        [one] = begun
        one.lost = True
        self.stands, self.failed_at = False, -inf
        self.leave_by = self.dial_by = inf

    def dial(self, link: int) -> None:
        assert not self.ended, "dialled after the end"
        assert all(s.link != link for s in self.sockets), "one number for two sockets"
        assert self.now > self.failed_at + AT_LEAST - 1e-9, (
            "a move that has just failed is tried again at once"
        )
        self.sockets.append(Socket(link, self.now))
        self.forced = self.connection.state is LinkState.FORCED
        self.since_began += 1
        self.dial_by = inf

    def hang_up(self, one: Socket) -> None:
        assert not one.gone, "hung up a socket that was gone"
        assert one.hung_up == inf, "hung up twice"
        one.hung_up = self.now
        if self.connection.state is LinkState.SWAPPING:
            assert self.calm_now or self.forced, "moved in the middle of something, with time left"
        if self.connection.state is LinkState.LEAVING and one.open:
            assert not self.calm_now, "a move was put off though the moment was quiet"
        self.has_failed(one)
        if self.stands and not one.open and self.leave_by < inf:
            self.must_dial()

    def has_failed(self, one: Socket) -> None:
        """It was to succeed the one that stands, and will not."""
        if self.stands and not one.stood:
            self.failed_at = self.now

    def send_setup(self, one: Socket, handle: str | None) -> None:
        if one.gone or one.hung_up < inf:
            return  # it goes nowhere
        assert one.open, "a setup on a socket that does not stand"
        assert one.shown == inf, "two setups on one socket"
        one.shown, one.resumes = self.now, handle is not None
        assert not self.stands, "another session while one stands"
        for other in self.sockets:
            closing = self.now - other.hung_up >= CLOSING
            if other is not one and other.shown < inf and not other.gone and not closing:
                raise AssertionError("a setup was sent while another socket's session stands")

    # The book

    def check(self) -> None:
        """What must hold, whatever happened."""
        if self.ended:
            assert len(self.ended) == 1, "ended twice"
            assert all(s.gone or s.hung_up < inf for s in self.sockets), "a socket outlives the session"
            assert self.wake_at() == inf
            assert self.connection.state is LinkState.CLOSED
            assert self.closed or all(s.lost or s.shown == inf for s in self.sockets), (
                "an end without its loss"
            )
            return
        assert self.connection.state is not LinkState.BROKEN, "what follows was not decided"
        if not self.sockets:
            return
        using = [s for s in self.sockets if not s.gone and s.hung_up == inf]
        assert len(using) <= 2, "three sockets at once"
        assert sum(s.shown < inf for s in using) <= 1, "two sessions at once"
        self.check_policy()
        for one in self.sockets:
            over = one.shown < inf and (one.gone or one.hung_up < inf)
            swapping = self.connection.state is LinkState.SWAPPING
            assert not over or one.lost or swapping, "what hung on a socket was not lost with it"
        line = self.connection.state
        assert line is not LinkState.CLOSED
        assert (line in USABLE) == self.stands == self.connection.usable or line is LinkState.SWAPPING
        if not self.stands or line in (LinkState.MOVING, LinkState.FORCED, LinkState.SWAPPING):
            assert self.wake_at() < inf, "something is awaited for ever"
        current = self.socket(self.connection.current)
        assert line is not LinkState.SETUP or current.shown < inf, "a setup is awaited that was not sent"
        assert line is not LinkState.WAITING or self.told == len(self.sockets), "the next dial was not told"
        if line not in (LinkState.WAITING, LinkState.SWAPPING):
            assert using, "no socket, and no attempt is due"

    def check_policy(self) -> None:
        """Dials stay within the policy."""
        if self.policy is None:
            assert len(self.sockets) <= 1 + (self.plan.handle is not None), "dialled again without leave"
            return
        assert len(self.sockets) <= self.policy.budget + 1, "more dials than the budget"
        assert self.since_began <= self.policy.attempts + 1, "more attempts than allowed"
        if not self.began_before:
            fresh = self.plan.handle is not None and len(self.sockets) == 2
            assert len(self.sockets) == 1 or fresh, "a session that cannot be opened was dialled again"

    def calm(self) -> None:
        """From now on all goes well: the session comes to stand, if it has not ended before."""
        ended = bool(self.ended)
        for _ in range(40):
            assert ended or not self.ended, "a service that behaves, and the session has ended"
            if ended or (self.stands and self.connection.state in (LinkState.LIVE, LinkState.LEAVING)):
                return
            if not self.sockets:
                self.play(("connect",))
            closing = [s for s in self.sockets if s.hung_up < inf and not s.gone]
            dialling = [s for s in self.sockets if not s.open and not s.gone and s.hung_up == inf]
            if closing:
                closing[0].gone = True
                end = Close(1000, "", by_us=True)
                self.do(self.connection.gone(closing[0].link, end, self.standing_now, self.now))
                self.play(("calls",))
                self.play(("calls",))
            elif dialling:
                dialling[0].open = True
                self.do(self.connection.opened(dialling[0].link, self.standing_now, self.now))
                self.play(("complete",))
            else:
                self.play(("complete",))
                if not self.stands:
                    self.play(("due",))
        raise AssertionError("a service that behaves gets no session")

    def key(self) -> object:
        """What tells two worlds apart, for a search."""
        connection = self.connection
        sockets = tuple(
            (
                s.open,
                s.shown < inf,
                s.resumes,
                s.stood,
                s.link == connection.current,
                s.link == connection.next,
                round(min(self.now - s.hung_up, CLOSING), 3),
            )
            for s in self.sockets
            if not s.gone
        )
        at = self.wake_at()
        return (
            connection.state,
            sockets,
            len(self.sockets),
            connection.attempts.made,
            connection.attempts._streak,
            min(connection.attempts._moves, 3),  # the delays that differ here
            connection.attempts._moves_from == connection.current,
            connection.handle,
            connection._shown,
            round(connection.due - self.now, 3) if connection.due < inf else None,
            round(at - self.now, 3) if abs(at) < inf else at,
            round(connection._leave_by - self.now, 3) if connection._leave_by < inf else None,
            round(self.dial_by - self.now, 3) if self.dial_by < inf else None,
            connection._not_before > self.now,
            connection.stood,
            tuple(sorted(connection._reasons)),
            self.in_call,
            self.model_idle,
            connection.advanced_at > -inf,
            self.stands,
            bool(self.ended),
        )


STANDING = (("connect",), ("opened", "first"), ("complete",))
RESUMABLE = (*STANDING, ("handle",))

#: Beginnings from which a few more inputs reach what few inputs from the start do not.
BEGINNINGS: tuple[Path, ...] = (
    (),
    STANDING,
    RESUMABLE,
    (*RESUMABLE, ("gone", "first", "drop"), ("due",)),
    (*RESUMABLE, ("go_away", "50")),
    (*RESUMABLE, ("go_away", "50"), ("opened", "last")),
    (*RESUMABLE, ("calls",), ("go_away", "")),
    (*RESUMABLE, ("gone", "first", "odd"), ("due",), ("opened", "last"), ("complete",)),
)
