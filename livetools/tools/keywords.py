"""The words of the schema subset that Live reads, and small questions about a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]  # a JSON object

_FIELDS = """
    type format title description nullable enum items minItems maxItems properties required propertyOrdering
    minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf default
"""
ALLOWED = frozenset(_FIELDS.split())
"""The fields of the service's Schema (reference, 2026-09); any other closes the session."""

SIMPLE = ("STRING", "NUMBER", "BOOLEAN")
ANY_NAME = "any_name"

PASSED = {
    "STRING": ("minLength", "maxLength", "pattern"),
    "INTEGER": ("minimum", "maximum"),
    "NUMBER": ("minimum", "maximum"),
    "ARRAY": ("minItems", "maxItems"),
    "OBJECT": ("minProperties", "maxProperties"),
    "BOOLEAN": (),
}
"""Keywords that mean the same in both, by type."""

_READ = """
    $schema $id $comment $anchor $defs definitions $ref deprecated examples readOnly writeOnly
    enumDescriptions x-enum-varnames contentMediaType contentEncoding const oneOf any_of allOf prefixItems
    additionalProperties discriminator exclusiveMinimum exclusiveMaximum
"""
SILENT = ALLOWED | frozenset(_READ.split())
"""Keywords that are dealt with, or say nothing that a model needs. Any other is a loss."""

FORMATS = {
    "date": "a date such as 2026-01-31",
    "time": "a time such as 09:30:00",
    "duration": "a duration such as PT90S",
    "uuid": "a UUID",
    "uri": "a URL",
    "email": "an e-mail address",
    "binary": "base64",
    "base64": "base64",
    "byte": "base64",
    "base64url": "base64url",
    "regex": "a regular expression",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}
"""STRING takes only the formats ``enum`` and ``date-time``; these are said in words."""


def anything(description: object) -> Schema:
    words = {"description": description} if description else {}
    return {"anyOf": [{"type": kind, **words} for kind in SIMPLE]}


def kind_of(flat: Mapping[str, Any]) -> str | None:
    """The type in capitals, guessed from the other keywords where it is missing."""
    kind = flat.get("type")
    if isinstance(kind, str) and (kind.upper() in PASSED or kind.upper() == "NULL"):
        return kind.upper()
    if "properties" in flat or "additionalProperties" in flat:
        return "OBJECT"
    if "items" in flat or "prefixItems" in flat:
        return "ARRAY"
    if {"pattern", "minLength", "maxLength", "format"} & flat.keys():
        return "STRING"
    return "NUMBER" if {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} & flat.keys() else None


def values_of(flat: Mapping[str, Any]) -> list[Any] | None:
    if "const" in flat:
        return [flat["const"]]
    values = flat.get("enum")
    simple = isinstance(values, list) and values and all(type_of(v) != "OTHER" for v in values)
    return values if simple else None


def type_of(value: object) -> str:
    names = {str: "STRING", bool: "BOOLEAN", int: "INTEGER", float: "NUMBER", type(None): "NULL"}
    return names.get(type(value), "OTHER")


def is_null(schema: object) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return (
        str(schema.get("type", "")).upper() == "NULL"
        or schema.get("const", 0) is None
        or schema.get("enum") == [None]
    )


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both hold: properties and required together, of the rest what ``second`` says."""
    merged = {**first, **second}
    if "properties" in first and "properties" in second:
        merged["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        merged["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    return merged


def different(schemas: list[Schema]) -> list[Schema]:
    """Without repetitions; a whole number is a number."""
    kept: list[Schema] = []
    for schema in schemas:
        if schema not in kept:
            kept.append(schema)
    if {"type": "NUMBER"} in kept:
        kept = [s for s in kept if s != {"type": "INTEGER"}]
    return [dict(s) for s in kept]


def joined(outer: object, inner: object) -> str:
    return f"{outer} ({inner})" if outer and inner and str(inner) not in str(outer) else str(outer or inner)


def word(schema: Schema) -> str:
    if "anyOf" in schema:
        return " or ".join(word(s) for s in schema["anyOf"])
    return str(schema["type"]).lower()
