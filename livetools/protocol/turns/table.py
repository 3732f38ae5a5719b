"""The state table of turns: what the model does, and what follows from each input.

==========  ==========================================================================================
IDLE        nothing of a turn has come since the last one ended
CALLING     it has made a BLOCKING call, and said nothing since
SPEAKING    it is in the middle of a turn
THINKING    it said that it will continue by itself (IN_PROGRESS)
==========  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto


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
    OUTPUT = auto()  # the model said something
    CALL = auto()  # it made a call that ends its turn
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


_I, _C, _S, _T = Model

#: Where each input leads, and what follows. What is not in the table does nothing.
TABLE: Mapping[tuple[Model, TurnEvent], tuple[Model, tuple[TurnEffect, ...]]] = {
    (_I, TurnEvent.PROMPT): (_I, (TurnEffect.EXPECT,)),
    (_C, TurnEvent.PROMPT): (_C, (TurnEffect.PLACE, TurnEffect.EXPECT)),
    (_S, TurnEvent.PROMPT): (_S, (TurnEffect.PLACE, TurnEffect.EXPECT)),
    (_T, TurnEvent.PROMPT): (_T, (TurnEffect.PLACE, TurnEffect.EXPECT)),
    (_I, TurnEvent.OUTPUT): (_S, (TurnEffect.BEGIN,)),
    (_C, TurnEvent.OUTPUT): (_S, ()),
    (_T, TurnEvent.OUTPUT): (_S, ()),
    (_I, TurnEvent.CALL): (_S, (TurnEffect.BEGIN,)),
    (_C, TurnEvent.CALL): (_S, ()),
    (_T, TurnEvent.CALL): (_S, ()),
    (_I, TurnEvent.STAND): (_C, (TurnEffect.BEGIN,)),
    (_S, TurnEvent.HALT): (_C, ()),
    (_I, TurnEvent.END): (_I, (TurnEffect.POP,)),
    (_C, TurnEvent.END): (_I, (TurnEffect.POP,)),
    (_S, TurnEvent.END): (_I, (TurnEffect.PLACE, TurnEffect.POP)),
    (_T, TurnEvent.END): (_I, (TurnEffect.POP,)),
    (_I, TurnEvent.GO_ON): (_T, (TurnEffect.BEGIN,)),
    (_C, TurnEvent.GO_ON): (_T, ()),
    (_S, TurnEvent.GO_ON): (_T, ()),
    (_I, TurnEvent.BUSY): (_T, (TurnEffect.BEGIN,)),
    (_C, TurnEvent.BUSY): (_T, ()),
    (_C, TurnEvent.CALLED_OFF): (_I, ()),
    (_I, TurnEvent.STALL): (_I, (TurnEffect.GIVE_UP,)),
    (_C, TurnEvent.STALL): (_I, (TurnEffect.GIVE_UP,)),
    (_S, TurnEvent.STALL): (_I, (TurnEffect.PLACE, TurnEffect.GIVE_UP)),
    (_T, TurnEvent.STALL): (_I, (TurnEffect.PLACE, TurnEffect.GIVE_UP)),
    (_I, TurnEvent.LOSE): (_I, (TurnEffect.CLEAR,)),
    (_C, TurnEvent.LOSE): (_I, (TurnEffect.CLEAR,)),
    (_S, TurnEvent.LOSE): (_I, (TurnEffect.CLEAR,)),
    (_T, TurnEvent.LOSE): (_I, (TurnEffect.CLEAR,)),
}
