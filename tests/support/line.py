"""The connection in a small world: every input it can meet, and a book beside it that knows what must hold.

The world plays the shell (it dials, hangs up, reports each end once) and the service (it completes a setup that it was
sent on a socket that stands). It never looks into the link to know which sockets there are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from livetools.protocol.actions import Close, Dial, End, Hangup
from livetools.protocol.connection import Connection, Snapshot
from livetools.protocol.events import Event
from livetools.protocol.link import CLOSING, LATEST, UNSAID, USABLE, LinkEvent, LinkState
from livetools.protocol.plan_types import Plan
from livetools.protocol.reconnect_policy import ReconnectPolicy

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
        self.over_calls: list[Exception | None] = []
        self.stands = False  # a session has begun and was not lost
        self.began_before = False
        self.since_began = 0  # dials
        self.leave_by = inf  # when the service cuts the socket in use
        self.dial_by = inf  # a goAway was heard, or a move failed: until then the next socket is dialled
        self.standing_now = Snapshot(False, True, -inf)
        self.connection = Connection(plan, policy, lambda: 0.5, self, self.tell, self.act)

    def play(self, step: tuple[str, ...]) -> None:
        getattr(self, step[0])(*step[1:])
        if step[0] != "connect":
            self.connection.move_if_quiet(self.now)  # as the machine does after each input
        for link, frame in self.connection.setups:
            self.sent_setup(link, json.loads(frame)["setup"])
        self.connection.setups.clear()
        self.check()

    # What can happen

    def connect(self) -> None:
        self.connection.on(LinkEvent.CONNECT, self.now)

    def opened(self, which: str) -> None:
        """A dial succeeds, or a socket that was hung up meanwhile stands after all."""
        dialling = [s for s in self.sockets if not s.open and not s.gone]
        if dialling:
            one = dialling[0 if which == "first" else -1]
            one.open = True
            self.connection.opened(one.link, self.now)

    def complete(self) -> None:
        """The service completes the newest setup that was sent."""
        one = next((s for s in reversed(self.sockets) if s.shown < inf and not s.gone), None)
        if one is not None and one.link == self.connection.link.current:
            self.connection.on(LinkEvent.COMPLETE, self.now)

    def gone(self, which: str, kind: str) -> None:
        """A socket ends: a clean end by itself is told of one that stood only."""
        alive = [s for s in self.sockets if not s.gone]
        if not alive:
            return
        one = alive[0 if which == "first" else -1]
        one.gone = True
        by_us = one.hung_up < inf
        self.connection.gone(one.link, Close(1000, "", by_us=True) if by_us else CLOSES[kind], self.now)
        if self.stands and not one.open and self.leave_by < inf:
            self.must_dial()

    def handle(self) -> None:
        if self.stands:
            self.connection.handed("h", self.now)

    def go_away(self, seconds: str) -> None:
        if self.stands and not self.ended:
            self.leave_by = min(self.leave_by, self.now + (float(seconds) if seconds else UNSAID))
            self.must_dial()
            self.connection.go_away(float(seconds) if seconds else None, self.now)

    def must_dial(self) -> None:
        """The next socket is dialled in time, unless that is done, or no dial is left."""
        policy, moving = self.policy, any(not (s.stood or s.gone or s.hung_up < inf) for s in self.sockets)
        if (
            policy
            and not moving
            and len(self.sockets) <= policy.budget
            and self.since_began < policy.attempts
        ):
            share = LATEST * max(0.0, self.leave_by - self.now)
            self.dial_by = min(self.dial_by, self.now + max(share, policy.maximum))

    def calls(self) -> None:
        was = self.standing_now
        self.standing_now = Snapshot(not was.calls, was.idle, was.ended_at)

    def idle(self) -> None:
        """The model's turn begins or ends."""
        was = self.standing_now
        self.standing_now = Snapshot(was.calls, not was.idle, self.now if not was.idle else was.ended_at)

    def due(self) -> None:
        """The clock runs to where the connection wants to be woken."""
        if self.connection.wake_at() < inf:
            self.now = max(self.now, self.connection.wake_at())
            self.tick()

    def wait(self, seconds: str) -> None:
        """Time passes; the clock wakes the connection early, or late."""
        self.now += float(seconds)
        self.tick()

    def tick(self) -> None:
        self.connection.tick(self.now)
        assert self.connection.wake_at() > self.now, "it asks to be woken for ever"
        assert self.now < self.dial_by or self.ended, "the time was let pass, and nothing was dialled"
        for one in self.sockets:
            waits = not one.open and not one.gone and one.hung_up == inf
            assert not waits or self.now < one.dialled + 2 * self.plan.setup_timeout, "a dial without an end"

    def close(self) -> None:
        self.connection.on(LinkEvent.CLOSE, self.now)
        assert self.ended, "closed, and no end"

    # What the connection asks and tells

    def snapshot(self) -> Snapshot:
        return self.standing_now

    def new_session(self) -> list[Mapping[str, Any]]:
        return []

    def began(self, restored: bool, now: float) -> None:
        assert not self.ended, "a session began after the end"
        assert not self.stands, "a session began while another stood"
        current = next(s for s in self.sockets if s.link == self.connection.link.current)
        assert restored == current.resumes, "told to be restored without a handle, or fresh with one"
        current.stood = self.stands = self.began_before = True
        self.since_began = 0

    def lost(self, now: float, close: Close) -> None:
        current = next(s for s in self.sockets if s.link == self.connection.link.current)
        assert current.shown < inf, "something was lost with a socket on which nothing began"
        assert not current.lost, "lost twice"
        current.lost = True
        self.stands = False
        self.leave_by = self.dial_by = inf

    def over(self, error: Exception | None, now: float) -> None:
        self.over_calls.append(error)

    def tell(self, event: Event) -> None:
        pass

    def act(self, action: object) -> None:
        if isinstance(action, Dial):
            assert not self.ended, "dialled after the end"
            assert all(s.link != action.link for s in self.sockets), "one number for two sockets"
            self.sockets.append(Socket(action.link, self.now))
            self.since_began += 1
            self.dial_by = inf
        elif isinstance(action, Hangup):
            one = next(s for s in self.sockets if s.link == action.link)
            assert not one.gone, "hung up a socket that was gone"
            assert one.hung_up == inf, "hung up twice"
            one.hung_up = self.now
            if self.stands and not one.open and self.leave_by < inf:
                self.must_dial()
        else:
            assert isinstance(action, End)
            self.ended.append(action.error)

    def sent_setup(self, link: int, setup: Mapping[str, Any]) -> None:
        one = next(s for s in self.sockets if s.link == link)
        if one.gone or one.hung_up < inf:
            return  # it goes nowhere
        assert one.open, "a setup on a socket that does not stand"
        assert one.shown == inf, "two setups on one socket"
        one.shown, one.resumes = self.now, "handle" in setup.get("sessionResumption", {})
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
            assert self.over_calls == self.ended
            assert all(s.gone or s.hung_up < inf for s in self.sockets), "a socket outlives the session"
            assert self.connection.wake_at() == inf
            return
        assert not self.over_calls
        if not self.sockets:
            return
        using = [s for s in self.sockets if not s.gone and s.hung_up == inf]
        assert len(using) <= 2, "three sockets at once"
        assert sum(s.shown < inf for s in using) <= 1, "two sessions at once"
        self.check_policy()
        for one in self.sockets:
            over = one.shown < inf and (one.gone or one.hung_up < inf)
            swapping = self.connection.link.state is LinkState.SWAPPING
            assert not over or one.lost or swapping, "what hung on a socket was not lost with it"
        line = self.connection.link.state
        assert line is not LinkState.CLOSED
        assert (line in USABLE) == self.stands == self.connection.usable or line is LinkState.SWAPPING
        if not self.stands or line in (LinkState.MOVING, LinkState.SWAPPING):
            assert self.connection.wake_at() < inf, "something is awaited for ever"
        current = next(s for s in self.sockets if s.link == self.connection.link.current)
        assert line is not LinkState.SETUP or current.shown < inf, "a setup is awaited that was not sent"
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
            if ended or (self.stands and self.connection.link.state in (LinkState.LIVE, LinkState.LEAVING)):
                return
            if not self.sockets:
                self.play(("connect",))
            closing = [s for s in self.sockets if s.hung_up < inf and not s.gone]
            dialling = [s for s in self.sockets if not s.open and not s.gone and s.hung_up == inf]
            if closing:
                closing[0].gone = True
                self.connection.gone(closing[0].link, Close(1000, "", by_us=True), self.now)
                self.play(("calls",))
                self.play(("calls",))
            elif dialling:
                dialling[0].open = True
                self.connection.opened(dialling[0].link, self.now)
                self.play(("complete",))
            else:
                self.play(("complete",))
                if not self.stands:
                    self.play(("due",))
        raise AssertionError("a service that behaves gets no session")

    def key(self) -> object:
        """What tells two worlds apart, for a search."""
        link, connection = self.connection.link, self.connection
        sockets = tuple(
            (
                s.open,
                s.shown < inf,
                s.resumes,
                s.stood,
                s.link == link.current,
                s.link == link.next,
                round(min(self.now - s.hung_up, CLOSING), 3),
            )
            for s in self.sockets
            if not s.gone
        )
        at = connection.wake_at()
        return (
            link.state,
            sockets,
            len(self.sockets),
            link.attempt,
            link._streak,
            min(link._moves, 3),  # the delays that differ here
            link._moves_from == link.current,
            link.handle,
            link.shown,
            round(link.due - self.now, 3) if link.due < inf else None,
            round(at - self.now, 3) if abs(at) < inf else at,
            round(link.leave_by - self.now, 3) if link.leave_by < inf else None,
            round(self.dial_by - self.now, 3) if self.dial_by < inf else None,
            link.not_before > self.now,
            connection.stood,
            connection.away,
            tuple(sorted(connection._reasons)),
            self.standing_now.calls,
            self.standing_now.idle,
            connection.handle_at >= self.standing_now.ended_at,
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
