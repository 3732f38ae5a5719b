"""Reads the JSON of a message, as forgivingly as can be where it is broken.

The forgiving way is slow and rare. Its time is proportional to the size of the message, for every content: a session
waits for it, and every other one in the process.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any  # any JSON value; a full type could not be indexed without a cast

#: Levels of nesting that are read; msgspec goes to some hundreds, Python's own parser to about 1000.
MAX_DEPTH = 150

# A string that does not end continues to the end of the text, which then holds nothing else: were it no token, each
# quotation mark in it would be tried as the beginning of another one.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)


def lenient_json(data: bytes | str) -> tuple[object, str]:
    """The first JSON value and the text behind it; ``None`` where there is no value. Never raises.

    Bad UTF-8, control characters, lone surrogates and values without end are read in some form.
    """
    try:
        return msgspec.json.decode(data), ""
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    # A byte order mark is dropped; bytes that are not UTF-8 become U+FFFD.
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    text = _shallow(text.strip())
    try:
        value, end = json.JSONDecoder(strict=False, parse_int=_int).raw_decode(text)
    except (ValueError, RecursionError):
        return None, ""
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
    # More than Python converts (4300) are left as text.
    return int(digits) if len(digits) <= sys.int_info.default_max_str_digits else digits
