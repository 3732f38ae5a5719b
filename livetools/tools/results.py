"""Turns any return value into the JSON object of a function response.

Every value can be encoded, and nothing raises: a call that is never answered would leave the model waiting. What JSON
does not have becomes, at any depth:

==================================  ==========================================================================
dataclass, pydantic, attrs,         object
namedtuple, mapping
list, tuple, set, iterator          array (a set sorted where it can be; at most 10,000 values of an iterator,
                                    100,000 of a collection other than list, tuple, dict)
Enum                                its value
date, time, datetime                ISO 8601
timedelta                           ISO 8601, in seconds: ``PT90S``
Decimal, UUID, path, complex        text
bytes                               base64 text
NaN, infinity                       null; neither is JSON, and the service closes the session for them
int beyond 2**53                    text: ``Struct`` holds doubles, which would change the digits
numpy arrays and scalars            what ``tolist()`` gives
an exception                        a ``ToolError``'s text; of any other only its class
an instance of any other class      object, of the fields that the class annotates
anything else                       its ``str`` if its class wrote one, else ``<ClassName>``; the log says so
a lone surrogate                    ``\\ufffd``
a circle, more than 60 levels       ``"…"``
past 200,000 values in all          ``"…"`` for what follows: a few lists that hold each other have no end
==================================  ==========================================================================
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import inspect
import itertools
import logging
import math
import pathlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from typing import Any, TypeAlias

from livetools.errors import ToolError
from livetools.protocol.calls.actions import Outcome
from livetools.setup.frozen import frozen
from livetools.setup.plan_types import RESPONSE_KEY
from livetools.setup.unexpected_keyword import explains_keywords

from .agent import Agent
from .media import parts
from .options import scheduling_of
from .shrink import shrink

__all__ = ["ToolResult", "encode", "error_outcome", "failure", "outcome", "parts", "shrink", "tool_error"]

log = logging.getLogger("livetools.tools")

Json: TypeAlias = Any  # any JSON value; spelt out, it could not be indexed without a cast

KEYS = frozenset({"output", "result", "content", "error"})  # a dict with one of them is a response already
EXACT = 2**53  # whole numbers up to here are exact in a double
DEEPEST = 60  # levels
MOST = 10_000  # values of an iterator
LAZY = 100_000  # values of a sequence or mapping that need not lie in memory, such as a range
ALL = 200_000  # values in one result, then no further container is looked into


@explains_keywords(
    **dict.fromkeys(("result", "output", "response", "content", "data"), "value="),
    **dict.fromkeys(("final", "hang_up", "close", "ends"), "ends_session="),
    **dict.fromkeys(("images", "image", "media", "files"), "parts="),
    **dict.fromkeys(("agent", "transfer", "transfer_to", "next_agent"), "handoff="),
    **dict.fromkeys(("error", "is_error"), "raise ToolError(...)"),
)
@frozen
class ToolResult:
    """A return value with more than the value: scheduling, media, a hand-off, the end of the session.

    ``scheduling``: ``"interrupt"``, ``"when_idle"`` or ``"silent"``, for this answer only (left out if the model
    refuses it). ``ends_session``: the session closes after the model's last words. ``parts``: images or text for models
    that read media in function responses, each ``(data, mime_type)``, ``{"inlineData": {...}}``, or google-genai's
    ``Part``, ``Blob``, ``FunctionResponsePart``. ``handoff``: the :class:`~livetools.Agent` with which the conversation
    continues.

    Raises ``ToolDefinitionError`` for another scheduling, ``TypeError`` for another kind of part or of agent.

    ::

        def hang_up() -> ToolResult:
            \"\"\"End the conversation.\"\"\"
            return ToolResult("Goodbye.", ends_session=True)

        print(await Tool(hang_up).call({}))
    """

    value: object = None
    _: dataclasses.KW_ONLY
    scheduling: str | enum.Enum | None = None
    ends_session: bool = False
    parts: Sequence[object] = ()
    handoff: Agent | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheduling", scheduling_of(self.scheduling))
        object.__setattr__(self, "parts", parts(self.parts))
        if self.handoff is not None and not isinstance(self.handoff, Agent):
            raise TypeError(f"handoff is a {type(self.handoff).__name__}: an Agent(...) is expected")


def encode(value: object, key: str = "output") -> dict[str, Json]:
    """The response object for ``value``: JSON-safe, under ``key``.

    A dict that already has ``output``, ``result``, ``content`` or ``error`` among its keys goes out as it is.
    Never raises.
    """
    simple = _SIMPLE.get(type(value))
    if simple is not None:
        return {key: simple(value)}
    try:
        clean = _clean(value, (_Budget(),))
    except Exception:  # a property, an iterator or a __dict__ of the user's that raises
        return failure("the result could not be put into words")
    if isinstance(value, BaseException):
        return {"error": clean}
    if type(clean) is dict and not KEYS.isdisjoint(clean):
        return clean
    return {key: clean}


def failure(text: str) -> dict[str, Json]:
    """The response object of a call that failed."""
    return {"error": _text(text)}


def outcome(value: object, key: str = RESPONSE_KEY, max_bytes: int | None = None) -> Outcome:
    """What a handler returned (a value or a :class:`ToolResult`) as the outcome of its call. Never raises."""
    if isinstance(value, ToolResult):
        response = encode(value.value, key)
        done = Outcome(response, None, value.scheduling, value.ends_session, value.parts, value.value)  # type: ignore[arg-type]  # normalised in __post_init__
        done.handoff = value.handoff
    else:
        done = Outcome(encode(value, key), result=value)
    if max_bytes is not None:
        done.response = shrink(dict(done.response), max_bytes)
    return done


def error_outcome(error: BaseException, name: str) -> Outcome:
    """What a handler raised as the outcome of its call: a ``ToolError``'s text, of anything else nothing."""
    meant = tool_error(error)
    text = "" if meant is None else _words(meant)
    raised = error if isinstance(error, Exception) else RuntimeError(f"it raised {type(error).__name__}")
    if meant is not None and not (isinstance(error, BaseExceptionGroup) and error.split(ToolError)[1]):
        raised = meant  # nothing else was raised, that somebody would have to look into
    return Outcome(failure(text or f"{name} failed"), raised)


def tool_error(error: BaseException) -> ToolError | None:
    """What the model may read of an error: a ``ToolError``, or those in a group as one, their texts joined."""
    if isinstance(error, ToolError):
        return error
    found = list(_tool_errors(error))
    return found[0] if len(found) == 1 else ToolError("; ".join(map(_words, found))) if found else None


def _tool_errors(error: BaseException) -> Iterator[ToolError]:
    if isinstance(error, ToolError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _tool_errors(inner)


def _text(value: str) -> str:
    """``value`` without lone surrogates, which UTF-8 cannot carry."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(value)


class _Budget:
    """How many values a result may still have."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = ALL


Above: TypeAlias = tuple[Any, ...]  # a _Budget, and the ids of the containers that a value stands in


def _clean(value: object, above: Above) -> Json:
    """``value`` as JSON."""
    simple = _SIMPLE.get(type(value))
    if simple is not None:
        return simple(value)
    budget = above[0]
    if id(value) in above or len(above) > DEEPEST or budget.left <= 0:
        return "…"
    budget.left -= 1 + (len(value) if isinstance(value, dict | list | tuple) else 0)
    above = (*above, id(value))
    if isinstance(value, dict):
        return {k if type(k) is str and k.isascii() else _key(k): _clean(v, above) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean(v, above) for v in value]
    for kind, convert in _KINDS:
        if isinstance(value, kind):
            return convert(value, above)
    return _object(value, above)


def _key(key: object) -> str:
    """A key of an object: text as it is, an enum by its value, anything else as JSON would write it."""
    if isinstance(key, enum.Enum):
        key = key.value
    clean = _clean(key, (_Budget(),))
    if isinstance(clean, str):
        return clean
    if clean is None or isinstance(clean, bool):
        return {None: "null", True: "true", False: "false"}[clean]
    return str(key)


def _integer(value: int) -> Json:
    if -EXACT <= value <= EXACT:
        return int(value)
    try:
        return str(int(value))
    except ValueError:  # more digits than sys.get_int_max_str_digits() allows
        return hex(value)


def _real(value: float) -> Json:
    return float(value) if math.isfinite(value) else None


def _seconds(value: datetime.timedelta) -> str:
    seconds = value / datetime.timedelta(microseconds=1) / 1e6
    number = f"{abs(seconds):.6f}".rstrip("0").rstrip(".")
    return f"{'-' if seconds < 0 else ''}PT{number}S"


def _base64(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode()


def _set(value: Set[object], above: Above) -> Json:
    values = list(_some(value, above, LAZY))
    try:
        return [_clean(v, above) for v in sorted(values)]  # type: ignore[type-var]  # tried
    except TypeError:
        return [_clean(v, above) for v in values]


def _some(values: Iterable[object], above: Above, most: int) -> Iterator[object]:
    """At most so many of them, and each counts."""
    budget = above[0]
    for value in itertools.islice(values, most):
        budget.left -= 1
        if budget.left <= 0:
            return
        yield value


def _iterator(value: Iterable[object], above: Above) -> Json:
    return [_clean(v, above) for v in _some(value, above, MOST)]


def _mapping(value: Mapping[object, object], above: Above) -> Json:
    return {_key(k): _clean(value[k], above) for k in _some(value, above, LAZY)}


def _sequence(value: Sequence[object], above: Above) -> Json:
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return _fields(value, fields, above)
    values = value if isinstance(value, tuple) else _some(value, above, LAZY)
    return [_clean(v, above) for v in values]


def _fields(value: object, names: Sequence[str], above: Above) -> Json:
    return {_text(name): _clean(getattr(value, name), above) for name in names if hasattr(value, name)}


def _object(value: object, above: Above) -> Json:
    """An instance of some class."""
    kind = type(value)
    dump = getattr(kind, "model_dump", None)
    if callable(dump):  # pydantic
        return _clean(dump(value), above)
    if dataclasses.is_dataclass(kind):
        return _fields(value, [f.name for f in dataclasses.fields(kind)], above)
    if hasattr(kind, "__attrs_attrs__"):
        return _fields(value, [a.name for a in kind.__attrs_attrs__], above)
    if callable(getattr(kind, "tolist", None)):  # numpy
        return _clean(value.tolist(), above)  # type: ignore[attr-defined]  # asked above
    if isinstance(value, type) or inspect.isroutine(value):
        return _words(value)
    names = [name for name in _annotated(kind) if hasattr(value, name)]
    if names:
        return _fields(value, names, above)
    log.warning(
        "a %s has no annotated fields: the model gets only its text. Return a dict, or annotate the class",
        kind.__name__,
    )
    return _words(value)


def _annotated(kind: type) -> list[str]:
    """The fields that a class annotates, those it inherits first; private ones and class variables are left out."""
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        found |= inspect.get_annotations(base)
    return [name for name, hint in found.items() if not name.startswith("_") and "ClassVar" not in str(hint)]


def _words(value: object) -> str:
    """The ``str`` of an object whose class wrote one. Never raises."""
    kind = type(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return f"<{value.__name__}>"
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return f"<{kind.__name__}>"
    try:
        return _text(str(value))
    except Exception:
        return f"<{kind.__name__}>"


def _exception(value: BaseException, above: Above) -> str:
    meant = tool_error(value)
    return type(value).__name__ if meant is None else _words(meant)


def _plain(value: str) -> str:
    return value if value.isascii() else _text(value)


_SIMPLE: dict[type, Callable[[Any], Json]] = {
    str: _plain,
    int: _integer,
    float: _real,
    bool: lambda v: v,
    type(None): lambda v: v,
}

_KINDS: tuple[tuple[Any, Callable[[Any, Above], Json]], ...] = (
    (enum.Enum, lambda v, above: _clean(v.value, above)),
    (str, lambda v, _: _text(str.__str__(v))),
    (int, lambda v, _: _integer(v)),
    (float, lambda v, _: _real(v)),
    (datetime.date | datetime.time, lambda v, _: v.isoformat()),
    (datetime.timedelta, lambda v, _: _seconds(v)),
    (decimal.Decimal, lambda v, _: str(v) if v.is_finite() else None),
    (uuid.UUID | pathlib.PurePath | complex, lambda v, _: _text(str(v))),
    (bytes | bytearray | memoryview, lambda v, _: _base64(v)),
    (BaseException, _exception),
    (Mapping, _mapping),
    (Set, _set),
    (Sequence, _sequence),
    (Iterator | ValuesView, _iterator),
)
