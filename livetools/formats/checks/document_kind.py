"""Detects what a JSON document is, by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from livetools.formats.converters.openai_and_anthropic import shape_of
from livetools.formats.rules.findings import camel, member
from livetools.protocol.messages.lenient_json import Json

from .live_frames import CLIENT, SERVER

Kind: TypeAlias = Literal[
    "function_call",
    "function_response",
    "content",
    "conversation",
    "response",
    "stream",
    "tools",
    "frame",
    "recording",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_ANSWER = {"candidates", "promptFeedback", "usageMetadata", "choices"}
TOP = {  # tried in place of a frame
    "functionResponses",
    "functionResponse",
    "bidiGenerateContentToolResponse",
}
FRAME = (CLIENT | SERVER) - _ANSWER


def detect(document: Json) -> Kind | None:
    """The kind of ``document``, or ``None`` if it is not recognized."""
    if isinstance(document, Mapping):
        return _object(document)
    if not isinstance(document, list):
        return None
    if not document:
        return "conversation"
    kinds = [_object(item) for item in document if isinstance(item, Mapping)]
    several: dict[Kind | None, Kind] = {
        "response": "stream",
        "frame": "recording",
        "recording": "recording",
        "tools": "tools",
        "content": "conversation",
        "function_call": "function_call",
        "function_response": "function_response",
    }
    return next((several[kind] for kind in kinds if kind in several), None)


def _object(item: Mapping[str, Json]) -> Kind | None:
    keys = {camel(str(key)) for key in item}
    kinds: tuple[tuple[bool, Kind], ...] = (
        ("direction" in keys and bool(keys & {"frame", "message"}), "recording"),
        ("contents" in keys, "conversation"),
        ("response" in keys and not keys & {"role", "parameters", "description"}, "function_response"),
        ("role" in keys or "parts" in keys, "content"),
        (_is_answer(item), "function_response"),
        (bool(keys & FRAME) or _is_top(keys), "frame"),
        (bool(keys & _ANSWER) or isinstance(item.get("error"), Mapping), "response"),
        ("functionDeclarations" in keys, "tools"),
        ("functionCallId" in keys, "function_response"),
        (_is_call(keys), "function_call"),
        (shape_of(item) is not None, "tools"),
    )
    return next((kind for held, kind in kinds if held), None)


def says_nothing(document: Json) -> bool:
    """Whether there is nothing in the document that could be checked."""
    return document in (None, {}, []) or (isinstance(document, str) and not document.strip())


def _is_call(keys: set[str]) -> bool:
    """A call, in a part or by itself, in this API's words or another's: nothing that declares a function."""
    return "functionCall" in keys or ("name" in keys and bool(keys & {"args", "arguments", "input"}))


def _is_answer(item: Mapping[str, Json]) -> bool:
    """A function response in a part by itself. Without a name, an id or a response it is more like a frame."""
    inner = member(item, "functionResponse")[1]
    return isinstance(inner, Mapping) and bool(set(inner) & {"id", "name", "response"})


def _is_top(keys: set[str]) -> bool:
    return any(key[:1].lower() + key[1:] in TOP for key in keys)
