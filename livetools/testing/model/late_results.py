"""Reads the results that a session sends as text, because their calls can no longer be answered.

A session writes one result a line, and sends those that are due together in one text::

    [Result of get_weather({"city": "Oslo"}), asked for before the connection was replaced: {"output": "12 °C"}]
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_BEGINS = re.compile(r"\[Result of (?P<name>[^(]+)\(")
_BETWEEN = re.compile(r"\)[^:]*: ")
_JSON = json.JSONDecoder()


class LateResult(NamedTuple):
    """The function that was called, and its response object, as JSON text."""

    name: str
    response: str


def late_results(text: str) -> list[LateResult]:
    """The results in ``text``; none if it is anything but results, as what a user has typed."""
    found = [_read(line) for line in text.strip().split("\n")]
    results = [each for each in found if each is not None]
    return results if len(results) == len(found) else []


def _read(line: str) -> LateResult | None:
    """The result in one line. Arguments and response are read as JSON, for their texts may hold any sign."""
    begins = _BEGINS.match(line)
    if begins is None:
        return None
    try:
        _, end = _JSON.raw_decode(line, begins.end())
        if (between := _BETWEEN.match(line, end)) is None:
            return None
        response, end = _JSON.raw_decode(line, between.end())
    except (ValueError, RecursionError):
        return None
    if not isinstance(response, dict) or line[end:] != "]":
        return None
    return LateResult(begins["name"], line[between.end() : end])
