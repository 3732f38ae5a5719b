"""Reads a function's parameters: which of them the model fills, and how its arguments are passed."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typing_extensions

from livetools.errors import ToolDefinitionError
from livetools.tools.definition.annotations import (
    Argument,
    Unresolved,
    context_of,
    fields_of,
    function_of,
    is_method,
    is_plain,
    owner_of,
    place_of,
    resolve,
)
from livetools.tools.interface.context import ToolContext

if TYPE_CHECKING:
    from .validator import Validator

_EMPTY = inspect.Parameter.empty
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
KEYWORD = inspect.Parameter.KEYWORD_ONLY
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


class Signature:
    """What a callable takes.

    ``arguments`` maps the name of each parameter that the model fills to its :class:`Argument`; ``context``
    is the name of the ``ToolContext`` parameter, if there is one; ``open`` is true for a function with
    ``**kwargs``.

    Made in microseconds; the pydantic type is built at the first use of :meth:`bind` or :meth:`json_schema`.
    Raises ``ToolDefinitionError`` for parameters that cannot be declared.
    """

    def __init__(
        self, target: Any, name: str, *, method: bool = False, hints: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.hints: dict[str, Any] = dict(hints or {})
        self.place = place_of(target)
        self.arguments: dict[str, Argument] = {}
        self.context: str | None = None
        self.context_type: type[ToolContext[Any]] = ToolContext
        self._kinds: dict[str, inspect._ParameterKind] = {}
        self._rest: Any = None  # the annotation of **kwargs
        self.open = False
        scope = function_of(target), owner_of(target)
        try:
            parameters = list(_parameters(target))
        except (TypeError, ValueError) as error:
            raise self.error(
                f"its parameters cannot be read ({error}); wrap it in a function of yours"
            ) from None
        bound = _dispatches(target) and not hasattr(target, "dispatch")  # a singledispatchmethod of an object
        if not method and not bound and is_method(target):
            raise self.error(f"it is a method without an object: pass instance.{name}, not the class's")
        if method or bound:
            parameters = parameters[1:]
        for parameter in parameters:
            self._add(parameter, scope)
        self._order = self._by_position()
        if (
            _dispatches(target) and not self._order
        ):  # by the class of its first argument, which it takes by position
            self._order = tuple(self.arguments)[:1]
        self._collects = next((n for n, kind in self._kinds.items() if kind is VAR_POSITIONAL), None)

    def error(self, what: str) -> ToolDefinitionError:
        """An error whose text begins with the place of the function."""
        return ToolDefinitionError(f"{self.place}: {what}")

    def _add(self, parameter: inspect.Parameter, scope: tuple[Any, type | None]) -> None:
        name = parameter.name
        annotation = self._resolved(parameter, *scope)
        context = context_of(annotation)
        if context is not None:
            if self.context is not None:
                raise self.error(f"{self.context!r} and {name!r} are both a ToolContext; one is enough")
            self.context, self.context_type, self._kinds[name] = name, context, parameter.kind
        elif parameter.kind is VAR_KEYWORD:
            self._add_rest(annotation)
        else:
            default = parameter.default
            if _is_field(default):  # x: int = Field(5, ge=1): pydantic fills it in
                annotation = typing.Annotated[annotation if annotation is not _EMPTY else Any, default]
                default = _EMPTY if default.is_required() else default.get_default(call_default_factory=False)
            self._kinds[name] = parameter.kind
            self.arguments[name] = Argument(name, annotation, default, parameter.kind)

    def _resolved(self, parameter: inspect.Parameter, function: Any, owner: type | None) -> Any:
        name = parameter.name
        if parameter.annotation is _EMPTY or name in self.hints:
            return self.hints.get(name, _EMPTY)
        try:
            self.hints[name] = resolve(function, parameter.annotation, owner)
        except Unresolved as error:
            raise self.error(f"the annotation of {name!r} cannot be resolved: {error}") from error
        except Exception as error:
            raise self.error(
                f"{parameter.annotation!r} is not an annotation for {name!r}: {error}"
            ) from error
        return self.hints[name]

    def _add_rest(self, annotation: Any) -> None:
        if typing.get_origin(annotation) in (typing.Unpack, typing_extensions.Unpack):
            (fields,) = typing.get_args(annotation)
            for name, (hint, required) in fields_of(fields).items():
                default = _EMPTY if required else None
                self.arguments[name] = Argument(name, hint, default, KEYWORD)
        else:
            self.open, self._rest = True, annotation

    def _by_position(self) -> tuple[str, ...]:
        """The names that must be passed by position: all before ``*args``, or the positional-only ones."""
        kinds = (_POSITIONAL, EITHER) if VAR_POSITIONAL in self._kinds.values() else (_POSITIONAL,)
        return tuple(name for name, kind in self._kinds.items() if kind in kinds)

    def is_alike(self, other: Signature) -> bool:
        """Whether another callable takes the same: the same types, and the same objects where it has defaults."""
        shape = (
            self.place,
            self.name,
            self.context,
            self.context_type,
            self.open,
            self._order,
            self._collects,
        )
        theirs = (other.place, other.name, other.context, other.context_type, other.open, other._order)
        if shape != (*theirs, other._collects) or self.arguments.keys() != other.arguments.keys():
            return False
        pairs = zip(self.arguments.values(), other.arguments.values(), strict=True)
        try:
            return bool(self._rest == other._rest) and all(
                one.kind is two.kind and one.default is two.default and bool(one.annotation == two.annotation)
                for one, two in pairs
            )
        except Exception:  # an annotation may hold any object, and compare it in its own way
            return False

    def renamed(self, name: str) -> Signature:
        """A copy under another name, which the texts of its errors use."""
        other = copy.copy(self)
        other.name = name
        return other

    def check(self) -> None:
        """Raise ``ToolDefinitionError``, with the parameter, where an annotation cannot be declared.

        Builds nothing for annotations that are known to be fine.
        """
        annotations = [a.annotation for a in self.arguments.values()] + ([self._rest] if self.open else [])
        if not all(annotation is _EMPTY or is_plain(annotation) for annotation in annotations):
            self.json_schema()

    def json_schema(self) -> Mapping[str, Any]:
        """The arguments as plain JSON Schema, with their defaults."""
        return self._json_schema

    @functools.cached_property
    def _json_schema(self) -> Mapping[str, Any]:
        return self._validator.json_schema()

    @functools.cached_property
    def _validator(self) -> Validator:
        from .validator import Validator

        return Validator(self.arguments, self._rest, self.error)

    def validated(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """``args``, validated, and the defaults of those left out. Raises ``InvalidArguments``."""
        values = self._validator.validate(self.name, args)
        for name in self._kinds.keys() & self.arguments.keys() - values.keys():
            if not self.arguments[name].required:
                values[name] = () if name == self._collects else self.arguments[name].default
        return {name: values[name] for name in (*self.arguments, *values) if name in values}

    def bind(
        self, args: Mapping[str, Any], context: ToolContext[Any] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """``args``, validated, as positional and keyword arguments. Raises ``InvalidArguments``."""
        values = self._validator.validate(self.name, args)
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


def _dispatches(target: Any) -> bool:
    """Whether this is made by ``functools.singledispatch`` or ``singledispatchmethod``."""
    return (
        inspect.isfunction(target)
        and hasattr(target, "__wrapped__")
        and callable(getattr(target, "register", None))
    )


def _is_field(default: object) -> bool:
    """Whether a default is pydantic's ``Field(...)``, which it can be only if pydantic was imported."""
    fields = sys.modules.get("pydantic.fields")
    return fields is not None and isinstance(default, fields.FieldInfo)


def _parameters(target: Any) -> Iterator[inspect.Parameter]:
    """The parameters that a caller may give; those that a partial has fixed are left out.

    Raises ``ValueError`` or ``TypeError`` for a callable that tells nothing of its parameters.
    """
    fixed: Mapping[str, Any] = target.keywords if isinstance(target, functools.partial) else {}
    for parameter in inspect.signature(target).parameters.values():
        if parameter.name not in fixed:
            yield parameter
