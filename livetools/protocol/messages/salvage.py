"""Recovers the valid parts of a message that does not validate.

Slow, rare, and as forgiving as can be. pydantic says where each fault is; the piece at that place is
taken out and told, until the rest validates. Its time is proportional to the size of the message, for every content: a
session waits for it, and every other one in the process.

A call that a model writes as code is not found here but in ``to_events``, which tells it as ``CodeChunk.tool``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

#: Levels of nesting that are read; pydantic goes to about 200, Python's own parser to about 1000.
MAX_DEPTH = 150
MAX_FAULTS = 100
"""Pieces that are taken out one by one; of a message with more of them the calls and cancellations are kept."""

# A string that does not end continues to the end of the text, which then holds nothing else: were it no token, each
# quotation mark in it would be tried as the beginning of another one.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)

Model = TypeVar("Model", bound=BaseModel)


def salvage(
    model: type[Model], data: bytes | str, vital: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
) -> tuple[Model | None, list[object]]:
    """Read as much of ``data`` as ``model`` can hold, and say what was left out, as ``{path: value}``.

    Never raises. What is not a JSON object gives no model, and is left out whole. Every field of ``model``
    must be optional. A lone object where a list is expected is a list of one; a field of the message that is
    not an object, but should be, is an empty one (a goAway is a goAway, with any content). Null is "not set",
    and is not told. ``vital`` picks what is kept of a message with more than ``MAX_FAULTS`` broken pieces, which is
    then told as one piece.
    """
    try:
        value, rest = _lenient_json(data)
    except (ValueError, RecursionError):
        return None, [data]
    if not isinstance(value, dict):
        return None, [data]
    left_out: list[object] = [rest] if rest else []
    whole, mended = value, 0
    while True:
        try:
            return model.model_validate(value), left_out
        except ValidationError as error:
            mended += error.error_count()
            # Each round validates the whole message again: past so many pieces only what must be answered is kept.
            if mended > MAX_FAULTS and value is whole:
                value, left_out = vital(whole) if vital is not None else {}, [data]
                continue
            faults = error.errors(include_url=False, include_context=False, include_input=False)
        for fault in reversed(faults):  # from the back, so that positions in a list hold
            _mend(value, fault["loc"], fault["type"], left_out)


def _lenient_json(data: bytes | str) -> tuple[object, str]:
    """The first JSON value and the text behind it; bad UTF-8, control characters, lone surrogates pass."""
    # A byte order mark is dropped; bytes that are not UTF-8 become U+FFFD.
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    text = _shallow(text.strip())
    value, end = json.JSONDecoder(strict=False, parse_int=_int).raw_decode(text)
    clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")  # a lone surrogate becomes "?"
    return json.loads(clean, parse_int=_int), text[end:].strip()


def _shallow(text: str) -> str:
    """The text with ``"…"`` for what is nested deeper than any parser goes."""
    kept: list[str] = []
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        begins = text[token.start()]
        if begins in "[{":
            depth += 1
            if depth == MAX_DEPTH:
                kept += [text[start : token.start()], '"…"']
        elif begins in "]}":
            if depth == MAX_DEPTH:
                start = token.end()
            depth -= 1
    if depth < MAX_DEPTH:
        kept.append(text[start:])  # else it ends in the depth
    return "".join(kept)


def _int(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts (4300): left as text
        return digits


def _mend(message: dict[str, Any], path: tuple[int | str, ...], fault: str, left_out: list[object]) -> None:
    *way, last = path
    holder: Any = message
    for step in way:
        holder = holder[step]
    value = holder[last]
    # A lone object where a list belongs is taken for its only entry.
    if fault == "list_type" and isinstance(value, dict):
        holder[last] = [value]
        return
    # The field of a message that is not an object keeps its meaning: a goAway with odd content is a goAway.
    if fault == "model_type" and not way:
        holder[last] = {}
    else:
        del holder[last]
    if value is not None:
        left_out.append({".".join(map(str, path)): value})
