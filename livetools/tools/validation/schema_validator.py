"""Reads the arguments of a call by a declared schema, as those of a Python function are read by its annotations.

Models send ``null`` for what is optional, arrays and objects as text that holds JSON, numbers and booleans as text, and
``3.0`` for 3. A handler or an MCP server that was promised an integer gets one. What cannot be read is an error for the
model, and nothing runs. Where a schema says nothing of a value, the value stays as it came.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from livetools.tools.schemas.keywords import Schema, is_null, merge, tidy
from livetools.tools.schemas.live_subset import target_of

from .invalid_arguments import MOST, echo_of, invalid

_DEEPEST = 60  # levels, and references followed one after another

Problems = list[str]


def read(schema: Mapping[str, Any], args: Mapping[str, Any], name: str) -> dict[str, Any]:
    """``args`` as the schema has them. Raises ``InvalidArguments``."""
    problems: Problems = []
    reader = _Reader(schema, problems)
    flat = reader.flat(schema)
    made = reader.fields(flat, dict(args), "", 0)
    problems += [
        f"{key} is missing" for key in flat.get("required") or () if key not in made and key not in args
    ]
    if problems:
        raise invalid(name, list(dict.fromkeys(problems))[:MOST], list(flat.get("properties") or made))
    return made


class _Unread(Exception):
    """A value that is not of the kind that the schema wants; its text says which."""


class _Reader:
    def __init__(self, root: Mapping[str, Any], problems: Problems) -> None:
        self._root, self._problems = root, problems

    def flat(self, schema: object) -> Schema:
        """The schema with its references resolved, and with ``allOf`` merged."""
        flat = tidy(schema) if isinstance(schema, Mapping) else {}
        for _ in range(_DEEPEST):
            if "$ref" in flat:
                target = target_of(self._root, str(flat.pop("$ref")))
                flat = {**tidy(target or {}), **flat}
            elif "allOf" in flat:
                # One at a time, with the rest of them in the place of the first: each may hold further ones.
                part, *rest = [tidy(one) for one in flat.pop("allOf") if isinstance(one, Mapping)] or [{}]
                flat = merge(part, flat)
                if rest or "allOf" in part:
                    flat["allOf"] = [*part.get("allOf", ()), *rest]
            else:
                return flat
        return {}

    def fields(self, flat: Schema, value: dict[str, Any], path: str, level: int) -> dict[str, Any]:
        """The fields of an object. ``null`` for one that is optional and is never null is left out."""
        properties = flat.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = flat.get("required") or ()
        others = flat.get("additionalProperties")
        made: dict[str, Any] = {}
        for key, inner in value.items():
            schema = self.flat(properties.get(key, others))
            if not schema and key not in properties:
                made[key] = inner
            elif inner is not None or self.takes_null(schema):
                made[key] = self.value(schema, inner, f"{path}.{key}" if path else key, level + 1)
            elif key in required:
                self._problems.append(
                    f"{f'{path}.{key}' if path else key} should be {_wanted(schema)}, not null"
                )
        return made

    def value(self, schema: object, value: Any, path: str, level: int) -> Any:
        """A value by its schema; where it does not fit a problem is noted."""
        try:
            return self._value(self.flat(schema), value, path, level)
        except _Unread as wanted:
            self._problems.append(f"{path} should be {wanted}, not {echo_of(value)}")
            return value

    def takes_null(self, flat: Schema) -> bool:
        """Whether ``null`` is a value of this schema; one that says nothing takes any."""
        kinds = _kinds(flat)
        members = [self.flat(one) for one in _members(flat)]
        if flat.get("nullable") or is_null(flat) or "null" in kinds:
            return True
        if members:
            return any(self.takes_null(one) for one in members)
        values = [flat["const"]] if "const" in flat else flat.get("enum")
        return None in values if isinstance(values, list) else not kinds

    def _value(self, flat: Schema, value: Any, path: str, level: int) -> Any:
        if level > _DEEPEST or (value is None and self.takes_null(flat)):
            return value
        if members := _members(flat):
            return self._one_of([self.flat(one) for one in members], value, path, level)
        kinds = [kind for kind in _kinds(flat) if kind != "null"]
        if len(kinds) > 1:
            rest = {key: inner for key, inner in flat.items() if key != "type"}
            return self._one_of([{**rest, "type": kind} for kind in kinds], value, path, level)
        convert = _CONVERT.get(kinds[0]) if kinds else None
        if convert is not None and not (
            convert is _text and flat.get("enum")
        ):  # a text that is chosen may be "1"
            value = convert(value)
        value = self._inside(flat, value, path, level)
        return _chosen(flat, value)

    def _one_of(self, members: list[Schema], value: Any, path: str, level: int) -> Any:
        """By the first member that takes the value as it is; else by the first that can read it."""
        members = [one for one in members if not is_null(one)]  # null has been taken already
        for same in (True, False):
            for member in members:
                trial = _Reader(self._root, [])
                try:
                    made = trial._value(member, value, path, level)
                except _Unread:
                    continue
                if not trial._problems and (not same or (type(made) is type(value) and made == value)):
                    return made
        raise _Unread(" or ".join(dict.fromkeys(_wanted(one) for one in members)))

    def _inside(self, flat: Schema, value: Any, path: str, level: int) -> Any:
        if isinstance(value, dict):
            made = self.fields(flat, value, path, level)
            missing = [key for key in flat.get("required") or () if key not in made and key not in value]
            self._problems += [f"{path}.{key} is missing" for key in missing]
            return made
        if not isinstance(value, list):
            return value
        items = flat.get("items")
        first = flat.get("prefixItems") or (items if isinstance(items, list) else [])
        by_place = [*first, *[items if isinstance(items, Mapping) else {}] * len(value)]
        return [
            self.value(schema, one, f"{path}[{n}]", level + 1)
            for n, (schema, one) in enumerate(zip(by_place, value, strict=False))
        ]


def _members(flat: Schema) -> list[Any]:
    return [
        one for keyword in ("anyOf", "oneOf") for one in flat.get(keyword) or () if isinstance(one, Mapping)
    ]


def _kinds(flat: Schema) -> list[str]:
    kinds = flat.get("type")
    return [str(kind).lower() for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind]


def _wanted(flat: Schema) -> str:
    kinds = [_WORDS.get(kind, kind) for kind in _kinds(flat) if kind != "null"]
    return " or ".join(kinds) or "another value"


def _chosen(flat: Schema, value: Any) -> Any:
    """The value, if the schema's ``const`` or ``enum`` lists it."""
    values = [flat["const"]] if "const" in flat else flat.get("enum")
    if not isinstance(values, list) or not values:
        return value
    if isinstance(value, list) and "array" in _kinds(flat):  # the enum of an array is that of its items
        return value
    for one in values:
        if (one == value and type(one) is type(value)) or (type(one) is str and one == str(value)):
            return value if one == value else one
    # Where the schema tells no type, a number may come as a text all the same.
    number = _parsed(value) if isinstance(value, str) else value
    for one in values:
        if _is_number(one) and _is_number(number) and one == number:
            return one if isinstance(value, str) else value
    raise _Unread(f"one of {', '.join(map(str, values))}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer(value: Any) -> Any:
    number: Any = _parsed(value) if isinstance(value, str) else value
    if _is_number(number) and (isinstance(number, int) or number.is_integer()):
        return int(number)
    raise _Unread(_WORDS["integer"])


def _number(value: Any) -> Any:
    number = _parsed(value) if isinstance(value, str) else value
    if _is_number(number):
        return number
    raise _Unread(_WORDS["number"])


def _parsed(text: str) -> int | float | None:
    """The finite number that a text is."""
    for kind in (int, float):
        try:
            number = kind(text.strip())
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None


_TRUTH: Mapping[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else str(value) if value in (0, 1) else ""
    if text.removesuffix(".0") in _TRUTH:
        return _TRUTH[text.removesuffix(".0")]
    raise _Unread(_WORDS["boolean"])


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    raise _Unread(_WORDS["string"])


def _holding(kind: type, word: str) -> Callable[[Any], Any]:
    """Reads an array or an object, also from text that holds it as JSON."""

    def convert(value: Any) -> Any:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise _Unread(word) from None
        if isinstance(value, kind):
            return value
        raise _Unread(word)

    return convert


_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "array": "an array",
    "object": "an object",
}
_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _text,
    "array": _holding(list, "an array"),
    "object": _holding(dict, "an object"),
}
