"""Turns a configuration (a ``LiveConnectConfig`` or its dict) into the fields of the setup message.

Only shapes are known here, no model: each field of google-genai's ``LiveConnectConfig`` goes to its place, by the
tables of :mod:`livetools.setup.sdk`, which read the values too. google-genai itself is not imported: its types are
pydantic models, and dump themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from livetools.errors import ConfigError

from .did_you_mean import NOT_LIVE
from .sdk.camel_case import camel, snake
from .sdk.config_values import dumped, no_field, read_as, several
from .sdk.generated_tables import tables

Object: TypeAlias = dict[str, Any]  # of JSON


def both_set(one: str, other: str) -> ConfigError:
    """The error for what is given twice."""
    return ConfigError(f"{one} and {other} are both set: pass only one of them")


def wire_model(model: str, *, vertexai: bool, project: str | None = None, location: str | None = None) -> str:
    """``model`` as the setup names it: ``models/…``, on Vertex AI ``projects/…/publishers/google/models/…``.

    Without a project and a location (a key for Vertex's express mode) the path begins with ``publishers``.
    """
    if not model.strip("/") or any(c.isspace() or c in "?&#" for c in model) or ".." in model:
        raise ConfigError(f"{model!r} is not a model's name: pass one such as 'gemini-3.8-live'")
    if not vertexai:
        return model if "/" in model else f"models/{model}"
    if model.startswith("projects/"):
        return model
    path = model.removeprefix("models/")
    if "/" not in path:
        path = f"publishers/google/models/{path}"
    return f"projects/{project}/locations/{location}/{path}" if project and location else path


def read(config: object) -> Object:
    """The fields that ``config`` sets, by their camelCase names, as JSON; ``tools`` and ``http_options`` as they are.

    ``config`` is a ``LiveConnectConfig``, its dict in either casing, what this function has returned, or ``None``. A
    field set to ``None`` or ``False`` by hand is kept, as ``None``: it removes a default. Raises :class:`ConfigError`
    for an unknown or a doubled name, for what Live does not take (``response_schema`` …), and for a value that is not
    of its type.
    """
    if config is None:
        return {}
    if hasattr(config, "model_fields_set"):
        config = {name: getattr(config, name) for name in sorted(config.model_fields_set)}
    if not isinstance(config, Mapping):
        raise ConfigError(f"config is a {type(config).__name__}: expected a LiveConnectConfig or a dict")
    kinds, inside = tables().types["LiveConnectConfig"], tables().types["GenerationConfig"]
    found: Object = {}
    for name, value in config.items():
        key = camel(name)
        if key in inside.keys() - kinds.keys() - NOT_LIVE:
            raise ConfigError(f"config has no field {name!r}; it belongs inside config.generation_config")
        if key not in kinds:
            raise no_field("config", key, kinds)
        if key in found:
            raise ConfigError(f"config names {snake(key)} twice, in both casings")
        if value is True and kinds[key] == "AudioTranscriptionConfig":
            value = {}
        elif value is False and key not in _NOT_COPIED:
            value = None  # every flag's default; and what is an object is turned off
        elif key == "responseModalities" and value is not None:
            value = several(value)
        kept = value is None or key in _NOT_COPIED
        found[key] = value if kept else read_as(value, kinds[key], f"config.{snake(key)}")
    return found


#: Fields that are no part of the setup as they are: the options are the endpoint's, the tools the plan's.
_NOT_COPIED = frozenset({"httpOptions", "tools"})


def add_speech(setup: Object, voice: object, language: object, *, replace: bool = False) -> None:
    """Put a prebuilt voice and a language (BCP-47) into the speech config of a setup; nothing for what is ``None``.

    Raises :class:`ConfigError` for what is not a name, and, unless it is to be replaced, for what is given twice.
    """
    for name, value, key, example in (
        ("voice", voice, "voiceConfig", "Kore"),
        ("language", language, "languageCode", "en-US"),
    ):
        if value is None:
            continue
        if not (isinstance(value, str) and value.strip()):
            raise ConfigError(f"{name}={value!r:.60}: pass a name, such as {example!r}")
        speech = setup.setdefault("generationConfig", {}).setdefault("speechConfig", {})
        if key in speech and not replace:
            raise both_set(name, f"config.speech_config.{snake(key)}")
        speech[key] = {"prebuiltVoiceConfig": {"voiceName": value}} if name == "voice" else value


def setup(fields: Object, instructions: object = None) -> Object:
    """The setup object of the fields that :func:`read` gave, each at its place, without model and tools.

    Raises :class:`ConfigError` for a field given twice (at the top and in ``generation_config``).
    """
    out: Object = {}
    generation = dict(fields.get("generationConfig") or {})
    for key, value in fields.items():
        if key in _NOT_COPIED or key == "generationConfig" or value is None:
            continue
        target = generation if tables().places[key] else out
        if key in target:
            raise both_set(f"config.{snake(key)}", f"config.generation_config.{snake(key)}")
        target[key] = value
    if generation:
        out["generationConfig"] = generation
    if instructions:
        if "systemInstruction" in out:
            raise both_set("instructions", "config.system_instruction")
        out["systemInstruction"] = read_as(instructions, "Content", "instructions")
    return out


def http_options(fields: Object) -> Object:
    """``config.http_options``: ``baseUrl``, ``apiVersion``, ``headers``; as google-genai, no more in Live."""
    value, path = fields.get("httpOptions"), "config.http_options"
    value = {} if value is None else read_as(value, "object", path)
    given = {camel(name): option for name, option in value.items() if option is not None}
    kinds = {"baseUrl": "string", "apiVersion": "string", "headers": "object"}
    if more := sorted(given.keys() - kinds.keys()):
        names = ", ".join(snake(n) for n in more)
        raise ConfigError(
            f"config.http_options: a Live session takes base_url, api_version and headers, not {names}. "
            "Proxies, certificates and timeouts belong to transport=WebSocket(...)"
        )
    return {name: read_as(option, kinds[name], f"{path}.{snake(name)}") for name, option in given.items()}


def wants_v1alpha(fields: Object) -> bool:
    """Whether the configuration asks for what the Gemini API takes in v1alpha only (2026-10-22, four models).

    Anywhere else: ``Unknown name "proactivity" at 'setup'``.
    """
    generation = fields.get("generationConfig") or {}
    affective = fields.get("enableAffectiveDialog") or generation.get("enableAffectiveDialog")
    return bool(affective) or fields.get("proactivity") is not None


def history(contents: object) -> tuple[Object, ...]:
    """A conversation as ``contents``: each with ``role`` (``user`` or ``model``) and ``parts``, in camelCase.

    Takes dicts and google-genai's ``Content``. Raises :class:`ConfigError` that names the entry.
    """
    if contents is None:
        return ()
    if isinstance(contents, (str, bytes, Mapping)) or not isinstance(contents, Iterable):
        raise ConfigError("history is a list of contents: [{'role': 'user', 'parts': [{'text': ...}]}, ...]")
    return tuple(_turn(entry, f"history[{n}]") for n, entry in enumerate(contents))


def _turn(entry: object, where: str) -> Object:
    given = dumped(entry)
    if not isinstance(given, Mapping) or "parts" not in given:
        raise ConfigError(f"{where}: expected {{'role': ..., 'parts': [...]}}, not {entry!r:.60}")
    if given.get("role") not in ("user", "model"):
        raise ConfigError(f"{where}: role must be 'user' or 'model', not {given.get('role')!r}")
    if not given["parts"]:
        raise ConfigError(f"{where} has no parts; leave it out")
    turn: Object = read_as(given, "Content", where)  # all of it is new
    for part in turn["parts"]:
        answer = part.get("functionResponse", {})
        if "response" in answer:
            answer["response"] = without_references(answer["response"], wrap=True)
    return turn


def without_references(value: Any, *, wrap: bool = False) -> Any:  # JSON
    """A value with every object that has a key ``$ref`` as its JSON text: Gemini 3 takes ``$ref`` in a response for the
    name of a part, and refuses it. ``wrap``: what is returned is an object."""
    if isinstance(value, dict):
        if "$ref" in value:
            text = json.dumps(value, ensure_ascii=False)
            return {"output": text} if wrap else text
        return {key: without_references(inner) for key, inner in value.items()}
    return [without_references(inner) for inner in value] if isinstance(value, list) else value
