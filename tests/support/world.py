"""The dispatcher in a small world: every input it can meet, and a book beside it that knows what must hold.

The world never looks into the dispatcher to know what is owed. It books what the server asked, cancelled and got, what
handlers did, and what was told; ``check`` says what must follow. Searches and random runs alike play its ``INPUTS``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from livetools.events import Call, Event, ToolCancelled, ToolFinished, ToolLost, ToolStarted
from livetools.protocol.calls.call_states import CallState
from livetools.protocol.calls.calls import Calls
from livetools.protocol.calls.driver_actions import Outcome, RunTool, StopTool, Undo
from livetools.setup.plan_fields import Plan

from .desk import Desk
from .search import Path, search


@dataclass(frozen=True)
class Asked:
    id: str
    args: dict[str, int]
    name: str = "tool"


@dataclass
class Book:
    """One call: what became of it, and of the debt on the link that asked last."""

    call: Call
    n: int
    link: int
    mates: list[Book] = field(default_factory=list)  # asked in the same message, itself included
    # the run
    run: int = 0
    running: bool = False
    settled: bool = False
    expired: bool = False
    # the debt
    answered: bool = False
    heard: bool = False
    acknowledged: bool = False  # answered, but only that it is under way
    cancelled: bool = False
    ever_cancelled: bool = False
    lost: bool = False
    reasked: bool = False
    # what was told and done
    finished: int = 0
    told_cancelled: int = 0
    told_lost: int = 0
    expected_lost: int = 0
    owes_cancelled: bool = False
    texts: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)  # yielded while the call was served
    first: int = 0  # of the parts, the first that was owed to the link
    interims: int = 0  # sent on it
    read: int = 0  # of those
    held: int = 0  # of the parts, those that the newest handle restores
    started: int = 0
    stopped: int = 0
    undone: int = 0

    @property
    def over(self) -> bool:
        return self.settled or self.expired

    @property
    def open(self) -> bool:
        """The server waits for an answer on the link."""
        return not (self.answered or self.cancelled or self.lost)


class World:
    """One dispatcher, one server, one shell."""

    IDS = ("a", "b")
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
        ("handle",),
        ("expire",),
        ("resume",),
        ("begin_anew",),
        ("close",),
    )

    def __init__(self, plan: Plan) -> None:
        self.plan, self.policy = plan, plan.policies["tool"]
        self.events: list[Event] = []
        self.actions: list[Any] = []
        self.calls = Calls(plan, self.events.append, self.actions.append)
        self.desk = Desk(self.calls)
        self.now, self.link, self.closed = 0.0, 1, False
        self.books: list[Book] = []
        self.by_id: dict[str, Book] = {}  # of this session
        self.records: list[Any] = []

    def play(self, step: tuple[str, ...]) -> None:
        getattr(self, step[0])(*step[1:])
        self.book()
        self.check()

    # What the server, the network and the handlers may do

    def offer(self, *ids: str) -> None:
        if self.closed:
            return
        asked, mates = [], []
        for id in ids:
            known = self.by_id.get(id)
            if known is None:
                n = 0 if self.policy.join else len(self.books)
                known = self.by_id[id] = Book(Call(id, "tool"), n, self.link)
                self.books.append(known)
                mates.append(known)
            elif known.link != self.link:
                known.link, known.reasked = self.link, True
                known.first, known.interims, known.read = known.held, 0, 0
                known.answered = known.heard = known.acknowledged = known.cancelled = known.lost = False
                mates.append(known)
            asked.append(Asked(id, {"n": known.n}))
        for book in mates:
            book.mates = mates
        self.records += self.calls.receive_calls(self.link, asked, self.now)

    def settle(self, id: str) -> None:
        """The oldest handler of this id that still runs ends."""
        book = next((b for b in self.books if b.call.id == id and b.running), None)
        if book is None:
            return
        book.running, book.settled = False, True
        response = {} if self.policy.streams else {"output": book.n}
        self.calls.settled(book.run, Outcome(response, result=book.n), self.now)

    def part(self, id: str) -> None:
        """A generator yields."""
        book = next((b for b in self.books if b.call.id == id and b.running), None)
        if book is None:
            return
        part = f"{book.call.id}{book.n}, part {len(book.parts)}"
        served = book.open or (book.lost and not book.cancelled)
        if self.policy.streams and not self.closed and not book.over and served:
            book.parts.append(part)
        self.calls.progress(book.run, part, self.now, Outcome({"output": part}))

    def cancel(self, id: str) -> None:
        if self.closed:
            return
        book = self.by_id.get(id)
        if book is not None and not book.cancelled:
            crossing = book.answered and not (book.heard or book.acknowledged or book.lost)
            detached = (book.lost or self.policy.background) and not book.over
            if (book.open and not self.policy.background) or crossing or detached:
                book.owes_cancelled = True
            if book.open or crossing or detached:
                book.cancelled = book.ever_cancelled = True
            excused = book.lost and book.link == self.link
            book.cancelled = book.cancelled or excused  # its error is not said again on the next link
            book.heard = book.heard or book.acknowledged  # nothing is lost of what was taken back
        self.desk.cancel([id], self.now)

    def write(self) -> None:
        """The shell drains."""
        for reply in self.desk.take():
            frame = reply.make()
            assert frame is not None
            self.take(json.loads(frame))
        for book in self.books if not self.closed else ():
            if book.link != self.link or not book.open:
                continue
            assert not self.policy.background, "a background call was not acknowledged"
            waits = self.calls.replies.grouped and any(m.open and not m.over for m in book.mates)
            assert not book.over or waits, f"the answer of {book.call.id} is ready, and was not written"

    def hear(self) -> None:
        self.desk.hear()
        for book in self.books:
            book.heard = book.heard or (book.answered and book.link == self.link)
            if book.link == self.link:
                book.read = book.first + book.interims

    def handle(self) -> None:
        """The state as it is now will be restored on the next link."""
        self.desk.handle()
        for book in self.books:
            if book.link == self.link and not book.lost:
                book.held = max(book.held, book.read)

    def expire(self) -> None:
        self.now += 1000.0
        for book in self.books if not self.closed else ():
            served = book.open or ((book.lost or self.policy.background) and not book.cancelled)
            timed = bool(book.run) or self.policy.join  # a call that waits for a slot has all its time yet
            book.expired = book.expired or (served and not book.over and timed)
        self.calls.tick(self.now)
        assert self.calls.wake_at() > self.now

    def resume(self) -> None:
        """The link is gone; the next one restores the session."""
        self.lose()
        if self.plan.answers_lost and not self.closed:
            lost = [b for b in self.books if b.lost and b.link == self.link - 1 and not b.cancelled]
            frames = self.calls.resumed(self.link)
            answers = [r for f in frames for r in responses(json.loads(f))]
            assert sorted(r["id"] for r in answers) == sorted(b.call.id for b in lost)
            assert all("error" in r["response"] for r in answers)
            for book in lost:
                book.link, book.answered, book.heard = self.link, True, True

    def begin_anew(self) -> None:
        """The link is gone; the next one is a fresh session."""
        self.lose()
        if not self.closed:
            self.by_id = {}
            self.calls.new_session()

    def lose(self) -> None:
        if self.closed:
            return
        for book in self.books:
            swallowed = book.answered and not book.heard
            if book.link == self.link and not book.cancelled and not book.lost and (book.open or swallowed):
                book.lost, book.reasked = True, False
                book.expected_lost += 1
        self.desk.lose(self.now)
        self.link += 1

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.calls.close(self.now, self.desk.outbox.lost())

    # The book

    def take(self, frame: dict[str, Any]) -> None:
        """The server reads an answer."""
        assert not self.closed, "something was sent after the end"
        for response in responses(frame):
            book = self.by_id.get(response["id"])
            assert book is not None, "never asked"
            assert book.link == self.link, "asked on another link"
            assert response["name"] == "tool"
            assert isinstance(response["response"], dict)
            assert not book.cancelled, "answered after the cancellation"
            assert not book.answered, "something was sent after the answer"
            if response.get("willContinue"):
                book.interims += 1
            else:
                book.answered = True
                book.acknowledged = "under way" in str(response["response"])

    def book_of(self, call: Call) -> Book:
        """That of this call; of one that was remembered as bytes there is another object."""
        known = next((b for b in self.books if b.call is call), None)
        return known or next(b for b in reversed(self.books) if b.call == call)

    def book(self) -> None:
        """What was told and asked of the shell."""
        for event in self.events:
            if isinstance(event, ToolStarted):
                book = next(b for b in self.books if b.call.id == event.call.id and not b.call.args)
                book.call = event.call
            elif isinstance(event, (ToolFinished, ToolCancelled, ToolLost)):
                book = self.book_of(event.call)
                book.finished += isinstance(event, ToolFinished)
                book.settled = book.settled or isinstance(event, ToolFinished)
                book.told_cancelled += isinstance(event, ToolCancelled)
                book.told_lost += isinstance(event, ToolLost)
        self.events.clear()
        for action in self.actions:
            book = self.book_of(action.call)
            if isinstance(action, RunTool):
                assert not self.closed, "a handler was started after the end"
                book.run, book.running = action.run, True
                book.started += 1
            book.stopped += isinstance(action, StopTool)
            book.undone += isinstance(action, Undo)
        self.actions.clear()
        for _, text in self.calls.late():
            told = [b for b in self.books if f'"n": {b.n}}})' in text]
            min(told, key=lambda b: len(b.texts)).texts.append(text)

    def check(self) -> None:
        """What must hold, whatever happened."""
        for book in self.books:
            assert book.started <= 1, "started twice"
            assert book.undone <= 1, "undone twice"
            assert book.finished <= 1, "told twice that it finished"
            assert book.told_lost == book.expected_lost, "a loss was not told, or told twice"
            assert book.told_cancelled >= book.owes_cancelled, "a cancellation was not told"
            assert book.first + book.interims <= len(book.parts), "a part was sent that nobody yielded"
            if not self.policy.join:
                self.check_run(book)
        if self.closed:
            assert not self.calls.ledger.pending
            assert not self.calls.replies.queue
            final = {CallState.PAID, CallState.VOID, CallState.DONE}
            assert all(r.state in final for r in self.records)
            return
        named = {r["id"] for r in self.calls.stats(self.now)}
        for id, book in self.by_id.items():
            if book.link == self.link and book.open:
                waits = self.policy.background and bool(self.calls.replies.queue)
                assert id in named or waits, "an answer is owed that nobody knows of"

    def check_run(self, book: Book) -> None:
        """Of a call that has a run of its own."""
        taken_back = book.ever_cancelled or self.closed
        if book.over and not taken_back:
            assert book.finished == 1, "the end of a handler was not told"
        if book.running and self.policy.cancellable and (book.expired or book.cancelled or self.closed):
            assert book.stopped == 1, "a handler was not stopped, or twice"
        if self.closed:
            return
        may = book.over and not book.ever_cancelled
        owes = (
            book.lost and not book.reasked and self.plan.lost_results == "deliver"
        ) or self.policy.background
        if may and owes and book.run:
            assert len(book.texts) == 1, "a result was not delivered as text, or twice"
            told = [part for part in book.parts if part in book.texts[0]]
            assert told == book.parts[book.held :], f"of {book.parts} it was told {told}"
        elif not book.expected_lost and not self.policy.background:
            assert not book.texts, "a text that nobody is owed"
        if book.answered and not book.lost and self.policy.streams and not book.reasked:
            assert book.first + book.interims == len(book.parts), "a part was not sent"

    def key(self) -> object:
        """What tells two worlds apart, for a search: all that a later input or check may look at."""
        calls, now = self.calls, self.now
        number = {id(record): n for n, record in enumerate(self.records)}

        def numbers(records: Iterable[Any]) -> tuple[int | None, ...]:
            return tuple(number.get(id(record)) for record in records)

        records = tuple(
            (
                (r.call.id, r.state, r.phase, r.link - self.link, r.deadline - now),
                (r.running, r.started, r.undo, r.delivered, r.kept is None, len(r.kept or ())),
                None if r.outcome is None else str(r.outcome.response),
                numbers((r.leader, *(r.shared or ()))),
                numbers(r.group),
                calls.by_id.get(r.call.id) is r,
            )
            for r in self.records
        )
        queue = tuple(
            tuple((a.kind, number[id(a.record)], str(a.body)) for a in (reply, *reply.rest))
            for reply in calls.replies.queue
        )
        sent = tuple((entry.kind, entry.run) for entry in self.desk.outbox.sent)
        slots = tuple((name, numbers(queue)) for name, queue in calls.slots.waiting.items())
        shared = numbers(calls._leaders.values())
        lost = numbers(calls.lost)
        books = tuple(self.book_key(book) for book in self.books)
        return records, books, queue, sent, slots, frozenset(calls.slots.held), shared, lost, self.closed

    def book_key(self, book: Book) -> object:
        """A book without what only grows, and with its mates by their numbers."""
        relative = {
            "call": book.call.id,
            "link": book.link - self.link,
            "mates": [n for n, other in enumerate(self.books) if any(other is mate for mate in book.mates)],
            "texts": len(book.texts),
            "parts": len(book.parts),
            "told_cancelled": book.told_cancelled > 0,
            "told_lost": book.told_lost - book.expected_lost,
            "expected_lost": book.expected_lost > 0,
        }
        return str({**vars(book), **relative})


def responses(frame: dict[str, Any]) -> list[dict[str, Any]]:
    """The function responses in a frame, whichever format carries them."""
    if "toolResponse" in frame:
        return list(frame["toolResponse"]["functionResponses"])
    return [p["functionResponse"] for t in frame["clientContent"]["turns"] for p in t["parts"]]


#: Beginnings from which a few more inputs reach what few inputs from the start do not.
BEGINNINGS: tuple[Path, ...] = (
    (),
    (("offer", "a"), ("settle", "a"), ("write",)),
    (("offer", "a"), ("settle", "a"), ("write",), ("hear",), ("resume",)),
    (("offer", "a"), ("cancel", "a"), ("write",), ("resume",)),
    (("offer", "a", "b"), ("settle", "a"), ("resume",)),
    (("offer", "a"), ("part", "a")),
    (("offer", "a"), ("resume",), ("part", "a")),
    (("offer", "a"), ("part", "a"), ("write",), ("hear",)),
    (("offer", "a"), ("part", "a"), ("write",), ("hear",), ("resume",)),
)


def explore(plan: Plan, depth: int, beginning: Path = ()) -> int:
    """Every order of ``depth`` inputs after ``beginning``. Returns the number of states seen."""
    return search(lambda: World(plan), World.INPUTS, depth, beginning)
