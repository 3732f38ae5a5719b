"""Converts tools, calls and results between Gemini's shapes and those of OpenAI and Anthropic.

``tool``
    Gemini: ``{name, description, parameters}``.
    Chat completions: ``{type: function, function: {name, description, parameters}}``.
    Responses: ``{type: function, name, description, parameters}``.
    Anthropic: ``{name, description, input_schema}``.

``call``
    Gemini: ``{id, name, args: {…}}``.
    Chat completions: ``{id, type: function, function: {name, arguments: "…"}}``.
    Responses: ``{type: function_call, call_id, name, arguments: "…"}``.
    Anthropic: ``{type: tool_use, id, name, input: {…}}``.

``result``
    Gemini: ``{id, name, response: {…}}``.
    Chat completions: ``{role: tool, tool_call_id, content}``.
    Responses: ``{type: function_call_output, call_id, output}``.
    Anthropic: ``{type: tool_result, tool_use_id, content, is_error}``.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from livetools.errors import ConfigError
from livetools.formats.rules.findings import excerpt, member, object_of
from livetools.protocol.messages.lenient_json import Json
from livetools.tools.results.outcomes import failure
from livetools.tools.schemas.live_subset import parameters

Style: TypeAlias = Literal["chat", "responses", "anthropic"]
_Object: TypeAlias = Mapping[str, Json]


# tools


def shape_of(tool: _Object) -> Style | Literal["gemini"] | None:
    """Whose shape a single tool has; ``None`` if nobody's (a list of declarations is not a single tool)."""
    if isinstance(tool.get("function"), Mapping):
        return "chat"
    if not isinstance(tool.get("name"), str):
        return None
    if tool.get("type") == "function":
        return "responses"
    if "input_schema" in tool or "inputSchema" in tool:  # Anthropic's, MCP's
        return "anthropic"
    return "gemini" if "type" not in tool else None


def to_declaration(tool: _Object, dialect: Literal["schema", "json_schema"] = "schema") -> dict[str, Json]:
    """The function declaration of a tool of any shape.

    ``"schema"`` gives ``parameters``, in the subset that Live reads; ``"json_schema"`` gives
    ``parametersJsonSchema``, which loses nothing. Raises ``ConfigError`` for what is not a tool.

    ::

        city = {"type": "object", "properties": {"city": {"type": "string"}}}
        print(to_declaration({"type": "function", "name": "get_weather", "parameters": city}))
    """
    return to_declaration_and_losses(tool, dialect)[0]


def to_declaration_and_losses(
    tool: _Object, dialect: Literal["schema", "json_schema"] = "schema"
) -> tuple[dict[str, Json], list[str]]:
    """:func:`to_declaration`, with what the schema lost on the way, a line each."""
    if shape_of(tool) is None:
        raise ConfigError(f"not a tool in the shape of OpenAI, Anthropic or Gemini: {excerpt(tool)}")
    inner = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    names = ("parameters", "parametersJsonSchema", "inputSchema")
    schema = next((found for name in names if (found := member(inner, name)[1]) is not None), None)
    declaration = {key: inner[key] for key in ("name", "description", "behavior") if inner.get(key)}
    if schema is None:
        return declaration, []
    if not isinstance(schema, Mapping):
        raise ConfigError(f"the parameters of {inner.get('name')} are not a schema: {excerpt(schema)}")
    if dialect == "json_schema":
        return declaration | {"parametersJsonSchema": schema}, []
    lowered, losses = parameters(schema)
    return (declaration if lowered is None else declaration | {"parameters": lowered}), losses


def to_declarations(tools: Iterable[_Object]) -> list[dict[str, Json]]:
    """The function declarations of tools of any shapes, for ``{"functionDeclarations": …}``."""
    return [to_declaration(tool) for tool in tools]


def from_declaration(declaration: _Object, style: Style = "chat") -> dict[str, Json]:
    """A function declaration in somebody else's shape, its schema as JSON Schema."""
    told = {key: declaration[key] for key in ("name", "description") if declaration.get(key)}
    schema = member(declaration, "parametersJsonSchema")[1]
    if schema is None and declaration.get("parameters") is not None:
        schema = json_schema(declaration["parameters"])
    if style == "anthropic":
        return told | {"input_schema": schema or {"type": "object", "properties": {}}}
    if schema is not None:
        told["parameters"] = schema
    return {"type": "function", **told} if style == "responses" else {"type": "function", "function": told}


def json_schema(schema: _Object) -> dict[str, Json]:
    """A schema of the OpenAPI subset as JSON Schema: lower-case types, ``null`` among them where it is nullable."""
    out: dict[str, Json] = {}
    for key, value in schema.items():
        if key == "type":
            out["type"] = value.lower()
        elif key == "properties":
            out[key] = {name: json_schema(inner) for name, inner in value.items()}
        elif key == "items":
            out[key] = json_schema(value)
        elif key in ("anyOf", "any_of"):
            out["anyOf"] = [json_schema(inner) for inner in value]
        elif key == "example":
            out["examples"] = [value]
        elif key != "nullable":
            out[key] = value
    if schema.get("nullable"):
        if "type" in out:
            out["type"] = [out["type"], "null"]
        if "enum" in out:
            out["enum"] = [*out["enum"], None]
        if "anyOf" in out:
            out["anyOf"] = [*out["anyOf"], {"type": "null"}]
    return out


# calls


def random_id() -> str:
    """An id for a call without one, in OpenAI's form."""
    return f"call_{uuid.uuid4().hex[:24]}"


def to_tool_call(
    call: _Object, style: Style = "chat", new_id: Callable[[], str] = random_id
) -> dict[str, Json]:
    """A function call in another library's format. ``new_id`` makes an id where the call has none.

    ::

        print(to_tool_call({"id": "c1", "name": "get_weather", "args": {"city": "Oslo"}}, "anthropic"))
    """
    id, name, args = call.get("id") or new_id(), call.get("name"), call.get("args") or {}
    if style == "anthropic":
        return {"type": "tool_use", "id": id, "name": name, "input": dict(args)}
    arguments = json.dumps(args, ensure_ascii=False)
    if style == "responses":
        return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def to_function_call(call: _Object) -> dict[str, Json]:
    """Somebody else's call as a function call. Raises ``ConfigError`` where the arguments are not a JSON object."""
    inner = call["function"] if isinstance(call.get("function"), Mapping) else call
    given = inner.get("arguments", inner.get("input", inner.get("args")))
    id = call.get("call_id") or call.get("id")
    named: dict[str, Json] = {"id": id} if id else {}
    return named | {"name": inner.get("name"), "args": _arguments(given, inner.get("name"))}


def _arguments(given: Json, name: Json) -> dict[str, Json]:
    try:
        args = json.loads(given or "{}") if isinstance(given, str) else given
    except ValueError as error:
        raise ConfigError(f"the arguments of {name} are not JSON ({error}): {excerpt(given)}") from None
    if args is None:
        return {}
    if not isinstance(args, Mapping):
        raise ConfigError(f"the arguments of {name} are not a JSON object: {excerpt(given)}")
    return dict(args)


# results


def to_tool_result(response: _Object, style: Style = "chat") -> dict[str, Json]:
    """A function response in somebody else's shape. Raises ``ConfigError`` without an id: theirs pair by it alone."""
    id, value = response.get("id"), response.get("response") or {}
    if not id:
        raise ConfigError(
            f"the response of {response.get('name')} has no id: give it the one its tool call got"
        )
    content = json.dumps(value, ensure_ascii=False)
    if style == "responses":
        return {"type": "function_call_output", "call_id": id, "output": content}
    if style == "anthropic":
        failed = {"is_error": True} if "error" in value else {}
        return {"type": "tool_result", "tool_use_id": id, "content": content, **failed}
    return {"role": "tool", "tool_call_id": id, "content": content}


def to_function_response(result: _Object, names: Mapping[str, str]) -> dict[str, Json]:
    """Somebody else's result as a function response.

    ``names`` gives the function of each call id, which their results do not contain. Content that is the JSON
    of an object is the response; anything else goes under ``output``, or under ``error`` if the result says
    that it is an error. Raises ``ConfigError`` for an id that ``names`` lacks.
    """
    id = next((result[key] for key in ("tool_call_id", "call_id", "tool_use_id") if result.get(key)), None)
    name = names.get(str(id)) or result.get("name")
    if not name:
        raise ConfigError(f"no call has the id {id!r}, so the name of its function is not known")
    text = _text(result.get("output", result.get("content")))
    response = object_of(text)
    if result.get("is_error") and not (response and "error" in response):
        response = failure(text)
    return {"id": id, "name": name, "response": {"output": text} if response is None else response}


def _text(content: Json) -> str:
    """Content as text: a string, or a list of parts of which the texts are joined."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    if isinstance(content, str):
        return content
    return "" if content is None else json.dumps(content, ensure_ascii=False)
