"""What nobody has asked for is said in a quiet moment: a background result, a reply that is to be generated."""

from __future__ import annotations

from dataclasses import replace

from support.driver import Driver, plan

from livetools.errors import SessionClosed
from livetools.protocol.calls.wording import SPEAK_NOW
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input.resend import Receipt
from livetools.protocol.messages.outgoing import audio
from livetools.protocol.turns.speech_times import PATIENCE, QUIET_PAUSE, SpeechTimes
from livetools.setup.plan_fields import CallPolicy, Plan

JOB = CallPolicy("job", background=True, timeout=None)
HEARD = {"serverContent": {"inputTranscription": {"text": "and "}}}


def live(of: Plan | None = None) -> Driver:
    return Driver(of or plan(JOB), ReconnectPolicy()).live()


def reply(d: Driver, instructions: str | None = "Greet.") -> Receipt:
    receipt = d.machine.generate_reply(instructions, d.now)
    d.drain()
    return receipt


def spoken(d: Driver) -> Driver:
    """A turn of the model's, without sound."""
    return d.say("Well.").turn_complete()


# The rule


def test_before_anything_was_said_it_is_quiet_at_once() -> None:
    assert SpeechTimes().quiet_at(7.0) < 7.0


def test_it_is_quiet_a_pause_after_the_last_word_and_its_sound() -> None:
    speech = SpeechTimes()
    speech.said(10.0)
    assert speech.quiet_at(10.0) == 10.0 + QUIET_PAUSE
    speech.said(10.0, 3.0)
    speech.said(10.5, 2.0)  # faster than it plays
    assert speech.quiet_at(10.0) == 15.0 + QUIET_PAUSE
    speech.cut_off(11.0)
    assert speech.quiet_at(10.0) == 11.0 + QUIET_PAUSE


def test_a_user_who_speaks_on_is_waited_for_and_not_for_ever() -> None:
    speech = SpeechTimes()
    speech.user(True, 10.0)
    assert speech.quiet_at(12.0) == 12.0 + PATIENCE
    speech.user(False, 14.0)
    assert speech.quiet_at(12.0) == 14.0 + QUIET_PAUSE


def test_on_another_connection_nobody_will_tell_when_the_user_stops() -> None:
    speech = SpeechTimes()
    speech.user(True, 10.0)
    speech.lost()
    assert speech.quiet_at(12.0) == 10.0 + QUIET_PAUSE


# What goes out


def test_a_greeting_goes_out_at_once_and_is_not_the_users_word() -> None:
    d = live()
    receipt = reply(d)
    assert receipt.done
    assert receipt.error is None
    assert d.sent("clientContent") == [
        {"turns": [{"role": "user", "parts": [{"text": "Greet."}]}], "turnComplete": True}
    ]
    assert d.machine.stats()["waiting_for"] == "the model's answer to the user's turn"


def test_on_the_realtime_channel_it_is_a_text_there() -> None:
    d = live(plan(text_channel="realtime", content_mid_session="refused"))
    reply(d)
    assert d.sent("realtimeInput") == [{"text": "Greet."}]


def test_without_instructions_a_model_that_takes_it_is_told_nothing() -> None:
    d = live(plan(empty_turn="honoured"))
    reply(d, None)
    assert d.sent("clientContent") == [{"turnComplete": True}]


def test_without_instructions_another_model_is_told_that_it_is_its_turn() -> None:
    d = live()
    reply(d, None)
    assert d.texts() == [SPEAK_NOW]


def test_it_waits_for_the_end_of_the_models_turn_and_a_pause() -> None:
    d = live().say("Well, ")
    receipt = reply(d)
    d.later(3.0).say("then.").turn_complete().later(QUIET_PAUSE - 0.1)
    assert not receipt.done
    assert d.later(0.1).texts() == ["Greet."]
    assert receipt.done


def test_it_never_cuts_into_the_models_turn_however_long() -> None:
    d = live().say("Well, ")
    reply(d)
    for _ in range(6):
        d.later(5.0).say("and ")
    assert not d.texts()
    assert d.turn_complete().texts() == ["Greet."], "it has waited long enough by now"


def test_it_waits_while_the_user_is_heard() -> None:
    d = spoken(live())
    reply(d)
    for _ in range(4):
        d.later(1.5).server(HEARD)
    assert not d.texts()
    assert d.later(QUIET_PAUSE).texts() == ["Greet."]


def test_it_waits_while_the_user_speaks_but_not_for_ever() -> None:
    d = spoken(live()).server({"voiceActivity": {"type": "ACTIVITY_START"}})
    reply(d)
    assert not d.later(PATIENCE - 0.1).texts()
    assert d.later(0.1).texts() == ["Greet."]


def test_it_never_goes_into_what_the_user_says_by_push_to_talk() -> None:
    manual = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}
    d = spoken(live(replace(plan(), setup=manual)))
    d.machine.activity(True, d.now)
    d.machine.send_media(audio(b"\0\0"), "audio", d.now)
    reply(d.drain())
    assert not d.later(PATIENCE + 1.0).texts()
    d.machine.activity(False, d.now)
    assert not d.drain().texts(), "the answer comes first"
    assert spoken(d).texts() == ["Greet."]


def test_it_waits_for_sound_that_still_plays() -> None:
    d = live()
    sound = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA" * 48_000}}  # 3 s
    d.server({"serverContent": {"modelTurn": {"parts": [sound]}}}).turn_complete()
    reply(d)
    assert not d.later(3.0 + QUIET_PAUSE - 0.1).texts()
    assert d.later(0.1).texts() == ["Greet."]


def test_an_interruption_ends_the_sound_and_a_pause_follows() -> None:
    d = live()
    sound = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA" * 160_000}}  # 10 s
    d.server({"serverContent": {"modelTurn": {"parts": [sound]}}})
    d.server({"serverContent": {"interrupted": True}}).turn_complete()
    reply(d)
    assert d.later(QUIET_PAUSE).texts() == ["Greet."]


def test_background_results_and_replies_come_one_at_a_time() -> None:
    d = spoken(live().call(("c1", "job")))
    d.settle("c1", "42 rows")
    reply(d)
    assert ["42 rows" in text for text in d.later(QUIET_PAUSE).texts()] == [True]
    spoken(d)
    assert d.later(QUIET_PAUSE).texts()[1:] == ["Greet."]


def test_the_result_of_a_lost_call_is_waited_for_and_does_not_wait() -> None:
    d = live(plan(CallPolicy("echo"))).call(("c1", "echo")).drop(1006).settle("c1", "seven")
    d.later(0.3).establish()
    assert "seven" in d.texts()[0]


def test_it_outlasts_a_connection_that_is_lost_before_and_after_it_was_written() -> None:
    d = spoken(live())
    receipt = reply(d)
    d.drop(1006).later(0.3).establish().later(QUIET_PAUSE)
    assert receipt.done
    d.drop(1006).later(1.0).establish()
    assert d.texts() == ["Greet.", "Greet."]


def test_it_may_be_taken_back_while_it_waits() -> None:
    d = spoken(live())
    d.machine.dispatch.take_back(reply(d))
    assert not d.later(2 * PATIENCE).texts()


def test_the_end_of_the_session_is_told_to_whoever_waits() -> None:
    d = spoken(live())
    receipt = reply(d)
    d.machine.close(d.now)
    d.drain()
    assert isinstance(receipt.error, SessionClosed)
    assert isinstance(reply(d).error, SessionClosed)
