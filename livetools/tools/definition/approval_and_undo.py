"""Calls the user's ``approval`` and ``undo``, with the call's context where they take one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal

from livetools.tools.interface.context import ToolContext

from .annotations import Unresolved, context_of, function_of, owner_of, resolve

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

Place = Literal["", "positional", "keyword"]


def fits(function: Any, count: int) -> bool:
    """Whether the function can be called with so many arguments, or with these and the context."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a built-in that says nothing of its parameters
        return True
    place = _context_place(function, signature, count)
    extra = (None,) if place == "positional" else ()
    named = {_named(function, signature): None} if place == "keyword" else {}
    try:
        signature.bind(*(None,) * count, *extra, **named)
    except TypeError:
        return False
    return True


def with_context(
    function: Callable[..., Any], args: Sequence[object], context: ToolContext[Any]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments and keyword arguments of the function: ``args``, and the context where it takes one."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return tuple(args), {}
    place = _context_place(function, signature, len(args))
    if place == "positional":
        return (*args, context), {}
    return tuple(args), ({_named(function, signature): context} if place == "keyword" else {})


def _context_place(function: Any, signature: inspect.Signature, count: int) -> Place:
    """How the function takes a context beside its ``count`` arguments.

    By position, where one parameter more is required, or the next one is a ``ToolContext`` by its annotation or is
    called ``context``; a further parameter with a default is the function's own business.
    """
    if _named(function, signature):
        return "keyword"
    positional = [p for p in signature.parameters.values() if p.kind in POSITIONAL]
    if len(positional) <= count:
        return ""
    following = positional[count]
    required = following.default is inspect.Parameter.empty
    return "positional" if required or _is_for_context(function, following) else ""


def _named(function: Any, signature: inspect.Signature) -> str:
    """The keyword-only parameter for the context, if there is one."""
    only = [p for p in signature.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return next((p.name for p in only if _is_for_context(function, p)), "")


def _is_for_context(function: Any, parameter: inspect.Parameter) -> bool:
    if parameter.name == "context":
        return True
    try:
        meant = resolve(function_of(function), parameter.annotation, owner_of(function))
        return context_of(meant) is not None
    except (Unresolved, TypeError, SyntaxError):
        return False
