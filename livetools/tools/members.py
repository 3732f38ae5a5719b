"""Puts the members of enums where a model has sent their values or names, inside models and dataclasses of the user's.

pydantic reads ``Literal[Color.RED]`` from the member alone, and an enum from its value alone; JSON has no members. The
annotation of a parameter is made fit for that (:mod:`.fitting`). What stands inside a class of the user's cannot be, so
there the arguments are: by pydantic's core schema, when they have not been accepted as they are.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from .strictness import CoreSchema, opened

Read: TypeAlias = tuple[Any, int]  # a value, and how many members were put into it


def with_members(schema: CoreSchema, args: dict[str, Any]) -> dict[str, Any]:
    """``args`` with a member of an enum wherever ``schema`` takes one and its value or its name stands."""
    schema, definitions = opened(schema)
    read: dict[str, Any] = _Reader(definitions).read(schema, args)[0]
    return read


class _Reader:
    def __init__(self, definitions: Mapping[str, CoreSchema]) -> None:
        self._definitions = definitions

    def read(self, schema: CoreSchema, value: Any) -> Read:
        kind = schema["type"]
        if kind in _KINDS:
            return _KINDS[kind](self, schema, value)
        inner = next((schema[key] for key in _AROUND if isinstance(schema.get(key), Mapping)), None)
        return (value, 0) if inner is None else self.read(inner, value)

    def _reference(self, schema: CoreSchema, value: Any) -> Read:
        target = self._definitions.get(schema["schema_ref"])
        return (value, 0) if target is None else self.read(target, value)

    def _literal(self, schema: CoreSchema, value: Any) -> Read:
        return _member(schema["expected"], value)

    def _enum(self, schema: CoreSchema, value: Any) -> Read:
        return _member(schema["members"], value)

    def _union(self, schema: CoreSchema, value: Any) -> Read:
        """By the choice that most fits: the one in which most members are found."""
        choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
        return max((self.read(choice, value) for choice in choices), key=lambda read: read[1])

    def _tagged(self, schema: CoreSchema, value: Any) -> Read:
        tag = value.get(schema["discriminator"]) if isinstance(value, dict) else None
        choices = schema["choices"]
        choice = choices.get(_member(choices, tag)[0]) if isinstance(tag, str | int | float) else None
        return self.read(choice, value) if isinstance(choice, Mapping) else (value, 0)

    def _items(self, schema: CoreSchema, value: Any) -> Read:
        if not isinstance(value, list) or not isinstance(schema.get("items_schema"), Mapping):
            return value, 0
        return _joined(self.read(schema["items_schema"], item) for item in value)

    def _tuple(self, schema: CoreSchema, value: Any) -> Read:
        if not isinstance(value, list):
            return value, 0
        inner, many = list(schema["items_schema"]), schema.get("variadic_item_index")
        if many is not None:
            inner[many : many + 1] = [inner[many]] * (len(value) - len(inner) + 1)
        rest = ((item, 0) for item in value[len(inner) :])
        return _joined([*map(self.read, inner, value), *rest])

    def _dict(self, schema: CoreSchema, value: Any) -> Read:
        if not isinstance(value, dict):
            return value, 0
        anything = {"type": "any"}
        keys, keyed = _joined(self.read(schema.get("keys_schema", anything), key) for key in value)
        values, valued = _joined(
            self.read(schema.get("values_schema", anything), one) for one in value.values()
        )
        return dict(zip(keys, values, strict=True)), keyed + valued

    def _fields(self, schema: CoreSchema, value: Any) -> Read:
        fields = schema["fields"] if "fields" in schema else schema["arguments_schema"]
        named = fields if isinstance(fields, Mapping) else {field["name"]: field for field in fields}
        if isinstance(value, list):  # a NamedTuple, by position
            inner = [field["schema"] for field in named.values()][: len(value)]
            return _joined([*map(self.read, inner, value), *((one, 0) for one in value[len(inner) :])])
        if not isinstance(value, dict):
            return value, 0
        known = {key: field["schema"] for name, field in named.items() for key in (name, _alias(field))}
        read = {k: self.read(known[k], one) if k in known else (one, 0) for k, one in value.items()}
        return {k: one for k, (one, _) in read.items()}, sum(found for _, found in read.values())


_AROUND = ("schema", "lax_schema", "json_schema")  # where a schema holds one that reads the same value
_KINDS: Mapping[str, Callable[[_Reader, CoreSchema, Any], Read]] = {
    "definition-ref": _Reader._reference,
    "literal": _Reader._literal,
    "enum": _Reader._enum,
    "union": _Reader._union,
    "tagged-union": _Reader._tagged,
    "tuple": _Reader._tuple,
    "dict": _Reader._dict,
    **dict.fromkeys(("list", "set", "frozenset", "generator"), _Reader._items),
    **dict.fromkeys(("model-fields", "typed-dict", "dataclass-args", "named-tuple"), _Reader._fields),
    "call": lambda reader, schema, value: reader._fields(
        schema["arguments_schema"], value
    ),  # of a NamedTuple
}


def _alias(field: CoreSchema) -> str:
    alias = field.get("validation_alias", field.get("alias"))
    return alias if isinstance(alias, str) else ""


def _joined(read: Iterable[Read]) -> Read:
    found = list(read)
    return [value for value, _ in found], sum(count for _, count in found)


def _member(expected: Iterable[object], value: object) -> Read:
    """The member whose value this is, else whose name; what is expected as it is stays."""
    choices = list(expected)
    if any(type(one) is type(value) and one == value for one in choices):
        return value, 0
    members = [one for one in choices if isinstance(one, enum.Enum)]
    by_value = [m for m in members if type(m.value) is type(value) and m.value == value]
    found = by_value or [m for m in members if m.name == value]
    return (found[0], 1) if found else (value, 0)
