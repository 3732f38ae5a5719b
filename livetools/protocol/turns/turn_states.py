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

    OUTPUT = auto()  # the model said something, or made a call that ends its turn
    STAND = auto()  # it made a BLOCKING call; the turn continues with the answer
    HALT = auto()  # turnComplete, which the BLOCKING call that it made has brought
    GO_ON = auto()  # turnComplete with IN_PROGRESS
    BUSY = auto()  # IN_PROGRESS by itself
    CALLED_OFF = auto()  # no BLOCKING call is left: the server took it back
    END = auto()  # turnComplete, or IDLE; or nobody waits for either: it was silent for too long


#: States in which the model is in the middle of a turn.
UNDER_WAY = frozenset({Model.SPEAKING, Model.THINKING})

_I, _C, _S, _T = Model

#: Where each input leads. What is not in the table changes nothing. A turn begins where the model leaves IDLE.
TABLE: Mapping[tuple[Model, TurnEvent], Model] = {
    # Only output that follows IDLE begins a turn. Behind a BLOCKING call or IN_PROGRESS the model continues the turn
    # that it is in. SPEAKING has no row: more output changes nothing. A call that ends its turn is output of that turn:
    # its turnComplete follows with it, or shortly after (3.8, measured 2026-09-16).
    **{(state, TurnEvent.OUTPUT): _S for state in (_I, _C, _T)},
    # CALLING is a turn in which nothing but a BLOCKING call has come. If the server takes that call back, no
    # turnComplete need follow. After words it stays SPEAKING: such a turn ends with a turnComplete in any case.
    (_I, TurnEvent.STAND): _C,
    # Half-cascade on Vertex ends the generation that made the call with a turnComplete of its own, and sends another
    # one after the answer (pydantic-ai 2.68). Between the two no end is due, which is what CALLING means.
    (_S, TurnEvent.HALT): _C,
    # 3.8 extended thinking ends each filler with turnComplete and IN_PROGRESS; calls and the answer follow in the same
    # turn. BUSY has no row for SPEAKING and THINKING: that a model at work is busy says nothing new.
    **{(state, TurnEvent.GO_ON): _T for state in (_I, _C, _S)},
    **{(state, TurnEvent.BUSY): _T for state in (_I, _C)},
    # Only from CALLING: the turn held nothing but that call. In the other states its end is still due.
    (_C, TurnEvent.CALLED_OFF): _I,
    **{(state, TurnEvent.END): _I for state in (_C, _S, _T)},
}
