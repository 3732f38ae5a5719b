"""Which function a sentence asks for, and with what arguments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools.testing.guess import arguments, pick, words_for

WEATHER = {
    "name": "get_weather",
    "description": "The current weather in a city.",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "city": {"type": "STRING"},
            "unit": {"type": "STRING", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
    },
}
CONVERT = {
    "name": "convert_units",
    "description": "Convert a length from one unit to another.",
    "parametersJsonSchema": {
        "type": "object",
        "properties": {
            "amount": {"type": "number"},
            "source": {"enum": ["metres", "feet"]},
            "options": {
                "type": "object",
                "properties": {"digits": {"type": "integer"}},
                "required": ["digits"],
            },
        },
        "required": ["amount", "source", "options"],
    },
}
TIME = {"name": "currentTime", "description": "What time it is."}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What's the weather in Oslo?", "get_weather"),
        ("Convert 3 feet, please", "convert_units"),
        ("what time is it", "currentTime"),
        ("Good evening", None),
    ],
)
def test_the_function_that_shares_the_most_words_is_picked(text, name):
    picked = pick([WEATHER, CONVERT, TIME], text)
    assert (picked and picked["name"]) == name


@pytest.mark.parametrize(
    ("declaration", "text", "expected"),
    [
        (WEATHER, "What is the weather in Oslo?", {"city": "Oslo"}),
        (WEATHER, 'the weather in "new york" in fahrenheit', {"city": "new york", "unit": "fahrenheit"}),
        (
            CONVERT,
            "How much are 3.5 feet, with 2 digits?",
            {"amount": 3.5, "source": "feet", "options": {"digits": 2}},
        ),
        (CONVERT, "Convert", {"amount": 1, "source": "metres", "options": {"digits": 1}}),
        (TIME, "What time is it?", {}),
    ],
)
def test_arguments_are_filled_from_the_words_as_the_schema_has_them(declaration, text, expected):
    assert arguments(declaration, text) == expected


def test_a_response_is_read_out_whatever_it_is():
    assert words_for("f", {"output": "12 °C"}) == "f says: 12 °C"
    assert words_for("f", {"a": 1, "b": [2]}) == 'f says: {"a": 1, "b": [2]}'
    assert words_for("f", {"error": "no such city"}) == "f failed: no such city"
    assert words_for("f", {}) == "f says: {}"


@given(st.text())
def test_whatever_is_said_the_required_arguments_are_there(text):
    assert "city" in arguments(WEATHER, text)
    made = arguments(CONVERT, text)
    assert set(made) == {"amount", "source", "options"}
    assert made["source"] in ("metres", "feet")
