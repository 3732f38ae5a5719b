"""The calls of a session that somebody else holds, without that session."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from livetools.protocol.actions import Outcome, Start, Stop
from livetools.protocol.attached import AttachedMachine
from livetools.protocol.plan import make_plan
from livetools.protocol.profiles import ModelProfile
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
    specs = [Tool(add, **options).spec()]
    return AttachedMachine(
        make_plan("any", specs, profile=ModelProfile(), tool_timeout=60.0, reconnect=False)
    )


def test_a_call_is_started_answered_once_and_then_nothing_follows() -> None:
    attached = machine()
    attached.heard([Asked("c1", "add")], (), 0.0)
    outputs = attached.outputs()
    assert outputs is not None
    (start,) = outputs.actions
    assert isinstance(start, Start)
    assert (outputs.events, outputs.frames, attached.wake_at()) == ([], [], 60.0)
    assert attached.outputs() is None
    attached.settled(start.run, Outcome({"output": 1}), 1.0)
    assert (held := attached.outputs(write=False)) is None or not held.frames  # somebody is writing
    outputs = attached.outputs()
    assert outputs is not None
    (frame,) = outputs.frames
    response = json.loads(frame.make() or b"")["toolResponse"]["functionResponses"]
    assert response == [{"id": "c1", "name": "add", "response": {"output": 1}}]
    assert frame.link == 0
    assert attached.outputs() is None


def test_a_cancelled_call_is_stopped_and_one_that_takes_too_long_is_answered() -> None:
    attached = machine()
    attached.heard([Asked("c1", "add"), Asked("c2", "add")], (), 0.0)
    attached.outputs()
    attached.heard([], ["c1"], 1.0)
    outputs = attached.outputs()
    assert outputs is not None
    assert [type(action) for action in outputs.actions] == [Stop]
    attached.tick(60.0)
    outputs = attached.outputs()
    assert outputs is not None
    assert [b"timed out" in (frame.make() or b"") for frame in outputs.frames] == [True]
    assert attached.wake_at() > 60.0


def test_what_a_person_would_have_to_approve_is_refused() -> None:
    attached = machine(approval=True)
    attached.heard([Asked("c1", "add")], (), 0.0)
    outputs = attached.outputs()
    assert outputs is not None
    (ask,) = outputs.actions
    attached.ask_person(ask.run, 0.0)  # type: ignore[union-attr]  # an AskApproval
    outputs = attached.outputs()
    assert outputs is not None
    assert b"nobody can be asked" in (outputs.frames[0].make() or b"")


def test_when_the_session_is_lost_nothing_is_owed_on_it() -> None:
    attached = machine()
    attached.heard([Asked("c1", "add")], (), 0.0)
    outputs = attached.outputs()
    assert outputs is not None
    attached.lost(1.0)
    attached.settled(outputs.actions[0].run, Outcome({"output": 1}), 2.0)  # type: ignore[union-attr]  # a Start
    outputs = attached.outputs()
    assert outputs is None or all(b"toolResponse" not in (frame.make() or b"") for frame in outputs.frames)
    attached.close(3.0)
    assert attached.outputs() is None or attached.wake_at() > 3.0
