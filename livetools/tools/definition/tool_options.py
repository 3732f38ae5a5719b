"""The options of a tool, defined once: ``@tool``, ``Tool`` and the plan read them here."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Literal, TypedDict

from livetools.errors import ToolDefinitionError
from livetools.setup.defaults import APPROVAL_TIMEOUT
from livetools.setup.plan_fields import is_seconds

from .callbacks import fits, overrides

BEHAVIORS = ("BLOCKING", "NON_BLOCKING", "BACKGROUND")
SCHEDULINGS = ("INTERRUPT", "WHEN_IDLE", "SILENT")
#: The service's rule for the names of functions.
TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")


class ToolOptions(TypedDict, total=False):
    """The options of a tool. All are optional; for ``behavior``, the model's profile decides if it is left out."""

    name: str
    """The name that the model uses; by default the function's own. At most 64 characters."""
    description: str
    """What it does, for the model; by default the docstring without its argument sections."""
    behavior: str | enum.Enum | None
    """``"blocking"``: the model waits for the answer. ``"non_blocking"``: it keeps talking. ``"background"``: it learns
    at once that the work is under way, and the result follows as text. In any case, or google-genai's enum.
    """
    scheduling: str | enum.Enum | None
    """When the model speaks about a non-blocking answer: ``"interrupt"``, ``"when_idle"``, ``"silent"``."""
    timeout: float | None
    """Seconds until the tool is stopped and the model gets ``timed out``; ``None``: never. By default the session's
    ``tool_timeout``."""
    concurrency: int | None
    """How many calls of this tool run at once; further calls wait."""
    cancellable: bool
    """``False``: a cancelled call still runs to its end; its result is not sent."""
    undo: Callable[..., object] | None
    """``undo(call, result)`` or ``undo(call, result, context)``, sync or async: runs once if a call that had started is
    cancelled, times out or is cut off by the session's end. ``result`` is what the function returned, or ``None`` if it
    raised, or still runs in its thread 2 s after the session's end."""
    approval: bool | Callable[..., object]
    """``True``: a person must approve each call. A callable, sync or async, ``approval(args)`` or
    ``approval(args, context)``, gets the validated arguments (name → value, defaults included). If it returns true, a
    person must approve; if false, the call runs; if it raises ``ToolError``, the call is refused with that text.
    Invalid arguments are answered with an error before anybody is asked."""
    approval_timeout: float
    """Seconds after which a call that nobody approves is refused."""
    duplicates: Literal["run", "join"]
    """``"join"``: a call with the arguments of one that is running gets the result of that one."""
    executor: Executor | None
    """Where a sync function runs; by default the session's own threads."""
    max_result_bytes: int | None
    """A longer response is cut, and says so."""
    retries: int | None
    """How often the model may correct a call: after so many in a row with invalid arguments or a ``ToolError``, the
    next error tells it to stop trying. ``None``: as often as it likes. livetools itself never runs a call again."""


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
    "retries": None,
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
            value = resolved[name]
            if name in _PARAMETERS and callable(value):
                raise ToolDefinitionError(
                    f"{where}: {name}={value!r} has the wrong parameters: it must take {_PARAMETERS[name]}"
                )
            raise ToolDefinitionError(f"{where}: {name}={value!r} should be {wanted}")
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


def _count(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


#: What the callables among the options take.
_PARAMETERS: Mapping[str, str] = {"undo": "(call, result[, context])", "approval": "(args[, context])"}

_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda v: isinstance(v, str), "a string"),
    "description": (lambda v: isinstance(v, str), "a string"),
    "timeout": (lambda v: v is None or is_seconds(v), "a number of seconds above 0, or None"),
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
    "approval_timeout": (is_seconds, "a number of seconds above 0"),
    "duplicates": (lambda v: v in ("run", "join"), "'run' or 'join'"),
    "executor": (
        lambda v: v is None or overrides(v, Executor, "submit"),
        "a concurrent.futures.Executor, with submit()",
    ),
    "max_result_bytes": (_count, "a whole number above 0, or None"),
    "retries": (lambda v: _count(v) or (type(v) is int and v == 0), "a whole number from 0, or None"),
}
