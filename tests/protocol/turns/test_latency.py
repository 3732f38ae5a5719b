"""Latency: from the end of what the user says to the first sound and the last, and from a call to its answer."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.driver import GEMINI, Driver, plan

from livetools.events import TurnComplete
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.turns.histogram import PER_OCTAVE, UNIT, Histogram
from livetools.protocol.turns.speech_times import SpeechTimes
from livetools.setup.plan_fields import CallPolicy, Plan

OFF = 2 ** (1 / PER_OCTAVE / 2)  # the factor by which a quantile may be off
HEARD = {"serverContent": {"inputTranscription": {"text": "and "}}}
TIMES = st.lists(st.floats(0.0, 1000.0), min_size=1, max_size=200)


def activity(kind: str) -> dict[str, Any]:
    return {"serverContent": {}, "voiceActivity": {"type": f"ACTIVITY_{kind}"}}


def live(of: Plan | None = None) -> Driver:
    return Driver(of or plan(CallPolicy("f")), ReconnectPolicy()).live()


def text(d: Driver) -> Driver:
    d.machine.send_text("go", d.now)
    return d.drain()


def ends(d: Driver) -> list[tuple[float | None, float | None]]:
    """The times that the ends of turns told."""
    return [(e.first_output, e.last_output) for e in d.events if isinstance(e, TurnComplete)]


def counts(d: Driver) -> list[int]:
    stats = d.machine.stats()["latency"]
    return [stats[name]["count"] for name in ("first_output", "last_output", "call")]


# The histogram


@given(TIMES, st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]))
def test_a_quantile_is_that_of_the_sorted_times_to_half_a_bucket(times: list[float], share: float) -> None:
    histogram = Histogram()
    for time in times:
        histogram.add(time)
    exact = sorted(times)[max(1, -int(-share * len(times) // 1)) - 1]
    told = histogram.quantile(share)
    assert told is not None
    assert exact / OFF - UNIT <= told <= exact * OFF + UNIT


@given(st.lists(st.floats(0.0, 1e12), min_size=1))
def test_count_mean_and_max_are_exact_and_any_time_has_a_bucket(times: list[float]) -> None:
    histogram = Histogram()
    for time in times:
        histogram.add(time)
    summary = histogram.summary()
    assert (summary["count"], summary["max"]) == (len(times), max(times))
    added = functools.reduce(operator.add, times)  # sum() corrects its rounding from Python 3.12 on
    assert summary["mean"] == added / len(times)


def test_without_times_there_are_no_figures_and_no_buckets() -> None:
    histogram = Histogram()
    assert histogram.summary() == {"count": 0, **dict.fromkeys(("mean", "p50", "p90", "p99", "max"))}
    assert not histogram._buckets


def test_no_quantile_exceeds_the_greatest_time() -> None:
    histogram, chance = Histogram(), Random(1)
    for _ in range(1000):
        histogram.add(chance.expovariate(2.0))
    summary = histogram.summary()
    assert summary["p50"] < summary["p90"] < summary["p99"] <= summary["max"]  # type: ignore[operator]


# Turns


def test_a_text_is_answered_after_so_long() -> None:
    d = text(live())
    d.later(0.5).say("It ").later(0.25).say("rains.").later(1.0).turn_complete()
    assert ends(d) == [(0.5, 0.75)]
    assert counts(d) == [1, 1, 0]
    assert d.machine.stats()["latency"]["first_output"]["max"] == 0.5
    assert d.machine.stats()["latency"]["last_output"]["max"] == 0.75


def test_thoughts_are_no_answer_and_a_filler_is_no_end() -> None:
    d = text(live())
    thought = {"serverContent": {"modelTurn": {"parts": [{"text": "Hm.", "thought": True}]}}}
    d.later(0.5).server(thought).later(0.5).say("Moment.")
    d.server({"serverContent": {"turnComplete": True}, "interactionStatus": "IN_PROGRESS"})
    d.later(2.0).say("It rains.").turn_complete()
    assert ends(d) == [(None, None), (1.0, 3.0)]


def test_a_turn_that_only_calls_leaves_the_question_open() -> None:
    d = text(live(plan(CallPolicy("f", ends_turn=True))))
    d.later(0.5).call(("c1", "f")).turn_complete().later(0.5).settle("c1").later(0.5).say(
        "Done."
    ).turn_complete()
    assert ends(d) == [(None, None), (1.5, 1.5)]


def test_what_the_model_says_unasked_is_not_measured() -> None:
    d = text(live()).later(0.5).say("Yes.").turn_complete()
    d.later(9.0).say("By the way ...").turn_complete()
    assert ends(d) == [(0.5, 0.5), (None, None)]


def test_of_several_texts_the_last_one_counts() -> None:
    d = text(live()).later(1.0)
    text(d).later(0.25).say("Yes.").turn_complete()
    assert ends(d) == [(0.25, 0.25)]


def test_a_text_in_the_middle_of_an_answer_belongs_to_the_next() -> None:
    d = text(live()).later(0.5).say("It ")
    text(d).later(0.5).say("rains.").turn_complete().later(1.0).say("And more.").turn_complete()
    assert ends(d) == [(0.5, 1.0), (1.5, 1.5)]


def test_speech_ends_where_the_service_hears_its_end_whatever_it_transcribes_afterwards() -> None:
    d = live().server(activity("START")).later(2.0).server(HEARD).server(activity("END"))
    d.later(0.25).server(HEARD).later(0.25).say("Yes.").server(HEARD).turn_complete()
    assert ends(d) == [(0.5, 0.5)]


def test_without_a_mark_the_last_words_before_the_answer_are_the_end_of_speech() -> None:
    d = live().server(HEARD).later(1.0).server(HEARD).later(0.5).say("Yes.").server(HEARD).later(1.0).say("!")
    assert ends(d.turn_complete()) == [(0.5, 1.5)]


def test_a_user_who_goes_on_speaking_has_not_ended() -> None:
    d = live().server(activity("END")).later(1.0).server(activity("START")).say("Yes.").turn_complete()
    assert ends(d) == [(None, None)]


def test_a_push_to_talk_ends_with_its_button() -> None:
    manual = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}
    d = live(replace(plan(CallPolicy("f")), setup={"model": GEMINI, **manual}))
    d.machine.activity(True, d.now)
    d.machine.send_media(b"{}", "audio", d.now)
    d.later(2.0).machine.activity(False, d.now)
    assert ends(d.drain().later(0.5).say("Yes.").turn_complete()) == [(0.5, 0.5)]


def test_a_microphone_that_is_turned_off_ends_what_is_said() -> None:
    d = live()
    d.machine.send_media(b"{}", "audio", d.now)
    d.later(2.0).machine.end_audio(d.now)
    assert ends(d.drain().later(0.5).say("Yes.").turn_complete()) == [(0.5, 0.5)]


@pytest.mark.parametrize("by", ["the service", "the user"])
def test_when_a_turn_that_was_cut_off_would_have_ended_is_not_known(by: str) -> None:
    d = text(live()).later(0.5).say("It ").later(1.0)
    if by == "the user":
        d.machine.interrupt(d.now)
    else:
        d.server({"serverContent": {"interrupted": True}})
    d.drain().turn_complete()
    assert ends(d) == [(0.5, 0.5)]
    assert counts(d) == [1, 0, 0]


def test_a_turn_that_a_lost_connection_ends_is_cut_off() -> None:
    d = text(live()).later(0.5).say("It ").drop().later(1.0)
    assert ends(d) == [(0.5, 0.5)]
    assert counts(d) == [1, 0, 0]
    d.establish()
    text(d).later(0.25).say("Yes.").turn_complete()
    assert ends(d)[1:] == [(0.25, 0.25)]


def test_a_text_that_waits_for_the_line_waits_for_its_answer() -> None:
    d = live().drop()
    text(d).later(2.0)
    d.establish().later(0.5).say("Yes.").turn_complete()
    assert ends(d)[-1] == (2.5, 2.5)


def test_events_that_differ_in_their_times_alone_are_equal() -> None:
    assert TurnComplete(first_output=1.0, last_output=2.0) == TurnComplete()


def test_since_when_the_model_is_waited_for() -> None:
    speech = SpeechTimes()
    assert speech.awaited_since is None
    speech.asked(1.0)
    assert speech.awaited_since == 1.0
    speech.output(2.0)
    speech.asked(3.0)
    assert speech.awaited_since == 1.0  # the turn under way
    speech.turn_ended()
    assert speech.awaited_since == 3.0


# Calls


def test_a_call_takes_from_its_arrival_to_its_answer() -> None:
    d = live().call(("c1", "f")).later(0.75).settle("c1")
    assert counts(d) == [0, 0, 1]
    assert d.machine.stats()["latency"]["call"]["max"] == 0.75


def test_a_call_that_waits_for_its_batch_is_answered_with_it() -> None:
    d = live(plan(CallPolicy("f"), reply_batching="batch")).call(("c1", "f"), ("c2", "f"))
    d.later(0.5).settle("c1").later(0.5).settle("c2")
    assert counts(d) == [0, 0, 2]
    assert d.machine.stats()["latency"]["call"]["mean"] == 1.0


def test_a_cancelled_call_is_not_answered() -> None:
    d = live().call(("c1", "f")).server({"toolCallCancellation": {"ids": ["c1"]}}).settle("c1")
    assert counts(d) == [0, 0, 0]


def test_an_interim_response_is_no_answer() -> None:
    d = live(plan(CallPolicy("f", streams=True))).call(("c1", "f"))
    run = d.machine.run_of("c1")
    assert run is not None
    d.later(0.5).machine.progress(run, 1, d.now, Outcome({"output": 1}))
    assert counts(d.drain()) == [0, 0, 0]
    assert counts(d.later(0.5).settle("c1")) == [0, 0, 1]
