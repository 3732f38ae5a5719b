"""Evals: an agent is called, by a script or by a persona that a model plays, and judged by what it did and said.

::

    async def test_booking(live_eval):
        await live_eval(agent, "A table for 4 in the name of Ann", expect=[Called("book_table", {"guests": 4})])

Conversations are played against the service or the fake server, in good weather or with faults on. The command
``livetools eval`` plays a file of them.
"""

from .callers import Caller, Persona, Script, Utterance, spoken, wav
from .expectations import (
    Answered,
    Called,
    Cost,
    Expectation,
    InOrder,
    Judged,
    Language,
    Latency,
    NotCalled,
    NotSaid,
    Said,
    SurvivedInterruptions,
    Verdict,
)
from .faults import BargeIn, Drop, SlowTool
from .judge import Judge, NoOpinion
from .matching import ANYTHING, Matcher, between, matches, schema
from .play import Eval, play
from .record import CallRecord, Conversation, TurnRecord
from .runs import Result, Round, judge_round, run

__all__ = [
    "ANYTHING",
    "Answered",
    "BargeIn",
    "CallRecord",
    "Called",
    "Caller",
    "Conversation",
    "Cost",
    "Drop",
    "Eval",
    "Expectation",
    "InOrder",
    "Judge",
    "Judged",
    "Language",
    "Latency",
    "Matcher",
    "NoOpinion",
    "NotCalled",
    "NotSaid",
    "Persona",
    "Result",
    "Round",
    "Said",
    "Script",
    "SlowTool",
    "SurvivedInterruptions",
    "TurnRecord",
    "Utterance",
    "Verdict",
    "between",
    "judge_round",
    "matches",
    "play",
    "run",
    "schema",
    "spoken",
    "wav",
]
