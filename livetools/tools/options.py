"""The options of a tool, defined once: ``@tool``, ``Tool`` and the plan read them here."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Literal, TypedDict

from livetools.protocol.errors import ToolDefinitionError
from livetools.protocol.plan_types import APPROVAL_TIMEOUT

from .callbacks import fits

BEHAVIORS = ("BLOCKING", "NON_BLOCKING", "BACKGROUND")
SCHEDULINGS = ("INTERRUPT", "WHEN_IDLE", "SILENT")


class ToolOptions(TypedDict, total=False):
    """The options of a tool. Each is optional; what is left out is decided by the model's profile."""

    name: str
    """What the model calls it; the function's own name otherwise. The service takes 64 characters."""
    description: str
    """What it does, for the model; the docstring without its sections of arguments otherwise."""
    behavior: str | enum.Enum | None
    """``"blocking"``: the model waits for the answer. ``"non_blocking"``: it talks on. ``"background"``: it
    is told at once that the work is under way, and the result follows as text. Any case; google-genai's enum
    too.
    """
    scheduling: str | enum.Enum | None
    """When a non-blocking answer is spoken of: ``"interrupt"``, ``"when_idle"``, ``"silent"``."""
    timeout: float | None
    """Seconds until the model is told ``timed out``; ``None``: never. Else the session's ``tool_timeout``."""
    concurrency: int | None
    """How many calls of this tool run at once; further ones wait."""
    cancellable: bool
    """``False``: a call that is cancelled runs to its end all the same; its result is not sent."""
    undo: Callable[..., object] | None
    """``undo(call, result)`` or ``undo(call, result, context)``, sync or async: run once when a call that had
    started is cancelled, timed out, or was cut off by the session's end. ``result`` is what the function returned,
    ``None`` where it raised, or still runs in its thread 2 s after the session's end."""
    approval: bool | Callable[..., object]
    """``True``: a person must approve each call. A callable, sync or async, ``approval(args)`` or
    ``approval(args, context)``, is asked with the validated arguments (name → value, defaults included): true, and
    a person must approve; ``ToolError``, and the call is refused with its text; false, and it runs. A call whose
    arguments do not fit is answered with that error, and nobody is asked."""
    approval_timeout: float
    """Seconds until an approval that nobody gives is a refusal."""
    duplicates: Literal["run", "join"]
    """``"join"``: a call of equal arguments, while one is running, is answered with that one's result."""
    executor: Executor | None
    """Where a sync function runs; threads of the session's own otherwise."""
    max_result_bytes: int | None
    """A longer response is cut, visibly."""


DEFAULTS: Mapping[str, Any] = {
    "behavior": None,
    "scheduling": None,
    "concurrency": None,
    "cancellable": True,
    "undo": None,
    "approval": False,
    "approval_timeout": APPROVAL_TIMEOUT,
    "duplicates": "run",
    "executor": None,
    "max_result_bytes": None,
}
"""``name`` and ``description`` come from the function, ``timeout`` from the session: absent unless given."""


def resolve(options: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Check the options. ``behavior`` and ``scheduling`` are returned as the wire spells them; no default is added.

    Raises ``ToolDefinitionError``, with ``where`` (the file and the function), for an option that does not
    exist or a value that cannot be.
    """
    unknown = set(options) - set(ToolOptions.__annotations__)
    if unknown:
        known = ", ".join(ToolOptions.__annotations__)
        raise ToolDefinitionError(
            f"{where}: no such option: {', '.join(sorted(unknown))}. The options are {known}"
        )
    resolved = dict(options)
    try:
        if "behavior" in resolved:
            resolved["behavior"] = behavior_of(resolved["behavior"])
        if "scheduling" in resolved:
            resolved["scheduling"] = scheduling_of(resolved["scheduling"])
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"{where}: {error}") from None
    for name, (right, wanted) in _CHECKS.items():
        if name in resolved and not right(resolved[name]):
            raise ToolDefinitionError(f"{where}: {name}={resolved[name]!r} should be {wanted}")
    return resolved


def behavior_of(value: object) -> str | None:
    """One of ``BEHAVIORS`` or ``None``, from a string of any case or an enum."""
    return _word("behavior", value, BEHAVIORS)


def scheduling_of(value: object) -> str | None:
    """One of ``SCHEDULINGS`` or ``None``, from a string of any case or an enum."""
    return _word("scheduling", value, SCHEDULINGS)


def _word(name: str, value: object, words: tuple[str, ...]) -> str | None:
    if value is None:
        return None
    plain = value.value if isinstance(value, enum.Enum) else value
    if isinstance(plain, str):
        wire = plain.upper().replace("-", "_")
        if wire in words:
            return wire
        if wire in ("UNSPECIFIED", "SCHEDULING_UNSPECIFIED"):
            return None
    raise ToolDefinitionError(f"{name}={plain!r} should be one of {', '.join(w.lower() for w in words)}")


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _count(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda v: isinstance(v, str), "a string"),
    "description": (lambda v: isinstance(v, str), "a string"),
    "timeout": (lambda v: v is None or _positive(v), "a number of seconds above 0, or None"),
    "concurrency": (_count, "a whole number above 0, or None"),
    "cancellable": (lambda v: isinstance(v, bool), "True or False"),
    "undo": (
        lambda v: v is None or (callable(v) and fits(v, 2)),
        "a callable, undo(call, result) or undo(call, result, context)",
    ),
    "approval": (
        lambda v: isinstance(v, bool) or (callable(v) and fits(v, 1)),
        "True, False or a callable, approval(args) or approval(args, context)",
    ),
    "approval_timeout": (_positive, "a number of seconds above 0"),
    "duplicates": (lambda v: v in ("run", "join"), "'run' or 'join'"),
    "executor": (
        lambda v: v is None or callable(getattr(v, "submit", None)),
        "a concurrent.futures.Executor",
    ),
    "max_result_bytes": (_count, "a whole number above 0, or None"),
}
