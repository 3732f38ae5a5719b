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
    from .grading.argument_matching import ANYTHING, Matcher, between, matches, schema
    from .grading.expectations import (
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
    from .grading.judge import Judge, NoOpinion
    from .recording.conversation_record import CallRecord, Conversation, TurnRecord
    from .running.playing import Eval, play
    from .running.repeated_runs import Result, Round, judge_round, run
    from .simulation.callers import Caller, CutsIn, FallsSilent, Persona, Script, Utterance, spoken, wav
    from .simulation.client_faults import BargeIn, Drop, SlowTool

_HOMES = {
    "ANYTHING": "grading.argument_matching",
    "Answered": "grading.expectations",
    "AskedApproval": "grading.expectations",
    "BargeIn": "simulation.client_faults",
    "CallRecord": "recording.conversation_record",
    "Called": "grading.expectations",
    "Caller": "simulation.callers",
    "Conversation": "recording.conversation_record",
    "Cost": "grading.expectations",
    "CutsIn": "simulation.callers",
    "Drop": "simulation.client_faults",
    "Eval": "running.playing",
    "Expectation": "grading.expectations",
    "FallsSilent": "simulation.callers",
    "InOrder": "grading.expectations",
    "Judge": "grading.judge",
    "Judged": "grading.expectations",
    "Language": "grading.expectations",
    "Latency": "grading.expectations",
    "Matcher": "grading.argument_matching",
    "NoOpinion": "grading.judge",
    "NotCalled": "grading.expectations",
    "NotSaid": "grading.expectations",
    "Persona": "simulation.callers",
    "Ran": "grading.expectations",
    "ReachedGoal": "grading.expectations",
    "Refused": "grading.expectations",
    "Result": "running.repeated_runs",
    "Round": "running.repeated_runs",
    "Said": "grading.expectations",
    "Script": "simulation.callers",
    "SlowTool": "simulation.client_faults",
    "SurvivedInterruptions": "grading.expectations",
    "TurnRecord": "recording.conversation_record",
    "Utterance": "simulation.callers",
    "Verdict": "grading.expectations",
    "between": "grading.argument_matching",
    "judge_round": "running.repeated_runs",
    "matches": "grading.argument_matching",
    "play": "running.playing",
    "run": "running.repeated_runs",
    "schema": "grading.argument_matching",
    "spoken": "simulation.callers",
    "wav": "simulation.callers",
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
