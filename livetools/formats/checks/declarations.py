"""Checks declarations of tools: names, descriptions, and schemas in the subset that the service reads.

``parameters`` is a subset of OpenAPI 3.0 (fields as of google-genai 3.6.1 and the Developer API's
definition, 2026-10), ``parametersJsonSchema`` takes JSON Schema as it is. Tools in OpenAI's and Anthropic's
shapes are checked in theirs, with what would be lost as advice.
"""

from __future__ import annotations

from collections.abc import Mapping

from livetools.errors import ConfigError
from livetools.formats.converters.openai_and_anthropic import shape_of, to_declaration_and_losses
from livetools.formats.rules.findings import Checklist, Spot, camel, kind_of, member
from livetools.formats.rules.known_fields import check_fields
from livetools.protocol.messages.lenient_json import Json
from livetools.tools.definition.tool_options import TOOL_NAME

DECLARATION = (
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
)
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")  # in the tools of others
TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL", "TYPE_UNSPECIFIED")
KEYWORDS = {
    *("type", "format", "title", "description", "nullable", "enum", "default", "example", "anyOf"),
    *("items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern"),
    *("properties", "required", "propertyOrdering", "minProperties", "maxProperties"),
}

_ONE = {  # of JSON Schema's keywords: those that hold a schema, and those that hold several
    *("items", "additionalItems", "contains", "additionalProperties", "propertyNames", "not", "if", "then"),
    *("else", "unevaluatedItems", "unevaluatedProperties"),
}
_SEVERAL = {
    *("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"),
    *("anyOf", "oneOf", "allOf", "prefixItems", "items"),
}


def check_tools(tools: Json, spot: Spot, todo: Checklist) -> None:
    """Check a list of tools, or a single one, of any shape."""
    if isinstance(tools, Mapping):
        _check_tool(tools, spot, todo, {})
    elif todo.expect(isinstance(tools, list), "tool-object", spot, f"tools is {kind_of(tools)}"):
        names: dict[str, Spot] = {}
        for index, tool in enumerate(tools):
            _check_tool(tool, spot[index], todo, names)


def _check_tool(tool: Json, spot: Spot, todo: Checklist, names: dict[str, Spot]) -> None:
    if not todo.expect(isinstance(tool, Mapping), "tool-object", spot, f"the tool is {kind_of(tool)}"):
        return
    shape = shape_of(tool)
    key, declarations = member(tool, "functionDeclarations")
    if isinstance(declarations, list):
        for index, declaration in enumerate(declarations):
            _check_declaration(declaration, (spot / key)[index], todo, names)
    elif shape == "gemini":
        _check_declaration(tool, spot, todo, names)
    elif shape is not None:
        _check_foreign(tool, spot, todo, names)
    else:  # google_search and other built-in tools
        todo.expect(bool(tool) and "type" not in tool, "tool-object", spot, "not the shape of any tool")


def _check_foreign(tool: Mapping[str, Json], spot: Spot, todo: Checklist, names: dict[str, Spot]) -> None:
    try:
        declaration, losses = to_declaration_and_losses(tool)
    except ConfigError as error:
        todo.expect(False, "tool-schema-object", spot, str(error), value=None)
        return
    _check_name(declaration, spot, todo, names)
    key, inner = member(tool, "function") if isinstance(tool.get("function"), Mapping) else ("", tool)
    at = spot / key if key else spot
    for name in _SCHEMAS:
        if (schema := inner.get(name)) is not None:
            check_json_schema(schema, at / name, todo)
    todo.expect(not losses, "tool-lossless", spot, "; ".join(losses))


def _check_name(item: Mapping[str, Json], spot: Spot, todo: Checklist, names: dict[str, Spot]) -> None:
    name = item.get("name")
    fits = isinstance(name, str) and TOOL_NAME.fullmatch(name) is not None
    todo.expect(fits, "tool-name", spot / "name", f"the name is {name!r}")
    where = names.setdefault(str(name), spot)
    message = f"{where.path} has the name {name!r} already"
    todo.expect(where is spot, "tool-unique", spot / "name", message, name=name)
    told = bool(item.get("description"))
    todo.expect(told, "tool-description", spot, f"{name!r} has no description")


def _check_declaration(item: Json, spot: Spot, todo: Checklist, names: dict[str, Spot]) -> None:
    if not todo.expect(isinstance(item, Mapping), "tool-object", spot, f"the declaration is {kind_of(item)}"):
        return
    check_fields(item, spot, DECLARATION, todo, {"inputSchema": "parameters", "args": "parameters"})
    _check_name(item, spot, todo, names)
    key, schema = member(item, "parameters")
    both = schema is not None and member(item, "parametersJsonSchema")[1] is not None
    todo.expect(not both, "tool-one-schema", spot, "parameters and parametersJsonSchema are both set")
    if schema is not None:
        at = spot / key
        is_object = isinstance(schema, Mapping) and str(schema.get("type", "OBJECT")).upper() == "OBJECT"
        message = "parameters is not the schema of an object"
        if todo.expect(is_object, "tool-schema-object", at, message, value=schema):
            check_schema(schema, at, todo)
    key, schema = member(item, "response")
    if schema is not None:
        check_schema(schema, spot / key, todo)
    for name in ("parametersJsonSchema", "responseJsonSchema"):
        key, schema = member(item, name)
        if schema is not None:
            check_json_schema(schema, spot / key, todo)


def check_json_schema(schema: Json, spot: Spot, todo: Checklist) -> None:
    """Check the types of a JSON Schema, at any depth. All else is taken as it is."""
    if isinstance(schema, bool):
        return
    if not todo.expect(
        isinstance(schema, Mapping), "value-type", spot, f"{kind_of(schema)} instead of a schema"
    ):
        return
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [] if kind is None else [kind]
    known = all(isinstance(each, str) and each.upper() in TYPES for each in kinds)
    todo.expect(known, "tool-json-type", spot / "type", f"type is {kind!r}")
    for key, inner in schema.items():
        within = (
            enumerate(inner)
            if isinstance(inner, list)
            else inner.items()
            if isinstance(inner, Mapping)
            else ()
        )
        if key in _ONE and not isinstance(inner, list):
            check_json_schema(inner, spot / key, todo)
        elif key in _SEVERAL:
            for name, each in within:
                at = (spot / key)[name] if isinstance(name, int) else spot / key / str(name)
                check_json_schema(each, at, todo)


def check_schema(schema: Json, spot: Spot, todo: Checklist) -> None:
    """Check a schema of the OpenAPI subset, at any depth."""
    if not todo.expect(
        isinstance(schema, Mapping), "value-type", spot, f"{kind_of(schema)} instead of a schema"
    ):
        return
    for key in schema:
        message = f"the keyword {key!r} is not known here"
        at = f" at '{spot.wire}'"
        todo.expect(camel(key) in KEYWORDS, "tool-keyword", spot / key, message, name=key, at=at)
    kind = schema.get("type")
    known = kind is None or (isinstance(kind, str) and kind.upper() in TYPES)
    todo.expect(known, "tool-type", spot / "type", f"type is {kind!r}", value=kind)
    kind = kind.upper() if isinstance(kind, str) else None
    properties = schema.get("properties") or {}
    if kind == "ARRAY":
        todo.expect("items" in schema, "tool-items", spot, "an ARRAY without items")
    if kind == "OBJECT":
        todo.expect(bool(properties), "tool-properties", spot, "an OBJECT without properties")
        required = schema.get("required")
        wanted = [str(name) for name in required] if isinstance(required, list) else []
        missing = [name for name in wanted if not isinstance(properties, Mapping) or name not in properties]
        todo.expect(not missing, "tool-required", spot, f"required names {missing}, which is not defined")
    if isinstance(properties, Mapping):
        place = spot / "properties"
        for number, (name, inner) in enumerate(properties.items()):  # the service numbers what a map holds
            check_schema(inner, Spot((place / str(name)).path, f"{place[number].wire}.value"), todo)
    if "items" in schema:
        check_schema(schema["items"], spot / "items", todo)
    key, several = member(schema, "anyOf")
    for index, inner in enumerate(several if isinstance(several, list) else ()):
        check_schema(inner, (spot / key)[index], todo)
