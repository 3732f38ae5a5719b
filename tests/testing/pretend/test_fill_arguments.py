"""Arguments from the words of a question."""

from __future__ import annotations

import datetime
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from livetools.testing.pretend.fill_arguments import QuestionReader, example
from livetools.testing.pretend.words import parts, tokens
from livetools.tools import Tool


def fill(function: Any, text: str) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a function, and the missing ones."""
    schema = Tool(function).declaration().get("parameters", {})
    return QuestionReader(tokens(text), parts(function.__name__)).arguments(schema)


def filled(function: Any, text: str) -> dict[str, Any]:
    """The arguments, of which none is missing; the tool itself takes them."""
    args, missing = fill(function, text)
    assert not missing
    Tool(function).bind(args, None)
    return args


def get_weather(city: str, days: int = 1) -> str: ...


@pytest.mark.parametrize(
    "text",
    [
        "Weather in Oslo?",
        "Oslo weather",
        "What is the weather like in Oslo today?",
        "is Oslo nice",
        "city: Oslo",
        "city=Oslo",
        "the city is Oslo",
        'weather of "Oslo"',
        "get_weather(city='Oslo')",
    ],
)
def test_a_place_is_found_however_it_is_said(text):
    assert filled(get_weather, text) == {"city": "Oslo"}


def test_a_place_of_several_words_stays_whole():
    assert filled(get_weather, "weather in New York tomorrow") == {"city": "New York"}
    assert filled(get_weather, "the weather in rio de janeiro") == {"city": "rio de janeiro"}
    assert filled(get_weather, "the city is New York, please") == {"city": "New York"}
    assert filled(get_weather, "city: san francisco") == {"city": "san francisco"}


def test_a_number_goes_to_the_parameter_it_stands_beside():
    def order(pizzas: int, drinks: int) -> None: ...

    assert filled(order, "two drinks and 3 pizzas") == {"pizzas": 3, "drinks": 2}


def test_numbers_go_in_order_where_nothing_tells_them_apart():
    def add(a: int, b: float) -> None: ...

    assert filled(add, "add 2 and 3.5") == {"a": 2, "b": 3.5}


def test_a_number_outside_the_bounds_or_no_whole_one_is_not_taken():
    schema = {"properties": {"n": {"type": "INTEGER", "minimum": 1, "maximum": 5}}, "required": ["n"]}
    assert QuestionReader(tokens("0 and 2.5 and 9")).arguments(schema) == ({}, ["n"])
    assert QuestionReader(tokens("0 and 4 and 9")).arguments(schema) == ({"n": 4}, [])


def test_an_enum_takes_the_value_that_is_mentioned():
    def fly(
        destination: str,
        seat: Literal["window", "aisle"] = "aisle",
        cabin: Literal["first_class", "economy"] = "economy",
    ) -> None: ...

    assert filled(fly, "fly to Paris, first class, by the window") == {
        "destination": "Paris",
        "seat": "window",
        "cabin": "first_class",
    }


class Quantity(BaseModel):
    amount: float
    unit: Literal["kilometre", "mile", "celsius", "inch"]


def convert(quantity: Quantity, to: Literal["kilometre", "mile", "celsius", "inch"]) -> None: ...


@pytest.mark.parametrize(
    "text", ["convert 10 miles to km", "how many km are 10 miles?", "10 mi in kilometers"]
)
def test_units_go_to_the_quantity_and_to_the_target(text):
    expected = {"quantity": {"amount": 10, "unit": "mile"}, "to": "kilometre"}
    assert filled(convert, text) == expected


def test_in_is_an_inch_after_a_number_only():
    assert filled(convert, "3 in in km")["quantity"] == {"amount": 3, "unit": "inch"}


def test_what_a_nested_object_lacks_is_named_with_its_path():
    assert fill(convert, "convert to miles") == ({"to": "mile"}, ["quantity.amount"])


def test_origin_and_destination_follow_their_prepositions():
    def fly(origin: str, destination: str) -> None: ...

    expected = {"origin": "Oslo", "destination": "Paris"}
    assert filled(fly, "a flight from Oslo to Paris") == expected
    assert filled(fly, "a flight to Paris from Oslo") == expected


def test_a_mail_finds_its_address_its_subject_and_its_words():
    def send(to: str, subject: str, body: str) -> None: ...

    assert filled(send, 'send bob@example.com an email with subject "Hi" saying "How are you?"') == {
        "to": "bob@example.com",
        "subject": "Hi",
        "body": "How are you?",
    }


def test_free_text_runs_to_its_end():
    def search(query: str, limit: int = 10) -> None: ...

    assert filled(search, "search for the best ramen in Tokyo") == {"query": "best ramen in Tokyo"}
    assert filled(search, "search python decorators") == {"query": "python decorators"}


def test_what_nothing_introduces_is_what_is_left():
    def erase(disk: str) -> None: ...

    assert filled(erase, "erase the disk sda") == {"disk": "sda"}


def test_dates_times_and_addresses_go_by_their_form():
    def book(day: datetime.date, hour: datetime.time, link: str, guests: int) -> None: ...

    text = "for 4 guests on 2026-12-24 at 18:30, see https://example.com/x"
    assert filled(book, text) == {
        "day": "2026-12-24",
        "hour": "18:30",
        "link": "https://example.com/x",
        "guests": 4,
    }


def test_a_flag_is_raised_by_its_name_and_lowered_by_a_no():
    def book(outside: bool = False, quiet: bool = True) -> None: ...

    assert filled(book, "a table outside, not quiet") == {"outside": True, "quiet": False}
    assert filled(book, "a table") == {}
    assert filled(book, "quiet=false") == {"quiet": False}


def test_lists_take_all_that_fits():
    def total(values: list[float]) -> None: ...
    def invite(names: list[str]) -> None: ...

    assert filled(total, "the total of 3, 4.5 and 7") == {"values": [3, 4.5, 7]}
    assert filled(invite, 'invite "Ann" and "Bob"') == {"names": ["Ann", "Bob"]}


def test_optional_strings_need_a_reason():
    def note(text: str, author: str | None = None) -> None: ...

    assert filled(note, 'note "milk" for later') == {"text": "milk"}
    assert filled(note, 'note "milk" by Ann') == {"text": "milk", "author": "Ann"}


def test_what_cannot_be_found_is_missing_and_never_invented():
    assert fill(get_weather, "weather") == ({}, ["city"])
    assert fill(get_weather, "what is the weather like today?") == ({}, ["city"])


schemas = st.deferred(
    lambda: st.one_of(
        st.fixed_dictionaries({"type": st.sampled_from(["STRING", "NUMBER", "INTEGER", "BOOLEAN"])}),
        st.fixed_dictionaries({"type": st.just("STRING"), "format": st.sampled_from(["date", "date-time", "email"])}),
        st.fixed_dictionaries({"type": st.just("STRING"), "enum": st.lists(st.text(), min_size=1, max_size=3)}),
        st.fixed_dictionaries({"type": st.just("ARRAY"), "items": schemas}),
        st.fixed_dictionaries({"anyOf": st.lists(schemas, min_size=1, max_size=3)}),
        objects,
    )
)  # fmt: skip
objects = st.dictionaries(st.sampled_from(["city", "to", "unit", "text", "nächste", "a_b"]), schemas, max_size=3).map(
    lambda properties: {"type": "OBJECT", "properties": properties, "required": list(properties)[:2]}
)  # fmt: skip
questions = st.lists(
    st.sampled_from(
        ["Oslo", "in", "to", "7", "4.5", "two", '"x y"', "city", "=", ":", "miles", "not", "?", "2026-01-02"]
    )
    | st.text(max_size=5),
    max_size=8,
).map(" ".join)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(questions, objects)
def test_any_question_meets_any_schema_without_an_error(text, schema):
    args, missing = QuestionReader(tokens(text)).arguments(schema)
    lacking = {name for name in schema["required"] if name not in args}
    assert lacking == {path.split(".")[0] for path in missing}
    assert set(args) <= set(schema["properties"])


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": "STRING"}, "city"),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "INTEGER", "minimum": 3}, 3),
        ({"type": "NUMBER"}, 1),
        ({"type": "BOOLEAN"}, True),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "INTEGER", "default": 7}, 7),
        ({"type": "ARRAY", "items": {"type": "STRING"}, "minItems": 2}, ["city", "city"]),
        ({}, "city"),
        (
            {
                "type": "OBJECT",
                "properties": {"n": {"type": "INTEGER"}, "to": {"properties": {}, "type": "OBJECT"}, "x": {}},
                "required": ["n", "to", "gone"],
            },
            {"n": 1, "to": {}},
        ),
    ],
)
def test_an_example_is_what_the_schema_allows(schema, made):
    assert example(schema, "city") == made
