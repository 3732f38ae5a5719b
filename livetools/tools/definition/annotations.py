"""Finds and resolves the annotations of a function's parameters."""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import inspect
import pathlib
import re
import sys
import types
import typing
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Required, Union

from typing_extensions import ReadOnly

from livetools.tools.interface.context import ToolContext

CONTEXT = re.compile(r"\bToolContext\b")


def function_of(target: Any) -> Any:
    """The innermost function that a callable runs: the place of its annotations, globals and docstring."""
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, type):
        target = vars(target).get("__init__", target)
    elif not inspect.isroutine(target):
        target = inspect.getattr_static(type(target), "__call__", target)
    return inspect.unwrap(getattr(target, "__func__", target))


def owner_of(target: Any) -> type | None:
    """The class in whose scope a bound method, or an object's ``__call__``, was written."""
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, type):
        return target
    if inspect.isroutine(target):
        bound = getattr(target, "__self__", None)
        return None if bound is None or isinstance(bound, types.ModuleType) else _class_of(bound)
    return type(target)


def _class_of(bound: object) -> type:
    return bound if isinstance(bound, type) else type(bound)


def place_of(target: object) -> str:
    """``file.py:12, name``: where a tool was written, for messages."""
    function = function_of(target)
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", None) or type(target).__name__
    return f"{code.co_filename}:{code.co_firstlineno}, {name}" if code else str(name)


def is_method(target: Any) -> bool:
    """Whether ``target`` is a function of a class's body whose ``self`` or ``cls`` is still to be given."""
    if not inspect.isfunction(target):
        return False
    outer = target.__qualname__.rpartition(".")[0]
    first = next(iter(inspect.signature(target).parameters), None)
    return bool(outer) and not outer.endswith("<locals>") and first in ("self", "cls")


def fields_of(typed_dict: Any) -> dict[str, tuple[Any, bool]]:
    """The fields of a typed dict, and whether each is required.

    ``Required``, ``NotRequired`` and ``ReadOnly`` are taken off. The class itself does not know what is
    required, where its annotations were written as text.
    """
    fields: dict[str, tuple[Any, bool]] = {}
    for name, hint in typing.get_type_hints(typed_dict, include_extras=True).items():
        required = name in typed_dict.__required_keys__
        while (origin := typing.get_origin(hint)) in (Required, NotRequired, ReadOnly):
            required = (required or origin is Required) and origin is not NotRequired
            (hint,) = typing.get_args(hint)
        fields[name] = hint, required
    return fields


class Unresolved(NameError):
    """An annotation written as text names something that does not exist (yet)."""


def resolve(function: Any, annotation: Any, owner: type | None = None) -> Any:
    """An annotation with every name in it looked up.

    Names are sought in the function's module; then in the classes around it (``owner``, of which it is a method, and
    those that enclose it); then among what its closure holds and the local variables of the functions and class bodies
    around it while they still run. A text with ``ToolContext`` in it whose argument is only imported for type checkers
    is ``ToolContext`` all the same. Raises :class:`Unresolved`.
    """
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    space = getattr(function, "__globals__", {})
    try:
        return typing.get_type_hints(holder, space, {}, include_extras=True)["it"]
    except NameError as error:
        missing = error
    around = {
        **_locals_around(function, space),
        **_closure(function),
        **_class_scopes(function, owner, space),
    }
    try:
        return typing.get_type_hints(holder, space, around, include_extras=True)["it"]
    except NameError:
        if isinstance(annotation, str) and CONTEXT.search(annotation):
            return ToolContext
        raise Unresolved(str(missing)) from None


def _class_scopes(function: Any, owner: type | None, space: Mapping[str, Any]) -> dict[str, Any]:
    """What the class of a method and the classes around that define, the innermost last."""
    found: dict[str, Any] = {}
    path = getattr(function, "__qualname__", "").rpartition(".<locals>.")[2].split(".")[:-1]
    scope: Any = space.get(path[0]) if path else None
    for name in [*path[1:], ""]:
        if isinstance(scope, type):
            found.update(vars(scope))
            scope = vars(scope).get(name)
    for one in reversed(owner.__mro__[:-1] if owner is not None else ()):
        found.update(vars(one))
    return found


def _closure(function: Any) -> dict[str, Any]:
    """The variables of enclosing functions that a function uses, which outlive them."""
    try:
        return dict(inspect.getclosurevars(function).nonlocals)
    except (TypeError, ValueError):
        return {}


def _locals_around(function: Any, space: object) -> dict[str, Any]:
    """Local variables of the enclosing functions and class bodies that are running now, the innermost last."""
    parts = getattr(function, "__qualname__", "").split(".")[:-1]
    outer = {".".join(parts[: i + 1]) for i in range(len(parts))}
    found: list[dict[str, Any]] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is space and frame.f_code.co_qualname in outer:
            found.append(dict(frame.f_locals))
        frame = frame.f_back
    return {k: v for space in reversed(found) for k, v in space.items()}


def context_of(annotation: Any) -> type[ToolContext[Any]] | None:
    """The class of the context that an annotation asks for; ``None`` for any other annotation.

    ``ToolContext``, ``ToolContext[X]`` and subclasses; any of these in ``Annotated``, with ``| None``, behind a
    ``type`` statement, a ``NewType`` or the bound of a type variable.
    """
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return context_of(typing.get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return next((found for a in typing.get_args(annotation) if (found := context_of(a))), None)
    named = origin or annotation
    for attribute in ("__value__", "__supertype__", "__bound__"):
        meant = getattr(named, attribute, None)
        if meant is not None and not isinstance(named, type):
            return context_of(meant)
    return named if isinstance(named, type) and issubclass(named, ToolContext) else None


CONTAINERS = frozenset((list, dict, set, frozenset, tuple, Union, types.UnionType))
_PLAIN = CONTAINERS | {str, int, float, bool, bytes, type(None), Any, decimal.Decimal, uuid.UUID}
_PLAIN |= {pathlib.Path, datetime.date, datetime.datetime, datetime.time, datetime.timedelta}


def is_plain(annotation: Any) -> bool:
    """Whether pydantic is known to take this annotation, so that nothing need be built to find out."""
    if typing.get_origin(annotation) is Literal:
        return True
    if typing.get_origin(annotation) in CONTAINERS:
        return all(a is Ellipsis or is_plain(a) for a in typing.get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return True
    return isinstance(annotation, typing.Hashable) and annotation in _PLAIN


class Argument(NamedTuple):
    """A parameter that the model fills."""

    name: str
    annotation: Any
    default: Any  # inspect.Parameter.empty: required
    kind: inspect._ParameterKind

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty and self.kind is not inspect.Parameter.VAR_POSITIONAL
