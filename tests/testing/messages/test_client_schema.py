"""What clients say is read in either casing; what the service does not know is refused in its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools.testing.messages.client_schema import MESSAGES, decode_base64, read
from livetools.testing.wire import snake

_FILE = Path(__file__).parent / "client_frames.jsonl"
ROWS = [json.loads(line) for line in _FILE.read_text().splitlines()]


@pytest.mark.parametrize("row", [row for row in ROWS if "refused" not in row], ids=lambda row: row["source"])
def test_every_frame_that_real_clients_send_is_accepted(row):
    message, faults = read(row["frame"], vertex=row["vertex"])
    assert [fault.reason for fault in faults] == []
    assert set(message) <= set(MESSAGES["ClientMessage"])


def _declared(parameters):
    return {"setup": {"tools": [{"functionDeclarations": [{"parameters": parameters}]}]}}


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (
            {"setup": {"generationConfig": {"thinkingConfig": {"nope": 1}}}},
            'Invalid JSON payload received. Unknown name "nope" at '
            "'setup.generation_config.thinking_config': Cannot find field.",
        ),
        (
            {"functionResponses": []},
            'Invalid JSON payload received. Unknown name "functionResponses": Cannot find field.',
        ),
        (
            {
                "setup": {
                    "tools": [
                        {
                            "functionDeclarations": [
                                {"parameters": {"properties": {"a": {}, "b": {"$ref": "x"}}}}
                            ]
                        }
                    ]
                }
            },
            'Invalid JSON payload received. Unknown name "$ref" at '
            "'setup.tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.",
        ),
        (
            _declared({"type": ["STRING"]}),
            'Invalid JSON payload received. Unknown name "type" at '
            "'setup.tools[0].function_declarations[0].parameters': "
            "Proto field is not repeating, cannot start list.",
        ),
        (
            {"setup": {"generationConfig": {"temperature": "warm"}}},
            "Invalid value at 'setup.generation_config.temperature' (TYPE_FLOAT), \"warm\"",
        ),
        (
            {"realtimeInput": {"audio": {"data": "not base64!"}}},
            "Invalid value at 'realtime_input.audio.data' (TYPE_BYTES), \"not base64!\"",
        ),
        (
            {"toolResponse": {"functionResponses": {"id": "1"}}},
            "Invalid value at 'tool_response.function_responses' "
            "(type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionResponse), {'id': '1'}",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_path_in_snake_case(frame, reason):
    _, faults = read(frame)
    assert (faults[0].code, faults[0].reason) == (1007, reason)
    assert faults[0].why


def test_a_null_is_absent_and_a_single_object_stands_for_a_list_of_parts():
    message, faults = read({"setup": {"labels": None, "systemInstruction": {"parts": {"text": "hi"}}}})
    assert message == {"setup": {"systemInstruction": {"parts": [{"text": "hi"}]}}}
    assert not faults


def test_an_entry_of_a_map_that_is_of_the_wrong_type_is_left_out():
    message, faults = read(_declared({"properties": {"a": None, "b": 5, "c": {"type": "STRING"}}}))
    (entry,) = message["setup"]["tools"]
    assert entry["functionDeclarations"][0]["parameters"] == {"properties": {"c": {"type": "STRING"}}}
    assert len(faults) == 2


def test_what_vertex_alone_knows_is_unknown_elsewhere():
    frame = {"setup": {"explicitVadSignal": True, "sessionResumption": {"transparent": True}}}
    assert read(frame, vertex=True)[1] == []
    assert len(read(frame)[1]) == 2


def test_what_belongs_to_the_user_keeps_its_own_keys():
    args = {"some_key": {"anotherKey": 1, "third_key": [{"x_y": 2}]}}
    frame = {"tool_response": {"function_responses": [{"id": "1", "response": args}]}}
    message, faults = read(frame)
    assert message["toolResponse"]["functionResponses"][0]["response"] == args
    assert not faults


@pytest.mark.parametrize("text", ["-_-_", "+/+/", "AAE=", "AAE", ""])
def test_either_base64_alphabet_is_read_padded_or_not(text):
    assert isinstance(decode_base64(text), bytes)


_NAMES = sorted({name for fields in MESSAGES.values() for name in fields})
_KEYS = st.sampled_from([*_NAMES, *map(snake, _NAMES)]) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(_KEYS, JSON, max_size=3))
def test_whatever_is_sent_is_read_without_an_exception(frame):
    message, faults = read(frame)
    assert isinstance(message, dict)
    assert all(fault.code == 1007 for fault in faults)
