"""What is still to come: one answer, for whoever asks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.driver import Driver, plan

from livetools.events import SETTLED, TurnComplete
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.messages import outgoing
from livetools.protocol.turns.expected_turns import PAUSE, QUIET_SETTLES
from livetools.setup.plan_fields import CallPolicy

BLOCKING = CallPolicy("tool", timeout=None)
ASYNC = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
BACKGROUND = replace(BLOCKING, background=True)
POLICY = ReconnectPolicy(attempts=8, initial=0.1, maximum=0.1, jitter=0.0)
HANDLE = {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}


def live(policy: CallPolicy = BLOCKING, **fields: object) -> Driver:
    return Driver(plan(policy, **fields), POLICY).live().server(HANDLE)


def pending(d: Driver) -> list[str]:
    """What is pending; ``stats()`` says the same."""
    names = d.machine.pending
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
    assert live().call(("c1", "tool")).machine.to_come.snapshot().doing == "tool"
    d = live(BACKGROUND).call(("c1", "tool")).say("On it.").turn_complete()
    assert pending(d) == ["the call tool (c1)"]
    assert d.machine.to_come.snapshot().doing == "idle"


SAID = {"serverContent": {"outputTranscription": {"text": "Yes."}}}
END = {"serverContent": {"turnComplete": True}}
CALLED = {"toolCall": {"functionCalls": [{"id": "c1", "name": "tool", "args": {}}]}}
TAKEN_BACK = {"toolCallCancellation": {"ids": ["c1"]}}


class Loop:
    """A loop that leaves at ``TurnComplete`` when nothing is pending."""

    def __init__(self, d: Driver) -> None:
        self.d, self.at, self.reasons = d, 0, list[str | None]()

    def read(self) -> bool:
        """Whether it leaves."""
        new, self.at = self.d.events[self.at :], len(self.d.events)
        ends = [event.reason for event in new if isinstance(event, TurnComplete)]
        self.reasons += ends
        return bool(ends) and not pending(self.d)


@pytest.mark.parametrize(
    ("texts", "steps", "seconds"),
    [
        (2, [SAID, END], PAUSE),  # both texts are answered in one turn
        (1, [CALLED, None, SAID, END], QUIET_SETTLES),  # the turn of the call speaks of the result as well
        (1, [CALLED, SAID, END, "SILENT"], 0.0),
        (1, [CALLED, SAID, END, TAKEN_BACK], 0.0),
    ],
    ids=["two texts together", "result in the same turn", "silent result", "call taken back"],
)
def test_a_loop_leaves_once_what_was_pending_at_the_end_of_a_turn_ends_without_another(
    texts: int, steps: list[dict[str, object] | str | None], seconds: float
) -> None:
    d = live(ASYNC)
    for _ in range(texts):
        d.machine.send_text("?", d.now)
        d.drain()
    loop = Loop(d)
    for step in steps:
        assert not loop.read()
        if isinstance(step, dict):
            d.server(step)
        else:
            d.settle("c1", scheduling=step).drain()
    if seconds:
        d.later(seconds - 0.01)
        assert not loop.read()
        d.later(0.02)
    assert loop.read()
    assert loop.reasons == [None, SETTLED]
    d.later(60)
    assert not loop.read(), "it is told once"
    assert loop.reasons == [None, SETTLED]


def test_a_turn_that_leaves_nothing_pending_ends_once_and_the_next_one_too() -> None:
    d = live(ASYNC)
    for _ in range(2):
        d.machine.send_text("?", d.now)
        d.drain().server(CALLED).server(SAID).server(END).settle("c1").server(SAID).server(END).later(60)
    assert [event.reason for event in d.events if isinstance(event, TurnComplete)] == [None] * 4
