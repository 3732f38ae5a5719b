"""Reduces JSON Schema to the OpenAPI subset that the Live API reads in ``parameters``.

The service closes a session for one unknown keyword (``Unknown name "$ref" at 'setup.tools[0]…': Cannot find
field``), and several models ignore ``parametersJsonSchema`` and call with empty arguments (python-genai#1147,
livekit/agents#2940). So every schema is written in the subset, and what it cannot say is reported as lost:

- ``$ref`` is replaced by what it names. A type that holds itself is unrolled up to ``_DEPTH`` times, less where
  it branches much (``NODES``), then left out: an optional property is dropped, an array is declared empty.
- ``anyOf`` is the only keyword of its schema (Vertex: "specified other fields alongside any_of", 2026-07); its
  description and ``nullable`` go into its members. ``oneOf``, lists of types and mixed enums become ``anyOf``.
- An OBJECT has properties ("should be non-empty for OBJECT type", langchain-google#416), an ARRAY has items.
- ``enum`` holds texts that are not empty; other values are described.
- ``type`` is one word ("Proto field is not repeating, cannot start list"); null is ``nullable``.
- A text has the formats ``enum`` and ``date-time`` only; others go into the description.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from .keywords import (
    ALLOWED,
    ANY_NAME,
    COUNTS,
    FORMATS,
    KEY_FORMATS,
    PASSED,
    SILENT,
    Schema,
    anything,
    as_type,
    different,
    is_null,
    kind_of,
    merge,
    noted,
    number,
    tidy,
    type_of,
    values_of,
    word,
)

__all__ = ["ALLOWED", "parameters", "reduce", "target_of"]

_DEPTH = 3  # levels of a type that holds itself
NODES = 400  # schemas in a reduction, beyond which it is done again with fewer levels
NESTED = 40  # levels in all

#: Keywords that apply to values of every type.
OF_ANY_TYPE = frozenset({"title", "description", "default", "examples", "nullable", "enum", "const"})
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

LENGTHS = {"minLength": "at least", "maxLength": "at most"}

Refs = tuple[str, ...]  # the references followed on the way to a place


def reduce(json_schema: Mapping[str, Any]) -> tuple[Schema, list[str]]:
    """The schema in the subset, and what was lost, a line each with the path of its place.

    Takes JSON Schema of any draft, and schemas that are in the subset already, in either casing. Never raises
    for a JSON object: what cannot be read at all becomes any value.
    """
    for depth in range(_DEPTH, 0, -1):
        reducer = _Reducer(json_schema, depth)
        schema = reducer.reduce(json_schema, "", ())
        if reducer.nodes <= NODES:
            break
    return (anything() if schema is None else schema), list(dict.fromkeys(reducer.losses))


def parameters(json_schema: Mapping[str, Any]) -> tuple[Schema | None, list[str]]:
    """The schema of a function's arguments, and what was lost: an OBJECT, or ``None`` without any."""
    composed = {"$ref", "allOf", "anyOf", "oneOf", "any_of"} & json_schema.keys()
    if not composed and not json_schema.get("properties") and not json_schema.get("additionalProperties"):
        return None, []
    schema, losses = reduce(json_schema)
    if schema.get("type") == "OBJECT":
        schema.pop("nullable", None)
        # A generated title ("addArguments") says nothing, and costs tokens in each setup.
        schema.pop("title", None)
        return schema, losses
    return _merged(schema, losses), losses


def _merged(schema: Schema, losses: list[str]) -> Schema | None:
    """Arguments of which there are several kinds, as one object with the properties of all."""
    members = [m for m in schema.get("anyOf", ()) if m.get("type") == "OBJECT"]
    if not members:
        losses.append("the arguments: no object; declared without parameters")
        return None
    losses.append("the arguments: of several kinds; declared as one object with the properties of all")
    properties: Schema = {}
    for member in members:
        properties |= member["properties"]
    required = [n for n in properties if all(n in m.get("required", ()) for m in members)]
    return {"type": "OBJECT", "properties": properties} | ({"required": required} if required else {})


class _Reducer:
    """One reduction: the root that references point into, and the losses so far.

    Its methods give ``None`` for what holds itself too deeply to be said.
    """

    def __init__(self, root: Mapping[str, Any], depth: int) -> None:
        self.root, self.depth = root, depth
        self.losses: list[str] = []
        self.nodes = 0
        self.nested = 0

    def lose(self, path: str, what: str) -> None:
        self.losses.append(f"{path or 'the arguments'}: {what}")

    def reduce(self, schema: object, path: str, refs: Refs) -> Schema | None:
        """Any schema in the subset."""
        self.nodes += 1
        if self.nodes > NODES or self.nested >= NESTED:
            self.lose(path, "nested too deeply; left out")
            return None
        if schema is True or not isinstance(schema, Mapping):
            schema = {}
        self.nested += 1
        try:
            flat, refs = self._flat(schema, path, refs)
            return None if flat is None else self._reduce(flat, path, refs)
        finally:
            self.nested -= 1

    def _reduce(self, flat: Schema, path: str, refs: Refs) -> Schema | None:
        for keyword in sorted(flat.keys() - SILENT):
            if not keyword.startswith("x-"):
                self.lose(path, f"{keyword} cannot be declared")
        flat = self._agreeing(flat, path)
        members = _members(flat)
        if members is not None:
            return self._union(flat, members, path, refs)
        values, kind = values_of(flat), kind_of(flat)
        if values is not None:
            reduced: Schema | None = self._enum(flat, values, path)
        elif kind is None:
            self.lose(path, "no type hint; declared as string, number or boolean")
            return noted(anything(), flat, False, path)
        elif kind == "NULL":
            reduced = {"type": "STRING", "description": "null"}
        else:
            reduced = self._typed(flat, kind, path, refs)
        nullable = bool(flat.get("nullable")) or kind == "NULL" or (values is not None and None in values)
        return None if reduced is None else noted(reduced, flat, nullable, path)

    def _agreeing(self, flat: Schema, path: str) -> Schema:
        """``flat`` with an enum that fits its type. The enum may hold more types than that: those members go."""
        kind, values = kind_of(flat), [flat["const"]] if "const" in flat else flat.get("enum")
        if kind == "NULL" and any(value is not None for value in values_of(flat) or ()):
            # They may be of several types; what else it says is of no value that it admits.
            return {**{k: v for k, v in flat.items() if k in OF_ANY_TYPE}, "nullable": True}
        if kind is None or not isinstance(values, list) or not values or kind not in PASSED:
            return flat
        rest = {k: v for k, v in flat.items() if k not in ("enum", "const")}
        if kind == "ARRAY" and "enum" in flat and values_of(flat) is not None:
            self.lose(path, "the enum of an array is declared for its items")
            items = flat.get("items")
            return {**rest, "items": {**(tidy(items) if isinstance(items, Mapping) else {}), "enum": values}}
        if kind in ("ARRAY", "OBJECT"):
            self.lose(path, f"an enum of an {kind.lower()} cannot be declared")
            return rest
        read = [as_type(kind, value) for value in values]
        if read == values:
            return {**rest, "enum": read}
        if any(one is None and value is not None for one, value in zip(read, values, strict=True)):
            self.lose(path, f"its enum is not of its type, {kind.lower()}; declared as one of {word(values)}")
            return {k: v for k, v in flat.items() if k in OF_ANY_TYPE}  # the rest describes the wrong type
        self.lose(path, f"its enum {word(values)} is not of its type; read as {kind.lower()}")
        return {**rest, "enum": read}

    def _flat(self, schema: Mapping[str, Any], path: str, refs: Refs) -> tuple[Schema | None, Refs]:
        """``schema`` with ``$ref`` followed and ``allOf`` merged; keywords beside them win."""
        flat = tidy(schema)
        while (keyword := next((k for k in REFERENCES if k in flat), None)) is not None:
            ref = str(flat.pop(keyword))
            if refs.count(ref) >= self.depth:
                self.lose(path, f"{ref.rpartition('/')[2]} holds itself; {self.depth} levels are declared")
                return None, refs
            target = target_of(self.root, ref)
            if target is None:
                self.lose(path, f"{ref} is not found; any value")
            flat, refs = merge(tidy(target or {}), flat), (*refs, ref)
        parts: Schema = {}
        for part in flat.pop("allOf", None) or ():
            if isinstance(part, Mapping):
                one, refs = self._flat(part, path, refs)
                if one is None:
                    return None, refs
                parts = merge(parts, one)
        return merge(parts, flat), refs

    def _union(self, flat: Schema, members: list[Any], path: str, refs: Refs) -> Schema | None:
        nullable = bool(flat.get("nullable")) or any(is_null(m) for m in members)
        said: list[Schema] = []
        for member in members:
            one = None if is_null(member) else self.reduce(member, path, refs)
            if one is not None:
                said.extend(one.get("anyOf") or [one])
        if not said and not nullable:
            return None
        distinct = different(said or [{"type": "STRING", "description": "null"}])
        if len(distinct) == 1:
            return noted(distinct[0], flat, nullable, path)
        return noted({"anyOf": distinct}, flat, nullable, path)

    def _enum(self, flat: Schema, values: list[Any], path: str) -> Schema:
        some = list(dict.fromkeys(v for v in values if v is not None and v != ""))
        if "" in values:
            self.lose(path, "the empty text cannot be a value of an enum")
        if not some:
            return {"type": "STRING"} if "" in values else {"type": "STRING", "description": "null"}
        kind = kind_of(flat) or "NULL"
        if kind == "NULL":
            kind = type_of(some[0])
        if kind == "STRING":
            return {"type": kind, "enum": some}
        if kind == "BOOLEAN":
            return (
                {"type": kind} if len(some) > 1 else {"type": kind, "description": f"always {word(some[0])}"}
            )
        names = dict(zip(values, flat.get("x-enum-varnames", ()), strict=False))
        words = [f"{v} ({names[v]})" if v in names else str(v) for v in some]
        self.lose(path, f"one of {', '.join(words)} is only described: an enum holds texts")
        about = f"one of {', '.join(words)}"
        return {"type": kind, "minimum": min(some), "maximum": max(some), "description": about}

    def _typed(self, flat: Schema, kind: str, path: str, refs: Refs) -> Schema | None:
        reduced: Schema = {"type": kind}
        for keyword in PASSED[kind]:
            given = flat.get(keyword)
            bound = given if keyword == "pattern" else number(given)
            if isinstance(bound, float) and (kind == "INTEGER" or keyword in COUNTS):
                self.lose(path, f"{keyword} {bound} is not a whole number; left out")
            elif bound is not None:
                reduced[keyword] = bound
        if kind == "OBJECT":
            return self._object(reduced, flat, path, refs)
        if kind == "ARRAY":
            return self._array(reduced, flat, path, refs)
        if kind == "STRING":
            self._format(reduced, flat)
        elif kind != "BOOLEAN":
            self._exclusive(reduced, flat, path)
        return reduced

    def _format(self, reduced: Schema, flat: Schema) -> None:
        form = flat.get("format") or ("base64" if "contentEncoding" in flat else "")
        if form == "date-time":
            reduced["format"] = form
        elif form in FORMATS:
            reduced["description"] = FORMATS[form]

    def _exclusive(self, reduced: Schema, flat: Schema, path: str) -> None:
        """An exclusive bound: exact for whole numbers, the plain bound for others."""
        for keyword, plain, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            given = flat.get(keyword)
            # True is of draft 4: a flag beside the bound.
            bound = number(flat.get(plain) if given is True else given)
            if bound is None or given is False:
                continue
            if reduced["type"] == "INTEGER" and float(bound).is_integer():
                reduced[plain] = int(bound) + step
            else:
                reduced[plain] = bound
                self.lose(path, f"{keyword} {bound} is declared as {plain}")

    def _array(self, reduced: Schema, flat: Schema, path: str, refs: Refs) -> Schema | None:
        items = flat.get("items", True)
        first = flat.get("prefixItems") or (items if isinstance(items, list) else None)
        if first:
            return self._tuple(reduced, flat, first, path, refs)
        said = self.reduce(items, f"{path}[]", refs)
        if said is None:  # too deep: an empty array is still an array
            return {"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": 0, "description": "empty here"}
        if flat.get("uniqueItems"):
            reduced["description"] = "each only once"
        return reduced | {"items": said}

    def _tuple(
        self, reduced: Schema, flat: Schema, first: Sequence[Any], path: str, refs: Refs
    ) -> Schema | None:
        said = [self.reduce(item, f"{path}[{i}]", refs) for i, item in enumerate(first)]
        members = [m for m in said if m is not None]
        if len(members) < len(said):
            return None
        distinct = different([one for m in members for one in m.get("anyOf") or [m]])
        if any(m != members[0] for m in members):
            order = ", ".join(word(m) for m in members)
            reduced["description"] = f"in this order: {order}"
            self.lose(path, f"the order of its items ({order}) is only described")
        if not isinstance(flat.get("items"), Mapping):
            reduced |= {"minItems": len(first), "maxItems": len(first)}
        return reduced | {"items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct}}

    def _object(self, reduced: Schema, flat: Schema, path: str, refs: Refs) -> Schema | None:
        rest, names = _open_part(flat)
        source = flat.get("properties") or dict.fromkeys(self._keys(names, path, refs), rest)
        required = [n for n in flat.get("required", ()) if isinstance(n, str) and n in source]
        properties: Schema = {}
        for name, inner in source.items():
            one = self.reduce(inner, f"{path}.{name}" if path else str(name), refs)
            if one is not None:
                properties[name] = one
            elif name in required:
                return None
        if not properties:
            return self._free(reduced, rest, self._key_kind(names, path, refs), path, refs)
        if rest not in (None, False) and flat.get("properties"):
            self.lose(path, "further properties are accepted, but cannot be declared")
        reduced["properties"] = properties
        if required:
            reduced["required"] = required
        ordering = [n for n in flat.get("propertyOrdering", ()) if n in properties]
        if ordering:
            reduced["propertyOrdering"] = ordering + [n for n in properties if n not in ordering]
        return reduced

    def _keys(self, names: Mapping[str, Any], path: str, refs: Refs) -> list[str]:
        """The keys of an object that may have a few by name only; empty where they are not known."""
        flat, refs = self._flat(names, path, refs)
        members = (flat or {}).get("anyOf") or (flat or {}).get("oneOf")
        if members:
            found = [
                self._keys(tidy(m), path, refs) for m in members if isinstance(m, Mapping) and not is_null(m)
            ]
            return [key for keys in found for key in keys] if all(found) else []
        return [value for value in values_of(flat or {}) or () if isinstance(value, str) and value]

    def _key_kind(self, names: Mapping[str, Any], path: str, refs: Refs) -> str:
        """Describes the keys of an object in words; empty where every text is valid."""
        flat, refs = self._flat(names, path, refs)
        flat = flat or {}
        kinds = [self._key_kind(tidy(m), path, refs) for m in flat.get("anyOf", ()) if isinstance(m, Mapping)]
        if kinds:
            return " or ".join(kinds) if all(kinds) else ""
        values = values_of(flat)
        if values is not None:
            return f"one of {', '.join(map(str, values))}"
        said = [flat.get("description"), KEY_FORMATS.get(flat.get("format", ""))]
        if not any(said) and "pattern" in flat:
            said.append(f"text that matches {flat['pattern']}")
        said += [f"{word} {flat[k]} characters long" for k, word in LENGTHS.items() if k in flat]
        return ", ".join(str(one) for one in said if one)

    def _free(self, reduced: Schema, rest: object, keys: str, path: str, refs: Refs) -> Schema | None:
        """An object of unknown keys, declared by an example.

        Without properties it is refused, or comes back empty (livekit/agents#7170).
        """
        values = self.reduce(rest, f"{path}.*", refs) if isinstance(rest, Mapping) and rest else anything()
        if values is None:
            return None
        self.lose(path, f"any keys, only described; a model may send none but {ANY_NAME!r}. A list is safer")
        kind = f"keys of your choice, not only {ANY_NAME!r}"
        if keys:
            kind = f"keys of your choice in place of {ANY_NAME!r}; each key: {keys}"
        about = f"an object with {kind}; each value: {word(values)}"
        return reduced | {"properties": {ANY_NAME: values}, "description": about}


def target_of(root: Mapping[str, Any], ref: str) -> Mapping[str, Any] | None:
    """What a reference into a document names: by a JSON pointer, or by an anchor."""
    document, _, fragment = ref.partition("#")
    if document and document.rstrip("#") != str(root.get("$id", "")).rstrip("#"):
        return None
    fragment = unquote(fragment)
    if fragment and not fragment.startswith("/"):
        return _anchored(root, fragment)
    found: Any = root
    for step in fragment.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        elif isinstance(found, Mapping) and step in found:
            found = found[step]
        else:
            return None
    return found if isinstance(found, Mapping) else None


def _anchored(schema: object, name: str) -> Mapping[str, Any] | None:
    """The schema with this ``$anchor``, at any depth of a document."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if name in (one.get("$anchor"), one.get("$dynamicAnchor")) or f"#{name}" == one.get("$id"):
                return one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return None


def _open_part(flat: Schema) -> tuple[Any, Mapping[str, Any]]:
    """What an object may hold beside its properties: the schema of the values, and that of their keys."""
    names = flat.get("propertyNames", {})
    rest = flat.get("additionalProperties")
    patterns = flat.get("patternProperties")
    if patterns and rest in (None, False, True):
        values = list(patterns.values())
        rest = values[0] if len(values) == 1 else {"anyOf": values}
        names = names or {"anyOf": [{"pattern": pattern} for pattern in patterns]}
    return (True if rest is None and names else rest), names


def _of_type(schema: Schema, kind: object) -> Schema:
    """One of the types of a schema that has several; of its enum, the members of this type."""
    values = values_of(schema)
    if values is None or "const" in schema:
        return {**schema, "type": kind}
    name = str(kind).upper()
    own = [v for v in values if type_of(v) == name or (type_of(v) == "INTEGER" and name == "NUMBER")]
    rest = {k: v for k, v in schema.items() if k != "enum"}
    return {**rest, "type": kind} | ({"enum": own} if own else {})


def _members(flat: Schema) -> list[Any] | None:
    """The members of a union, however it is written; ``None`` if the schema is not a union."""
    for keyword in ("anyOf", "oneOf"):
        members = flat.get(keyword)
        if members:
            shared = {k: flat[k] for k in ("properties", "required", "type") if flat.get(k)}
            tag = flat.get("discriminator", {}).get("propertyName")
            if tag:  # pydantic asks for it though it has a default
                shared["required"] = [*shared.get("required", ()), tag]
            return [merge(shared, tidy(m)) if isinstance(m, Mapping) else m for m in members]
    kinds = flat.get("type")
    if isinstance(kinds, list) and kinds:
        rest = {
            k: v for k, v in flat.items() if k not in ("type", "description", "default", "nullable", "title")
        }
        return [_of_type(rest, kind) for kind in kinds]
    if kind_of(flat) is not None and "type" in flat:
        return None
    by_type: dict[str, list[Any]] = {}
    for value in values_of(flat) or ():
        by_type.setdefault(type_of(value), []).append(value)
    if len(by_type.keys() - {"NULL"}) < 2:
        return None
    return [{"type": kind.lower(), "enum": some} for kind, some in by_type.items()]
