"""The dispatcher in a small world: every input it can meet, and a book kept beside it that knows what must hold.

The world never looks into the dispatcher to know what is owed: it books what the server asked, cancelled and
received, and what was told. Searches and random runs alike play its ``INPUTS``.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from livetools.protocol.actions import Consult, Outcome, Start, Stop, Undo
from livetools.protocol.calls import Calls
from livetools.protocol.events import (
    Call,
    Event,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
)
from livetools.protocol.ledger import State
from livetools.protocol.terms import Plan


@dataclass(frozen=True)
class Asked:
    id: str
    name: str = "tool"
    args: tuple[()] = ()


class World:
    """One dispatcher, one server, one shell. ``check`` holds the invariants; the inputs call it."""

    IDS = ("a", "b")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.policy = plan.policies["tool"]
        self.events: list[Event] = []
        self.actions: list[Any] = []
        self.calls = Calls(plan, self.events.append, self.actions.append)
        self.now = 0.0
        self.link = 1
        self.epoch = 0
        self.closed = False
        self.asked: set[tuple[int, str]] = set()  # (link, id) that the server waits for, or has
        self.answered: Counter[tuple[int, str]] = Counter()
        self.cancelled: set[tuple[int, str]] = set()
        self.lost: set[tuple[int, str]] = set()
        self.acknowledged: Counter[tuple[int, str]] = Counter()
        self.starts: Counter[tuple[int, str]] = Counter()
        self.runs: dict[int, tuple[int, str]] = {}  # run: (epoch, id)
        self.running: dict[str, list[int]] = {id: [] for id in self.IDS}
        self.settled_runs: set[int] = set()
        self.told: Counter[tuple[str, int]] = Counter()
        self.kept: dict[int, tuple[Call, int]] = {}  # each call by its identity, and its epoch
        self.undone: Counter[int] = Counter()
        self.stopped: set[int] = set()
        self.consulted: list[int] = []
        self.texts = 0
        self.owed_texts: set[int] = set()  # runs whose result must be delivered as text

    # What the server, the network and the handlers may do

    def offer(self, *ids: str) -> None:
        if self.closed:
            return
        self.asked |= {(self.link, id) for id in ids}
        self.calls.offer(self.link, [Asked(id) for id in ids], self.now)
        self.settle_book()

    def settle(self, id: str) -> None:
        """The oldest handler of this id that still runs ends."""
        if self.running[id]:
            run = self.running[id].pop(0)
            self.settled_runs.add(run)
            self.calls.settled(run, Outcome({"output": run}, result=run), self.now)
            self.settle_book()

    def part(self, id: str) -> None:
        """A generator yields."""
        if self.running[id]:
            self.calls.progress(self.running[id][0], "part", self.now, Outcome({"output": "part"}))
            self.settle_book()

    def cancel(self, id: str) -> None:
        if self.closed:
            return
        if (self.link, id) in self.asked and not self.answered[self.link, id]:
            self.cancelled.add((self.link, id))
        self.calls.cancel([id], self.now)
        self.settle_book()

    def write(self) -> None:
        """The shell drains."""
        for frame in self.calls.replies.frames(self.link):
            self.book_answers(json.loads(frame))
        self.calls.replies.answered.clear()
        self.settle_book()
        if not self.closed:
            self.nothing_lingers()

    def hear(self) -> None:
        self.calls.heard()
        self.settle_book()

    def expire(self) -> None:
        self.now += 1000.0
        self.calls.tick(self.now)
        assert self.calls.wake_at() > self.now
        self.settle_book()

    def resume(self) -> None:
        """The link is gone; the next one restores the session."""
        self.lose()
        if self.plan.answer_lost:
            for frame in self.calls.resumed(self.link):
                self.asked |= {(self.link, r["id"]) for r in responses(json.loads(frame))}
                self.book_answers(json.loads(frame))
        self.settle_book()

    def begin_anew(self) -> None:
        """The link is gone; the next one is a fresh session."""
        self.lose()
        self.epoch += 1
        if not self.closed:
            self.calls.afresh()
        self.settle_book()

    def approve(self) -> None:
        if self.consulted:
            self.calls.approve(self.consulted.pop(0), self.now)
            self.settle_book()

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.calls.close(self.now)
        self.settle_book()

    INPUTS = (
        ("offer", "a"),
        ("offer", "b"),
        ("offer", "a", "b"),
        ("settle", "a"),
        ("settle", "b"),
        ("part", "a"),
        ("cancel", "a"),
        ("cancel", "b"),
        ("write",),
        ("hear",),
        ("expire",),
        ("resume",),
        ("begin_anew",),
        ("close",),
    )

    def play(self, step: tuple[str, ...]) -> None:
        getattr(self, step[0])(*step[1:])

    # The book

    def lose(self) -> None:
        if self.closed:
            return
        self.calls.lose(self.now)
        self.settle_book()
        for link, id in self.asked:
            if link == self.link and not self.answered[link, id] and (link, id) not in self.cancelled:
                told = (link, id) in self.lost or self.acknowledged[link, id]
                assert told, f"the loss of {id} was not told"
        self.link += 1

    def book_answers(self, frame: dict[str, Any]) -> None:
        assert not self.closed, "something was sent after the end"
        for response in responses(frame):
            key = (self.link, response["id"])
            assert key in self.asked, f"{key} was never asked"
            assert response["name"] == "tool"
            assert isinstance(response["response"], dict)
            assert key not in self.cancelled, f"{key} was answered after its cancellation"
            assert not self.answered[key], f"{key} got something after its answer"
            if "under way" in str(response["response"]):
                self.acknowledged[key] += 1
            if not response.get("willContinue"):
                self.answered[key] += 1

    def settle_book(self) -> None:
        for event in self.events:
            if isinstance(event, ToolLost):
                key = (self.link, event.call.id)
                assert key not in self.lost, "the loss was told twice"
                self.lost.add(key)
            elif isinstance(event, (ToolFinished, ToolCancelled, ToolStarted)):
                self.kept.setdefault(id(event.call), (event.call, self.epoch))
                self.told[type(event).__name__, id(event.call)] += 1
        self.events.clear()
        for action in self.actions:
            if isinstance(action, Start):
                self.book_start(action)
            elif isinstance(action, Stop):
                self.stopped.add(action.run)
            elif isinstance(action, Undo):
                self.undone[action.run] += 1
                assert self.undone[action.run] == 1, "undone twice"
            elif isinstance(action, Consult):
                self.consulted.append(action.run)
        self.actions.clear()
        self.texts += len(self.calls.texts)
        self.calls.texts.clear()
        self.check()

    def book_start(self, start: Start) -> None:
        assert not self.closed, "a handler was started after the end"
        key = (self.kept[id(start.call)][1], start.call.id)
        self.runs[start.run] = key
        self.starts[key] += 1
        assert self.starts[key] == 1, f"the handler of {key} was started twice"
        self.running[start.call.id].append(start.run)

    def check(self) -> None:
        for (what, _), count in self.told.items():
            assert count == 1 or what == "ToolCancelled", f"{what} told {count} times"
        if self.closed:
            assert not self.calls.pending
            assert not self.calls.replies
            for id in self.IDS:
                for run in self.running[id]:
                    known = run in self.calls.records
                    assert known, "a handler that runs on after the end is forgotten"
            return
        stats = {(r["id"], r["state"]) for r in self.calls.stats(self.now)}
        for link, id in self.asked - self.cancelled - self.lost:
            if link == self.link and not self.answered[link, id]:
                named = any(name == id for name, _ in stats) or self.acknowledging(id)
                assert named, f"{id} is owed an answer that nobody knows of"

    def acknowledging(self, id: str) -> bool:
        """A background call whose acknowledgement waits to be written."""
        return self.policy.background and bool(self.calls.replies)

    def nothing_lingers(self) -> None:
        """After a drain no answer that is ready waits, but for the others of its message."""
        for record in self.calls.pending.values():
            if record.state is State.READY and record.link == self.link:
                assert self.calls.replies.grouped, "an answer that is ready was not written"
                assert record.group is not None
                assert any(m.state is State.OWED for m in record.group.members)

    def key(self) -> object:
        """What tells two worlds apart, for a search."""
        records = tuple(
            (
                r.call.id,
                r.state,
                r.phase,
                r.running,
                r.link - self.link,
                r.outcome is not None,
                r.undo,
                len(r.kept) > 0,
                r.deadline > self.now,
                self.calls.by_id.get(r.call.id) is r,
                tuple(m.call.id for m in r.group.members) if r.group else (),
                r.group.queued if r.group else False,
            )
            for r in {
                **{r.run: r for r in self.calls.by_id.values()},
                **self.calls.records,
            }.values()
        )
        book = tuple(
            (
                (self.link, id) in self.asked,
                self.answered[self.link, id],
                (self.link, id) in self.cancelled,
                self.starts[self.epoch, id],
                len(self.running[id]),
            )
            for id in self.IDS
        )
        queue = tuple(type(e).__name__ for e in self.calls.replies._queue)
        sent = tuple(r.call.id for r in self.calls.replies.sent)
        return records, book, queue, sent, self.closed


def responses(frame: dict[str, Any]) -> list[dict[str, Any]]:
    """The function responses in a frame, whichever format carries them."""
    if "toolResponse" in frame:
        return list(frame["toolResponse"]["functionResponses"])
    return [p["functionResponse"] for t in frame["clientContent"]["turns"] for p in t["parts"]]


def explore(plan: Plan, depth: int) -> int:
    """Every order of inputs up to ``depth``, breadth first, so that the first failure is the shortest. States seen."""
    seen: set[object] = set()
    frontier: list[tuple[tuple[str, ...], ...]] = [()]
    for _ in range(depth):
        following = []
        for path in frontier:
            for step in World.INPUTS:
                world = World(plan)
                try:
                    for past in path:
                        world.play(past)
                    world.play(step)
                except AssertionError as failure:
                    raise AssertionError(f"{failure} after {[*path, step]}") from failure
                key = world.key()
                if key not in seen:
                    seen.add(key)
                    following.append((*path, step))
        frontier = following
    return len(seen)
