"""What the user sees of a message, and in which order."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.protocol.content import events, usage
from livetools.protocol.events import (
    AudioChunk,
    CodeChunk,
    Event,
    GenerationComplete,
    Grounding,
    InputTranscript,
    Interrupted,
    OutputTranscript,
    TextChunk,
    ThoughtChunk,
    TurnComplete,
    UnknownMessage,
    Usage,
    UsageUpdate,
    VoiceActivity,
)
from livetools.protocol.frames import ServerMessage, parse

ROWS = [
    json.loads(line)
    for line in pathlib.Path(__file__).with_name("frames_recorded.jsonl").read_text("utf-8").splitlines()
]
PCM = b"\x01\x00\x02\x00"
AUDIO = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(PCM).decode()}}


def seen(**frame: Any) -> list[Event]:
    return events(parse(json.dumps(frame)))


def content(*parts: object, **fields: Any) -> list[Event]:
    turn = {"modelTurn": {"parts": list(parts)}} if parts else {}
    return seen(serverContent={**turn, **fields})


@pytest.mark.parametrize(
    ("frame", "names"),
    [(row["frame"], row["events"]) for row in ROWS if "frame" in row],
    ids=lambda value: ",".join(value),
)
def test_a_recorded_frame_gives_its_events(frame: dict[str, Any], names: list[str]) -> None:
    assert [type(event).__name__ for event in seen(**frame)] == names


def test_one_message_may_hold_everything_and_is_seen_in_order() -> None:
    found = seen(
        brandNew=1,
        usageMetadata={"totalTokenCount": 3},
        voiceActivity={"type": "ACTIVITY_END", "audioOffset": "1.5s"},
        serverContent={
            "turnComplete": True,
            "generationComplete": True,
            "interactionStatus": "IN_PROGRESS",
            "outputTranscription": {"text": "said"},
            "inputTranscription": {"text": "heard", "finished": True},
            "groundingMetadata": {"webSearchQueries": ["q"]},
            "urlContextMetadata": {"urlMetadata": [1]},
            "modelTurn": {"parts": [{"text": "hm", "thought": True}, AUDIO, {"text": "hello"}]},
        },
    )
    assert found == [
        VoiceActivity("end", 1.5),
        InputTranscript("heard", True),
        ThoughtChunk("hm"),
        AudioChunk(PCM),
        TextChunk("hello"),
        OutputTranscript("said"),
        Grounding({"webSearchQueries": ["q"]}),
        Grounding({"urlMetadata": [1]}),
        UnknownMessage({"brandNew": 1}),
        GenerationComplete(),
        UsageUpdate(Usage(total_tokens=3, raw={"totalTokenCount": 3})),
        TurnComplete(status="IN_PROGRESS"),
    ]


def test_an_interruption_comes_first_and_takes_the_audio_beside_it() -> None:
    assert content(AUDIO, {"text": "so far"}, AUDIO, interrupted=True, turnComplete=True) == [
        Interrupted(),
        TextChunk("so far"),
        TurnComplete(),
    ]


@pytest.mark.parametrize(
    ("mime_type", "rate"),
    [
        ("audio/pcm;rate=24000", 24000),
        ("audio/pcm;rate=16000", 16000),
        ("audio/pcm", 24000),
        (None, 24000),
        ("", 24000),
        ("Audio/PCM; Rate=8000", 8000),
        ("audio/L16;codec=pcm;rate=24000", 24000),
        ("audio/pcm;rate=fast", 24000),
        ("audio/pcm;rate=0", 24000),
        ("audio/pcm;rate=²", 24000),
    ],
)
def test_the_rate_is_that_of_the_type(mime_type: str | None, rate: int) -> None:
    blob = {"data": AUDIO["inlineData"]["data"]} | ({} if mime_type is None else {"mimeType": mime_type})
    assert content({"inlineData": blob}) == [AudioChunk(PCM, rate)]


def test_a_blob_that_is_not_pcm_is_handed_on() -> None:
    video = {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}
    assert content(video) == [UnknownMessage({"inlineData": {"mimeType": "video/mp4", "data": b"\0\0\0"}})]


@pytest.mark.parametrize(
    "part", [{}, {"text": ""}, {"inlineData": {"data": ""}}, {"thoughtSignature": "AAAA"}]
)
def test_an_empty_part_is_not_seen(part: dict[str, Any]) -> None:
    assert content(part) == []


@pytest.mark.parametrize(
    ("code", "tool"),
    [
        ("print(default_api.get_current_weather(location='Redmond, WA'))", "get_current_weather"),
        ("result = default_api.f()\nprint(result)", "f"),
        ('print(google_search.search(queries=["latest match"]))', None),
        ("print(1 + 1)", None),
        ("print('default_api')", None),
    ],
)
def test_code_that_is_a_call_in_disguise_names_the_tool(code: str, tool: str | None) -> None:
    part = {"executableCode": {"language": "PYTHON", "code": code}}
    assert content(part) == [CodeChunk(code, "PYTHON", tool)]


def test_the_result_of_code_is_seen_with_its_outcome() -> None:
    part = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "98689\n"}}
    assert content(part) == [CodeChunk("98689\n", "OUTCOME_OK")]


def test_a_transcript_without_text_is_seen_only_as_an_end() -> None:
    assert content(outputTranscription={}) == []
    assert content(outputTranscription={"finished": True}) == [OutputTranscript("", True)]
    assert content(inputTranscription={"text": " "}) == [InputTranscript(" ")]


def test_an_interim_transcript_is_not_an_event_but_can_be_read() -> None:
    message = parse('{"serverContent": {"interimInputTranscription": {"text": "Our refund"}}}')
    assert events(message) == []
    assert message.content is not None
    assert message.content.interim_input_transcription is not None
    assert message.content.interim_input_transcription.text == "Our refund"


def test_a_turn_ends_with_its_reason_its_status_and_whether_it_waits() -> None:
    assert content(turnComplete=True, turnCompleteReason="NEED_MORE_INPUT", waitingForInput=True) == [
        TurnComplete("NEED_MORE_INPUT", None, True)
    ]
    assert content(turnComplete=True, turnCompleteReason="TURN_COMPLETE_REASON_UNSPECIFIED") == [
        TurnComplete()
    ]
    assert seen(serverContent={"turnComplete": True}, interactionStatus="IDLE") == [
        TurnComplete(None, "IDLE")
    ]


def test_a_status_alone_is_not_the_end_of_a_turn_nor_unknown() -> None:
    assert seen(interactionStatus="IDLE") == []
    assert content(interactionStatus="IDLE") == []


@pytest.mark.parametrize(
    "frame",
    [
        {"setupComplete": {"sessionId": "s"}},
        {"toolCall": {"functionCalls": [{"id": "1", "name": "f"}]}},
        {"serverContent": {"modelTurn": {"parts": [{"functionCall": {"id": "1", "name": "f"}}]}}},
        {"toolCallCancellation": {"ids": ["1"]}},
        {"goAway": {"timeLeft": "5s"}},
        {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}},
        {},
    ],
)
def test_what_the_machine_tells_is_not_told_here(frame: dict[str, Any]) -> None:
    assert seen(**frame) == []


def test_usage_is_read_as_both_services_spell_it() -> None:
    developer = {
        "promptTokenCount": 900,
        "cachedContentTokenCount": 512,
        "responseTokenCount": 20,
        "toolUsePromptTokenCount": 130,
        "thoughtsTokenCount": 64,
        "totalTokenCount": 1114,
    }
    assert usage(developer) == Usage(900, 20, 1114, 64, 130, 512, developer)
    vertex = {"promptTokenCount": 28, "candidatesTokenCount": 19678, "totalTokenCount": 19706}
    assert usage(vertex) == Usage(28, 19678, 19706, raw=vertex)
    snake = {"prompt_token_count": "28", "response_token_count": 3}
    assert usage(snake) == Usage(28, 3, raw=snake)
    assert (
        usage({"promptTokenCount": "many", "totalTokenCount": True, "responseTokenCount": None}).total_tokens
        == 0
    )
    assert seen(usageMetadata={}) == []


def test_audio_in_small_pieces_stays_in_order() -> None:
    pieces = [bytes([n, 0]) for n in range(50)]
    parts = [{"inlineData": {"data": base64.b64encode(piece).decode()}} for piece in pieces]
    assert content(*parts) == [AudioChunk(piece) for piece in pieces]


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "interrupted": st.booleans(),
            "generationComplete": st.booleans(),
            "turnComplete": st.booleans(),
            "inputTranscription": st.fixed_dictionaries({"text": st.text()}),
            "outputTranscription": st.fixed_dictionaries({"text": st.text()}),
            "modelTurn": st.fixed_dictionaries(
                {"parts": st.lists(st.just(AUDIO) | st.fixed_dictionaries({"text": st.text()}), max_size=4)}
            ),
            "novelty": st.just(1),
        },
    ),
    st.none() | st.just({"totalTokenCount": 1}),
)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_markers_never_overtake_what_they_end(fields: dict[str, Any], tokens: dict[str, int] | None) -> None:
    names = [type(event) for event in seen(serverContent=fields, usageMetadata=tokens)]
    tail = [GenerationComplete, UsageUpdate, TurnComplete]
    assert names[len(names) - sum(name in tail for name in names) :] == [n for n in tail if n in names]
    if Interrupted in names:
        assert names[0] is Interrupted
        assert AudioChunk not in names
    assert len(names) == len(events(parse(json.dumps({"serverContent": fields, "usageMetadata": tokens}))))


def test_an_empty_message_gives_nothing() -> None:
    assert events(ServerMessage()) == []


@given(st.sampled_from([row["frame"] for row in ROWS if "frame" in row]), st.data())
@settings(derandomize=True, max_examples=200, deadline=None)
def test_no_message_that_was_tampered_with_raises(frame: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(frame)
    at = data.draw(st.integers(0, len(text)))
    events(parse(text[:at] + data.draw(st.text(max_size=2)) + text[at + data.draw(st.integers(0, 9)) :]))
