"""Reads the objects of a message by google-genai's types, in one walk, and reports what it could not read.

What the types know is read in either casing, and bears its camelCase name from then on. A value that is not of its type
is left out, and the rest is kept. What nobody knows is reported, at any depth; a field that google-genai knows and
livetools has no use for (``mediaResolution`` of a part) is a detail, and passed over, but its inside is looked into.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from pydantic_core import CoreConfig, SchemaValidator, core_schema

from livetools.setup.sdk.camel_case import camel
from livetools.setup.sdk.generated_tables import tables

Fields: TypeAlias = dict[str, Any]  # camelCase names → what is read
Path: TypeAlias = tuple[str | int, ...]  # the names, and the places in lists, that lead to a value

#: Types whose objects are handed on as they came; it is only looked into them.
AS_IT_CAME = frozenset(
    {"GroundingMetadata", "UrlContextMetadata", "UsageMetadata", "ToolCall", "ToolResponse"}
)
#: How livetools reads fields that google-genai does not know, or reads otherwise.
OURS: Mapping[str, Mapping[str, str]] = {
    "LiveServerMessage": {"interactionStatus": "string"},
    "LiveServerGoAway": {"timeLeft": "seconds"},
    # Calls are read by themselves: a broken one must be answered too.
    "LiveServerToolCall": {"functionCalls": "any"},
    "FunctionCall": {"args": "any", "partialArgs": "any", "willContinue": "any"},
    "Part": {"functionCall": "any", "thoughtSignature": "any"},
    "Transcription": {"startOffset": "seconds", "endOffset": "seconds"},
    "WordInfo": {"startOffset": "seconds", "endOffset": "seconds", "speakerLabel": "string"},
    "VoiceActivity": {"audioOffset": "seconds"},
}
#: Fields of a part that google-genai knows and that are reported all the same: they hold something to show.
SHOWN = frozenset({"fileData", "functionResponse"})


_BASE64 = SchemaValidator(core_schema.bytes_schema(), CoreConfig(val_json_bytes="base64"))


def text(value: object) -> str:
    """A string, or the digits of a number. Raises ``ValueError`` for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError


def seconds(value: object) -> float | None:
    """Read a Duration (``"50s"``, ``"12.5s"``, ``"50"``, ``50``); ``None`` for anything else."""
    try:
        number = float(text(value).strip().removesuffix("s"))
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None  # what is past is now


def base64(text: bytes | str) -> bytes:
    """The bytes of a JSON string in Base64, standard or URL-safe, with padding or without. Raises ``ValueError``."""
    decoded: bytes = _BASE64.validate_json(text)
    return decoded


_TRUTH = {True: True, False: False, "true": True, "false": False}
_SCALARS: Mapping[str, Callable[[Any], object]] = {
    "string": text,
    "boolean": _TRUTH.__getitem__,
    "integer": lambda value: int(text(value)),
    "number": lambda value: float(text(value)),
    "bytes": lambda value: base64('"' + value + '"'),
    "seconds": seconds,
    "any": lambda value: value,
}
#: What these raise for a value of another kind.
_BROKEN = (ValueError, TypeError, KeyError, AttributeError, OverflowError)


@cache
def _kinds(kind: str) -> Mapping[str, str]:
    """The fields of this type; none of a kind that has none."""
    return {**tables().types.get(kind, {}), **OURS.get(kind, {})}


class FieldReader:
    """Reads one message. ``left_out``: what was not read, as ``{path: value}``. ``broken``: how many of these are
    known and not of their types; ``places``: where the others are."""

    def __init__(self) -> None:
        self.left_out: list[object] = []
        self.broken = 0
        self.places: set[str] = set()  # of what nobody knows

    def read(self, fields: Mapping[str, Any], kind: str, path: Path = ()) -> Fields:
        """The fields of this object that are known and can be read."""
        read = {name: self._value(value, of, at) for name, value, of, at in self._known(fields, kind, path)}
        return {name: value for name, value in read.items() if value is not None}

    def look_into(self, value: object, kind: str, path: Path) -> None:
        """Report what nobody knows in a value that is handed on as it came."""
        if isinstance(value, list):
            for each in value:
                self.look_into(each, kind, path)
        elif isinstance(value, dict) and _kinds(kind):
            for _, inner, of, at in self._known(value, kind, path):
                self.look_into(inner, of.strip("[]"), at)

    def _known(
        self, fields: Mapping[str, Any], kind: str, path: Path
    ) -> Iterator[tuple[str, Any, str, Path]]:
        """Each field that is known: its name, its value, its kind, and the way to it. The others are reported."""
        known = _kinds(kind)
        for key, value in fields.items():
            name, at = key if key in known else camel(key), (*path, key)
            # Of a field that came in both spellings one is read, and the other reported.
            if name not in known or name in SHOWN or (name != key and name in fields):
                self._report_unknown(at, value, once=name not in SHOWN)
            else:
                yield name, value, known[name], at

    def _value(self, value: Any, kind: str, path: Path) -> Any:
        """What it says; ``None`` if it is not set, or cannot be read, which is reported."""
        if value is None:
            return None
        if kind.startswith("["):
            # A lone value is a list of one.
            listed = enumerate(value if isinstance(value, list) else [value])
            read = [self._value(each, kind[1:-1], (*path, place)) for place, each in listed]
            return [each for each in read if each is not None]
        if kind in _SCALARS or kind in tables().enums:
            try:
                return _SCALARS.get(kind, text)(value)
            except _BROKEN:
                return self._take_out(path, value)
        if not isinstance(value, dict):
            self._take_out(path, value)
            # A field of the message keeps its meaning: a goAway with odd content is a goAway.
            return {} if len(path) == 1 else None
        if kind in AS_IT_CAME:
            self.look_into(value, kind, path)
            return value
        return self.read(value, kind, path) if _kinds(kind) else value

    def _take_out(self, path: Path, value: object) -> None:
        self.broken += 1
        self.left_out.append({".".join(map(str, path)): value})

    def _report_unknown(self, path: Path, value: object, once: bool) -> None:
        names = [step for step in path if isinstance(step, str)]
        if "parts" in names:
            names = ["part", *names[names.index("parts") + 1 :]]
        place = ".".join(names)
        # Every word of a transcript may have a new field: the first of them shows it.
        if not once or place not in self.places:
            self.places.add(place)
            self.left_out.append({place: value})
