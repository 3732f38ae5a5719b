"""What google-genai knows of a configuration and of messages: names, kinds, and what each API refuses.

The tables are in ``tables.json``, which ``tests/support/sdk_tables.py`` generates from google-genai's types and
converters; a test names whatever a newer google-genai has beside them. The SDK itself is not imported: that takes a
second.

A kind is the name of a type, or of an enum, or one of ``boolean``, ``integer``, ``number``, ``string``, ``bytes`` and
``any``; ``"[Part]"`` is a list, ``"{string}"`` an object whose names are the user's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any


@cache
def _tables() -> Mapping[str, Any]:
    text = resources.files("livetools.setup.sdk").joinpath("tables.json").read_text(encoding="utf-8")
    tables: Mapping[str, Any] = json.loads(text)
    return tables


def types() -> Mapping[str, Mapping[str, str]]:
    """The fields of each type: camelCase name → kind."""
    found: Mapping[str, Mapping[str, str]] = _tables()["types"]
    return found


def enums() -> Mapping[str, list[str]]:
    """The values of each enum."""
    found: Mapping[str, list[str]] = _tables()["enums"]
    return found


def places() -> Mapping[str, str]:
    """The object of the setup that holds each field of a ``LiveConnectConfig``; ``""`` is the setup itself."""
    found: Mapping[str, str] = _tables()["places"]
    return found


def refused(message: str, *, vertexai: bool) -> Iterator[tuple[str, ...]]:
    """The paths in this message of the client that google-genai raises for where this API is dialled."""
    for path in _tables()["refused"]["vertex" if vertexai else "gemini"]:
        name, *fields = path.split(".")
        if name == message:
            yield tuple(fields)


def renamed(message: str, *, vertexai: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths in this message whose last name this API spells otherwise, and how."""
    for path, spelling in _tables()["renamed"]["vertex" if vertexai else "gemini"].items():
        name, *fields = path.split(".")
        if name == message:
            yield tuple(fields), spelling
