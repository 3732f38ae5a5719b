"""Finds the parameters that pydantic must validate strictly (``strict=True``, ``Strict()``, ``StrictInt``).

Strict means JSON's rules here, as ``validate_json`` has them: a date or an enum is read from its JSON form, the text
``"5"`` is not a number. Strict validation of Python objects would refuse every date, since a model sends it as a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

CoreSchema = Mapping[str, Any]  # pydantic's, a union of some fifty typed dicts


def strict_fields(schema: CoreSchema) -> frozenset[str]:
    """The fields of a typed dict's core schema in which something is strict, at any depth."""
    schema, definitions = opened(schema)
    fields: Mapping[str, CoreSchema] = schema.get("fields", {})
    return frozenset(name for name, field in fields.items() if _is_strict(field, definitions, set()))


def is_strict(schema: CoreSchema) -> bool:
    """Whether something in a core schema is strict, at any depth."""
    return _is_strict(*opened(schema), set())


def opened(schema: CoreSchema) -> tuple[CoreSchema, Mapping[str, CoreSchema]]:
    """A schema without its definitions, and these by their names."""
    definitions: dict[str, CoreSchema] = {}
    while schema["type"] == "definitions":
        definitions.update((one["ref"], one) for one in schema["definitions"])
        schema = schema["schema"]
        if schema["type"] == "definition-ref":
            schema = definitions[schema["schema_ref"]]
    return schema, definitions


def _is_strict(schema: object, definitions: Mapping[str, CoreSchema], seen: set[str]) -> bool:
    if isinstance(schema, Mapping):
        if schema.get("strict") is True:
            return True
        ref = schema.get("schema_ref") if schema.get("type") == "definition-ref" else None
        if ref is not None and ref not in seen:
            seen.add(ref)
            return _is_strict(definitions.get(ref), definitions, seen)
        return any(_is_strict(inner, definitions, seen) for inner in _inner(schema))
    if isinstance(schema, list | tuple):
        return any(_is_strict(inner, definitions, seen) for inner in schema)
    return False


def _inner(schema: CoreSchema) -> Iterator[object]:
    """What may hold further schemas; not the user's own values (defaults, literals, metadata)."""
    for key, value in schema.items():
        if key not in ("default", "expected", "members", "metadata", "serialization"):
            yield value
