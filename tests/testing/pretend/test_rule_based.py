"""A pretend model made of rules, in Python and in YAML."""

from __future__ import annotations

import re

import pytest

from livetools import OutputTranscript, ReconnectPolicy, TurnComplete, connect
from livetools.testing import FakeLiveServer
from livetools.testing.pretend.rule_based import Rule, Rules

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
TIME = {"name": "currentTime", "description": "What time it is."}


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
            assert text_of(await client.until("turnComplete")) == "currentTime says: noon."
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
            assert text_of(await client.until("turnComplete")) == "get_weather says: sun."
            await client.say("Sing.")
            assert "I am a pretend model" in text_of(await client.until("turnComplete"))


@pytest.mark.anyio
async def test_a_rule_asks_for_what_its_function_needs_and_nobody_said(dial, text_of):
    rules = Rules(
        [Rule("weather", call="get_weather"), Rule("rain", call="get_weather", args={"city": "Rome"})]
    )
    async with FakeLiveServer(rules) as server:
        async with dial(server, tools=[{"functionDeclarations": [WEATHER]}]) as client:
            await client.say("the weather")
            assert "I do not find city" in text_of(await client.until("turnComplete"))
            await client.say("rain")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            assert call["args"] == {"city": "Rome"}
            await client.answer(call, output="none")
            await client.until("turnComplete")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- a list", "expected a mapping with a list `rules`"),
        ("rules: [hello]", "rule 1: expected a mapping with `when`"),
        ("rules: [{when: x}]", "rule 1: neither `call` nor `say`"),
        ("rules: [{when: '(', say: x}]", "rule 1: `when` is not a regular expression"),
        ("rules: [{when: x, say: y, then: z}]", "rule 1: unknown key 'then'"),
        ("rules: [{when: yes, say: y}]", "rule 1: `when` is True, expected a text"),
        ("rules: [{when: , say: y}]", "rule 1: `when` is empty"),
        ("rules: [{when: [a], say: y}]", "rule 1: `when` is ['a'], expected a text"),
        ("rules: [{when: 'a{99999999999}', say: y}]", "rule 1: `when` is not a regular expression"),
        ("rules: [{when: x, say: {en: y}}]", "rule 1: `say` is {'en': 'y'}, expected a text"),
        ("rules: []\notherwise: no", "`otherwise` is False, expected a text"),
    ],
)
def test_a_file_that_is_wrong_is_told_where(tmp_path, text, complaint):
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(complaint)):
        Rules.load(path)


# What is said unasked


@pytest.mark.anyio
async def test_what_has_after_is_said_unasked_on_each_connection(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("rules:\n  - {after: 0.05, say: 'Are you there?'}\n  - {when: hello, say: Good day.}\n")
    async with FakeLiveServer(Rules.load(path)) as server:
        policy = ReconnectPolicy(initial=0.01)
        async with connect("gemini-3.8-live", reconnect=policy, **server.options) as session:
            said, moved = [], False
            async for event in session:
                if isinstance(event, OutputTranscript):
                    said.append(event.text)
                if isinstance(event, TurnComplete) and not moved:
                    moved = True
                    await server.sessions[0].drop()
                elif isinstance(event, TurnComplete):
                    break
    assert "".join(said) == "Are you there?" * 2


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{after: 5}", "must have `say`"),
        ("{after: 5, say: x, call: f}", "no other key"),
        ("{after: soon, say: x}", "a number of seconds, not 'soon'"),
        ("{after: -1, say: x}", "a number of seconds"),
        ("{after: .inf, say: x}", "a number of seconds"),
    ],
)
def test_what_is_wrong_with_an_unasked_rule_is_said(tmp_path, rule, words):
    path = tmp_path / "rules.yaml"
    path.write_text(f"rules:\n  - {rule}\n")
    with pytest.raises(ValueError, match=words):
        Rules.load(path)
