"""What is still to come: one answer, for whoever asks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.driver import Driver, plan

from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.messages import outgoing
from livetools.setup.plan_types import CallPolicy

BLOCKING = CallPolicy("tool", timeout=None)
ASYNC = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
BACKGROUND = replace(BLOCKING, background=True)
POLICY = ReconnectPolicy(attempts=8, initial=0.1, maximum=0.1, jitter=0.0)
HANDLE = {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}


def live(policy: CallPolicy = BLOCKING, **fields: object) -> Driver:
    return Driver(plan(policy, **fields), POLICY).live().server(HANDLE)


def pending(d: Driver) -> list[str]:
    """What is pending; ``stats()`` says the same."""
    names = d.machine.pending_names()
    assert d.machine.stats()["waiting_for"] == "; ".join(names)
    return names


def test_nothing_is_pending_before_anything_was_said_and_once_the_answer_is_over() -> None:
    d = live()
    assert pending(d) == []
    d.machine.send_text("?", d.now)
    assert pending(d) == ["1 of the user's turns, not sent yet"]
    assert pending(d.drain()) == ["the model's answer to the user's turn"]
    assert pending(d.say("It is")) == ["the end of the model's turn"]
    assert pending(d.turn_complete()) == []


@pytest.mark.parametrize(
    "policy",
    [
        BLOCKING,
        ASYNC,
        BACKGROUND,
        replace(BLOCKING, approval=True),
        replace(BLOCKING, handled=False),
        replace(BLOCKING, concurrency=0),
    ],
    ids=["blocking", "non-blocking", "background", "approval", "respond", "slot"],
)
def test_an_open_call_is_pending_whatever_it_waits_for(policy: CallPolicy) -> None:
    d = live(policy).call(("c1", "tool")).turn_complete().later(1)
    assert pending(d) == ["the call tool (c1)"]


@pytest.mark.parametrize("policy", [BLOCKING, ASYNC, BACKGROUND], ids=["blocking", "async", "background"])
def test_a_lost_call_is_pending_until_the_model_has_spoken_of_its_late_result(policy: CallPolicy) -> None:
    d = live(policy).call(("c1", "tool"))
    d.drop()
    assert pending(d) == ["the call tool (c1)"]
    d.settle("c1", "42")
    assert pending(d) == ["the result of tool (c1)"]
    d.later(0.2).establish().later(3)
    assert "42" in d.texts()[-1]
    assert pending(d) == ["the model's answer to the user's turn"]
    assert pending(d.say("It is 42").turn_complete()) == []


def test_a_result_that_is_dropped_with_its_connection_is_not_pending() -> None:
    d = live(lost_results="drop").call(("c1", "tool"))
    d.drop().settle("c1").later(0.2).establish()
    assert pending(d) == []


def test_a_text_that_a_lost_connection_has_left_unread_is_pending_again() -> None:
    d = live()
    d.machine.send_text("?", d.now)
    d.drain().drop()
    assert pending(d) == ["1 of the user's turns, not sent yet"]


def test_what_the_model_is_to_say_unasked_is_pending_while_it_waits_for_a_quiet_moment() -> None:
    d = live().say("I am").drain()
    d.machine.generate_reply("Say hello.", d.now)
    d.drain()
    assert pending(d)[0] == "1 of the user's turns, not sent yet"


def test_sound_is_never_pending_nor_is_a_handle_that_park_waits_for() -> None:
    d = Driver(plan(BLOCKING), POLICY).live()
    d.machine.send_media(outgoing.audio(bytes(640), 16000), "audio", d.now)
    d.drain().say("To what I heard").turn_complete()
    assert pending(d) == []
    assert d.machine.parking.owed() == ["a handle that is newer than the last turn"]


def test_a_session_that_is_over_has_nothing_to_come() -> None:
    d = live().call(("c1", "tool"))
    d.machine.close(d.now)
    assert pending(d.drain()) == []


def test_a_move_waits_for_an_open_call_and_not_for_one_in_the_background() -> None:
    assert live().call(("c1", "tool")).machine.pending.snapshot().calls
    d = live(BACKGROUND).call(("c1", "tool")).say("On it.").turn_complete()
    assert pending(d) == ["the call tool (c1)"]
    assert d.machine.pending.snapshot().calm
