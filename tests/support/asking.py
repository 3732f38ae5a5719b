"""A user who asks and a model that answers, or not, beside the turn queue: who is given whose answer.

The model answers what was written in its order, one turn each, two in one turn, or not at all; it begins a turn of its
own where the user speaks. Each word bears the names of the prompts that its turn answers, so that the book knows
whether an exchange was given its own answer.
"""

from __future__ import annotations

from math import inf

from livetools.protocol.errors import NoAnswer
from livetools.protocol.events import TextChunk
from livetools.protocol.expected import Exchange
from livetools.protocol.turns import PAUSE, QUIET_SETTLES, Model, Turns

from .search import Step

STALL = 20.0


class World:
    """One queue of turns, one user, one model."""

    INPUTS: tuple[Step, ...] = (
        ("ask",),
        ("text",),
        ("blank",),
        ("give up",),
        ("word",),
        ("both",),
        ("ignore",),
        ("end",),
        ("wait",),
        ("pause",),
    )
    SPEECH: tuple[Step, ...] = (
        *(step for step in INPUTS if step not in (("both",), ("pause",))),
        ("speech",),
    )

    def __init__(self) -> None:
        self.turns = Turns(STALL, False)
        self.now = 0.0
        self.names = 0
        self.pending: list[str] = []  # what the model has not answered, by name
        self.unwanted: set[str] = set()  # of those, what was given up or may start no turn
        self.saying: list[str] | None = None  # the names that the turn under way answers
        self.known: list[str] = []  # what was written when that turn began
        self.ended: list[str] | None = None  # those of the turn that ended last, if nothing came since
        self.ended_at = 0.0
        self.asked: list[tuple[str, Exchange]] = []
        self.answered: set[str] = set()
        self.excused: set[str] = set()  # asked where nothing tells whose answer came

    @property
    def current(self) -> Exchange | None:
        return self.turns.exchange

    def play(self, step: Step) -> None:
        self.now += 0.01
        getattr(self, step[0].replace(" ", "_"))()
        self.check()

    def key(self) -> object:
        turns, zero = self.turns, self.now
        queue = [
            (
                t.prompt,
                t.answer,
                t.doubtful,
                t.wanted,
                max(0.0, round(t.until - zero, 1)) if t.until < inf else 0,
            )
            for t in turns._queue
        ]
        exchange = self.current
        listens = (
            (exchange.listens, exchange.sure, exchange.began, tuple(e.text for e in words(exchange)))
            if exchange
            else None
        )
        names = {name: at for at, name in enumerate([*(self.saying or ()), *self.pending])}
        return (
            turns.model, tuple(queue), turns._known, turns._patience, listens, len(names), len(self.unwanted),
            self.saying is None, self.ended is None, turns.speech,
            tuple(name in self.unwanted for name in names), names.get(self.asked[-1][0]) if self.asked else None,
        )  # fmt: skip

    # The user

    def ask(self) -> None:
        if self.current is None:
            name = self.write()
            exchange = self.turns.ask()
            self.turns.prompted(self.now, exchange)
            self.asked.append((name, exchange))

    def text(self) -> None:
        self.write()
        self.turns.prompted(self.now)

    def blank(self) -> None:
        self.unwanted.add(self.write())
        self.turns.prompted(self.now, doubtful=True)

    def give_up(self) -> None:
        if self.current is not None:
            self.unwanted.add(self.asked[-1][0])
            self.excused.add(self.asked[-1][0])
            self.turns.give_up(self.current, self.now)

    def write(self) -> str:
        self.names += 1
        name = f"p{self.names}"
        if (
            not self.excused.isdisjoint(self.pending)
            and not self.excused.intersection(self.pending) <= self.unwanted
        ):
            self.excused.add(name)  # an answer that was not waited for comes first
        self.pending.append(name)
        if self.current is not None and not self.current.sure:
            self.excused.add(self.asked[-1][0])  # the next turn may be on this or on what was asked
        return name

    # The model

    def word(self) -> None:
        if self.saying is None and self.pending:
            self.known = self.pending.copy()
            self.saying = [self.pending.pop(0)]
        self.say()

    def both(self) -> None:
        if self.saying is None and len(self.pending) > 1:
            self.known = self.pending.copy()
            self.saying = [self.pending.pop(0), self.pending.pop(0)]
            if self.pending:
                self.excused.add(self.saying[1])  # the turn that comes next is taken for its answer
            self.say()

    def speech(self) -> None:
        """The user speaks, and the model answers that: with nothing else to answer, or nobody could tell them apart."""
        self.turns.speech = True
        if self.saying is None and not self.pending and self.current is None:
            self.known = []
            self.saying = ["speech"]
            self.say()

    def say(self) -> None:
        if self.saying is not None:
            self.ended = None
            self.turns.content(self.now)
            if self.current is not None and self.current.listens:
                self.current.hear(TextChunk("+".join(self.saying)))

    def ignore(self) -> None:
        if self.pending:
            first = self.pending.pop(0)
            if self.pending or (self.asked and first == self.asked[-1][0]):
                self.excused.update([first, *self.pending[:-1]])  # what comes next is taken for its answer

    def end(self) -> None:
        if self.saying is not None:
            self.answered.update(self.saying)
            self.ended, self.saying, self.ended_at = self.saying, None, self.now
            self.turns.complete(None, self.now)

    # Time

    def wait(self) -> None:
        self.later(QUIET_SETTLES + 0.1)

    def pause(self) -> None:
        self.later(PAUSE + 0.1)

    def later(self, seconds: float) -> None:
        if self.saying is None:
            patience = PAUSE if len(set(self.known) - self.unwanted) > 1 else QUIET_SETTLES
            if self.ended is not None and self.now + seconds - self.ended_at > patience:
                self.excused.update(
                    self.pending
                )  # a model that thinks for so long is taken for one that is done
            blank = [n for n in self.pending if n in self.unwanted and n not in dict(self.asked)]
            self.pending = [name for name in self.pending if name not in blank]
        until = self.now + seconds
        while (at := self.turns.wake_at(False)) <= until:
            self.now = max(self.now, at)
            self.turns.tick(self.now, False)
            assert self.turns.wake_at(False) > self.now, "it asks to be woken for ever"
        self.now = until

    # The book

    def check(self) -> None:
        for name, exchange in self.asked:
            if not exchange.done or exchange.error or exchange.stalled or name in self.excused:
                continue
            said = {part for word in words(exchange) for part in word.text.split("+")}
            assert name in said, f"{name} was given {said or 'nothing'}"
            assert all(name in word.text for word in words(exchange)), (
                f"{name} was given more than its answer: {said}"
            )
        waits = self.turns.waiting_for()
        assert bool(waits) != self.turns.idle

    def calm(self) -> None:
        """The model answers what is left: what was answered is over soon, and what it has ignored ends with a stall."""
        self.end()
        while self.pending:
            self.word()
            self.end()
            self.check()
        self.later(PAUSE + 0.1)
        self.check()
        exchange = self.current
        answered = self.asked and self.asked[-1][0] in self.answered - self.excused
        assert exchange is None or not answered, "it was answered, and waits"
        self.later(STALL + 0.1)
        self.check()
        assert self.current is None, "silent, and an exchange without an end"
        if exchange is not None:
            assert isinstance(exchange.error, NoAnswer) is not exchange.heard
        assert self.turns.idle
        self.later(STALL + 0.1)
        assert self.turns.ahead == 0, "nothing came, and something is expected still"
        assert self.turns.model is Model.IDLE


def words(exchange: Exchange) -> list[TextChunk]:
    return [event for event in exchange.events if isinstance(event, TextChunk)]
