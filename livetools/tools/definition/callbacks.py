"""Calls the user's ``approval`` and ``undo``, with the call's context where they take one, and finds a method of the
user's that would never be called, because its name is misspelt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from livetools.setup.did_you_mean import near_names
from livetools.setup.sdk.camel_case import snake
from livetools.tools.interface.context import ToolContext

from .annotations import Unresolved, context_of, function_of, owner_of, resolve

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

#: The share of a name, 0 to 1, that a method must have in common with the one that was meant: a letter or two differ.
#: ``is_allowed`` and ``cancel`` are helpers, and no misspelt ``on_allowed`` and ``on_cancel``.
MEANT = 0.86
#: Words that say nothing more beside the name of a method: ``before_tool_call``, ``check_headers``.
SAY_NOTHING = frozenset({
    "call", "calls", "callback", "check", "headers", "hook", "message", "request", "text", "tool", "tools",
})  # fmt: skip

_Place = Literal["", "positional", "keyword"]


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


def _context_place(function: Any, signature: inspect.Signature, count: int) -> _Place:
    """How the function takes a context beside its ``count`` arguments.

    By position, where one parameter more is required, or the next one is a ``ToolContext`` by its annotation or is
    called ``context``; a further parameter with a default is the function's own business.
    """
    if _named(function, signature):
        return "keyword"
    positional = [p for p in signature.parameters.values() if p.kind in _POSITIONAL]
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


def overrides(value: object, base: type, name: str) -> bool:
    """Whether the object has this method, and not merely as it inherits it from ``base``."""
    method = getattr(value, name, None)
    return callable(method) and getattr(method, "__func__", method) is not getattr(base, name)


def misspelt(value: object, base: type, names: Collection[str]) -> str:
    """``befor: did you mean before?`` for the first public method of the object that was meant to be one of ``names``,
    the methods of ``base``, and would never be called; empty if no method was.

    Only a method that the object does not override can have been meant, and only by one that takes as many arguments.
    """
    missing = [name for name in names if not overrides(value, base, name)]
    for name in own_methods(value, base):
        meant = _meant(name, missing)
        if meant and fits(getattr(value, name), len(inspect.signature(getattr(base, meant)).parameters) - 1):
            return f"{name}: did you mean {meant}?"
    return ""


def own_methods(value: object, base: type) -> list[str]:
    """The public methods of the object that ``base`` does not have."""
    return [
        name
        for kind in type(value).__mro__
        if kind not in base.__mro__
        for name, method in vars(kind).items()
        if not (name.startswith("_") or hasattr(base, name))
        and (callable(method) or isinstance(method, staticmethod | classmethod))
    ]


def _meant(name: str, known: Collection[str]) -> str:
    """The method that was meant: ``before`` by ``befor``, ``Before``, ``before_call`` and ``check_before``."""
    word = snake(name).lower()
    words = set(word.split("_"))
    whole = [each for each in known if (own := set(each.split("_"))) <= words and words - own <= SAY_NOTHING]
    near = whole or near_names(word, known, cutoff=MEANT)
    return near[0] if near else ""
