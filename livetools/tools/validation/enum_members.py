"""Puts the members of enums where a model has sent their values or names, inside models and dataclasses of the user's.

pydantic reads ``Literal[Color.RED]`` from the member alone, and an enum from its value alone; JSON has no members. The
annotation of a parameter is made fit for that (:mod:`.pydantic_annotations`). Annotations inside a user's class cannot
be changed, so there the arguments are: by pydantic's core schema, when it has refused them as they are.

Arguments that contain enum members are validated as Python values, not as JSON. In strict mode pydantic then refuses
what JSON has no type for (a date as text, a set as an array, a dataclass as an object). So those values are converted
first, each by its own schema.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from pydantic_core import (
    PydanticSerializationError,
    SchemaError,
    SchemaValidator,
    ValidationError,
    to_jsonable_python,
)

from livetools.tools.schemas.python_types import as_key

from .strictness import CoreSchema, opened

_Read: TypeAlias = tuple[Any, int]  # a value, and how many members were put into it


def with_members(schema: CoreSchema, args: dict[str, Any], strict: bool = False) -> dict[str, Any]:
    """``args`` with the value or the name of an enum's member replaced by the member where ``schema`` takes one.

    ``strict``: every other value is converted from JSON first, by its own schema.
    """
    schema, definitions = opened(schema)
    read: dict[str, Any] = _Reader(definitions, strict).read(schema, args)[0]
    return read


class _Reader:
    def __init__(self, definitions: Mapping[str, CoreSchema], strict: bool) -> None:
        self._definitions = definitions
        self._strict = strict

    def read(self, schema: CoreSchema, value: Any) -> _Read:
        kind = schema["type"]
        if kind in _KINDS:
            return _KINDS[kind](self, schema, value)
        inner = next((schema[key] for key in _AROUND if isinstance(schema.get(key), Mapping)), None)
        if inner is None:
            return self._made(schema, value), 0
        # A validator that reads JSON's values.
        reader = _Reader(self._definitions, False) if kind in _ITS_OWN else self
        made, found = reader.read(inner, value)
        return (self._made(schema, value), 0) if kind in _TWOFOLD and not found else (made, found)

    def _made(self, schema: CoreSchema, value: Any, *, key: bool = False) -> Any:
        """A value as its own schema makes it of JSON, by the strict rules; what does not fit stays."""
        if not self._strict or (schema["type"] in _SAME and not key):
            return value
        try:
            validator = self._validator(schema)
            if key:
                return validator.validate_strings(value)
            return validator.validate_json(json.dumps(value), strict=True)
        except (SchemaError, ValidationError, TypeError, ValueError, RecursionError):
            return value

    def _validator(self, schema: CoreSchema, config: Any = None) -> SchemaValidator:
        whole = {"type": "definitions", "schema": schema, "definitions": list(self._definitions.values())}
        return SchemaValidator(cast(Any, whole if self._definitions else schema), config)

    def _dataclass(self, schema: CoreSchema, value: Any) -> _Read:
        """An object as the dataclass that strict mode wants. This may construct the user's dataclass although the call
        is refused in the end.
        """
        made, found = self.read(schema["schema"], value)
        if not self._strict or not isinstance(made, dict):
            return made, found
        if not found:
            whole = self._made(schema, value)
            return (made if whole is value else whole), 0
        try:
            fields, rest = self._validator(schema["schema"], schema.get("config")).validate_python(made)
            own = schema["schema"]["fields"]
            later = {field["name"] for field in own if field.get("init") is False}
            given = {name: one for name, one in fields.items() if name not in later}
            given |= zip((field["name"] for field in own if field.get("init_only")), rest or (), strict=False)
            return schema["cls"](**given), found
        except Exception:  # the class is the user's: the validation that follows reports what it raises
            return made, found

    def _collected(self, schema: CoreSchema, read: _Read) -> _Read:
        """What was read of an array, as the strict rules take it."""
        items, found = read
        try:
            return (_COLLECTIONS.get(schema["type"], list)(items) if self._strict else items), found
        except TypeError:  # what a set cannot hold: a model that was not made yet
            return read

    def _reference(self, schema: CoreSchema, value: Any) -> _Read:
        target = self._definitions.get(schema["schema_ref"])
        return (value, 0) if target is None else self.read(target, value)

    def _literal(self, schema: CoreSchema, value: Any) -> _Read:
        return _member(schema["expected"], value)

    def _enum(self, schema: CoreSchema, value: Any) -> _Read:
        return _member(schema["members"], value)

    def _union(self, schema: CoreSchema, value: Any) -> _Read:
        """By the choice that most fits: the one in which most members are found."""
        choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
        return max((self.read(choice, value) for choice in choices), key=lambda read: read[1])

    def _tagged(self, schema: CoreSchema, value: Any) -> _Read:
        tag = value.get(schema["discriminator"]) if isinstance(value, dict) else None
        choices = schema["choices"]
        choice = choices.get(_member(choices, tag)[0]) if isinstance(tag, str | int | float) else None
        return self.read(choice, value) if isinstance(choice, Mapping) else (value, 0)

    def _items(self, schema: CoreSchema, value: Any) -> _Read:
        if not isinstance(value, list) or not isinstance(schema.get("items_schema"), Mapping):
            return value, 0
        return self._collected(schema, _joined(self.read(schema["items_schema"], item) for item in value))

    def _tuple(self, schema: CoreSchema, value: Any) -> _Read:
        if not isinstance(value, list):
            return value, 0
        inner, many = list(schema["items_schema"]), schema.get("variadic_item_index")
        if many is not None:
            inner[many : many + 1] = [inner[many]] * (len(value) - len(inner) + 1)
        rest = ((item, 0) for item in value[len(inner) :])
        return self._collected(schema, _joined([*map(self.read, inner, value), *rest]))

    def _key(self, schema: CoreSchema, key: str) -> _Read:
        read, found = self.read(schema, key)
        return (self._made(schema, key, key=True), 0) if not found and read is key else (read, found)

    def _dict(self, schema: CoreSchema, value: Any) -> _Read:
        if not isinstance(value, dict):
            return value, 0
        anything = {"type": "any"}
        keys, keyed = _joined(self._key(schema.get("keys_schema", anything), key) for key in value)
        values, valued = _joined(
            self.read(schema.get("values_schema", anything), one) for one in value.values()
        )
        return dict(zip(keys, values, strict=True)), keyed + valued

    def _fields(self, schema: CoreSchema, value: Any) -> _Read:
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
#: Which of its schemas reads a value, the whole decides.
_TWOFOLD = frozenset({"lax-or-strict", "json-or-python"})
#: What its schema is given, a function of the user's makes.
_ITS_OWN = frozenset({"function-before", "function-wrap"})
#: Strict or not, they are the same in JSON and Python.
_SAME = frozenset({"any", "bool", "float", "int", "none", "str"})
_COLLECTIONS: Mapping[str, Callable[[list[Any]], Any]] = {"frozenset": frozenset, "set": set, "tuple": tuple}
_KINDS: Mapping[str, Callable[[_Reader, CoreSchema, Any], _Read]] = {
    "dataclass": _Reader._dataclass,
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


def _joined(read: Iterable[_Read]) -> _Read:
    found = list(read)
    return [value for value, _ in found], sum(count for _, count in found)


def _member(expected: Iterable[object], value: object) -> _Read:
    """The member whose value this is, in Python or in JSON, else whose name; what is expected as it is stays."""
    choices = list(expected)
    if any(_same(one, value) for one in choices):
        return value, 0
    members = [one for one in choices if isinstance(one, enum.Enum)]
    by_value = [m for m in members if _same(m.value, value) or _same(_as_json(m.value), value)]
    found = by_value or [m for m in members if m.name == value or _same(_as_text(m.value), value)]
    return (found[0], 1) if found else (value, 0)


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _as_text(value: object) -> object:
    """A number as a model sends it in a text now and then."""
    return as_key(value) if isinstance(value, int | float) else value


def _as_json(value: object) -> object:
    """A value as a declaration has it: a date as a text, a tuple as an array."""
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError:
        return value
