"""A function's parameters as one pydantic type: what the model may send, and how it reaches the function."""

from __future__ import annotations

import copy
import enum
import functools
import inspect
import json
import math
import typing
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

import typing_extensions
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from livetools.protocol.errors import ToolDefinitionError

from . import arguments
from .annotations import Unresolved, fields_of, function_of, is_context, is_method, place_of, resolve
from .context import ToolContext
from .fitting import fit, is_plain
from .generate import ToolSchema

EMPTY = inspect.Parameter.empty
POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
KEYWORD = inspect.Parameter.KEYWORD_ONLY
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


class Argument(NamedTuple):
    """A parameter that the model fills."""

    name: str
    annotation: Any
    default: Any  # EMPTY: required
    kind: inspect._ParameterKind

    @property
    def required(self) -> bool:
        return self.default is EMPTY and self.kind is not VAR_POSITIONAL


class Signature:
    """What a callable takes.

    ``arguments`` maps the name of each parameter that the model fills to its :class:`Argument`; ``context``
    is the name of the ``ToolContext`` parameter, if there is one; ``open`` is true for a function with
    ``**kwargs``.

    Made in microseconds; the pydantic type is built at the first use of :meth:`validate` or
    :meth:`json_schema`. Raises ``ToolDefinitionError`` for parameters that cannot be declared.
    """

    def __init__(
        self, target: Any, name: str, *, method: bool = False, hints: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.hints: dict[str, Any] = dict(hints or {})
        self.place = place_of(target)
        self.arguments: dict[str, Argument] = {}
        self.context: str | None = None
        self._kinds: dict[str, inspect._ParameterKind] = {}
        self._rest: Any = None  # the annotation of **kwargs
        self.open = False
        function = function_of(target)
        try:
            parameters = list(_parameters(target))
        except (TypeError, ValueError) as error:
            raise self.error(
                f"its parameters cannot be read ({error}); wrap it in a function of yours"
            ) from None
        if not method and is_method(target):
            raise self.error(f"it is a method without an object: pass instance.{name}, not the class's")
        if method:
            parameters = parameters[1:]
        for parameter in parameters:
            self._add(function, parameter)
        self._order = self._by_position()
        self._collects = next((n for n, kind in self._kinds.items() if kind is VAR_POSITIONAL), None)

    def error(self, what: str) -> ToolDefinitionError:
        """An error that says where the function stands."""
        return ToolDefinitionError(f"{self.place}: {what}")

    def _add(self, function: Any, parameter: inspect.Parameter) -> None:
        name = parameter.name
        annotation = self._resolved(function, parameter)
        if is_context(annotation):
            if self.context is not None:
                raise self.error(f"{self.context!r} and {name!r} are both a ToolContext; one is enough")
            self.context, self._kinds[name] = name, parameter.kind
        elif parameter.kind is VAR_KEYWORD:
            self._add_rest(annotation)
        else:
            default = parameter.default
            if isinstance(default, FieldInfo):  # x: int = Field(5, ge=1): pydantic fills it in
                annotation = typing.Annotated[annotation if annotation is not EMPTY else Any, default]
                default = EMPTY if default.is_required() else default.get_default(call_default_factory=False)
            self._kinds[name] = parameter.kind
            self.arguments[name] = Argument(name, annotation, default, parameter.kind)

    def _resolved(self, function: Any, parameter: inspect.Parameter) -> Any:
        name = parameter.name
        if parameter.annotation is EMPTY or name in self.hints:
            return self.hints.get(name, EMPTY)
        try:
            self.hints[name] = resolve(function, parameter.annotation)
        except Unresolved as error:
            raise self.error(f"the annotation of {name!r} cannot be resolved: {error}") from error
        except Exception as error:
            raise self.error(f"{parameter.annotation!r} is no annotation for {name!r}: {error}") from error
        return self.hints[name]

    def _add_rest(self, annotation: Any) -> None:
        if typing.get_origin(annotation) in (typing.Unpack, typing_extensions.Unpack):
            (fields,) = typing.get_args(annotation)
            for name, (hint, required) in fields_of(fields).items():
                default = EMPTY if required else None
                self.arguments[name] = Argument(name, hint, default, KEYWORD)
        else:
            self.open, self._rest = True, annotation

    def _by_position(self) -> tuple[str, ...]:
        """The names that must be passed by position: all before ``*args``, or the positional-only ones."""
        kinds = (POSITIONAL, EITHER) if VAR_POSITIONAL in self._kinds.values() else (POSITIONAL,)
        return tuple(name for name, kind in self._kinds.items() if kind in kinds)

    def renamed(self, name: str) -> Signature:
        """A copy under another name, which the texts of its errors use."""
        other = copy.copy(self)
        other.name = name
        return other

    def check(self) -> None:
        """Raise ``ToolDefinitionError``, with the parameter, where an annotation cannot be declared.

        Builds nothing for annotations that are known to be fine.
        """
        if not all(a.annotation is EMPTY or is_plain(a.annotation) for a in self.arguments.values()):
            self.json_schema()

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[dict[str, Any]]:
        try:
            return _adapter(self.name, {a.name: a for a in self.arguments.values()})
        except (PydanticUserError, TypeError, NameError, ValueError) as error:
            raise self._blame(error) from error

    @functools.cached_property
    def _rest_adapter(self) -> TypeAdapter[dict[str, Any]]:
        return TypeAdapter(dict[str, fit(self._rest)])  # type: ignore[misc, arg-type]  # the user's annotation

    def _blame(self, error: Exception) -> ToolDefinitionError:
        """The error with the name of the parameter that causes it."""
        for argument in self.arguments.values():
            try:
                _adapter(self.name, {argument.name: argument}).json_schema(schema_generator=ToolSchema)
            except Exception as reason:
                text = str(reason).strip().splitlines()[0]
                kind = getattr(argument.annotation, "__name__", None) or str(argument.annotation)
                return self.error(
                    f"parameter {argument.name!r}: {kind} cannot be declared to a model ({text})"
                )
        return self.error(f"its parameters cannot be declared to a model ({error})")

    def json_schema(self) -> dict[str, Any]:
        """The parameters as plain JSON Schema, with their defaults. A new dict each time."""
        try:
            schema = self._adapter.json_schema(schema_generator=ToolSchema)
        except PydanticUserError as error:
            raise self._blame(error) from error
        for name, inner in schema.get("properties", {}).items():
            argument = self.arguments.get(name)
            default = None if argument is None else _sayable(argument.default)
            if default is not None:
                inner.setdefault("default", default)
        if self.open:
            rest = self._rest_adapter.json_schema(schema_generator=ToolSchema)
            schema["additionalProperties"] = rest.get("additionalProperties", True)
        return schema

    def validate(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function wants them; those left out stay out, so that its own defaults hold.

        A value that does not fit is looked at again: a text that holds JSON, a whole number written ``3.0``,
        ``null`` for a parameter that has a default. Raises ``InvalidArguments``.
        """
        if not self.open:
            return self._fitted(self._adapter, dict(args))
        own = {k: v for k, v in args.items() if k in self.arguments}
        rest = {k: v for k, v in args.items() if k not in self.arguments and k != self.context}
        return {**self._fitted(self._rest_adapter, rest), **self._fitted(self._adapter, own)}

    def _fitted(self, adapter: TypeAdapter[dict[str, Any]], args: dict[str, Any]) -> dict[str, Any]:
        validate = adapter.validator.validate_python
        try:
            return validate(args)  # type: ignore[no-any-return]  # a dict by construction
        except ValidationError as error:
            again = self._second_reading(args, error)
        try:
            return validate(again)  # type: ignore[no-any-return]  # a dict by construction
        except ValidationError as error:
            as_sent = {k: v for k, v in args.items() if not isinstance(again.get(k), list | dict)}
            raise arguments.explain(self.name, error, {**again, **as_sent}, list(self.arguments)) from None

    def _second_reading(self, args: dict[str, Any], error: ValidationError) -> dict[str, Any]:
        """The arguments, those that did not fit read with more patience."""
        again = dict(args)
        for name in {detail["loc"][0] for detail in error.errors(include_url=False, include_input=False)}:
            if not isinstance(name, str) or name not in args:
                continue
            argument = self.arguments.get(name)
            if args[name] is None and argument is not None and not argument.required:
                del again[name]
            else:
                again[name] = _patient(args[name])
        return again

    def bind(
        self, args: Mapping[str, Any], context: ToolContext[Any] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """``args``, validated, as positional and keyword arguments. Raises ``InvalidArguments``."""
        values = self.validate(args)
        if self.context is not None:
            values[self.context] = context
        if not self._order and self._collects is None:
            return (), values
        positional = tuple(
            [values.pop(name) if name in values else self.arguments[name].default for name in self._order]
        )
        if self._collects is not None:
            positional += tuple(values.pop(self._collects, ()))
        return positional, values


def _adapter(name: str, parameters: Mapping[str, Argument]) -> TypeAdapter[dict[str, Any]]:
    """A TypedDict and no model: its fields may bear any name (``model_config``, ``self``, ``_x``)."""
    fields: dict[str, Any] = {}
    for argument in parameters.values():
        annotation = fit(argument.annotation)
        if argument.kind is VAR_POSITIONAL:
            annotation = list[annotation]  # type: ignore[valid-type]  # an annotation of the user's
        fields[argument.name] = annotation if argument.required else typing_extensions.NotRequired[annotation]
    shape = typing_extensions.TypedDict(name, fields)  # type: ignore[misc]  # made at run time
    shape.__pydantic_config__ = ConfigDict(extra="forbid", json_schema_extra=_without_title)  # type: ignore[attr-defined]
    return TypeAdapter(cast(Any, shape))


def _without_title(schema: dict[str, Any]) -> None:
    schema.pop("title", None)


def _sayable(default: object) -> str | float | None:
    """A default as a model is told of it: a text, a number, true or false, an enum of those; else
    ``None``.
    """
    plain = default.value if isinstance(default, enum.Enum) else default
    if isinstance(plain, str | int) or (isinstance(plain, float) and math.isfinite(plain)):
        return plain
    return None


def _patient(value: object) -> object:
    """A text that holds JSON as that JSON; a number such as 3.0 as 3, at any depth."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_patient(v) if not isinstance(v, str) else v for v in value]
    if isinstance(value, dict):
        return {k: _patient(v) if not isinstance(v, str) else v for k, v in value.items()}
    return value


def _parameters(target: Any) -> Iterator[inspect.Parameter]:
    """The parameters that a caller may give; those that a partial has fixed are left out.

    Raises ``ValueError`` or ``TypeError`` for a callable that tells nothing of its parameters.
    """
    fixed: Mapping[str, Any] = target.keywords if isinstance(target, functools.partial) else {}
    for parameter in inspect.signature(target).parameters.values():
        if parameter.name not in fixed:
            yield parameter
