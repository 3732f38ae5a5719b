"""Evals: a script, or a persona that a model plays, talks to an agent, which is judged by its calls and its words.

::

    async def test_booking(live_eval):
        await live_eval(agent, "A table for 4 in the name of Ann", expect=[Called("book_table", {"guests": 4})])

Conversations are played against the service or the fake server, with or without faults. The command ``livetools eval``
plays a file of them.

pytest imports this package at its start (for the ``live_eval`` fixture), so names are loaded when they are first
asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .callers import Caller, CutsIn, FallsSilent, Persona, Script, Utterance, spoken, wav
    from .expectations import (
        Answered,
        AskedApproval,
        Called,
        Cost,
        Expectation,
        InOrder,
        Judged,
        Language,
        Latency,
        NotCalled,
        NotSaid,
        Ran,
        ReachedGoal,
        Refused,
        Said,
        SurvivedInterruptions,
        Verdict,
    )
    from .faults import BargeIn, Drop, SlowTool
    from .judge import Judge, NoOpinion
    from .matching import ANYTHING, Matcher, between, matches, schema
    from .playing import Eval, play
    from .record import CallRecord, Conversation, TurnRecord
    from .runs import Result, Round, judge_round, run

_HOMES = {
    "ANYTHING": "matching",
    "Answered": "expectations",
    "AskedApproval": "expectations",
    "BargeIn": "faults",
    "CallRecord": "record",
    "Called": "expectations",
    "Caller": "callers",
    "Conversation": "record",
    "Cost": "expectations",
    "CutsIn": "callers",
    "Drop": "faults",
    "Eval": "playing",
    "Expectation": "expectations",
    "FallsSilent": "callers",
    "InOrder": "expectations",
    "Judge": "judge",
    "Judged": "expectations",
    "Language": "expectations",
    "Latency": "expectations",
    "Matcher": "matching",
    "NoOpinion": "judge",
    "NotCalled": "expectations",
    "NotSaid": "expectations",
    "Persona": "callers",
    "Ran": "expectations",
    "ReachedGoal": "expectations",
    "Refused": "expectations",
    "Result": "runs",
    "Round": "runs",
    "Said": "expectations",
    "Script": "callers",
    "SlowTool": "faults",
    "SurvivedInterruptions": "expectations",
    "TurnRecord": "record",
    "Utterance": "callers",
    "Verdict": "expectations",
    "between": "matching",
    "judge_round": "runs",
    "matches": "matching",
    "play": "playing",
    "run": "runs",
    "schema": "matching",
    "spoken": "callers",
    "wav": "callers",
}

__all__ = [
    "ANYTHING",
    "Answered",
    "AskedApproval",
    "BargeIn",
    "CallRecord",
    "Called",
    "Caller",
    "Conversation",
    "Cost",
    "CutsIn",
    "Drop",
    "Eval",
    "Expectation",
    "FallsSilent",
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
    "Ran",
    "ReachedGoal",
    "Refused",
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


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
