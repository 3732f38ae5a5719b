"""Checks the names and values of a configuration, as google-genai's types would.

Values are read as they read them: ``"0.5"`` is a number, ``"yes"`` a flag, ``"low"`` the enum's ``LOW``. What one API
takes and the other does not is refused here too, by google-genai's converters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import did_you_mean

from .camel_case import snake
from .generated_tables import differing, tables

if TYPE_CHECKING:
    from pydantic import TypeAdapter

#: 64-bit integers are strings in JSON's mapping of protocol buffers.
INT64 = frozenset({"triggerTokens", "targetTokens"})
#: What other APIs take, and Live does not (ai.google.dev/api/live, 2026-09).
NOT_LIVE = frozenset({
    "responseLogprobs", "responseMimeType", "logprobs", "responseSchema", "responseJsonSchema", "stopSequences",
    "routingConfig", "audioTimestamp",
})  # fmt: skip
#: What other APIs call the choice of tools, which Live does not have.
TOOL_CHOICE = frozenset({"toolConfig", "toolChoice", "functionCallingConfig"})
#: The types that people give the name of a voice.
_OF_VOICE = frozenset({"SpeechConfig", "VoiceConfig", "PrebuiltVoiceConfig"})


@cache
def _reader(kind: str) -> tuple[TypeAdapter[Any], str]:
    """What reads values of this kind, and what messages call such a value.

    pydantic is imported here: ``import livetools`` does not pay for it.
    """
    from pydantic import Field, TypeAdapter

    kinds: Mapping[str, tuple[Any, str]] = {
        "number": (int | Annotated[float, Field(allow_inf_nan=False)], "a number"),
        "integer": (int, "a whole number"),
        "boolean": (bool, "True or False"),
        "string": (str, "a string"),
        "[string]": (list[str], "a list of strings"),
        "object": (dict[str, Any], "an object"),
        "list": (list[Any], "a list"),
    }
    read_as, called = kinds[kind]
    return TypeAdapter(read_as), called


def checked(value: Any, kind: str, path: str) -> Any:  # any JSON, in and out
    """``value`` as google-genai's ``kind`` (``"SpeechConfig"``, ``"[string]"`` …) reads it.

    ``path`` is its place, for messages. Raises :class:`ConfigError` for a name that the type does not have, and
    for a value that cannot be read as what it should be.
    """
    if kind in ("any", "bytes", "{any}"):  # the user's own, or base64 by now
        return value
    if kind.startswith("{"):
        if odd := [name for name, each in _as(value, "object", path).items() if not isinstance(each, str)]:
            raise ConfigError(f"{path}[{odd[0]!r}] is a {type(value[odd[0]]).__name__}: a string is expected")
        return value
    enums, fields = tables().enums, tables().types.get(kind)
    if kind.startswith("["):
        inner = kind[1:-1]
        read = _as(value, "[string]" if inner == "string" or inner in enums else "list", path)
        return [checked(each, inner, path) for each in read]
    if fields is not None:
        return _object(value, kind, fields, path)
    if kind in enums:
        text: str = _as(value, "string", path)
        return text.upper() if text.upper() in enums[kind] else text
    return _as(value, kind, path)


def _object(value: Any, kind: str, fields: Mapping[str, str], path: str) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, inner in _as(value, "object", path, kind).items():
        if name not in fields or (kind == "GenerationConfig" and name in NOT_LIVE):
            raise no_field(path, name, fields)
        # most fields of generation_config are in the config itself as well
        where = path.removesuffix(".generation_config") if name in tables().places else path
        made = checked(inner, fields[name], f"{where}.{snake(name)}")
        read[name] = str(made) if name in INT64 else made
    return read


def no_field(path: str, name: str, fields: Mapping[str, str]) -> ConfigError:
    """The error for a field that an object of the configuration does not have: what was meant, or what there is."""
    if why := not_in_live(name):
        return ConfigError(f"{path}.{snake(name)}: {why}")
    known = {each: snake(each) for each in sorted(fields)}
    hint = did_you_mean(name, known, count=3) or f"known: {', '.join(known.values()) or 'none'}"
    return ConfigError(f"{path} has no field {snake(name)!r}; {hint}")


def not_in_live(name: str) -> str | None:
    """Why there is no field of this name, which other APIs have; ``None``: they have none either."""
    if name in TOOL_CHOICE:
        return (
            "a Live session cannot force or forbid calls (python-genai#468). "
            "Use allowed=[...]: a call to another tool is answered with an error."
        )
    return "the Live API does not support it; leave it out" if name in NOT_LIVE else None


def _as(value: Any, kind: str, path: str, holder: str = "") -> Any:
    reader, called = _reader(kind)
    try:
        return reader.validate_python(value)
    except ValueError:  # pydantic's ValidationError is one
        # Of what should be text only a number is shown: an object in its place may be long.
        shown = f", {value!r:.40}" if isinstance(value, int | float) or kind != "string" else ""
        named = isinstance(value, str) and holder in _OF_VOICE
        hint = f"; for a voice alone: connect(voice={value!r:.40})" if named else ""
        raise ConfigError(f"{path} is a {type(value).__name__}{shown}: {called} is expected{hint}") from None


# What one API takes and the other does not


def for_api(message: Mapping[str, Any], name: str, *, vertexai: bool, path: str) -> None:
    """Make ``message`` one of the dialled API's: what it spells otherwise is renamed in place.

    ``name`` is the message's (``"setup"``, ``"clientContent"``); ``path`` is what the user calls it. Raises
    :class:`ConfigError` for a field that google-genai's converter to this API refuses. A flag that is ``False`` says
    nothing, and is left out.
    """
    for fields, spelling in differing(name, vertexai=vertexai):
        for holder in list(holders(message, fields)):
            value = holder.pop(fields[-1])
            if spelling:
                holder[spelling] = value
            elif value is not False:
                raise ConfigError(f"{_said(path, fields)} {_ONLY[vertexai]}; leave it out")


_ONLY = {
    True: "is only supported by the Gemini API, and this session uses Vertex AI (Gemini Enterprise Agent Platform)",
    False: "is only supported by Vertex AI (Gemini Enterprise Agent Platform), and this session uses the Gemini API",
}


def _said(path: str, fields: Sequence[str]) -> str:
    # most fields of generation_config are in the config itself as well; a history is the turns
    skipped = fields[0] == "turns" or (fields[0] == "generationConfig" and fields[1] in tables().places)
    return ".".join([path, *map(snake, fields[skipped:])])


def holders(value: Any, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The objects in ``value`` that have the field at the end of this path, through lists."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from holders(each, fields)
    elif isinstance(value, dict) and value.get(fields[0]) is not None:
        if len(fields) == 1:
            yield value
        else:
            yield from holders(value[fields[0]], fields[1:])
