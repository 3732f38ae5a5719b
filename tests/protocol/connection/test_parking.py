"""Parking: a session is closed once its handle holds all of it, and not a moment before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.driver import GEMINI, Driver, plan

from livetools.protocol.calls.driver_actions import Close, EndSession
from livetools.protocol.connection.parking import PARKING_HANDLE_TIMEOUT
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.turns.speech_times import QUIET_PAUSE
from livetools.setup.plan_fields import CallPolicy

POLICY = ReconnectPolicy(attempts=3, initial=0.25, jitter=0.0)
ECHO = CallPolicy("echo")
LATER = CallPolicy("later", behavior="NON_BLOCKING", background=True)


def live(*policies: CallPolicy, **fields: Any) -> Driver:
    return handle(Driver(plan(*policies or (ECHO,), **fields), POLICY).live(), "h1")


def handle(d: Driver, name: str) -> Driver:
    return d.server({"sessionResumptionUpdate": {"newHandle": name, "resumable": True}})


def park(d: Driver, within: float = 30.0) -> Driver:
    d.machine.park(d.now, within)
    return d.drain()


def parked(d: Driver) -> bool:
    return any(isinstance(action, EndSession) for action in d.actions)


def text(d: Driver, words: str = "hello") -> Driver:
    d.machine.send_text(words, d.now)
    return d.drain()


def test_a_session_in_which_nothing_was_said_is_parked_at_once() -> None:
    d = park(live())
    assert parked(d)
    assert d.machine.handle == "h1"
    assert d.hung_up == [1]


def test_it_waits_for_the_answer_to_a_text_and_for_the_handle_behind_it() -> None:
    d = park(text(live()))
    assert not parked(d)
    d.say("Hi.").turn_complete()
    assert not parked(d)
    assert parked(handle(d, "h2"))
    assert (d.machine.handle, d.machine.parking.left) == ("h2", [])


def test_a_text_that_is_sent_while_it_waits_is_waited_for_as_well() -> None:
    d = text(park(text(live()), within=60), "and this")
    handle(d.say("Hi.").turn_complete(), "h2")
    assert not parked(d)
    assert parked(handle(d.say("That too.").turn_complete(), "h3"))


def test_an_open_call_is_answered_and_spoken_of_first() -> None:
    d = park(live().call(("c1", "echo")))
    d.settle("c1")
    assert not parked(d)
    d.say("Done.").turn_complete()
    assert parked(handle(d, "h2"))
    assert d.answers() == [("c1", {"output": "ok"})]


def test_what_runs_in_the_background_is_told_first() -> None:
    d = live(LATER).call(("c1", "later"))
    handle(d.say("It is under way.").turn_complete(), "h2").later(QUIET_PAUSE + 1)
    assert not parked(park(d))
    d.settle("c1").later(QUIET_PAUSE + 1)
    assert not parked(d)
    assert parked(handle(d.say("It is done.").turn_complete(), "h3"))


def test_a_call_whose_connection_is_lost_is_told_on_the_next_one_first() -> None:
    d = park(live().call(("c1", "echo"))).drop().later(0.3)
    d.machine.opened(2, d.now)
    d.drain().server({"setupComplete": {}}, link=2)
    assert not parked(d)
    d.settle("c1").later(3)
    assert not parked(d)
    handle(d.say("Here it is.").turn_complete(), "h2")
    assert parked(d)


def test_a_line_that_is_away_with_a_text_on_it_is_waited_for() -> None:
    d = park(text(live())).drop()
    assert not parked(d)
    d.later(0.3)
    d.machine.opened(2, d.now)
    d.drain().server({"setupComplete": {}}, link=2)
    assert not parked(d)
    assert parked(handle(d.say("Hi.").turn_complete(), "h2"))


def test_a_line_that_is_away_with_nothing_on_it_is_not_dialled_again() -> None:
    d = park(live().drop())
    assert parked(d)
    assert d.dialled == [1]


def test_a_service_that_wants_the_line_back_gets_it_without_another_dial() -> None:
    d = park(text(live()).later(1)).server({"goAway": {"timeLeft": "50s"}})
    assert parked(handle(d.say("Hi.").turn_complete(), "h2"))
    assert d.dialled == [1]


def test_after_sound_it_waits_until_nobody_has_spoken_for_a_moment() -> None:
    d = live()
    d.machine.send_media(b"{}", "audio", d.now)
    d.drain().server({"serverContent": {"inputTranscription": {"text": "half a"}}})
    d = park(d).later(QUIET_PAUSE - 0.1)
    assert not parked(d)
    assert parked(d.later(0.2))


def test_an_activity_is_left_first() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    d = live(setup={"model": GEMINI, "realtimeInputConfig": manual})
    d.machine.activity(True, d.now)
    assert not parked(park(d.drain()).later(5))
    d.machine.activity(False, d.now)
    assert parked(d.drain().later(1))


def test_a_handle_that_does_not_come_is_waited_for_and_said() -> None:
    d = park(text(live()).say("Hi.").turn_complete()).later(PARKING_HANDLE_TIMEOUT - 0.1)
    assert not parked(d)
    assert parked(d.later(0.2))
    assert d.machine.parking.left == ["a handle that is newer than the last turn"]


def test_content_without_a_turn_waits_for_its_pong() -> None:
    d = handle(live(), "h1")
    d.slow.add(1)
    said = [{"role": "user", "parts": [{"text": "by the way"}]}]
    d.machine.send_content(said, False, d.now)
    handle(park(d.drain()), "h2").later(10)
    assert not parked(d)
    d.slow.discard(1)
    assert parked(d.later(1))


def test_past_the_bound_it_is_closed_and_says_what_was_left() -> None:
    d = park(text(live().call(("c1", "echo"))), within=10).later(9.9)
    assert not parked(d)
    assert parked(d.later(0.2))
    assert d.stopped == ["c1"]
    left = " ".join(d.machine.parking.left)
    assert "echo (c1)" in left
    assert "may not have been read" in left or "not sent yet" in left


def test_of_several_wishes_the_earliest_bound_holds() -> None:
    d = park(park(text(live()), within=60), within=1)
    assert parked(d.later(1.1))


def test_it_may_be_called_off() -> None:
    d = text(live())
    d.machine.stay(d.machine.park(d.now, 1))
    assert not parked(handle(d.later(5).say("Hi.").turn_complete(), "h2"))


def test_who_calls_it_off_does_so_for_himself_alone() -> None:
    d = text(live())
    wishes = [d.machine.park(d.now, within) for within in (1, 60, 1)]
    d.machine.stay(wishes.pop(0))
    d.machine.stay(wishes.pop())
    assert not parked(d.later(5))
    assert parked(handle(d.say("Hi.").turn_complete(), "h2"))


@pytest.mark.parametrize("code", [1008, 1011])
def test_a_session_that_ends_by_itself_meanwhile_ends_as_it_would(code: int) -> None:
    d = Driver(plan(ECHO), None).live()
    park(text(d))
    d.machine.disconnected(1, Close(code, "no"), d.now)
    [end] = [action for action in d.drain().actions if isinstance(action, EndSession)]
    assert end.error is not None


def test_what_is_read_late_is_seen_before_the_time_to_park_is_over() -> None:
    d = park(text(live()), within=30)
    d.now += 40  # nothing ran until now
    for message in (
        {"serverContent": {"outputTranscription": {"text": "Hi."}}},
        {"serverContent": {"turnComplete": True}},
        {"sessionResumptionUpdate": {"newHandle": "h2", "resumable": True}},
    ):
        d.machine.receive(1, json.dumps(message), d.now, overdue=True)
        d.drain()
    assert parked(d)
    assert (d.machine.handle, d.machine.parking.left) == ("h2", [])


def test_a_session_that_is_not_to_be_waited_for_is_parked_at_once() -> None:
    d = park(text(live()), within=0)
    assert parked(d)
    assert d.machine.parking.left
