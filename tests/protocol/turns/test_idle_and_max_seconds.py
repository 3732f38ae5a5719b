"""The time of a session is over: kindly, between turns, and in any case."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from support.driver import Driver, plan

from livetools.errors import LimitReached
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.turns.idle_and_max_seconds import ASK_WHETHER_THERE, LAST_TURN, SOON_OVER
from livetools.setup.plan_fields import CallPolicy

TOOL = CallPolicy("book", timeout=None)
SECOND = {
    "inlineData": {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(bytes(48_000)).decode()}
}


def live(*policies: CallPolicy, **limits: Any) -> Driver:
    return Driver(plan(*policies, **limits), ReconnectPolicy()).live()


def told(d: Driver) -> list[str]:
    """What the model was told as a user's turn."""
    turns = [frame["clientContent"]["turns"] for _, frame in d.frames if "clientContent" in frame]
    return [part["text"] for turn in turns for content in turn for part in content["parts"]]


def heard(d: Driver, text: str = "Hm") -> Driver:
    return d.server({"serverContent": {"inputTranscription": {"text": text}}})


class TestMaxSeconds:
    def test_the_model_is_told_at_nine_tenths_and_the_session_ends_in_a_quiet_moment(self) -> None:
        d = live(max_seconds=100.0)
        d.later(89.9)
        assert told(d) == []
        d.later(0.2)
        assert told(d) == [SOON_OVER.format(10)]
        d.say("It ends.").turn_complete().later(9.8)
        assert d.ended == []
        d.later(0.2)
        [error] = d.ended
        assert isinstance(error, LimitReached)
        assert (error.limit, error.retryable) == ("max_seconds", False)
        assert "max_seconds=100" in str(error)

    def test_the_model_is_told_between_two_turns_where_no_pause_is_long(self) -> None:
        d = live(max_seconds=60.0)
        while d.now < 59:
            d.later(0.7)
            heard(d).say("Yes.").turn_complete()
        assert told(d) == [SOON_OVER.format(6)]

    def test_a_turn_under_way_is_heard_out(self) -> None:
        d = live(max_seconds=100.0)
        d.later(99).say("I").later(4).say("say").later(2)
        assert d.ended == []
        d.turn_complete()
        assert len(d.ended) == 1

    def test_a_turn_without_end_is_cut_off(self) -> None:
        d = live(max_seconds=100.0)
        d.later(99)
        for _ in range(20):
            d.later(0.5).say("and ")
        assert d.ended == []
        d.say("and ").later(1.1)
        assert len(d.ended) == 1
        assert d.now == pytest.approx(100 + LAST_TURN, abs=0.2)

    def test_a_call_that_is_open_is_waited_for_as_long(self) -> None:
        d = live(TOOL, max_seconds=100.0)
        d.later(99).call(("c1", "book")).later(9)
        assert d.ended == []
        d.later(3)
        assert len(d.ended) == 1

    def test_the_model_is_not_told_in_the_middle_of_a_turn(self) -> None:
        d = live(max_seconds=100.0)
        d.later(89).say("I say").later(5)
        assert told(d) == []
        d.turn_complete().later(3)
        assert len(told(d)) == 1

    def test_reconnects_count(self) -> None:
        d = live(max_seconds=100.0)
        d.later(60).drop().later(1)
        d.establish().later(30)
        assert len(told(d)) == 1
        assert d.machine.stats()["seconds"] == pytest.approx(91, abs=1.5)

    def test_it_counts_from_the_moment_that_the_session_stands(self) -> None:
        d = Driver(plan(max_seconds=10.0, setup_timeout=60))
        d.machine.connect(0)
        d.drain().later(30)
        assert d.machine.stats()["seconds"] == 0
        d.establish().later(9.5)
        assert d.ended == []


class TestIdle:
    def test_the_model_asks_once_and_then_the_session_ends_in_order(self) -> None:
        d = live(idle=10.0)
        d.later(9.9)
        assert told(d) == []
        d.later(0.2)
        assert told(d) == [ASK_WHETHER_THERE]
        d.say("Hello?").turn_complete().later(9.8)
        assert d.ended == []
        d.later(0.3)
        assert d.ended == [None]
        assert d.machine.limits.went_idle
        assert len(told(d)) == 1

    def test_whoever_answers_is_asked_again_the_next_time(self) -> None:
        d = heard(live(idle=10.0).later(11).turn_complete().later(4), "Yes").later(9)
        assert d.ended == []
        d.later(1.1).turn_complete()
        assert (len(told(d)), d.ended) == (2, [])

    def test_a_user_who_speaks_types_or_presses_a_key_is_no_silence(self) -> None:
        d = live(idle=10.0)
        for _ in range(3):
            heard(d.later(8))
            d.later(8).server({"voiceActivity": {"type": "ACTIVITY_START"}})
            d.later(8).machine.user_is_there(d.now)
        assert told(d) == []
        d.later(8).machine.send_text("typed", d.now)
        d.drain().say("ok").turn_complete().later(9)
        assert told(d) == ["typed"]

    def test_blank_transcripts_are_nobodys_voice(self) -> None:
        d = heard(live(idle=10.0).later(9), " ").later(2.1)  # the last part of it for a quiet moment
        assert told(d) == [ASK_WHETHER_THERE]

    def test_silence_begins_when_the_sound_has_been_heard(self) -> None:
        d = live(idle=10.0).later(1)
        d.server({"serverContent": {"modelTurn": {"parts": [SECOND] * 20}}}).turn_complete().later(29)
        assert told(d) == []
        d.later(1.2)
        assert told(d) == [ASK_WHETHER_THERE]

    def test_a_call_that_is_open_and_a_model_that_is_expected_are_no_silence(self) -> None:
        d = live(TOOL, idle=10.0, stall_timeout=60.0)
        d.later(5).call(("c1", "book")).later(30).settle("c1").later(30)
        assert told(d) == []
        d.say("Booked.").turn_complete().later(9.9)
        assert told(d) == []
        d.later(0.2)
        assert told(d) == [ASK_WHETHER_THERE]

    def test_a_connection_that_is_made_anew_is_no_silence(self) -> None:
        d = live(idle=10.0).later(9).drop().later(3)
        assert told(d) == []
        d.establish().later(9.5)
        assert told(d) == []
        d.later(1)
        assert told(d) == [ASK_WHETHER_THERE]

    def test_both_limits_go_together(self) -> None:
        d = live(idle=10.0, max_seconds=15.0)
        d.later(11).say("Hello?").turn_complete().later(20)
        assert len(d.ended) == 1
        assert isinstance(d.ended[0], LimitReached)
