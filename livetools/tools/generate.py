"""JSON Schema as pydantic writes it, with what is known of Live's models."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class ToolSchema(GenerateJsonSchema):
    """For ``TypeAdapter.json_schema(schema_generator=ToolSchema)``.

    Numbers with decimals are numbers (pydantic adds a text with a pattern that RE2, the service's engine,
    cannot read), an enum of other values than texts says the names too, and titles that repeat a name are
    left out.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default", "skipped-discriminator"}  # noqa: RUF012  # pydantic's own attribute

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        bounds = {"le": "maximum", "ge": "minimum", "lt": "exclusiveMaximum", "gt": "exclusiveMinimum"}
        given: dict[str, Any] = {word: float(schema[key]) for key, word in bounds.items() if key in schema}  # type: ignore[literal-required]  # the keys stand above
        return {"type": "number"} | given

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        made = super().enum_schema(schema)
        if not all(isinstance(member.value, str) for member in schema["members"]):
            made["x-enum-varnames"] = [member.name for member in schema["members"]]
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:  # pydantic's union of all its schemas
        return False
