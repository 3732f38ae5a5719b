"""Finds what neither livetools nor google-genai knows in a message, at any depth.

A field that google-genai knows and livetools has no use for (``mediaResolution`` of a part) is a detail, and passed
over; its inside is checked by google-genai's types (:mod:`livetools.setup.sdk.generated_tables`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import AliasChoices, AliasGenerator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from livetools.setup.sdk.camel_case import camel, snake
from livetools.setup.sdk.generated_tables import tables


class WireObject(BaseModel):
    """An object of a message, in either casing."""

    model_config = ConfigDict(
        extra="allow",  # and found by find_unknown
        defer_build=True,
        val_json_bytes="base64",  # standard and url-safe, with padding or without
        coerce_numbers_to_str=True,
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(to_camel(name), name)),
    )
    #: How the path of its fields begins; ``""``: with the path to it.
    PLACE: ClassVar[str] = ""
    #: Fields that google-genai knows and that are reported all the same: they hold something to show.
    TOLD: ClassVar[frozenset[str]] = frozenset()


def find_unknown(value: object, kind: str, path: str, found: list[object]) -> None:
    """Append ``{path: value}`` for each field that nobody knows: of this object, of those in this list, and of what is
    inside. ``kind`` is google-genai's type. Function calls in a message are not looked into."""
    if isinstance(value, list):
        for each in value:
            find_unknown(each, kind, path, found)
    elif isinstance(value, WireObject):
        path = value.PLACE or path
        if extra := value.__pydantic_extra__:  # what model_extra returns, without its Python code
            # A field that came in both spellings: one was read, and the other is here.
            twice = {camel(key) for key in extra if snake(key) in type(value).model_fields}
            _in_fields(extra, kind, path, found, value.TOLD | twice)
        for name, inner in vars(value).items():
            if isinstance(inner, WireObject | dict | list):
                key = camel(name)
                inside = tables().types[kind][key].strip("[]")
                if inside != "FunctionCall":
                    find_unknown(inner, inside, f"{path}.{key}" if path else key, found)
    elif isinstance(value, dict) and kind in tables().types:
        _in_fields(value, kind, path, found)


def _in_fields(
    fields: Mapping[str, Any], kind: str, path: str, found: list[object], told: frozenset[str] = frozenset()
) -> None:
    known = tables().types[kind]
    for key, value in fields.items():
        # The SDK's tables have camelCase names; a key may come in either casing.
        name = key if key in known else camel(key)
        where = f"{path}.{key}" if path else key
        if name not in known or name in told:
            # Every word of a transcript may have a new field: the first of them shows it.
            if name in told or not any(isinstance(one, dict) and one.keys() == {where} for one in found):
                found.append({where: value})
        else:
            find_unknown(value, known[name].strip("[]"), where, found)
