"""The record that is written from the events of a session."""

from __future__ import annotations

from livetools import Call, ToolError
from livetools.evals import Conversation
from livetools.evals.recording.event_recorder import EventRecorder
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Interrupted,
    OutputTranscript,
    TextChunk,
    ToolFinished,
    ToolStarted,
    TurnComplete,
)
from livetools.tools.validation.invalid_arguments import InvalidArguments


def recorded(*, transcribed: bool = False) -> EventRecorder:
    return EventRecorder(Conversation(), lambda: 1.0, transcribed)


def hear(recorder: EventRecorder, *events) -> None:
    for event in events:
        recorder.event(event)


DONE = TurnComplete(None, None, False)
PAY = Call("c1", "pay", {"amount": 20})


def test_words_after_the_end_of_a_turn_belong_to_what_the_caller_said_last():
    recorder = recorded()
    recorder.begin("a menu")
    hear(
        recorder,
        TextChunk("I ask "),
        TextChunk("the cook."),
        DONE,
        TextChunk("It is"),
        TextChunk(" soup."),
        DONE,
    )
    recorder.begin("thanks")
    hear(recorder, TextChunk("You are welcome."), DONE)
    assert [turn.text for turn in recorder.record.turns] == [
        "I ask the cook. It is soup.",
        "You are welcome.",
    ]


def test_text_beside_a_transcript_is_not_recorded_twice():
    recorder = recorded(transcribed=True)
    recorder.begin("hello")
    hear(
        recorder, TextChunk("Hello."), OutputTranscript("Hello.", False), DONE, TextChunk("Only text."), DONE
    )
    assert recorder.record.turns[0].text == "Hello. Only text."


def test_words_that_come_after_the_caller_cut_in_answer_the_turn_before():
    recorder = recorded()
    recorder.begin("first")
    hear(recorder, TextChunk("A very "))
    recorder.begin("second", cutting_in=True)
    hear(recorder, TextChunk("long"), Interrupted(), TextChunk("Yes?"), DONE)
    assert [(turn.text, turn.interrupted) for turn in recorder.record.turns] == [
        ("A very long", True),
        ("Yes?", False),
    ]


def test_a_caller_who_cuts_in_when_the_model_has_ended_is_answered_at_once():
    recorder = recorded()
    recorder.begin("first")
    hear(recorder, TextChunk("Short."), DONE)
    recorder.begin("second", cutting_in=True)
    hear(recorder, TextChunk("Yes?"), DONE)
    assert [turn.text for turn in recorder.record.turns] == ["Short.", "Yes?"]


def test_an_agent_that_speaks_first_is_recorded():
    recorder = recorded()
    hear(recorder, TextChunk("Good evening."), DONE)
    recorder.begin("hello")
    assert [(turn.said, turn.text) for turn in recorder.record.turns] == [
        ("(the agent begins)", "Good evening."),
        ("hello", ""),
    ]


def test_sound_without_words_is_an_answer_in_time():
    recorder = recorded()
    turn = recorder.begin("hello")
    hear(recorder, AudioChunk(b"\0\0", 24000))
    assert turn.first == 1.0


def call_of(*events):
    recorder = recorded()
    recorder.begin("pay")
    hear(recorder, ToolStarted(PAY), *events)
    return recorder.record.calls[0]


def test_a_call_that_was_refused_did_not_run():
    refusal = ToolFinished(PAY, {"error": "no"}, ToolError("no"), 0.1, ran=False)
    call = call_of(ApprovalRequested(PAY), refusal)
    assert (call.asked, call.has_run, call.refused, call.state) == (True, False, True, "failed")


def test_a_call_with_invalid_arguments_was_not_refused():
    call = call_of(ToolFinished(PAY, {"error": "amount"}, InvalidArguments("amount"), 0.1, ran=False))
    assert (call.has_run, call.refused) == (False, False)


def test_a_call_that_failed_ran():
    call = call_of(ToolFinished(PAY, {"error": "broke"}, ToolError("broke"), 0.1))
    assert (call.has_run, call.refused) == (True, False)


def test_a_call_that_never_ended_counts_as_run_unless_it_waits_for_a_person():
    assert call_of().has_run
    assert not call_of(ApprovalRequested(PAY)).has_run
