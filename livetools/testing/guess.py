"""Which function a sentence asks for, and with what arguments: words and the declared schema, no model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .wire import Message

_FILLERS = frozenset(
    """a about an and are as at be by can could do does for from get give how i in is it me my of on or
    please show tell that the this to was what when where which who will with would you your""".split()  # noqa: SIM905
)


def pick(declarations: Iterable[Message], text: str) -> Message | None:
    """The declaration that shares the most words with the text; ``None`` if none shares any.

    A word of the name counts three times, a parameter's or an enum's value twice, a word of the description
    once.
    """
    said = _words(text)
    scored = [(_score(each, said), -n, each) for n, each in enumerate(declarations)]
    best = max(scored, key=lambda entry: entry[:2], default=None)
    return best[2] if best is not None and best[0] > 0 else None


def _score(declaration: Message, said: frozenset[str]) -> int:
    schema = _schema(declaration)
    values = [str(value) for each in _properties(schema).values() for value in each.get("enum") or []]
    inner = " ".join([*_properties(schema), *values])
    return (
        3 * len(said & _words(declaration.get("name", "")))
        + 2 * len(said & _words(inner))
        + len(said & _words(declaration.get("description", "")))
    )


def _words(text: str) -> frozenset[str]:
    """The words that mean something, lower-case, without a plural's s."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    words = re.findall(r"[^\W_]+", text)
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words) - _FILLERS


def arguments(declaration: Message, text: str) -> dict[str, Any]:  # any JSON value
    """Arguments that the declared schema allows, taken from the text where it has some.

    Numbers go to numeric parameters in their order, a capitalised or quoted word to the first string ones,
    a value of an enum where the text names it. What is required and not found gets a plain value of its
    type; what is optional and not found is left out.
    """
    schema, clues = _schema(declaration), _Clues(text)
    return clues.object(schema)


def _schema(declaration: Message) -> Mapping[str, Any]:
    schema = declaration.get("parameters") or declaration.get("parametersJsonSchema") or {}
    return schema if isinstance(schema, dict) else {}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties") or {}
    return {name: each for name, each in properties.items() if isinstance(each, dict)}


class _Clues:
    """What a sentence offers: its numbers, its names, its words; each is used once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.numbers = [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]
        self.names = [
            a or b or c
            for a, b, c in re.findall(r"\"([^\"]+)\"|'([^']+)'|(?<!^)(?<![.!?] )\b([A-Z]\w+)", text)
        ]
        self.names += [word for word in re.findall(r"\b[A-Z]{3}\b", text) if word not in self.names]

    def object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        required = schema.get("required") or []
        result = {}
        for name, inner in _properties(schema).items():
            found, value = self.value(inner)
            if found or name in required:
                result[name] = value
        return result

    def value(self, schema: Mapping[str, Any]) -> tuple[bool, Any]:
        """Whether the text has something for this schema, and a value of its type either way."""
        schema = next((each for each in schema.get("anyOf") or () if _kind(each) != "null"), schema)
        if schema.get("enum"):
            return self._choice(schema["enum"])
        kind = _kind(schema)
        if kind in ("number", "integer"):
            return self._number(kind, schema)
        if kind == "boolean":
            return False, False
        if kind == "array":
            found, item = self.value(schema.get("items") or {})
            return found, [item]
        if kind == "object":
            inner = self.object(schema)
            return bool(inner), inner
        if self.names:
            return True, self.names.pop(0)
        return False, self.text.strip() or "something"

    def _choice(self, values: list[Any]) -> tuple[bool, Any]:
        said = _words(self.text)
        named = [value for value in values if _words(str(value)) & said]
        return bool(named), named[0] if named else values[0]

    def _number(self, kind: str, schema: Mapping[str, Any]) -> tuple[bool, float | int]:
        found = bool(self.numbers)
        number = self.numbers.pop(0) if found else float(schema.get("minimum") or 1)
        return found, int(number) if kind == "integer" or number == int(number) else number


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type") or ("object" if "properties" in schema else "string")
    return str(kind).lower() if isinstance(kind, str) else "string"


def words_for(name: str, response: Message) -> str:
    """A sentence that reads a function's response out."""
    if "error" in response:
        return f"{name} failed: {_plain(response['error'])}"
    (value,) = response.values() if len(response) == 1 else (response,)
    return f"{name} says: {_plain(value)}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
