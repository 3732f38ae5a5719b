"""Which functions a question is about."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.testing.pretend import choose, fill, readable
from livetools.testing.pretend.choice import schema_of
from livetools.testing.pretend.fill_arguments import example
from livetools.tools import as_tools


def get_weather(city: str) -> str:
    """Current weather in a city: temperature, rain, wind."""


def get_time(timezone: str = "UTC") -> str:
    """The time of day in a city."""


def convert_units(amount: float, unit: Literal["km", "mile"]) -> str:
    """Convert an amount to another unit."""


def delete_account(user: str) -> str:
    """Delete an account."""


DECLARATIONS = [
    tool.declaration() for tool in as_tools([get_weather, get_time, convert_units, delete_account])
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Weather in Oslo?", "get_weather"),
        ("Will it rain in Bergen?", "get_weather"),
        ("How windy is Bergen", "get_weather"),
        ("What time is it?", "get_time"),
        ("10 miles?", "convert_units"),
        ("get_time(timezone='Oslo')", "get_time"),
        ("Please delete the account of Bob", "delete_account"),
    ],
)
def test_the_function_with_the_most_words_in_common_is_called(text, name):
    assert [guess.name for guess in choose(text, DECLARATIONS)] == [name]


@pytest.mark.parametrize(
    "text", ["", "hello", "Tell me a joke", "get it", "What can you do for me in the city?"]
)
def test_words_that_point_at_nothing_call_nothing(text):
    assert choose(text, DECLARATIONS) == []


def test_no_function_is_called_where_none_is_declared():
    assert choose("Weather in Oslo?", []) == []


def test_a_question_about_two_things_makes_two_calls():
    both = choose("What is the weather in Oslo, and what time is it in Tokyo?", DECLARATIONS)
    assert [(guess.name, guess.args) for guess in both] == [
        ("get_weather", {"city": "Oslo"}),
        ("get_time", {"timezone": "Tokyo"}),
    ]


def test_what_is_said_twice_is_called_once():
    assert len(choose("the time, and then the time", DECLARATIONS)) == 1


def test_a_clause_without_a_function_of_its_own_belongs_to_the_whole():
    (guess,) = choose("convert, please, 10 miles", DECLARATIONS)
    assert (guess.name, guess.args) == ("convert_units", {"amount": 10, "unit": "mile"})


def test_what_a_call_lacks_is_named():
    (guess,) = choose("the weather", DECLARATIONS)
    assert (guess.args, guess.missing) == ({}, ["city"])


def test_arguments_are_found_in_json_schema_too():
    schema = {
        "properties": {
            "amount": {"type": ["null", "number"]},
            "options": {"properties": {"digits": {"type": "integer"}}, "required": ["digits"]},
            "anything": True,
        },
        "required": ["amount", "options"],
    }
    declaration = {"name": "halve", "parametersJsonSchema": schema}
    assert fill("halve 3.5 with 2 digits", declaration).args == {"amount": 3.5, "options": {"digits": 2}}
    assert [guess.name for guess in choose("halve the amount", [declaration])] == ["halve"]


@settings(derandomize=True, deadline=None, max_examples=80)
@given(st.text())
def test_any_text_is_decided(text):
    for guess in choose(text, DECLARATIONS):
        assert guess.name in {each["name"] for each in DECLARATIONS}


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "required", "enum", "anyOf", "minimum", "minItems", "city"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.sampled_from(["weather in Oslo", "city=Oslo", "weather 3"]), anything)
def test_any_json_in_the_place_of_a_schema_is_read(text, schema):
    declared = {"name": "weather", "description": "Weather in a city.", "parametersJsonSchema": schema}
    assert [guess.name for guess in choose(text, [readable(declared)])] == ["weather"] or "=" in text
    example(schema_of(readable(declared)))
