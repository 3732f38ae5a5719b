"""Annotations made fit for pydantic."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from typing import Annotated, Any, Literal, LiteralString, NotRequired, Required, TypedDict

import pytest
from pydantic import Base64Bytes, Base64UrlBytes, TypeAdapter, ValidationError

from livetools.tools import Tool
from livetools.tools.validation.pydantic_annotations import fit


class City(TypedDict, total=False):
    name: Required[str]
    size: int


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


def taken(annotation: Any, value: object) -> Any:
    return TypeAdapter(fit(annotation)).validate_python(value)


def test_a_typed_dict_of_the_standard_library_is_taken_on_every_python() -> None:
    adapter = TypeAdapter(fit(list[City]))
    assert adapter.validate_python([{"name": "Oslo"}]) == [{"name": "Oslo"}]
    assert adapter.json_schema()["$defs"]["City"]["required"] == ["name"]


def test_a_typed_dict_may_nest() -> None:
    class Country(TypedDict):
        cities: list[City]
        capital: NotRequired[City]

    def f(country: Country) -> Any:
        return country

    assert Tool(f).bind({"country": {"cities": [{"name": "Oslo"}]}}, None)[1] == {
        "country": {"cities": [{"name": "Oslo"}]}
    }


def test_an_enum_is_taken_by_value_and_by_name() -> None:
    assert taken(list[Colour], ["r", "BLUE", Colour.RED]) == [Colour.RED, Colour.BLUE, Colour.RED]
    assert taken(Colour | str, "RED") == "RED"  # a text is what the union says first
    with pytest.raises(ValidationError):
        taken(Colour, "GREEN")


def test_a_literal_of_enum_members_is_taken_by_value_and_by_name() -> None:
    for value in ("r", "RED", Colour.RED):
        assert taken(Literal[Colour.RED], value) is Colour.RED
    with pytest.raises(ValidationError):
        taken(Literal[Colour.RED], "b")
    with pytest.raises(ValidationError):
        taken(Literal[Colour.RED], ["b"])


@pytest.mark.parametrize("text", ["AP8=", "AP8", " AP8=\n"])
def test_bytes_come_as_base64_padded_or_not(text: str) -> None:
    assert taken(bytes, text) == b"\x00\xff"


def test_base64_for_urls_is_taken_too() -> None:
    assert taken(bytes, "-_8") == taken(bytes, "+/8=") == b"\xfb\xff"


def test_base64_types_of_pydantics_decode_by_themselves() -> None:
    for annotation in (Base64Bytes, Base64UrlBytes, Base64Bytes | None):
        assert taken(annotation, "aGk=") == b"hi"


def test_iterables_are_lists_validated_at_once() -> None:
    assert taken(Iterable[int], ["1"]) == [1]
    assert taken(Collection[int], ["1"]) == [1]


def test_a_text_in_annotated_is_the_description() -> None:
    assert TypeAdapter(fit(Annotated[int, "how many"])).json_schema() == {
        "description": "how many",
        "type": "integer",
    }


def test_what_needs_nothing_is_left_as_it_is() -> None:
    for annotation in (int, list[int], dict[str, int], Literal["a"], Any):
        assert fit(annotation) is annotation
    assert fit(object) is Any
    assert fit(LiteralString) is str
