"""What the user sees of a message, and in which order."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import pytest

from livetools.events import (
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
    VideoChunk,
    VoiceActivity,
    Word,
)
from livetools.protocol.messages.incoming import parse
from livetools.protocol.messages.to_events import events_of

ROWS = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parents[1] / "frames_recorded.jsonl").read_text("utf-8").splitlines()
]
PCM = b"\x01\x00\x02\x00"
AUDIO = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(PCM).decode()}}


def seen(**frame: Any) -> list[Event]:
    return events_of(parse(json.dumps(frame)))


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


def test_the_picture_of_an_avatar_is_video() -> None:
    video = {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}
    assert content(video) == [VideoChunk(b"\0\0\0", "video/mp4")]
    assert content(video, interrupted=True) == [Interrupted()]


def test_a_blob_that_is_neither_pcm_nor_video_is_handed_on() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    assert content(image) == [UnknownMessage({"inlineData": {"mimeType": "image/png", "data": b"\0\0\0"}})]


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


def test_an_interim_transcript_says_so_and_comes_before_the_piece_that_replaces_it() -> None:
    assert content(
        inputTranscription={"text": "Our refund."}, interimInputTranscription={"text": "Our refund"}
    ) == [InputTranscript("Our refund", interim=True), InputTranscript("Our refund.")]
    assert content(interimInputTranscription={}) == []


def test_a_transcript_tells_language_speaker_and_words() -> None:
    told = {
        "text": "good day",
        "finished": True,
        "languageCode": "en-GB",
        "speakerLabel": "spk_1",
        "words": [
            {"word": "good", "startOffset": "0.440s", "endOffset": "1s", "speakerLabel": "spk_1"},
            {"word": "day"},
        ],
        "startOffset": "0.440s",
    }
    words = (Word("good", 0.44, 1.0, "spk_1"), Word("day"))
    heard = InputTranscript("good day", True, "en-GB", "spk_1", words, start=0.44)
    assert content(inputTranscription=told) == [heard]
    spoken = OutputTranscript("good day", True, "en-GB", words, start=0.44, speaker="spk_1")
    assert content(outputTranscription=told) == [spoken]


def test_code_and_its_result_have_an_id_and_what_the_service_runs_itself_is_grounding() -> None:
    call = {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}}
    answer = {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"hits": 3}}
    code, result = {"id": "c1", "code": "1 + 1", "language": "PYTHON"}, {"id": "c1", "outcome": "OUTCOME_OK"}
    parts = [
        {"executableCode": code},
        {"codeExecutionResult": result},
        {"toolCall": call},
        {"toolResponse": answer},
    ]
    assert content(modelTurn={"parts": parts}) == [
        CodeChunk("1 + 1", "PYTHON", id="c1"),
        CodeChunk("", "OUTCOME_OK", id="c1"),
        Grounding({"toolCall": call}),
        Grounding({"toolResponse": answer}),
    ]


def test_words_that_cannot_be_read_cost_no_text() -> None:
    heard = {"text": "good", "words": [{"word": "good", "startOffset": "soon"}, 7]}
    seen = content(inputTranscription=heard)
    assert seen[0] == InputTranscript("good", words=(Word("good"),))
