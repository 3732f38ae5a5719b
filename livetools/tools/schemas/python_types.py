"""How each Python type is declared: pydantic's JSON Schema, with a method for each type that Live reads otherwise."""

from __future__ import annotations

import base64
import dataclasses
import decimal
import enum
import json
import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonRef, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python

_NAMES: Mapping[str, Mapping[str, Any]] = {
    "integer": {"pattern": "^-?[0-9]+$", "description": "a whole number"},
    "number": {"description": "a number"},
    "boolean": {"enum": ["true", "false"]},
}
"""Keys of a kind that is not text, as they are in a JSON object."""


def as_key(value: object) -> str:
    """A value as the key of a JSON object."""
    return value if isinstance(value, str) else json.dumps(value)


def as_told(member: enum.Enum) -> Any:
    """The choice that is declared for a member: its value, or its name where its enum has values that JSON has not."""
    simple = all(isinstance(one.value, str | int | float | None) for one in type(member))
    return member.value if simple else member.name


def as_default(value: object, base64_bytes: bool = False) -> Any:
    """A default as JSON, told as its type is declared: a ``Decimal`` as a number, a member as its choice, a set in
    order. Raises ``PydanticSerializationError``, ``TypeError`` or ``ValueError`` for what has no JSON form.

    ``base64_bytes``: bytes are declared as base64, as those of a parameter are, but not those of a user's class.
    """
    if isinstance(value, enum.Enum):
        return as_default(as_told(value))
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float | decimal.Decimal):
        if not math.isfinite(value):
            raise ValueError("JSON has no such number")
        return float(value)
    if isinstance(value, bytes) and base64_bytes:
        return base64.b64encode(value).decode()
    return _as_default_of(value, base64_bytes)


def _as_default_of(value: object, base64_bytes: bool) -> Any:
    """The default of a parameter that holds others."""
    if isinstance(value, BaseModel):
        return as_default(value.model_dump(by_alias=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_default(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    if isinstance(value, Mapping):
        return {as_key(as_default(k)): as_default(v, base64_bytes) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # a NamedTuple, declared by its fields
        return {name: as_default(getattr(value, name)) for name in value._fields}
    if isinstance(value, list | tuple | set | frozenset):
        made = [as_default(one, base64_bytes) for one in value]
        if isinstance(value, set | frozenset):  # else the declaration would differ from process to process
            made.sort(key=_in_order)
        return made
    return to_jsonable_python(value, inf_nan_mode="null")


def _in_order(one: object) -> tuple[str, Any]:
    return type(one).__name__, one if isinstance(one, str | int | float) else json.dumps(one)


class ToolSchema(GenerateJsonSchema):
    """For ``TypeAdapter.json_schema(schema_generator=ToolSchema)``.

    Numbers with decimals are numbers (pydantic adds a text with a pattern that RE2, the service's engine,
    cannot read), an enum of other values than texts says the names too, and titles that repeat a name are
    left out.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default", "skipped-discriminator"}  # noqa: RUF012  # pydantic's own attribute

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        bounds = {"le": "maximum", "ge": "minimum", "lt": "exclusiveMaximum", "gt": "exclusiveMinimum"}
        given: dict[str, Any] = {word: float(schema[key]) for key, word in bounds.items() if key in schema}  # type: ignore[literal-required]  # the keys are listed above
        return {"type": "number"} | given

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """An enum by its values; one of objects (tuples, classes) by its names, which are taken as well."""
        names = [member.name for member in schema["members"]]
        if names == [as_told(member) for member in schema["members"]]:
            return {"type": "string", "enum": names}
        made = super().enum_schema(schema)
        if not all(isinstance(member.value, str) for member in schema["members"]):
            made["x-enum-varnames"] = names
        return made

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """The members of an enum of objects by their names, as that enum has them."""
        told = [as_told(one) if isinstance(one, enum.Enum) else one for one in schema["expected"]]
        return super().literal_schema({**schema, "expected": told})

    def encode_default(self, dft: Any) -> Any:
        """A default inside a user's class; pydantic leaves out what cannot be told."""
        try:
            return as_default(dft)
        except (TypeError, ValueError, RecursionError) as error:
            raise PydanticSerializationError(str(error)) from error

    def dataclass_args_schema(self, schema: core_schema.DataclassArgsSchema) -> JsonSchemaValue:
        """Without the fields that a dataclass sets itself (``init=False``): it refuses them."""
        taken = [field for field in schema["fields"] if field.get("init", True)]
        return super().dataclass_args_schema({**schema, "fields": taken})

    def named_tuple_schema(self, schema: Any) -> JsonSchemaValue:  # pydantic's NamedTupleSchema, from 2.13 on
        """A ``NamedTuple`` by its fields: an object, which pydantic reads as well as the array that it declares."""
        properties = {field["name"]: self.generate_inner(field["schema"]) for field in schema["fields"]}
        required = [field["name"] for field in schema["fields"] if field["schema"]["type"] != "default"]
        return {"type": "object", "properties": properties} | ({"required": required} if required else {})

    def arguments_schema(self, schema: core_schema.ArgumentsSchema) -> JsonSchemaValue:
        """A ``NamedTuple``, as pydantic had them before 2.13."""
        made = self.kw_arguments_schema(schema["arguments_schema"], schema.get("var_kwargs_schema"))
        for field in made.get("properties", {}).values():
            field.pop("title", None)
        return made

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Adds ``propertyNames`` for every kind of key that is not free text; pydantic adds it for some."""
        made = super().dict_schema(schema)
        if "keys_schema" not in schema or "patternProperties" in made:
            return made
        names = self._names(self.generate_inner(schema["keys_schema"]))
        made.pop("propertyNames", None)
        return made | {"propertyNames": names} if names else made

    def _names(self, keys: JsonSchemaValue) -> JsonSchemaValue:
        """The schema of the keys as one of texts, for the keys of a JSON object are texts."""
        if "$ref" in keys:
            target = self.get_schema_from_definitions(JsonRef(keys["$ref"])) or {}
            if not all(isinstance(value, str) for value in target.get("enum", ())):
                keys = target
        values = [keys["const"]] if "const" in keys else keys.get("enum")
        if values is not None:
            return {"enum": [as_key(value) for value in values]}
        if "anyOf" in keys:
            texts = [one for one in keys["anyOf"] if one.get("type") != "null"]
            return {"anyOf": [self._names(one) or {"type": "string"} for one in texts]}
        kind = str(keys.get("type"))
        if kind in ("array", "object"):
            return {}
        if kind in _NAMES:
            return dict(_NAMES[kind])
        return {k: v for k, v in keys.items() if k not in ("type", "title")}

    def field_title_should_be_set(self, schema: Any) -> bool:  # pydantic's union of all its schemas
        return False
