"""The keywords of the schema subset that Live reads, and helpers that inspect a schema."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]  # a JSON object

_FIELDS = """
    type format title description nullable enum items minItems maxItems properties required propertyOrdering
    minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf default
"""
ALLOWED = frozenset(_FIELDS.split())
"""The fields of the service's Schema (reference, 2026-09); any other closes the session."""

_READ = """
    $schema $id $comment $anchor $dynamicAnchor $recursiveAnchor $defs definitions
    $ref $dynamicRef $recursiveRef deprecated examples readOnly writeOnly
    enumDescriptions x-enum-varnames contentMediaType contentEncoding const oneOf allOf prefixItems
    additionalProperties propertyNames patternProperties discriminator
    exclusiveMinimum exclusiveMaximum uniqueItems
"""
SILENT = ALLOWED | frozenset(_READ.split())
"""Keywords that are dealt with, or say nothing that a model needs. Any other is a loss."""

PASSED: Mapping[str, tuple[str, ...]] = {
    "STRING": ("minLength", "maxLength", "pattern"),
    "INTEGER": ("minimum", "maximum"),
    "NUMBER": ("minimum", "maximum"),
    "ARRAY": ("minItems", "maxItems"),
    "OBJECT": ("minProperties", "maxProperties"),
    "BOOLEAN": (),
}
"""Keywords that mean the same in both, by type."""

COUNTS = frozenset(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"))
"""Keywords whose value is a whole number."""

FORMATS: Mapping[str, str] = {
    "date": "a date such as 2026-01-31",
    "time": "a time such as 09:30:00",
    "duration": "a duration such as PT90S",
    "uuid": "a UUID",
    "uri": "a URL",
    "email": "an e-mail address",
    "base64": "base64",
    "byte": "base64",
    "base64url": "base64url",
    "regex": "a regular expression",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}
"""STRING takes only the formats ``enum`` and ``date-time``; others go into the description."""

KEY_FORMATS: Mapping[str, str] = {**FORMATS, "date-time": "a date and time such as 2026-01-31T09:30:00Z"}
"""The formats of keys. A key has no schema of its own, so its format is described in words."""

_SIMPLE = ("STRING", "NUMBER", "BOOLEAN")
ANY_NAME = "any_name"

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("$ref", "format", "title", "description", "pattern", "contentEncoding"), str),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "enum", "prefixItems", "required", "propertyOrdering"), list),
    "x-enum-varnames": list,
    **dict.fromkeys(("properties", "patternProperties", "propertyNames"), Mapping),
    "discriminator": Mapping,
}
_SNAKE = {re.sub(r"[A-Z]", lambda m: f"_{m[0].lower()}", k): k for k in ALLOWED if not k.islower()}


def tidy(schema: Mapping[str, Any]) -> Schema:
    """A copy without keywords whose value is of the wrong kind.

    ``any_of``, ``min_items`` and others, as SDKs for Python write them, become camelCase.
    """
    spelt = {_SNAKE.get(key, key): value for key, value in schema.items()}
    return {key: value for key, value in spelt.items() if isinstance(value, _KINDS.get(key, object))}


def anything() -> Schema:
    """The schema of any value, as far as the subset can say it."""
    return {"anyOf": [{"type": kind} for kind in _SIMPLE]}


def kind_of(flat: Mapping[str, Any]) -> str | None:
    """The type in capitals, guessed from the other keywords where it is missing."""
    kind = flat.get("type")
    if isinstance(kind, str) and (kind.upper() in PASSED or kind.upper() == "NULL"):
        return kind.upper()
    if {"properties", "additionalProperties", "patternProperties", "propertyNames"} & flat.keys():
        return "OBJECT"
    if "items" in flat or "prefixItems" in flat:
        return "ARRAY"
    if {"pattern", "minLength", "maxLength", "format"} & flat.keys():
        return "STRING"
    return "NUMBER" if {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} & flat.keys() else None


def values_of(flat: Mapping[str, Any]) -> list[Any] | None:
    """What ``const`` or ``enum`` admit, where those are simple values."""
    values = [flat["const"]] if "const" in flat else flat.get("enum")
    if not isinstance(values, list) or not values or any(type_of(v) == "OTHER" for v in values):
        return None
    return values


def type_of(value: object) -> str:
    """The type of a JSON value, in capitals; arrays and objects are ``OTHER``."""
    names = {str: "STRING", bool: "BOOLEAN", int: "INTEGER", float: "NUMBER", type(None): "NULL"}
    return names.get(type(value), "OTHER")


def as_type(kind: str, value: object) -> object:
    """A value of an enum as one of this type, where it can be read as one; else ``None``."""
    if type_of(value) == kind or (kind == "NUMBER" and type_of(value) == "INTEGER"):
        return value
    if kind == "STRING":
        return None if type_of(value) in ("NULL", "OTHER") else json.dumps(value)
    if kind == "BOOLEAN":
        return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None
    return _as_number(kind, value)


def _as_number(kind: str, value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        read = number(
            float(value) if isinstance(value, str) and not value.strip().lstrip("-").isdecimal() else value
        )
    except ValueError:
        return None
    return read if kind == "NUMBER" or isinstance(read, int) else None


def is_null(schema: object) -> bool:
    """Whether a schema admits null and nothing else."""
    if not isinstance(schema, Mapping):
        return False
    return str(schema.get("type")).upper() == "NULL" or values_of(schema) == [None]


def number(value: object) -> int | float | None:
    """A bound as a number, from a text too (int64 is written as one); ``None`` for anything else."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> Schema:
    """A schema for what fits both: their properties and ``required`` united, otherwise what ``second`` says."""
    merged = {**first, **second}
    if "properties" in first and "properties" in second:
        merged["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        merged["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    return merged


def different(schemas: Sequence[Schema]) -> list[Schema]:
    """The schemas without duplicates, and without INTEGER where NUMBER is among them."""
    kept: list[Schema] = []
    for schema in schemas:
        if schema not in kept:
            kept.append(schema)
    if {"type": "NUMBER"} in kept:
        kept = [s for s in kept if s != {"type": "INTEGER"}]
    return [dict(s) for s in kept]


def noted(reduced: Schema, flat: Mapping[str, Any], nullable: bool, path: str) -> Schema:
    """``reduced`` with the description, title, default and example of ``flat``, and ``nullable``.

    In a union they go into the members, because nothing may be beside it; the default into the one of its type.
    """
    about = flat.get("description")
    for one in reduced.get("anyOf") or [reduced]:
        if about:
            one["description"] = _joined(str(about), one.get("description"))
        if nullable:
            one["nullable"] = True
    if "anyOf" in reduced:
        default = flat.get("default")
        fitting = [
            one for one in reduced["anyOf"] if default is not None and type_of(default) == one.get("type")
        ]
        for one in fitting[:1]:
            one["default"] = default
        return reduced
    title = flat.get("title")
    if title and title.replace(" ", "_").lower() != path.rpartition(".")[2].lower():
        reduced["title"] = title
    examples = flat.get("examples")
    example = flat.get("example", examples[0] if isinstance(examples, list) and examples else None)
    for keyword, value in (("default", flat.get("default")), ("example", example)):
        if value is not None and _is_a(reduced["type"], value):
            reduced[keyword] = value
    return reduced


def _is_a(kind: str, value: object) -> bool:
    """Whether a default or an example has the type of its schema, and JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return (
        kind in ("ARRAY", "OBJECT")
        or type_of(value) == kind
        or (kind, type_of(value)) == ("NUMBER", "INTEGER")
    )


def _joined(outer: str, inner: str | None) -> str:
    return f"{outer} ({inner})" if inner and inner not in outer else outer


def word(value: object) -> str:
    """A schema in a word or two; any other value as JSON."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=repr)
    if "anyOf" in value:
        return " or ".join(word(s) for s in value["anyOf"])
    return str(value["type"]).lower()
