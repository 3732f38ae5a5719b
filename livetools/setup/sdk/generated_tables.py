"""What google-genai knows of a configuration and of messages: names, kinds, and what each API refuses.

The tables are in ``tables.json``, which ``tests/support/sdk_tables.py`` generates from google-genai's types and
converters; a test names whatever a newer google-genai has beside them. The SDK itself is not imported: that takes a
second.

A kind is the name of a type, or of an enum, or one of ``boolean``, ``integer``, ``number``, ``string``, ``bytes`` and
``any``; ``"[Part]"`` is a list, ``"{string}"`` an object whose names are the user's own.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from msgspec import Struct, json


class Tables(Struct, frozen=True):
    """What ``tables.json`` holds; ``refused`` and ``renamed`` by the API, ``"gemini"`` and ``"vertex"``."""

    types: dict[str, dict[str, str]]  # the fields of each type: camelCase name → kind
    enums: dict[str, list[str]]  # the values of each enum
    places: dict[str, str]  # the object of the setup that has a field of the config; "": the setup itself
    refused: dict[str, frozenset[str]]  # paths that google-genai's converter to the API raises for
    renamed: dict[str, dict[str, str]]  # paths whose last name the API spells otherwise, and how
    written: dict[str, str]  # how ``connect`` takes a field of the config: snake_case name → what to write


@cache
def tables() -> Tables:
    """The tables, read when they are needed first."""
    file = resources.files("livetools.setup.sdk").joinpath("tables.json")
    return json.decode(file.read_bytes(), type=Tables)
