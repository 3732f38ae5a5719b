"""The calls of a session that somebody else holds, without that session."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from livetools.attach.attached_machine import AttachedMachine
from livetools.protocol.calls.driver_actions import Action, AskApproval, Outcome, RunTool, StopTool, Undo
from livetools.protocol.input.resend import OutFrame
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan import make_plan
from livetools.tools import Tool


@dataclass(frozen=True)
class Asked:
    id: str | None
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    partial_args: tuple[Any, ...] = ()
    will_continue: bool = False


def add(a: int = 0) -> int:
    """Add."""
    return a


def machine(**options: Any) -> AttachedMachine:
    tools = [Tool(add, **options)]
    return AttachedMachine(
        make_plan("any", tools, profile=ModelProfile(), tool_timeout=60.0, reconnect=False)
    )


def drained(machine: AttachedMachine) -> tuple[list[Action], list[OutFrame]]:
    """What follows from an input: what must be done, and what is written. There are no events."""
    actions = list(machine.actions)
    machine.actions.clear()
    return actions, machine.frames()


def test_a_call_is_started_answered_once_and_then_nothing_follows() -> None:
    attached = machine()
    attached.heard([Asked("c1", "add")], (), 0.0)
    (start,), frames = drained(attached)
    assert isinstance(start, RunTool)
    assert (frames, attached.wake_at()) == ([], 60.0)
    assert drained(attached) == ([], [])
    attached.settled(start.run, Outcome({"output": 1}), 1.0)
    assert not attached.actions
    _, (frame,) = drained(attached)
    response = json.loads(frame.make() or b"")["toolResponse"]["functionResponses"]
    assert response == [{"id": "c1", "name": "add", "response": {"output": 1}}]
    assert frame.link == 0
    assert drained(attached) == ([], [])


def test_a_cancelled_call_is_stopped_and_one_that_takes_too_long_is_answered() -> None:
    attached = machine()
    attached.heard([Asked("c1", "add"), Asked("c2", "add")], (), 0.0)
    drained(attached)
    attached.heard([], ["c1"], 1.0)
    actions, _ = drained(attached)
    assert [type(action) for action in actions] == [StopTool]
    attached.tick(60.0)
    _, frames = drained(attached)
    assert [b"timed out" in (frame.make() or b"") for frame in frames] == [True]
    assert attached.wake_at() > 60.0


@pytest.mark.parametrize("speaks", [False, True])
def test_an_answer_that_a_cancellation_has_crossed_is_undone_and_one_that_was_read_is_not(
    speaks: bool,
) -> None:
    attached = machine(undo=lambda call, result: None)
    attached.heard([Asked("c1", "add")], (), 0.0)
    ((start,), _) = drained(attached)
    assert isinstance(start, RunTool)
    attached.settled(start.run, Outcome({"output": 1}, result=1), 1.0)
    _, (frame,) = drained(attached)
    frame.make()
    frame.hand_over()
    assert frame.last_of is not None
    attached.heard([], (), 2.0, speaks)
    attached.heard([], ["c1"], 2.0, False)
    actions, _ = drained(attached)
    assert [type(action) for action in actions] == ([] if speaks else [Undo])


def test_what_a_person_would_have_to_approve_is_refused() -> None:
    attached = machine(approval=True)
    attached.heard([Asked("c1", "add")], (), 0.0)
    (ask,), _ = drained(attached)
    assert isinstance(ask, AskApproval)
    attached.judge(ask.run, True, 0.0)
    _, (frame,) = drained(attached)
    assert b"nobody can be asked" in (frame.make() or b"")


def test_when_the_session_is_lost_nothing_is_owed_on_it() -> None:
    attached = machine()
    attached.heard([Asked("c1", "add")], (), 0.0)
    (start,), _ = drained(attached)
    assert isinstance(start, RunTool)
    attached.gone(1.0)
    attached.settled(start.run, Outcome({"output": 1}), 2.0)
    assert all(b"toolResponse" not in (frame.make() or b"") for frame in drained(attached)[1])
    attached.close(3.0)
    assert drained(attached) == ([], [])
    assert attached.wake_at() > 3.0
