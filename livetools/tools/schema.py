"""JSON Schema → the OpenAPI subset that the Live API reads in ``parameters``.

The service refuses a setup for one unknown keyword (``Unknown name "$ref" at 'setup.tools[0]…': Cannot find
field``) and ignores ``parametersJsonSchema`` on several models, which then call with empty arguments
(python-genai#1147, livekit/agents#2940); so everything is said in the subset, and what it has no word for is
listed.

The rules, each with its reason:

- ``$ref`` is replaced by what it names; a type that holds itself is unrolled ``DEPTH`` times, then left out.
- ``anyOf`` stands alone: Vertex refuses other fields beside it. Its description and ``nullable`` go into its
members.
- an OBJECT has properties (``should be non-empty for OBJECT type``) and an ARRAY has items.
- ``enum`` holds texts only; other values are described.
- ``type`` is one word (a list: ``Proto field is not repeating, cannot start list``); null is ``nullable``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .keywords import (
    ANY_NAME,
    FORMATS,
    PASSED,
    SILENT,
    Schema,
    anything,
    different,
    is_null,
    joined,
    kind_of,
    merge,
    type_of,
    values_of,
    word,
)

DEPTH = 3


def reduce(json_schema: Mapping[str, Any]) -> tuple[Schema, list[str]]:
    """The schema in the subset, and what was lost, a line each with the path of the place.

    Takes JSON Schema of any draft as well as a schema that is in the subset already. Never raises for a
    schema that is a JSON object; what cannot be read at all becomes any value.
    """
    reducer = _Reducer(json_schema)
    schema = reducer.reduce(json_schema, "", ())
    return (anything(None) if schema is None else schema), list(dict.fromkeys(reducer.losses))


def parameters(json_schema: Mapping[str, Any]) -> tuple[Schema | None, list[str]]:
    """The schema of a function's arguments: an OBJECT, or ``None`` where there are none."""
    composed = {"$ref", "allOf", "anyOf", "oneOf"} & json_schema.keys()
    if not composed and not json_schema.get("properties") and not json_schema.get("additionalProperties"):
        return None, []
    schema, losses = reduce(json_schema)
    if schema.get("type") == "OBJECT":
        schema.pop("nullable", None)
        return schema, losses
    return _merged_object(schema, losses), losses


def _merged_object(schema: Schema, losses: list[str]) -> Schema | None:
    """Arguments of which there are several kinds: one object with the properties of all."""
    members = [m for m in schema.get("anyOf", ()) if m.get("type") == "OBJECT"]
    if not members:
        losses.append("the arguments are no object; declared without parameters")
        return None
    losses.append("several kinds of arguments, declared as one object with the properties of all")
    properties: Schema = {}
    for member in members:
        properties |= member["properties"]
    required = [n for n in properties if all(n in m.get("required", ()) for m in members)]
    return {"type": "OBJECT", "properties": properties} | ({"required": required} if required else {})


class _Reducer:
    """One reduction: the root that references point into, and the losses so far."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.losses: list[str] = []

    def lose(self, path: str, what: str) -> None:
        self.losses.append(f"{path or 'the arguments'}: {what}")

    def reduce(self, schema: object, path: str, refs: tuple[str, ...]) -> Schema | None:
        """The schema in the subset; ``None`` for one that holds itself too deeply to be said.

        ``refs`` are the references that were followed on the way here.
        """
        if schema is True or schema == {}:
            self.lose(path, "any value, declared as one of the simple types")
            return anything(None)
        if not isinstance(schema, Mapping):
            self.lose(
                path,
                f"{json.dumps(schema, default=str)[:40]} is no schema; declared as one of the simple types",
            )
            return anything(None)
        flat, refs = self._flat(schema, path, refs)
        if flat is None:
            return None
        for keyword in flat.keys() - SILENT:
            if not keyword.startswith("x-"):
                self.lose(path, f"{keyword} cannot be said")
        members = self._members(flat)
        if members is not None:
            return self._union(flat, members, path, refs)
        nullable = bool(flat.get("nullable"))
        values, kind = values_of(flat), kind_of(flat)
        if values is not None:
            reduced = self._enum(flat, values, path)
            nullable = nullable or None in values
        elif kind is None:
            self.lose(path, "any value, declared as one of the simple types")
            return anything(flat.get("description"))
        elif kind == "NULL":
            reduced, nullable = {"type": "STRING", "description": "null"}, True
        else:
            typed = self._typed(flat, kind, path, refs)
            if typed is None:
                return None
            reduced = typed
        return _with_notes(reduced, flat, nullable, path)

    def _flat(
        self, schema: Mapping[str, Any], path: str, refs: tuple[str, ...]
    ) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
        """``schema`` with ``$ref`` followed and ``allOf`` merged; what stands beside them wins."""
        flat = dict(schema)
        while "$ref" in flat:
            ref = str(flat.pop("$ref"))
            if refs.count(ref) >= DEPTH:
                self.lose(path, f"{ref.rpartition('/')[2]} holds itself; {DEPTH} levels are declared")
                return None, refs
            target = self._target(ref)
            if target is None:
                self.lose(path, f"{ref} is not found")
                target = {}
            flat, refs = {**target, **flat}, (*refs, ref)
        for part in flat.pop("allOf", ()):
            if isinstance(part, Mapping):
                merged, refs = self._flat(part, path, refs)
                if merged is None:
                    return None, refs
                flat = merge(merged, flat)
        return flat, refs

    def _target(self, ref: str) -> Mapping[str, Any] | None:
        if not ref.startswith("#"):
            return None
        found: Any = self.root
        for step in ref[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or step not in found:
                return None
            found = found[step]
        return found if isinstance(found, Mapping) else None

    def _members(self, flat: Mapping[str, Any]) -> list[Any] | None:
        """The members of a union, however it is written; ``None`` for a schema that is none."""
        for keyword in ("anyOf", "oneOf", "any_of"):
            if isinstance(flat.get(keyword), Sequence) and flat[keyword]:
                shared = {k: v for k, v in flat.items() if k in ("properties", "required", "type") and v}
                return [merge(shared, m) if shared and isinstance(m, Mapping) else m for m in flat[keyword]]
        kinds = flat.get("type")
        if isinstance(kinds, Sequence) and not isinstance(kinds, str):
            rest = {k: v for k, v in flat.items() if k not in ("type", "description", "default", "nullable")}
            return [{**rest, "type": kind} for kind in kinds] or None
        values = values_of(flat)
        if values is not None and len({type_of(v) for v in values if v is not None}) > 1:
            by_type: dict[str, list[Any]] = {}
            for value in values:
                by_type.setdefault(type_of(value), []).append(value)
            return [{"type": kind, "enum": some} for kind, some in by_type.items()]
        return None

    def _union(
        self, flat: Mapping[str, Any], members: list[Any], path: str, refs: tuple[str, ...]
    ) -> Schema | None:
        nullable = bool(flat.get("nullable")) or any(is_null(m) for m in members)
        reduced: list[Schema] = []
        for member in members:
            if not is_null(member):
                one = self.reduce(member, path, refs)
                reduced.extend(one["anyOf"] if one and "anyOf" in one else [one] if one else [])
        if not reduced:
            if not nullable:
                return None
            return _with_notes({"type": "STRING", "description": "null"}, flat, True, path)
        distinct = different(reduced)
        if len(distinct) == 1:
            return _with_notes(distinct[0], flat, nullable, path)
        description = flat.get("description")
        for one in distinct:
            if nullable:
                one["nullable"] = True
            if description:
                one["description"] = joined(description, one.get("description"))
        return {"anyOf": distinct}

    def _enum(self, flat: Mapping[str, Any], values: list[Any], path: str) -> Schema:
        some = [v for v in values if v is not None]
        kind = type_of(some[0]) if some else "STRING"
        if kind == "STRING":
            return {"type": "STRING", "enum": some} if some else {"type": "STRING", "description": "null"}
        names = flat.get("x-enum-varnames", ())
        said = [f"{json.dumps(v)} ({n})" for v, n in zip(some, names, strict=False)] or map(json.dumps, some)
        words = ", ".join(said)
        if kind != "BOOLEAN":
            self.lose(path, f"one of {words}: only texts can be an enum; said in the description")
        reduced: Schema = {
            "type": kind,
            "description": f"one of {words}" if kind != "BOOLEAN" else f"always {words}",
        }
        if kind == "BOOLEAN" and len(some) > 1:
            del reduced["description"]
        if kind in ("INTEGER", "NUMBER"):
            reduced |= {"minimum": min(some), "maximum": max(some)}
        return reduced

    def _typed(self, flat: dict[str, Any], kind: str, path: str, refs: tuple[str, ...]) -> Schema | None:
        reduced: Schema = {"type": kind}
        for keyword in PASSED[kind]:
            if flat.get(keyword) is not None:
                reduced[keyword] = flat[keyword]
        build: Callable[..., Schema | None] | None = {
            "OBJECT": self._object,
            "ARRAY": self._array,
            "STRING": self._string,
            "INTEGER": self._number,
            "NUMBER": self._number,
        }.get(kind)
        return reduced if build is None else build(reduced, flat, path, refs)

    def _string(self, reduced: Schema, flat: Mapping[str, Any], path: str, refs: tuple[str, ...]) -> Schema:
        form = flat.get("format") or (flat.get("contentEncoding") and "base64")
        if form == "date-time":
            reduced["format"] = form
        elif form in FORMATS:
            reduced["description"] = FORMATS[form]
        return reduced

    def _number(self, reduced: Schema, flat: Mapping[str, Any], path: str, refs: tuple[str, ...]) -> Schema:
        for keyword, plain, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            bound = flat.get(keyword)
            if isinstance(bound, bool):  # draft 4: a flag beside the bound
                bound = flat.get(plain) if bound else None
            if bound is None:
                continue
            if reduced["type"] == "INTEGER" and float(bound).is_integer():
                reduced[plain] = int(bound) + step
            else:
                reduced[plain] = bound
                self.lose(path, f"{keyword} {bound} is declared as {plain} {bound}")
        return reduced

    def _array(
        self, reduced: Schema, flat: Mapping[str, Any], path: str, refs: tuple[str, ...]
    ) -> Schema | None:
        first = flat.get("prefixItems") or (
            flat.get("items") if isinstance(flat.get("items"), list) else None
        )
        if first:
            return self._tuple(reduced, flat, first, path, refs)
        items = self.reduce(flat.get("items", True), f"{path}[]", refs)
        if items is None:  # too deep: an empty array is still an array
            return {"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": 0, "description": "empty here"}
        return reduced | {"items": items}

    def _tuple(
        self, reduced: Schema, flat: Mapping[str, Any], first: Sequence[Any], path: str, refs: tuple[str, ...]
    ) -> Schema | None:
        members = [self.reduce(item, f"{path}[{i}]", refs) for i, item in enumerate(first)]
        said = [m for m in members if m is not None]
        if len(said) < len(members):
            return None
        distinct = different([n for m in said for n in m.get("anyOf", [m])])
        if len(distinct) > 1:
            order = ", ".join(word(m) for m in said)
            reduced["description"] = f"in this order: {order}"
            self.lose(path, f"the order of its items ({order}) is only described")
        if not flat.get("items") or isinstance(flat.get("items"), list):
            reduced |= {"minItems": len(first), "maxItems": len(first)}
        return reduced | {"items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct}}

    def _object(
        self, reduced: Schema, flat: Mapping[str, Any], path: str, refs: tuple[str, ...]
    ) -> Schema | None:
        source = flat.get("properties") or {}
        required = [n for n in flat.get("required") or () if n in source]
        properties: Schema = {}
        for name, inner in source.items():
            one = self.reduce(inner, f"{path}.{name}" if path else str(name), refs)
            if one is not None:
                properties[name] = one
            elif name in required:
                return None
        rest = flat.get("additionalProperties")
        if not properties:
            return self._free(reduced, rest, path, refs)
        if rest not in (None, False):
            self.lose(path, "further properties are accepted, but cannot be declared")
        reduced["properties"] = properties
        if required:
            reduced["required"] = required
        ordering = [n for n in flat.get("propertyOrdering") or () if n in properties]
        if ordering:
            reduced["propertyOrdering"] = ordering + [n for n in properties if n not in ordering]
        return reduced

    def _free(self, reduced: Schema, rest: object, path: str, refs: tuple[str, ...]) -> Schema | None:
        """An object whose keys are not known: declared with an example, for one without properties is
        refused.
        """
        values = (
            self.reduce(rest, f"{path}.*", refs) if isinstance(rest, Mapping) and rest else anything(None)
        )
        if values is None:
            return None
        self.lose(
            path, f"any keys, declared by the example {ANY_NAME!r} and a description; a list would be safer"
        )
        reduced["description"] = (
            f"an object with keys of your choice, not only {ANY_NAME!r}; values: {word(values)}"
        )
        return reduced | {"properties": {ANY_NAME: values}}


def _with_notes(reduced: Schema, flat: Mapping[str, Any], nullable: bool, path: str) -> Schema:
    """Title, description, default and example put in; ``nullable`` said."""
    description = flat.get("description")
    if "anyOf" in reduced:
        for one in reduced["anyOf"]:
            if description:
                one["description"] = joined(description, one.get("description"))
        return reduced
    if description:
        reduced["description"] = joined(description, reduced.get("description"))
    title = flat.get("title")
    if isinstance(title, str) and title.replace(" ", "_").lower() != path.rpartition(".")[2].lower():
        reduced["title"] = title
    if flat.get("default") is not None:
        reduced["default"] = flat["default"]
    examples = flat.get("examples")
    example = flat.get("example", examples[0] if isinstance(examples, list) and examples else None)
    if example is not None:
        reduced["example"] = example
    if nullable:
        reduced["nullable"] = True
    return reduced
