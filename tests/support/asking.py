"""A user who asks and a model that answers, or not, beside the turn queue: who is given whose answer.

The model answers what was written in its order, one turn each, two in one turn, or not at all; it begins a turn of its
own where the user speaks. In a turn it may call functions: it stands still until it has the response, or goes on and
speaks of the response in a turn of its own, behind what was written before. Each word bears the names of the prompts
that its turn answers or that its call was made on, so that the book knows whether an exchange was given its own answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from livetools.errors import NoAnswer
from livetools.events import Call, TextChunk, ToolStarted
from livetools.protocol.turns.exchange import Exchange
from livetools.protocol.turns.expected_turns import PAUSE, QUIET_SETTLES, Turns
from livetools.protocol.turns.turn_states import Model

from .search import Step

STALL = 20.0


@dataclass
class Made:
    """A call that the model has made in a turn with these names."""

    run: int
    names: str
    stands: bool  # the model says nothing until it has the response
    halts: bool = False  # and the call ends its turn by itself


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
        ("nothing",),
        ("wait",),
        ("pause",),
    )
    SPEECH: tuple[Step, ...] = (
        *(step for step in INPUTS if step not in (("both",), ("pause",))),
        ("speech",),
        ("noise",),
        ("close microphone",),
    )

    CALLS: tuple[Step, ...] = (
        *(step for step in INPUTS if step not in (("both",), ("pause",), ("blank",))),
        ("call",),
        ("stand",),
        ("respond",),
        ("mingle",),
        ("silent",),
        ("cancel",),
    )
    MICROPHONE: tuple[Step, ...] = (
        *(step for step in CALLS if step not in (("mingle",), ("silent",))),
        ("open microphone",),
        ("speech",),
    )
    HALTS: tuple[Step, ...] = (
        *(step for step in INPUTS if step not in (("both",), ("pause",), ("blank",))),
        ("halt",),
        ("end of the call",),
        ("respond",),
        ("cancel",),
        ("cancel and go on",),
        ("open microphone",),
    )

    def __init__(self) -> None:
        self.turns = Turns(STALL, False)
        self.now = 0.0
        self.names = 0
        self.runs = 0
        self.microphone = False  # sound goes out
        self.pending: list[
            str
        ] = []  # what the model has not spoken to: prompts, and responses by their call's names
        self.open: list[Made] = []  # the calls that nobody has answered
        self.unwanted: set[str] = set()  # of those, what was given up or may start no turn
        self.saying: list[str] | None = None  # the names that the turn under way answers
        self.known: list[str] = []  # what was written when that turn began
        self.ended: list[str] | None = None  # those of the turn that ended last, if nothing came since
        self.ended_at = 0.0
        self.called = False  # in the turn under way
        self.ending = False  # a call is still to end its turn by itself
        self.taken_back = False  # that call
        self.owes_words = False  # the model was given a response that it stood still for
        self.begun: set[str] = set()  # what the model has spoken to, or called on
        self.asked: list[tuple[str, Exchange]] = []
        self.answered: set[str] = set()
        self.excused: set[str] = set()  # asked where nothing tells whose answer came
        self.skipped = False  # a turn that is expected: what comes instead is not told from it
        self.joined: set[str] = set()  # whose response may be spoken of in a turn that was expected before it
        self.forgotten: set[str] = set()  # what the turn queue does not expect any more
        self.empty: set[str] = set()  # answered with an empty turn
        self.mixed: dict[
            str, set[str]
        ] = {}  # whose words may stand beside its own: a turn may be on a response too

    @property
    def responses(self) -> list[str]:
        """What is pending of responses: their prompts were begun."""
        return [item for item in self.pending if each([item]) <= self.begun]

    def mix(self, name: str, others: Iterable[str]) -> None:
        self.mixed.setdefault(name, set()).update(each(others))

    def mine(self, names: str) -> bool:
        return bool(self.asked) and self.asked[-1][0] in each([names])

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
            (exchange.listens, exchange.sure, exchange.turn is not None, tuple(words(exchange)))
            if exchange
            else None
        )
        names = {name: at for at, name in enumerate([*(self.saying or ()), *self.pending])}
        return (
            turns.model, tuple(queue), turns._known, turns._patience, listens, len(names), len(self.unwanted),
            self.saying is None, self.ended is None, self.microphone, turns.spoken_to,
            tuple(name in self.unwanted for name in names), names.get(self.asked[-1][0]) if self.asked else None,
            tuple((made.stands, names.get(made.names), self.mine(made.names)) for made in self.open),
            len(self.pending), turns._heard, turns._spoken, turns._ended_answer, len(turns._unspoken),
            exchange is not None and bool(exchange.calls), self.called, self.owes_words, self.skipped,
            self.ending, self.taken_back,
            tuple(name in self.excused for name in names), bool(self.asked) and self.asked[-1][0] in self.excused,
            tuple(item in self.responses for item in self.pending),
        )  # fmt: skip

    # The user

    def ask(self) -> None:
        if self.current is None:
            before = [made.names for made in self.open]
            name = self.write()
            if before:
                self.mix(name, before)  # a response that comes now may be spoken of in its turn
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
        left = self.excused.intersection(each(self.pending))
        if left and not left <= self.unwanted - self.forgotten:
            self.excused.add(name)  # an answer that was not waited for comes first
        self.pending.append(name)
        if self.current is not None:
            self.mix(
                self.asked[-1][0], [name]
            )  # an exchange is given all that is said while its call is open
        if self.current is not None and not self.current.sure:
            self.excused.add(self.asked[-1][0])  # the next turn may be on this or on what was asked
        return name

    # The model

    def begin(self, count: int = 1) -> bool:
        """It begins a turn on what it was sent first, unless one is under way; False if it says nothing now."""
        if not self.open:
            self.end_of_the_call()
        if self.saying is None and len(self.pending) >= count:
            self.known = [item for item in self.pending if item not in self.responses]
            self.saying = [self.pending.pop(0) for _ in range(count)]
            self.begun |= each(self.saying)
            self.called = False
        return self.saying is not None and not any(made.stands for made in self.open)

    def word(self) -> None:
        if self.begin():
            self.say()

    def both(self) -> None:
        if self.saying is None and self.begin(2):
            if self.pending:
                self.excused.add(self.saying[1])  # the turn that comes next is taken for its answer
            self.say()

    def open_microphone(self) -> None:
        """Sound goes out; the model need not answer any of it."""
        self.microphone = True

    def close_microphone(self) -> None:
        """With nothing else to answer, as in ``speech``."""
        if self.microphone and self.saying is None and not self.pending and self.current is None:
            self.unwanted.add("speech")
            self.turns.heard_out(self.now)

    def noise(self) -> None:
        """The service hears speech, and the model says nothing to it."""
        if self.microphone:
            self.turns.heard_user()

    def speech(self) -> None:
        """The user is heard to speak, and the model answers that ahead of texts; not of a question, or nobody could
        tell them apart.
        """
        self.microphone = True
        asked = self.unwanted | self.begun | set(dict(self.asked))
        if self.saying is None and self.current is None and not asked & each(self.pending):
            self.turns.heard_user()
            self.known = []
            self.saying = ["speech"]
            self.begun.add("speech")
            self.say()

    def say(self) -> None:
        if self.saying is not None:
            self.ended, self.owes_words = None, False
            self.turns.content(self.now)
            if self.current is not None and self.current.listens:
                self.current.hear(TextChunk("+".join(self.saying)))

    def ignore(self) -> None:
        if self.pending and not self.runs:
            first = self.pending.pop(0)
            self.skipped = True
            if self.pending or (self.asked and first == self.asked[-1][0]):
                self.excused.update([first, *self.pending[:-1]])  # what comes next is taken for its answer

    def nothing(self) -> None:
        """It answers what it was sent first with an empty turn, where nothing else may be taken for it."""
        certain = not (self.skipped or self.responses or self.unwanted)
        if certain and self.saying is None and self.begin() and self.saying:
            self.empty |= each(self.saying)
            self.fall_silent()
            self.turns.complete(None, self.now)

    def end(self) -> None:
        if not self.open:
            self.end_of_the_call()
        if self.saying is not None and self.begin():
            if self.owes_words:
                self.say()
            self.fall_silent()
            self.turns.complete(None, self.now)

    def fall_silent(self) -> None:
        """Its turn is over."""
        self.answered.update(each(self.saying or ()))
        self.ended, self.saying, self.ended_at = self.saying, None, self.now

    # Calls

    def call(self) -> None:
        """The model calls, and goes on with its turn."""
        self.make(stands=False)

    def stand(self) -> None:
        """The model calls, and waits for the response."""
        self.make(stands=True)

    def halt(self) -> None:
        """The model calls, and waits for the response, though its turn ends at once: half-cascade on Vertex."""
        self.make(stands=True, halts=True)

    def end_of_the_call(self) -> None:
        if self.ending:
            self.ending = False
            if self.taken_back:
                self.fall_silent()
            self.turns.complete(None, self.now)

    def make(self, stands: bool, halts: bool = False) -> None:
        if self.open or self.responses or (self.called and self.saying is not None):
            return  # of two responses nothing tells which one a turn is on, or both
        if self.skipped:
            return  # nor, where one turn did not come, which one has called
        if self.begin() and self.saying is not None:
            self.ended, self.called = None, True
            self.runs += 1
            if self.current is not None and not self.mine("+".join(self.saying)):
                self.mix(
                    self.asked[-1][0], self.saying
                )  # the turn may be on both, and the next one on the response
            made = Made(self.runs, "+".join(self.saying), stands, halts)
            self.open.append(made)
            self.ending, self.taken_back = self.ending or halts, False
            ends_turn = halts or not stands
            self.turns.called(made.run, Call(f"c{made.run}", made.names), ends_turn, self.now, stands)

    def respond(self) -> None:
        """The oldest call is answered; the model speaks of it in this turn, or behind what was written before."""
        if self.open:
            made = self.open.pop(0)
            if made.stands:
                self.owes_words = True
            else:
                if self.pending:
                    self.joined |= each([made.names])
                self.pending.append(made.names)
            self.turns.answered(made.run, None, self.now)

    def mingle(self) -> None:
        """The model speaks of a response in the turn that is under way."""
        if self.saying is not None and self.responses and self.begin():
            self.pending.remove(self.responses[0])
            self.skipped = True
            self.say()

    def silent(self) -> None:
        """The oldest call is answered, and the model is to say nothing of it."""
        if self.open:
            made = self.open.pop(0)
            self.turns.answered(made.run, "SILENT", self.now)

    def cancel(self) -> None:
        """The newest call is taken back; a model that stood still for it goes on with its turn, unless that is over."""
        if self.open:
            made = self.open.pop()
            self.turns.taken_back(made.run, self.now)
            self.taken_back = made.halts
            if made.halts and not self.ending:
                self.fall_silent()
                self.unwanted.add(made.names)  # it may still go on

    def cancel_and_go_on(self) -> None:
        """The newest call is taken back, and the model goes on though its turn has ended with the call."""
        if self.open and self.open[-1].halts and not self.ending:
            self.turns.taken_back(self.open.pop().run, self.now)
            self.say()

    # Time

    def wait(self) -> None:
        self.later(QUIET_SETTLES + 0.1)

    def pause(self) -> None:
        self.later(PAUSE + 0.1)

    def later(self, seconds: float) -> None:
        if self.saying is None:
            patience = PAUSE if len(set(self.known) - self.unwanted) > 1 else QUIET_SETTLES
            if self.ended is not None and self.now + seconds - self.ended_at > patience:
                # a model that thinks for so long is taken for one that is done
                self.forgotten.update(each(self.pending))
                self.excused |= self.forgotten
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
            said = each(words(exchange))
            if name in self.empty:
                assert not said, f"{name} was answered with an empty turn, and given {said}"
                continue
            assert name in said, f"{name} was given {said or 'nothing'}"
            its_own = {name} | self.mixed.get(name, set())
            assert all(its_own & each([word]) for word in words(exchange)), (
                f"{name} was given more than its answer: {said}"
            )
            if name in self.joined:
                continue
            assert name not in each(made.names for made in self.open), f"{name} is over, and its call is open"
            assert name not in each(self.pending), (
                f"{name} is over, and the model is still to speak of its call"
            )
        waits = self.turns.waiting_for()
        assert bool(waits) != self.turns.idle

    def calm(self) -> None:
        """The model answers what is left: what was answered is over soon, and what it has ignored ends with a stall."""
        while self.open:
            self.respond()
            self.check()
        self.end()
        while self.pending or self.saying is not None:
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


def words(exchange: Exchange) -> list[str]:
    """The names that stand in what the exchange was given."""
    return [
        event.call.name if isinstance(event, ToolStarted) else event.text
        for event in exchange.events
        if isinstance(event, TextChunk | ToolStarted)
    ]


def each(items: Iterable[str]) -> set[str]:
    return {name for item in items for name in item.split("+")}
