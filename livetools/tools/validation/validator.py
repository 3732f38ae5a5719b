"""Validates the arguments of a call with pydantic, and gives their JSON Schema.

Separate from :mod:`.signature`, so that ``import livetools`` need not import pydantic (some 50 ms).
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

import typing_extensions
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic_core import PydanticSerializationError

from livetools.errors import ToolDefinitionError
from livetools.tools.definition.annotations import Argument
from livetools.tools.schemas.python_types import ToolSchema, as_default

from .enum_members import with_members
from .invalid_arguments import MANY, explain, unknown
from .pydantic_annotations import fit
from .strictness import is_strict, strict_fields

LONGEST_DEFAULT = (
    500  # characters of JSON; what is longer tells a model little and costs tokens in each setup
)


class Validator:
    """The arguments of a call, and, for a function with ``**kwargs``, what else may come.

    ``rest`` is the annotation of ``**kwargs``, ``None`` for a function without. ``fail`` makes the error for what
    cannot be declared, with its place. The types are built at their first use.
    """

    def __init__(
        self, arguments: Mapping[str, Argument], rest: Any, fail: Callable[[str], ToolDefinitionError]
    ) -> None:
        self._arguments, self._rest, self._fail = arguments, rest, fail

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[dict[str, Any]]:
        try:
            return _adapter(self._arguments)
        except Exception as error:  # pydantic raises many kinds, and an annotation may bring code of its own
            raise self._blame(error) from error

    @functools.cached_property
    def _rest_adapter(self) -> TypeAdapter[dict[str, Any]]:
        try:
            return TypeAdapter(dict[str, fit(self._rest)])  # type: ignore[misc, arg-type]  # the user's annotation
        except Exception as error:
            reason = _explanation(error)
            raise self._fail(f"the annotation of ** cannot be declared to a model{reason}") from error

    @functools.cached_property
    def _strict(self) -> frozenset[str]:
        """The parameters in which something is strict, which are read by JSON's rules."""
        return strict_fields(self._adapter.core_schema)

    @functools.cached_property
    def _read_leniently(self) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
        """Reads the arguments at once, where nothing in them is strict and there is no rest."""
        return None if self._rest is not None or self._strict else self._adapter.validator.validate_python

    @functools.cached_property
    def _rest_strict(self) -> bool:
        return is_strict(self._rest_adapter.core_schema)

    def _blame(self, error: Exception) -> ToolDefinitionError:
        """The error with the name of the parameter that causes it."""
        for argument in self._arguments.values():
            try:
                _adapter({argument.name: argument}).json_schema(schema_generator=ToolSchema)
            except Exception as reason:
                annotation = argument.annotation
                name = None if get_args(annotation) else getattr(annotation, "__name__", None)
                kind = name or re.sub(r"(\w+\.|<locals>\.)+", "", str(annotation))
                return self._fail(
                    f"parameter {argument.name!r}: {kind} cannot be declared to a model{_explanation(reason)}"
                )
        return self._fail(f"its parameters cannot be declared to a model ({error})")

    def json_schema(self) -> dict[str, Any]:
        """The arguments as plain JSON Schema, with their defaults. A new dict each time."""
        try:
            schema = self._adapter.json_schema(schema_generator=ToolSchema)
        except Exception as error:
            raise self._blame(error) from error
        for name, inner in schema.get("properties", {}).items():
            argument = self._arguments.get(name)
            default = None if argument is None else _sayable(argument.default)
            if _is_secret(inner):
                inner.pop("default", None)
            elif default is not None:
                inner.setdefault("default", default)
        if self._rest is not None:
            rest = self._rest_adapter.json_schema(schema_generator=ToolSchema)
            schema["additionalProperties"] = rest.get("additionalProperties", True)
        return schema

    def validate(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Validate the arguments and convert them to the annotated types. What is left out stays out: defaults hold.

        A value that does not fit is looked at again: a text that holds an array or an object, a whole number written
        ``3.0``, ``null`` for a parameter that has a default. What is strict is read by the rules of JSON. Raises
        ``InvalidArguments``.
        """
        if self._rest is None and len(args) > len(self._arguments) + MANY:
            raise unknown(name, args, list(self._arguments))
        if (read := self._read_leniently) is not None:
            try:
                return read(dict(args))
            except ValidationError as error:
                if error.error_count() > MANY:
                    raise explain(
                        name, error, args, list(self._arguments)
                    ) from None  # else it is looked at again
        if self._rest is None:
            return self._fitted(name, self._adapter, bool(self._strict), dict(args))
        own = {k: v for k, v in args.items() if k in self._arguments}
        rest = {k: v for k, v in args.items() if k not in self._arguments}
        return {
            **self._fitted(name, self._rest_adapter, self._rest_strict, rest),
            **self._fitted(name, self._adapter, bool(self._strict), own),
        }

    def _fitted(
        self, name: str, adapter: TypeAdapter[dict[str, Any]], strict: bool, args: dict[str, Any]
    ) -> dict[str, Any]:
        try:
            return _read(adapter, args, strict)
        except ValidationError as error:
            if error.error_count() > MANY:
                raise explain(name, error, args, list(self._arguments)) from None
            again = self._second_reading(args, error)
        try:
            return _read(adapter, again, strict)
        except ValidationError as error:
            failed = error
        try:
            return _with_members(adapter, again, strict)
        except ValidationError:
            as_sent = {k: v for k, v in args.items() if not isinstance(again.get(k), list | dict)}
            raise explain(name, failed, {**again, **as_sent}, list(self._arguments)) from None

    def _second_reading(self, args: dict[str, Any], error: ValidationError) -> dict[str, Any]:
        """The arguments, those that did not fit read leniently: JSON in a text, 3.0 for 3, null for a default."""
        again = dict(args)
        places = [detail["loc"] for detail in error.errors(include_url=False, include_input=False)]
        for name in {place[0] for place in places if place}:  # none, where a name is not lawful text
            if not isinstance(name, str) or name not in args:
                continue
            argument = self._arguments.get(name)
            if args[name] is None and argument is not None and not argument.required:
                del again[name]
            else:
                again[name] = _patient(args[name])
        return again


def _read(adapter: TypeAdapter[dict[str, Any]], args: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The arguments, validated; where something is strict, as the JSON that they came in.

    Raises ``ValidationError``.
    """
    if strict:
        try:
            return adapter.validator.validate_json(json.dumps(args))  # type: ignore[no-any-return]  # a dict by construction
        except ValidationError as error:
            if error.error_count() > 1 or error.errors(include_url=False)[0]["type"] != "json_invalid":
                raise
        except (TypeError, ValueError, RecursionError):  # not from a model: a test passes a date itself
            pass
    return adapter.validator.validate_python(args)  # type: ignore[no-any-return]  # a dict by construction


def _with_members(adapter: TypeAdapter[dict[str, Any]], args: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The arguments, validated with the members of enums in the place of their values and names.

    Raises ``ValidationError``.
    """
    try:
        return _read(adapter, with_members(adapter.core_schema, args), strict)
    except ValidationError:
        if not strict:
            raise
    made = with_members(adapter.core_schema, args, strict=True)
    return adapter.validator.validate_python(made)  # type: ignore[no-any-return]  # a dict by construction


def _adapter(arguments: Mapping[str, Argument]) -> TypeAdapter[dict[str, Any]]:
    """A TypedDict and no model: its fields may bear any name (``model_config``, ``self``, ``_x``)."""
    fields: dict[str, Any] = {}
    for argument in arguments.values():
        annotation = fit(argument.annotation)
        if argument.kind is inspect.Parameter.VAR_POSITIONAL:
            annotation = list[annotation]  # type: ignore[valid-type]  # an annotation of the user's
        fields[argument.name] = annotation if argument.required else typing_extensions.NotRequired[annotation]
    shape = typing_extensions.TypedDict("arguments", fields)  # type: ignore[misc]  # made at run time
    shape.__pydantic_config__ = ConfigDict(extra="forbid", json_schema_extra=_without_title)  # type: ignore[attr-defined]
    return TypeAdapter(cast(Any, shape))


def _explanation(reason: Exception) -> str:
    """Why an annotation cannot be declared, and what to write instead. Where its own code raised: what that said."""
    if isinstance(reason, PydanticSchemaGenerationError | PydanticInvalidForJsonSchema):
        return (
            ", for JSON has no such values. Use str, int, float, bool, list, dict, Literal, an Enum, a dataclass, a"
            " TypedDict or a pydantic model; what your program provides, not the model, is read from"
            " ToolContext.deps, which connect(deps=...) sets"
        )
    lines = str(reason).strip().splitlines()
    return f" ({lines[0] if lines else type(reason).__name__})"


def _without_title(schema: dict[str, Any]) -> None:
    schema.pop("title", None)


def _sayable(default: object) -> Any:
    """A default as the declaration shows it: as JSON, or ``None`` if it has no JSON form or is long."""
    if default is None or default is inspect.Parameter.empty:
        return None
    try:
        made = as_default(default, base64_bytes=True)
        if made in ([], {}):
            return None
        return made if isinstance(made, str) or len(json.dumps(made)) <= LONGEST_DEFAULT else None
    except (PydanticSerializationError, TypeError, ValueError, RecursionError):
        return None


def _is_secret(schema: object) -> bool:
    """Whether a value of this schema is not to be shown: pydantic's ``SecretStr`` and similar types."""
    if isinstance(schema, Mapping):
        return bool(schema.get("writeOnly")) or any(map(_is_secret, schema.values()))
    return isinstance(schema, list) and any(map(_is_secret, schema))


def _patient(value: object) -> object:
    """A text that holds an array, an object or null as that; 3.0 as 3, at any depth, as JSON Schema has it."""
    if isinstance(value, str):
        try:
            held = json.loads(value)
        except (ValueError, RecursionError):
            return value
        if held is not None and not isinstance(held, list | dict):
            return value
        value = held
    return _whole(value)


def _whole(value: object) -> object:
    """Numbers such as 3.0 as 3, at any depth."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(v) for v in value]
    if isinstance(value, dict):
        return {k: _whole(v) for k, v in value.items()}
    return value
