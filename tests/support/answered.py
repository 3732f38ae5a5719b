"""A call as the machine keeps it, and what the model is told of it in the place of a result."""

from __future__ import annotations

from livetools.errors import ToolError
from livetools.events import Call
from livetools.protocol.calls.call_states import Phase, Record
from livetools.protocol.calls.driver_actions import Outcome
from livetools.setup.plan_fields import CallPolicy

WEATHER, TIME = CallPolicy("get_weather", timeout=2.5, approval_timeout=9.0), CallPolicy("get_time")


def record(name: str, run: int = 1, policy: CallPolicy = WEATHER, phase: Phase = Phase.NOTHING) -> Record:
    made = Record(run, Call("c", name), policy, 1, 0.0)
    made.phase = phase
    return made


def said(outcome: Outcome | None) -> str:
    """The error, which the model and the program are told alike."""
    assert outcome is not None
    assert isinstance(outcome.error, ToolError)
    assert str(outcome.error) == outcome.response["error"]
    return str(outcome.response["error"])
