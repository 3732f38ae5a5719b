"""``livetools tools``."""

from __future__ import annotations

import json

import pytest

MODEL = "gemini-live-2.5-flash-preview"


def test_the_declarations_are_json_as_the_model_will_see_them(run, agent):
    result = run("tools", f"{agent}:get_weather", "--model", MODEL)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == [
        {
            "functionDeclarations": [
                {
                    "name": "get_weather",
                    "description": "Current weather in a city.",
                    "behavior": "BLOCKING",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"city": {"type": "STRING"}},
                        "required": ["city"],
                    },
                }
            ]
        }
    ]


def test_the_lint_stands_beside_them(run, agent):
    agent.write_text("def shout(word) -> str:\n    return ''\n")
    result = run("tools", f"{agent}:shout")
    assert result.exit_code == 0
    json.loads(result.stdout)
    assert "shout: no description" in result.stderr
    assert "word" in result.stderr


def test_a_tool_that_cannot_be_declared_ends_it_with_its_reason(run, agent):
    result = run("tools", f"{agent}:no_schema")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "thing" in result.stderr
    assert str(agent) in result.stderr
    assert "Traceback" not in result.stderr


def test_what_the_model_refuses_ends_it_too(run, agent):
    result = run("tools", f"{agent}:get_weather", "--model", "gemini-3.5-live-translate")
    assert result.exit_code == 1
    assert "calls no functions" in result.stderr


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("tools", "--model"),
        ("chat", "--model"),
        ("chat", "--instructions"),
        ("chat", "--voice"),
        ("chat", "--language"),
        ("chat", "--thinking"),
        ("chat", "--base-url"),
        ("web", "--host"),
    ],
)
def test_an_option_that_is_empty_is_told_and_not_taken_for_none(run, agent, command, option):
    result = run(command, agent, option, "")
    assert result.exit_code == 2
    assert "is empty: name one, or leave the option out" in " ".join(result.stderr.split())
    assert option in result.stderr
