"""Reads names and values of a configuration or a conversation as google-genai's types would, and writes them as JSON.

One walk over each value: names in both casings become camelCase, bytes base64, enums their value, int64 strings;
google-genai's models dump themselves. ``"0.5"`` is a number, ``"yes"`` a flag, ``"low"`` the enum's ``LOW``. What one
API takes and the other does not is refused here too, by google-genai's converters.
"""

from __future__ import annotations

import base64
import enum
import re
from collections.abc import Callable, Mapping
from datetime import date, time
from functools import cache
from typing import Any

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import NOT_LIVE, did_you_mean, not_in_live

from .camel_case import camel, snake
from .generated_tables import tables

#: 64-bit integers are strings in JSON's mapping of protocol buffers.
INT64 = frozenset({"triggerTokens", "targetTokens"})
#: The types that people give the name of a voice.
_OF_VOICE = frozenset({"SpeechConfig", "VoiceConfig", "PrebuiltVoiceConfig"})


#: The type of a kind, and what messages call such a value.
_KINDS: Mapping[str, tuple[Any, str]] = {
    "number": (int | float, "a number"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "True or False"),
    "string": (str, "a string"),
    "[string]": (list[str], "a list of strings"),
    "object": (dict[str, Any], "an object"),
    "list": (list[Any], "a list"),
}


def read_as(value: Any, kind: str, path: str) -> Any:  # any value in, any JSON out
    """``value`` as google-genai's ``kind`` (``"SpeechConfig"``, ``"[string]"`` …) reads it, as JSON.

    ``path`` is its place, for messages. Raises :class:`ConfigError` for a name that the type does not have, and
    for a value that cannot be read as what it should be.
    """
    value, types = dumped(value), tables().types
    if kind in types:
        return _object(_written_out(value, kind, path), kind, types[kind], path)
    if kind in tables().enums:
        text: str = _as(value, "string", path)
        return text.upper() if text.upper() in tables().enums[kind] else text
    if kind.startswith("["):
        inner = kind[1:-1]
        words = inner == "string" or inner in tables().enums
        return [read_as(each, inner, path) for each in _as(value, "[string]" if words else "list", path)]
    if kind in ("{string}", "{Schema}"):  # under names of the user's own
        named = _as(value, "object", path).items()
        return {name: read_as(each, kind[1:-1], f"{path}[{name!r}]") for name, each in named}
    if kind in ("any", "{any}"):  # the user's own
        return _json(value, path)
    return _base64(value, path) if kind == "bytes" else _as(value, kind, path)


def dumped(value: object) -> Any:
    """What a value of google-genai's holds: the fields that a model sets, the value of an enum."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, date | time):
        return value.isoformat()
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) and not isinstance(value, type) else value


def several(value: Any) -> list[Any]:
    """What google-genai takes for a list: a list, one entry of it, or ``None`` for an empty one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _written_out(value: Any, kind: str, path: str) -> Any:
    """In full, a content that is given as text, a part or a list of these, and a part that is text or a file."""
    if kind == "Content":
        given = value if isinstance(value, Mapping) and "parts" in value else {"parts": value}
        return {**given, "parts": several(given["parts"])}
    if kind != "Part":
        return value
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping) or not value:
        wanted = "text, a part such as {'text': ...} or a content"
        raise ConfigError(f"{path}: expected {wanted}, not {value!r:.60}")
    if "uri" in value and "name" in value:  # google.genai.types.File
        file = {camel(key): each for key, each in value.items()}
        return {"fileData": {"fileUri": file["uri"], "mimeType": file.get("mimeType")}}
    return value


def _object(value: Any, kind: str, fields: Mapping[str, str], path: str) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for given, inner in _as(value, "object", path, kind).items():
        if inner is None:
            continue
        name = camel(given)
        if name not in fields or (kind == "GenerationConfig" and name in NOT_LIVE):
            raise no_field(path, name, fields)
        # In messages the parts of a content are the content itself.
        made = read_as(inner, fields[name], path if name == "parts" else _inside(path, name))
        read[name] = str(made) if name in INT64 else made
    return read


def no_field(path: str, name: str, fields: Mapping[str, str]) -> ConfigError:
    """The error for a field that an object of the configuration does not have: what was meant, or what there is."""
    if why := not_in_live(name):
        return ConfigError(f"{path}.{snake(name)}: {why}")
    known = {each: snake(each) for each in sorted(fields)}
    hint = did_you_mean(name, known, count=3) or f"known: {', '.join(known.values()) or 'none'}"
    return ConfigError(f"{path} has no field {snake(name)!r}; {hint}")


def _json(value: Any, path: str) -> Any:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(value, bytes_mode="base64")
    except PydanticSerializationError as error:
        raise ConfigError(f"{path} holds what JSON cannot say: {error}") from None


def _base64(value: object, path: str) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, str) and is_base64(value):
        return value
    raise ConfigError(f"{path} is not base64: give the bytes, or base64.b64encode(...)")


def is_base64(text: str) -> bool:
    """Whether the service decodes this: either alphabet, padded or not. Line breaks and the rest close with 1007."""
    return bool(_BASE64.fullmatch(text)) and len(text.rstrip("=")) % 4 != 1


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")


@cache
def _reader(kind: str) -> Callable[[Any], Any]:
    from pydantic import TypeAdapter  # here: ``import livetools`` does not pay for it

    return TypeAdapter(_KINDS[kind][0], config={"allow_inf_nan": False}).validate_python


def _as(value: Any, kind: str, path: str, holder: str = "") -> Any:
    try:
        read = _reader(kind)(value)
        return int(read) if isinstance(read, float) and read.is_integer() else read  # topK is one on the wire
    except ValueError:  # pydantic's ValidationError is one
        # Of what should be text only a number is shown: an object in its place may be long.
        shown = f", {value!r:.40}" if isinstance(value, int | float) or kind != "string" else ""
        named = isinstance(value, str) and holder in _OF_VOICE
        hint = f"; for a voice alone: connect(voice={value!r:.40})" if named else ""
        raise ConfigError(
            f"{path} is a {type(value).__name__}{shown}: {_KINDS[kind][1]} is expected{hint}"
        ) from None


# What one API takes and the other does not


def for_api(message: Any, name: str, *, vertexai: bool, path: str) -> None:
    """Make ``message`` one of the dialled API's: what it spells otherwise is renamed in place.

    ``name`` is the message's (``"setup"``), or the path of a part of it (``"clientContent.turns"``); ``path`` is what
    the user calls the whole. Raises :class:`ConfigError` for a field that google-genai's converter to this API refuses.
    A flag that is ``False`` says nothing, and is left out.
    """
    if isinstance(message, list | tuple):
        for each in message:
            for_api(each, name, vertexai=vertexai, path=path)
    if not isinstance(message, dict):
        return
    api = "vertex" if vertexai else "gemini"
    for field in list(message):
        place, where = f"{name}.{field}", _inside(path, field)
        if place in tables().refused[api]:
            if message.pop(field) is not False:
                raise ConfigError(f"{where} {_ONLY[vertexai]}; leave it out")
        elif spelling := tables().renamed[api].get(place):
            message[spelling] = message.pop(field)
        else:
            for_api(message[field], place, vertexai=vertexai, path=where)


_ONLY = {
    True: "is only supported by the Gemini API, and this session uses Vertex AI (Gemini Enterprise Agent Platform)",
    False: "is only supported by Vertex AI (Gemini Enterprise Agent Platform), and this session uses the Gemini API",
}


def _inside(path: str, field: str) -> str:
    """What the user calls a field of ``path``; most of ``generation_config`` are in the config itself as well."""
    around = path.removesuffix(".generation_config") if field in tables().places else path
    return f"{around}.{snake(field)}"
