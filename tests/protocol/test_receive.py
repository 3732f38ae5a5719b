"""What one message leads to, whatever stands beside what: each field is taken, in the order in which it must be."""

from __future__ import annotations

from base64 import b64encode
from itertools import combinations
from typing import Any

import pytest
from support.driver import Driver, plan

from livetools.events import (
    AudioChunk,
    GoAway,
    HandleUpdate,
    SessionStarted,
    ToolCancelled,
    UnknownMessage,
    Usage,
    UsageUpdate,
)
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.plan_fields import CallPolicy

TOOL = CallPolicy("tool")
#: Each field of a message, and the event that it must give.
FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "words": ({"serverContent": {"outputTranscription": {"text": "w"}}}, "OutputTranscript"),
    "end": ({"serverContent": {"turnComplete": True}}, "TurnComplete"),
    "call": ({"toolCall": {"functionCalls": [{"id": "c1", "name": "tool"}]}}, "ToolStarted"),
    "usage": ({"usageMetadata": {"totalTokenCount": 5}}, "UsageUpdate"),
    "handle": ({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}, "HandleUpdate"),
    "goAway": ({"goAway": {"timeLeft": "50s"}}, "GoAway"),
    "voice": ({"voiceActivity": {"type": "ACTIVITY_START"}}, "VoiceActivity"),
    "news": ({"brandNewThing": 1}, "UnknownMessage"),
}


def live(**fields: Any) -> Driver:
    return Driver(plan(TOOL, **fields), ReconnectPolicy()).live()


def merged(*names: str) -> dict[str, Any]:
    message: dict[str, Any] = {}
    for name in names:
        for key, value in FIELDS[name][0].items():
            message[key] = {**message[key], **value} if key in message else value
    return message


@pytest.mark.parametrize("names", list(combinations(FIELDS, 2)), ids="+".join)
def test_no_field_hides_another(names: tuple[str, str]) -> None:
    d = live().server(merged(*names))
    assert {FIELDS[name][1] for name in names} <= set(d.names)


def test_all_fields_at_once_come_words_first_then_calls_then_what_ends_the_turn() -> None:
    d = live().server(merged(*FIELDS))
    told = [n for n in d.names if n in ("OutputTranscript", "ToolStarted", "UsageUpdate", "TurnComplete")]
    assert told == ["OutputTranscript", "ToolStarted", "UsageUpdate", "TurnComplete"]


def test_a_call_and_its_cancellation_in_one_message_leave_nothing_owed() -> None:
    d = live().server({**FIELDS["call"][0], "toolCallCancellation": {"ids": ["c1"]}})
    assert any(isinstance(e, ToolCancelled) for e in d.events)
    d.settle("c1")
    assert d.answers() == []


def test_the_sessions_id_is_told_where_the_service_gives_one() -> None:
    d = Driver(plan())
    d.machine.connect(0)
    d.drain()
    d.machine.opened(1, 0)
    d.drain().server({"setupComplete": {"sessionId": "s1"}})
    assert d.events == [SessionStarted("s1")]


@pytest.mark.parametrize(
    ("told", "consent"),
    [({"signature": "sig"}, "sig"), ({}, None), ("sig", None)],
    ids=["said", "empty", "broken"],
)
def test_the_signature_of_a_consent_is_handed_on(told: object, consent: str | None) -> None:
    d = Driver(plan())
    d.machine.connect(0)
    d.drain()
    d.machine.opened(1, 0)
    d.drain().server({"setupComplete": {"voiceConsentSignature": told}})
    assert SessionStarted(None, consent) in d.events


def test_the_picture_of_a_turn_that_was_cut_off_is_not_told() -> None:
    d = live()
    d.machine.send_text("?", d.now)
    picture = {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}
    d.drain().server({"serverContent": {"modelTurn": {"parts": [picture]}}})
    d.machine.interrupt(d.now)
    d.drain().server({"serverContent": {"modelTurn": {"parts": [picture]}}})
    assert d.names.count("VideoChunk") == 1


def test_usage_is_the_last_count_of_each_turn_summed() -> None:
    d = live()
    for total in (5, 9):
        d.server({"usageMetadata": {"totalTokenCount": total}})
    assert d.machine.usage.total_tokens == 9
    d.turn_complete().server({"usageMetadata": {"totalTokenCount": 4}, **FIELDS["end"][0]})
    assert d.machine.usage == Usage(total_tokens=13)
    assert sum(isinstance(e, UsageUpdate) for e in d.events) == 3


def test_only_a_handle_that_restores_the_session_is_kept() -> None:
    d = live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    for useless in ({}, {"resumable": True}, {"newHandle": "h2"}, {"newHandle": "", "resumable": True}):
        d.server({"sessionResumptionUpdate": useless})
    assert d.machine.handle == "h1"
    assert [e for e in d.events if isinstance(e, HandleUpdate)] == [HandleUpdate("h1")]


@pytest.mark.parametrize(
    ("time_left", "seconds"), [("50s", 50.0), ("12.5s", 12.5), (3, 3.0), (None, None), ("soon", None)]
)
def test_a_go_away_tells_the_time_left_in_every_form_seen(time_left: object, seconds: float | None) -> None:
    d = live().server({"goAway": {} if time_left is None else {"timeLeft": time_left}})
    assert GoAway(seconds) in d.events


def test_once_the_user_has_cut_a_turn_off_nothing_more_of_it_is_told() -> None:
    d = live()
    d.machine.send_text("?", d.now)
    d.drain().say("heard")
    d.machine.interrupt(d.now)
    d.drain().say("not heard").server(FIELDS["call"][0])
    assert d.names.count("OutputTranscript") == 1
    assert d.started == ["c1"], "but a call is still a call"
    assert d.turn_complete().say("the next turn").names.count("OutputTranscript") == 2


def test_what_cannot_be_read_is_told_and_the_rest_is_taken() -> None:
    d = live().server(
        {"serverContent": {"modelTurn": {"parts": [5, {"functionCall": {"id": "c1", "name": "tool"}}]}}}
    )
    assert d.started == ["c1"]
    assert any(isinstance(e, UnknownMessage) for e in d.events)


def test_an_excuse_is_given_again_if_the_link_is_lost_before_a_handle_without_that_call() -> None:
    """Only a handle that was issued after the errors were read is rid of the calls that were lost."""
    d = live(answers_lost=True)
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}}).call(("c1", "tool"))
    d.drop().later(1).establish()
    d.drop().later(1).establish()
    assert [id for id, _ in d.answers()] == ["c1", "c1"]
    d.turn_complete().server({"sessionResumptionUpdate": {"newHandle": "h2", "resumable": True}})
    d.drop().later(1).establish()
    assert [id for id, _ in d.answers()] == ["c1", "c1"]


@pytest.mark.parametrize("restored", [True, False])
def test_a_call_that_comes_before_the_setup_is_complete_is_a_call_of_that_session(restored: bool) -> None:
    d = live(answers_lost=True)
    if restored:
        d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.call(("c1", "tool")).drop().later(1)
    d.machine.opened(2, d.now)
    d.drain().call(("c1", "tool")).server({"setupComplete": {}}, 2).call(("c1", "tool"))
    assert d.started == (["c1"] if restored else ["c1", "c1"])
    d.settle("c1")
    assert d.answers() == [("c1", {"output": "ok"})], "once, and without an excuse"
    d.call(("c2", "tool")).server({"toolCallCancellation": {"ids": ["c2"]}})
    d.settle("c2")
    assert len(d.answers()) == 1


def test_a_call_that_is_lost_twice_before_a_session_stands_is_excused_once() -> None:
    d = live(answers_lost=True)
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}}).call(("c1", "tool"))
    d.drop().later(1)
    d.machine.opened(2, d.now)
    d.drain().call(("c1", "tool")).drop().later(1).establish()
    assert [id for id, _ in d.answers()] == ["c1"]


# The model's speech


def sound(data: bytes, rate: int = 24000, **beside: Any) -> dict[str, Any]:
    blob = {"mimeType": f"audio/pcm;rate={rate}", "data": b64encode(data).decode()}
    return {"serverContent": {"modelTurn": {"parts": [{"inlineData": blob}]}, **beside}}


def heard(d: Driver) -> list[bytes]:
    return [event.data for event in d.events if isinstance(event, AudioChunk)]


def test_chunks_cut_in_the_middle_of_a_sample_come_out_whole() -> None:
    d = live()
    for data in (b"abc", b"d", b"e", b"f", b"gh"):
        d.server(sound(data))
    assert heard(d) == [b"ab", b"cd", b"ef", b"gh"]


@pytest.mark.parametrize(
    "between",
    [
        {"serverContent": {"interrupted": True}},
        {"serverContent": {"turnComplete": True}},
        sound(b"xy", rate=16000),
    ],
    ids=["interrupted", "turn complete", "another rate"],
)
def test_half_a_sample_is_forgotten_where_the_sound_ends(between: dict[str, Any]) -> None:
    d = live().server(sound(b"abc")).server(between).server(sound(b"de"))
    assert [data for data in heard(d) if data != b"xy"] == [b"ab", b"de"]


def test_half_a_sample_does_not_outlive_its_connection() -> None:
    d = live().server(sound(b"abc")).drop(1006).later(5).establish()
    d.server(sound(b"de"))
    assert heard(d) == [b"ab", b"de"]


SIGNS: dict[str, list[dict[str, Any]]] = {
    "words": [{"serverContent": {"outputTranscription": {"text": "w"}}}],
    "thoughts": [{"serverContent": {"modelTurn": {"parts": [{"thought": True, "text": "hm"}]}}}],
    "thought signatures": [{"serverContent": {"modelTurn": {"parts": [{"thoughtSignature": "c2ln"}]}}}],
    "a picture": [
        {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "AA"}}]}}}
    ],
    "a part of tomorrow": [{"serverContent": {"modelTurn": {"parts": [{"brandNew": 1}]}}}],
    "code": [{"serverContent": {"modelTurn": {"parts": [{"executableCode": {"code": "1 + 1"}}]}}}],
    "its result": [{"serverContent": {"modelTurn": {"parts": [{"codeExecutionResult": {"output": "2"}}]}}}],
    "grounding": [{"serverContent": {"groundingMetadata": {"webSearchQueries": ["q"]}}}],
    "read pages": [{"serverContent": {"urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "u"}]}}}],
    "a usage that grows": [{"usageMetadata": {"totalTokenCount": n}} for n in range(1, 9)],
    "a usage of thoughts that grows": [{"usageMetadata": {"thoughtsTokenCount": n}} for n in range(1, 9)],
    "IN_PROGRESS": [{"interactionStatus": "IN_PROGRESS"}],
    "REQUIRES_ACTION": [{"interactionStatus": "REQUIRES_ACTION"}],
    "IDLE": [{"interactionStatus": "IDLE"}],
    "a status of tomorrow": [{"interactionStatus": "DREAMING"}],
}
NO_SIGNS: dict[str, list[dict[str, Any]]] = {
    "the same usage again": [{"usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}}],
    "an empty frame": [{}],
    "an empty part": [{"serverContent": {"modelTurn": {"parts": [{}]}}}],
    "what the user says": [{"serverContent": {"inputTranscription": {"text": "hello?"}}}],
    "a handle": [{"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}],
}


def questioned(frames: list[dict[str, Any]]) -> Driver:
    """A question, and then one of these frames every two seconds, where a silence of three is a stall."""
    d = live(stall_timeout=3)
    d.machine.send_text("?", d.now)
    d.drain()
    for n in range(5):
        d.later(2).server(frames[min(n, len(frames) - 1)])
    return d


@pytest.mark.parametrize("frames", SIGNS.values(), ids=SIGNS)
def test_a_model_that_shows_that_it_works_has_not_stalled(frames: list[dict[str, Any]]) -> None:
    d = questioned(frames)
    assert "Stalled" not in d.names
    assert frames == SIGNS["IDLE"] or "Stalled" in d.later(4).names  # once it shows nothing any more


@pytest.mark.parametrize("frames", NO_SIGNS.values(), ids=NO_SIGNS)
def test_what_shows_no_work_is_silence(frames: list[dict[str, Any]]) -> None:
    assert "Stalled" in questioned(frames).names


def test_a_mark_that_ends_a_transcript_behind_its_turn_begins_no_other() -> None:
    d = live()
    exchange, _ = d.machine.ask("one?", d.now)
    d.drain().server({"serverContent": {"outputTranscription": {"text": "One."}}}).turn_complete()
    assert exchange.done
    d.server({"serverContent": {"outputTranscription": {"finished": True}}})
    assert d.names[-1] == "OutputTranscript"
    assert d.machine.pending == []
    exchange, _ = d.machine.ask("two?", d.now)
    d.drain().server({"serverContent": {"outputTranscription": {"finished": True}}})
    d.server({"serverContent": {"outputTranscription": {"text": "Two."}}}).turn_complete()
    assert exchange.done
    assert not exchange.stalled
