"""What the server sends is read, whatever it sends."""

from __future__ import annotations

import base64
import json
import pathlib
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.events import VoiceActivity
from livetools.protocol.messages.field_values import Fields, seconds
from livetools.protocol.messages.incoming import (
    MAX_FAULTS,
    RAW_ARGS,
    FunctionCall,
    ServerMessage,
    parse,
)

ROWS = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parents[1] / "frames_recorded.jsonl").read_text("utf-8").splitlines()
]
FRAMES: list[dict[str, Any]] = [row["frame"] for row in ROWS if "frame" in row]
KNOWN = [
    "setupComplete",
    "serverContent",
    "toolCall",
    "toolCallCancellation",
    "goAway",
    "sessionResumptionUpdate",
    "usageMetadata",
    "voiceActivity",
    "voiceActivityDetectionSignal",
    "interactionStatus",
]


QUICK = settings(derandomize=True, max_examples=150, deadline=None)
VERBATIM = (
    "usageMetadata",
    "groundingMetadata",
    "urlContextMetadata",
    "somethingNew",
    "partialArgs",
    "error",
)


def read(frame: object) -> ServerMessage:
    """As on the wire: binary, two spaces, a newline at the end."""
    return parse((json.dumps(frame, indent=2, ensure_ascii=False) + "\n").encode())


def parts(message: ServerMessage) -> list[Fields]:
    """The parts of the model's turn."""
    found: list[Fields] = message.content["modelTurn"]["parts"]
    return found


def renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {rename(key): renamed(inner, rename) for key, inner in value.items()}
    return [renamed(inner, rename) for inner in value] if isinstance(value, list) else value


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


# what is read


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: ",".join(frame))
def test_a_recorded_frame_is_read_from_bytes_and_from_text_alike(frame: dict[str, Any]) -> None:
    assert read(frame) == parse(json.dumps(frame))


@pytest.mark.parametrize(
    "frame",
    [frame for frame in FRAMES if not any(name in str(frame) for name in VERBATIM)],
    ids=lambda frame: ",".join(frame),
)
def test_a_recorded_frame_in_snake_case_says_the_same(frame: dict[str, Any]) -> None:
    assert read(renamed(frame, snake)) == read(frame)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: ",".join(frame))
def test_a_recorded_frame_that_is_hurt_elsewhere_says_the_same(frame: dict[str, Any]) -> None:
    whole, hurt = read(frame), read({**frame, "setupComplete": {"sessionId": {"no": "string"}}})
    assert {"setupComplete.sessionId": {"no": "string"}} in hurt.unknown
    assert hurt.fields == {**whole.fields, "setupComplete": {}}
    assert hurt.calls == whole.calls
    assert hurt.cancelled == whole.cancelled


def test_a_bare_object_is_empty() -> None:
    assert read({}) == ServerMessage()


def test_setup_complete_with_and_without_a_session_id() -> None:
    for setup in ({}, {"sessionId": "s1"}):
        assert read({"setupComplete": setup}).fields == {"setupComplete": setup}


def test_audio_comes_decoded_with_its_type() -> None:
    pcm = bytes(range(256))
    for encoded in (base64.b64encode(pcm), base64.urlsafe_b64encode(pcm), base64.b64encode(pcm).rstrip(b"=")):
        blob = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": encoded.decode()}}
        message = read({"serverContent": {"modelTurn": {"parts": [blob]}}})
        [part] = parts(message)
        assert part == {"inlineData": {"data": pcm, "mimeType": "audio/pcm;rate=24000"}}


def test_calls_of_a_tool_call_come_before_those_among_the_parts() -> None:
    message = read(
        {
            "serverContent": {"modelTurn": {"parts": [{"functionCall": {"id": "2", "name": "b"}}]}},
            "toolCall": {"functionCalls": [{"id": "1", "name": "a", "args": {"x": 1}}]},
        }
    )
    assert message.calls == [FunctionCall("1", "a", {"x": 1}), FunctionCall("2", "b", {})]
    assert message.unknown == []


@pytest.mark.parametrize(
    ("entry", "call"),
    [
        ({"id": "1", "name": "f"}, FunctionCall("1", "f", {})),
        ({"id": "", "name": "f", "args": None}, FunctionCall(None, "f", {})),
        ({"id": None, "name": "f", "args": ""}, FunctionCall(None, "f", {})),
        ({"id": "1", "args": {"x": 1}}, FunctionCall("1", "", {"x": 1})),
        ({"id": 7, "name": "f", "args": []}, FunctionCall("7", "f", {})),
        ({"id": "1", "name": "f", "args": "Oslo"}, FunctionCall("1", "f", {RAW_ARGS: "Oslo"})),
        ({"id": "1", "name": "f", "args": [1]}, FunctionCall("1", "f", {RAW_ARGS: [1]})),
        ({"id": "1", "name": "f", "args": 0}, FunctionCall("1", "f", {RAW_ARGS: 0})),
        ({"id": "1", "name": "f", "args": False}, FunctionCall("1", "f", {RAW_ARGS: False})),
        ({"id": {}, "name": ["f"]}, FunctionCall(None, "", {})),
        ({}, FunctionCall(None, "", {})),
    ],
)
def test_an_odd_call_is_still_a_call(entry: dict[str, Any], call: FunctionCall) -> None:
    assert read({"toolCall": {"functionCalls": [entry]}}).calls == [call]
    assert read({"toolCall": {"functionCalls": entry}}).calls == [call]
    assert read({"serverContent": {"modelTurn": {"parts": [{"functionCall": entry}]}}}).calls == [call]


def test_an_entry_that_is_no_call_is_told() -> None:
    message = read({"toolCall": {"functionCalls": ["f", None, {"id": "1", "name": "f"}]}})
    assert [call.id for call in message.calls] == ["1"]
    assert message.unknown == [{"functionCall": "f"}, {"functionCall": None}]


@pytest.mark.parametrize(("args", "on"), [("partialArgs", "willContinue"), ("partial_args", "will_continue")])
def test_a_call_that_comes_in_pieces_says_so(args: str, on: str) -> None:
    entry = {"id": "1", "name": "f", args: [{"jsonPath": "$.x"}], on: True}
    message = read({"toolCall": {"functionCalls": [entry]}})
    assert message.calls == [FunctionCall("1", "f", {}, [{"jsonPath": "$.x"}], True)]
    assert not message.unknown


@pytest.mark.parametrize(
    ("ids", "cancelled"),
    [
        (["a", "b"], ["a", "b"]),
        ("a", ["a"]),
        ([1, "b"], ["1", "b"]),
        ([], []),
        (None, []),
        ([{}, "b"], ["b"]),
    ],
)
def test_cancelled_ids_are_read(ids: object, cancelled: list[str]) -> None:
    assert read({"toolCallCancellation": {"ids": ids}}).cancelled == cancelled


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("50s", 50.0),
        ("12.5s", 12.5),
        ("0.440s", 0.44),
        ("0s", 0.0),
        ("50", 50.0),
        (50, 50.0),
        (1.5, 1.5),
        ("-3s", 0.0),
        (" 5s ", 5.0),
        ("soon", None),
        ("", None),
        ("s", None),
        ("nans", None),
        ("inf", None),
        (1e400, None),
        (10**400, None),
        (True, None),
        (None, None),
        ({"seconds": 5}, None),
    ],
)
def test_a_duration_is_read_in_seconds(value: object, expected: float | None) -> None:
    assert seconds(value) == expected


def test_a_go_away_says_how_long() -> None:
    for frame, left in [
        ({"timeLeft": "50s"}, 50.0),
        ({"timeLeft": 50}, 50.0),
        ({}, None),
        ({"timeLeft": "?"}, None),
        ({"timeLeft": [1]}, None),
        ("soon", None),
    ]:
        assert read({"goAway": frame}).fields["goAway"].get("timeLeft") == left


def test_a_handle_comes_with_its_index() -> None:
    update = {"newHandle": "h", "resumable": True, "lastConsumedClientMessageIndex": "42"}
    assert read({"sessionResumptionUpdate": update}).fields == {
        "sessionResumptionUpdate": {**update, "lastConsumedClientMessageIndex": 42}
    }
    assert read({"sessionResumptionUpdate": {}}).fields == {"sessionResumptionUpdate": {}}


@pytest.mark.parametrize(
    ("frame", "signal"),
    [
        ({"voiceActivity": {"type": "ACTIVITY_START", "audioOffset": "0.2s"}}, VoiceActivity("start", 0.2)),
        ({"voiceActivity": {"voiceActivityType": "ACTIVITY_END"}}, VoiceActivity("end", None)),
        (
            {"voiceActivityDetectionSignal": {"vadSignalType": "VAD_SIGNAL_TYPE_SOS"}},
            VoiceActivity("start", None),
        ),
        (
            {"voiceActivityDetectionSignal": {"vadSignalType": "VAD_SIGNAL_TYPE_EOS"}},
            VoiceActivity("end", None),
        ),
        ({"voiceActivity": {}}, None),
    ],
)
def test_speech_begins_and_ends_in_every_spelling(frame: object, signal: VoiceActivity | None) -> None:
    message = read(frame)
    assert message.voice_activity == signal
    assert message.unknown == []


def test_the_status_is_read_wherever_it_stands() -> None:
    assert read({"interactionStatus": "IDLE"}).status == "IDLE"
    assert read({"toolCall": {}, "interactionStatus": "IN_PROGRESS"}).status == "IN_PROGRESS"
    assert read({"serverContent": {"interactionStatus": "IDLE"}}).status == "IDLE"
    assert read({"interactionStatus": "INTERACTION_STATUS_UNSPECIFIED"}) == ServerMessage()


def test_the_unknown_is_told_at_every_level() -> None:
    message = read(
        {
            "brandNew": {"x": 1},
            "serverContent": {
                "novelty": True,
                "modelTurn": {"parts": [{"smell": "rose", "thoughtSignature": "AAAA"}]},
            },
            "voiceActivity": {"type": "ACTIVITY_WHISPER"},
            "interactionStatus": "PONDERING",
        }
    )
    assert message.unknown == [
        {"brandNew": {"x": 1}},
        {"serverContent.novelty": True},
        {"part.smell": "rose"},
        {"voiceActivity.type": "ACTIVITY_WHISPER"},
        {"interactionStatus": "PONDERING"},
    ]
    assert message.status == "PONDERING"


# what is broken


def test_the_broken_pieces_are_told_and_the_rest_is_read() -> None:
    message = read(
        {
            "setupComplete": "yes",
            "serverContent": {
                "turnComplete": "perhaps",
                "generationComplete": True,
                "inputTranscription": ["no"],
                "modelTurn": {
                    "parts": [
                        "no part",
                        {"text": "kept", "inlineData": {"data": "*not base64*"}},
                        None,
                        {"text": {"no": "text"}, "thought": True},
                    ]
                },
            },
            "toolCall": {"functionCalls": [{"id": "1", "name": "f"}]},
            "toolCallCancellation": {"ids": ["c"]},
            "goAway": {"timeLeft": "9s"},
            "sessionResumptionUpdate": {"newHandle": "h", "resumable": "maybe"},
            "usageMetadata": 3,
        }
    )
    assert message.fields["setupComplete"] == {}
    assert message.content["generationComplete"] is True
    assert "turnComplete" not in message.content
    assert [part.get("text") for part in parts(message)] == ["kept", None]
    assert [call.id for call in message.calls] == ["1"]
    assert message.cancelled == ["c"]
    assert message.fields["goAway"] == {"timeLeft": 9.0}
    assert message.fields["sessionResumptionUpdate"] == {"newHandle": "h"}
    told = {
        key: value for piece in message.unknown if isinstance(piece, dict) for key, value in piece.items()
    }
    assert told == {
        "setupComplete": "yes",
        "serverContent.turnComplete": "perhaps",
        "serverContent.inputTranscription": ["no"],
        "serverContent.modelTurn.parts.0": "no part",
        "serverContent.modelTurn.parts.1.inlineData.data": "*not base64*",
        "serverContent.modelTurn.parts.3.text": {"no": "text"},
        "sessionResumptionUpdate.resumable": "maybe",
        "usageMetadata": 3,
    }


def test_null_is_not_set_and_is_not_told() -> None:
    everything = {
        "serverContent": {"turnComplete": None, "interrupted": True, "modelTurn": {"parts": None}},
        "goAway": None,
        "toolCall": {"functionCalls": None},
        "toolCallCancellation": None,
        "sessionResumptionUpdate": {"newHandle": None, "resumable": None},
    }
    message = read(everything)
    assert message.unknown == []
    assert message.fields == {
        "serverContent": {"interrupted": True, "modelTurn": {}},
        "sessionResumptionUpdate": {},
    }


def test_a_lone_part_is_a_list_of_one() -> None:
    message = read({"serverContent": {"modelTurn": {"parts": {"text": "alone"}}}})
    assert parts(message) == [{"text": "alone"}]


@pytest.mark.parametrize(
    "data",
    [b"", "", b"\x00", "nonsense", b"[1, 2]", "3", b"null", b'{"toolCall": ', b"[" * 100_000, b"\xff\xfe{}"],
)
def test_what_is_no_json_object_is_told_whole(data: bytes | str) -> None:
    assert parse(data) == ServerMessage(unknown=[data])


@pytest.mark.parametrize(
    "data",
    [
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":"\xff\xfe"}}]}}',
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":"\\ud800"}}]}}',
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":"a\x00\x01b"}}]}}',
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":%s}}]}}' % (b"9" * 5000),
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":1e999}}]}}',
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":%s}}]}}' % (b"[" * 250 + b"]" * 250),
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":1,"x":2}}]}}',
        b'\xef\xbb\xbf{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":1}}]}}',
        b'{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":1}}]}} trailing',
        b'{"toolCall":{"functionCalls":[{"id":"0","name":"f"}]},"toolCall":{"functionCalls":[{"id":"1","name":"f","args":{"x":0}}]}}',
    ],
    ids=["utf-8", "surrogate", "nul", "digits", "infinite", "deep", "twice", "bom", "trailing", "two calls"],
)
def test_a_call_in_a_hurt_frame_is_a_call(data: bytes) -> None:
    [call] = parse(data).calls
    assert (call.id, call.name) == ("1", "f")
    assert "x" in call.args
    json.dumps(call.args, ensure_ascii=False).encode()


def test_what_stands_behind_the_object_is_told() -> None:
    assert parse('{"goAway": {}} {"x": 1}').unknown == ['{"x": 1}']


# whatever comes

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["1", "AAAA", "50s"])
)
fields = st.sampled_from(
    [
        *KNOWN,
        *map(snake, KNOWN),
        "modelTurn",
        "parts",
        "inlineData",
        "data",
        "functionCalls",
        "functionCall",
        "id",
        "name",
        "args",
        "ids",
        "timeLeft",
        "newHandle",
        "turnComplete",
        "interrupted",
        "inputTranscription",
        "text",
        "thought",
    ]
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(fields | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.binary() | st.text())
@QUICK
def test_no_bytes_raise(data: bytes | str) -> None:
    assert isinstance(parse(data), ServerMessage)


odd = st.fixed_dictionaries(
    {"name": st.sampled_from(["f", "", 1, None])},
    optional={
        "id": st.sampled_from(["c1", "", 7, None]),
        "args": st.dictionaries(st.text(max_size=3), anything, max_size=2) | anything,
        "willContinue": st.booleans(),
    },
)


@QUICK
@given(
    st.lists(odd | anything, max_size=3) | odd,
    st.dictionaries(st.sampled_from(["functionCalls", "function_calls", "x"]), anything, max_size=1),
    st.sampled_from(["", "}", "\n", " {}", ', "a": 1}']),
    st.sampled_from([None, 2]),
)
def test_a_message_of_calls_alone_is_read_as_any_other(
    calls: object, beside: dict[str, Any], behind: str, indent: int | None
) -> None:
    text = json.dumps({"toolCall": {"functionCalls": calls, **beside}}, indent=indent) + behind
    at_once, in_full = parse(text.encode("utf-8", "surrogatepass")), parse(text)
    assert at_once == in_full


@given(st.dictionaries(fields, anything, max_size=4))
@QUICK
def test_no_json_under_the_known_names_raises(frame: dict[str, Any]) -> None:
    message = parse(json.dumps(frame))
    assert all(isinstance(call.args, dict) for call in message.calls)
    assert all(isinstance(id, str) and id for id in message.cancelled)


@given(st.sampled_from(FRAMES), st.data())
@QUICK
def test_no_recorded_frame_that_was_tampered_with_raises(frame: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(frame).encode()
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    parse(text[:at] + data.draw(st.binary(max_size=3)) + text[at + cut :])


@given(anything, st.dictionaries(st.sampled_from(KNOWN[:2] + KNOWN[4:]), anything, max_size=3))
@QUICK
def test_a_call_survives_whatever_stands_beside_it(args: object, beside: dict[str, Any]) -> None:
    call = {"id": "1", "name": "f", "args": args}
    found = parse(json.dumps({**beside, "toolCall": {"functionCalls": [call]}})).calls
    assert (found[0].id, found[0].name) == ("1", "f")


@given(st.sampled_from(KNOWN[1:4] + KNOWN[6:]), anything)
@QUICK
def test_a_go_away_and_a_handle_survive_whatever_stands_beside_them(name: str, value: object) -> None:
    frame = {name: value, "goAway": {"timeLeft": "7s"}, "sessionResumptionUpdate": {"newHandle": "h"}}
    message = parse(json.dumps(frame))
    assert message.fields["goAway"] == {"timeLeft": 7.0}
    assert message.fields["sessionResumptionUpdate"] == {"newHandle": "h"}


# What a socket may bring


def calls_of(count: int) -> bytes:
    args = {"q": 'say "x" \\ and [more] {so}'}
    calls = [{"id": f"c{n}", "name": "f", "args": args} for n in range(count)]
    return json.dumps({"toolCall": {"functionCalls": calls}}).encode()


def parts_of(part: object, count: int, **beside: object) -> bytes:
    return json.dumps({"serverContent": {"modelTurn": {"parts": [part] * count}}, **beside}).encode()


ATTACKS = {
    "a string without an end": b'{"serverContent":{"outputTranscription":{"text":"' + b'\\"' * 100_000,
    "calls that are cut off": calls_of(5000)[:-9000],
    "calls cut within a string": calls_of(5000).rsplit(b"more", 1)[0],
    "brackets": b"[" * 300_000,
    "braces": b'{"a":' * 100_000,
    "brackets that close": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "brackets that only close": b"{}" + b"]" * 300_000,
    "many deep ones": b'{"x":[' + b",".join([b"[" * 300 + b"]" * 300] * 500) + b"]}",
    "quotation marks": b'"' * 300_001,
    "backslashes": b'{"a":"' + b"\\" * 300_001,
    "broken parts": parts_of({"text": {}}, 20_000),
    "parts that are not objects": parts_of(5, 50_000),
    "frames": b"{}" * 100_000,
    "a number": b'{"a":' + b"9" * 300_000 + b"}",
    "bad UTF-8": b'{"a":"' + b"\xff" * 300_000 + b'"}',
    "surrogates": b'{"a":"' + b"\\ud800" * 50_000 + b'"}',
    "one field again and again": b"{" + b",".join([b'"goAway":5'] * 30_000) + b"}",
}


@pytest.mark.parametrize("data", ATTACKS.values(), ids=ATTACKS)
def test_the_time_for_a_frame_is_in_proportion_to_it_whatever_it_holds(data: bytes) -> None:
    begun = time.process_time()
    assert parse(data).unknown
    assert time.process_time() - begun < 3, "a quadratic way takes minutes"


def test_of_a_message_with_too_many_broken_pieces_calls_and_cancellations_are_kept() -> None:
    call = {"id": "c1", "name": "f", "args": {}}
    part = {"text": {}, "functionCall": {"id": "c2", "name": "g"}}
    data = parts_of(
        part,
        MAX_FAULTS + 1,
        toolCall={"functionCalls": [call]},
        toolCallCancellation={"ids": ["c0"]},
        usageMetadata={"totalTokenCount": 3},
    )
    message = parse(data)
    assert [call.id for call in message.calls[:2]] == ["c1", "c2"]
    assert message.cancelled == ["c0"]
    assert message.fields == {}
    assert message.unknown == [data]


def test_the_calls_of_such_a_message_are_found_in_either_casing() -> None:
    turn = {"model_turn": {"parts": [7] * (MAX_FAULTS + 1) + [{"function_call": {"id": "c2", "name": "g"}}]}}
    data = {"tool_call": {"function_calls": {"id": "c1", "name": "f"}}, "server_content": turn}
    assert [call.id for call in parse(json.dumps(data)).calls] == ["c1", "c2"]


def test_as_many_pieces_as_are_taken_out_one_by_one_leave_the_rest() -> None:
    message = parse(parts_of({"text": {}}, MAX_FAULTS, usageMetadata={"totalTokenCount": 3}))
    assert message.fields["usageMetadata"] == {"totalTokenCount": 3}
    assert len(message.unknown) == MAX_FAULTS
