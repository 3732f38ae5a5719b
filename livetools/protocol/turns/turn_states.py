"""The state table of turns: what the model does, and what follows from each input.

==========  ==========================================================================================
IDLE        nothing of a turn has come since the last one ended
CALLING     it has made a BLOCKING call, and said nothing since
SPEAKING    it is in the middle of a turn
THINKING    it said that it will continue by itself (IN_PROGRESS)
==========  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from itertools import product
from typing import TypeAlias


class Model(Enum):
    """What the model does."""

    __hash__ = object.__hash__  # Enum's own is Python code

    IDLE = auto()
    CALLING = auto()
    SPEAKING = auto()
    THINKING = auto()


class TurnEvent(Enum):
    """What can happen."""

    __hash__ = object.__hash__

    PROMPT = auto()  # a user turn was written
    OUTPUT = auto()  # the model said something, or made a call that ends its turn
    STAND = auto()  # it made a BLOCKING call; the turn continues with the answer
    HALT = auto()  # turnComplete, which the BLOCKING call that it made has brought
    END = auto()  # turnComplete, or IDLE
    GO_ON = auto()  # turnComplete with IN_PROGRESS
    BUSY = auto()  # IN_PROGRESS by itself
    CALLED_OFF = auto()  # no BLOCKING call is left: the server took it back
    STALL = auto()  # it was silent for too long
    LOSE = auto()  # the connection is gone


#: States in which the model is in the middle of a turn.
UNDER_WAY = frozenset({Model.SPEAKING, Model.THINKING})


class TurnEffect(Enum):
    """What follows."""

    BEGIN = auto()  # a turn begins
    PLACE = auto()  # the turn under way gets a place in the queue, if it has none
    EXPECT = auto()  # a turn is expected, behind all others
    POP = auto()  # the first of the queue is over
    GIVE_UP = auto()  # nobody waits for what is in the queue
    CLEAR = auto()  # nothing is expected any more


_Row: TypeAlias = tuple[Iterable[Model], tuple[TurnEvent, ...], Model | None, tuple[TurnEffect, ...]]


def _table(*rows: _Row) -> dict[tuple[Model, TurnEvent], tuple[Model, tuple[TurnEffect, ...]]]:
    """A row is of states in which one of some events leads to a state (``None``: it stays), with effects."""
    table = {}
    for states, events, to, effects in rows:
        for state, on in product(states, events):
            table[state, on] = (to or state, effects)
    return table


_I, _C, _S, _T = Model

#: Where each input leads, and what follows. What is not in the table does nothing.
TABLE = _table(
    # PLACE comes before EXPECT: a turn that is under way ends first, and its end must not be taken for the answer to
    # this prompt. When IDLE, nothing is under way that could need a place.
    ((_I,), (TurnEvent.PROMPT,), None, (TurnEffect.EXPECT,)),
    ((_C, _S, _T), (TurnEvent.PROMPT,), None, (TurnEffect.PLACE, TurnEffect.EXPECT)),
    # Only output that follows IDLE begins a turn. Behind a BLOCKING call or IN_PROGRESS the model continues the turn
    # that it is in. SPEAKING has no row: more output changes nothing. A call that ends its turn is output of that turn:
    # its turnComplete follows with it, or shortly after (3.8, measured 2026-09-16).
    ((_I,), (TurnEvent.OUTPUT,), _S, (TurnEffect.BEGIN,)),
    ((_C, _T), (TurnEvent.OUTPUT,), _S, ()),
    # CALLING is a turn in which nothing but a BLOCKING call has come. If the server takes that call back, no
    # turnComplete need follow. After words it stays SPEAKING: such a turn ends with a turnComplete in any case.
    ((_I,), (TurnEvent.STAND,), _C, (TurnEffect.BEGIN,)),
    # Half-cascade on Vertex ends the generation that made the call with a turnComplete of its own, and sends another
    # one after the answer (pydantic-ai 2.68). Between the two no end is due, which is what CALLING means.
    ((_S,), (TurnEvent.HALT,), _C, ()),
    # An END in IDLE is an empty turn: it uses up its place like any other.
    ((_I,), (TurnEvent.END,), None, (TurnEffect.POP,)),
    # A turn that audio began may have no place in the queue. It gets one before POP, which would remove the question's:
    # whether it ended behind words, behind a call without a word on it, or behind a filler.
    ((_C, _S, _T), (TurnEvent.END,), _I, (TurnEffect.PLACE, TurnEffect.POP)),
    # 3.8 extended thinking ends each filler with turnComplete and IN_PROGRESS; calls and the answer follow in the same
    # turn. BUSY has no row for SPEAKING and THINKING: that a model at work is busy says nothing new.
    ((_I,), (TurnEvent.GO_ON, TurnEvent.BUSY), _T, (TurnEffect.BEGIN,)),
    ((_C,), (TurnEvent.GO_ON, TurnEvent.BUSY), _T, ()),
    ((_S,), (TurnEvent.GO_ON,), _T, ()),
    # Only from CALLING: the turn held nothing but that call. In the other states its end is still due.
    ((_C,), (TurnEvent.CALLED_OFF,), _I, ()),
    # A turn that is under way gets a place before GIVE_UP, since it may still end late: that end must not count for the
    # next question.
    ((_I, _C), (TurnEvent.STALL,), _I, (TurnEffect.GIVE_UP,)),
    ((_S, _T), (TurnEvent.STALL,), _I, (TurnEffect.PLACE, TurnEffect.GIVE_UP)),
    # A generation never continues on another connection, and its turnComplete never comes (pydantic-ai 2.68).
    (Model, (TurnEvent.LOSE,), _I, (TurnEffect.CLEAR,)),
)
