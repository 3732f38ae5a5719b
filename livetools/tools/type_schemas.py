"""How each Python type is declared: pydantic's JSON Schema, with a method for each type that Live reads otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonRef, JsonSchemaValue
from pydantic_core import core_schema

NAMES: Mapping[str, Mapping[str, Any]] = {
    "integer": {"pattern": "^-?[0-9]+$", "description": "a whole number"},
    "number": {"description": "a number"},
    "boolean": {"enum": ["true", "false"]},
}
"""Keys of a kind that is not text, as they are in a JSON object."""


def as_key(value: object) -> str:
    """A value as the key of a JSON object."""
    return value if isinstance(value, str) else json.dumps(value)


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
        if any(not isinstance(member.value, str | int | float | None) for member in schema["members"]):
            return {"type": "string", "enum": [member.name for member in schema["members"]]}
        made = super().enum_schema(schema)
        if not all(isinstance(member.value, str) for member in schema["members"]):
            made["x-enum-varnames"] = [member.name for member in schema["members"]]
        return made

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
        if kind in NAMES:
            return dict(NAMES[kind])
        return {k: v for k, v in keys.items() if k not in ("type", "title")}

    def field_title_should_be_set(self, schema: Any) -> bool:  # pydantic's union of all its schemas
        return False
