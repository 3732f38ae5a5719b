"""A pretend model made of rules, in Python and in YAML."""

from __future__ import annotations

import pytest

from livetools.testing import FakeLiveServer
from livetools.testing.guess import arguments, pick, words_for
from livetools.testing.rules import Rule, Rules

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


YAML = r"""
rules:
  - when: weather in (?P<city>\w+)
    call: get_weather
    args: {city: "{city}", unit: celsius}
    say: "It is {output} in {city}."
  - when: time
    call: currentTime
  - when: hello|hi
    say: Good day.
otherwise: I did not understand.
"""


@pytest.mark.anyio
async def test_a_file_of_rules_is_a_model(dial, text_of, tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(YAML)
    async with FakeLiveServer(Rules.load(path)) as server:
        async with dial(server, tools=[{"functionDeclarations": [WEATHER, TIME]}]) as client:
            await client.say("What's the WEATHER in Oslo")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            assert call["args"] == {"city": "Oslo", "unit": "celsius"}
            await client.answer(call, output="12 °C")
            assert text_of(await client.until("turnComplete")) == "It is 12 °C in Oslo."
            await client.say("the time")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            await client.answer(call, output="noon")
            assert text_of(await client.until("turnComplete")) == "currentTime says: noon"
            for said, answer in (("Hi!", "Good day."), ("Hm.", "I did not understand.")):
                await client.say(said)
                assert text_of(await client.until("turnComplete")) == answer


@pytest.mark.anyio
async def test_without_rules_a_function_is_picked_by_the_words(dial, text_of):
    async with FakeLiveServer(Rules([Rule("never said", say="x")])) as server:
        async with dial(server, tools=[{"functionDeclarations": [WEATHER]}]) as client:
            await client.say("weather in Rome")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            assert (call["name"], call["args"]) == ("get_weather", {"city": "Rome"})
            await client.answer(call, output="sun")
            assert text_of(await client.until("turnComplete")) == "get_weather says: sun"
            await client.say("Sing.")
            assert "No tool of yours fits" in text_of(await client.until("turnComplete"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- a list", "a mapping with a list `rules` is due"),
        ("rules: [hello]", "rule 1: a mapping with `when` is due"),
        ("rules: [{when: x}]", "rule 1: neither `call` nor `say`"),
        ("rules: [{when: '(', say: x}]", "rule 1: `when` is no regular expression"),
        ("rules: [{when: x, say: y, then: z}]", "rule 1: unknown key 'then'"),
    ],
)
def test_a_file_that_is_wrong_is_told_where(tmp_path, text, complaint):
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(")):
        Rules.load(path)
