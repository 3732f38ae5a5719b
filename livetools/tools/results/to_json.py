"""Turns any Python value into JSON that a model can read.

What JSON does not have becomes, at any depth:

==================================  ==========================================================================
dataclass, pydantic, attrs,         object
namedtuple, mapping
row (``sqlite3.Row``, SQLAlchemy)   object, by its columns
table (pandas, polars, arrow,       array of objects; an index that is more than a count is a column
numpy records)
list, tuple, set, iterator          array (a set sorted where it can be; at most 10,000 values of an iterator,
                                    100,000 of a collection other than list, tuple, dict)
Enum                                its value
date, time, datetime                ISO 8601
timedelta                           ISO 8601, in seconds: ``PT90S``
Decimal, UUID, path, complex        text
bytes that are UTF-8                text
other bytes inside a larger value   ``[2 bytes that are not text]``
image, sound, video, PDF, as bytes  ``[an image: image/png, 70 bytes]``, and a part beside the response
or as ``PIL.Image``, ``Part`` …
NaN, infinity, ``NaT``, ``NA``      null; none of them is JSON, and the service closes the session for them
int beyond 2**53                    text: ``Struct`` holds doubles, which would change the digits
numpy arrays and scalars            what ``tolist()`` gives
object with a key ``$ref``          its JSON text: Gemini 3 takes ``$ref`` for the name of a part, and refuses it
an exception                        a ``ToolError``'s text; of any other only its class
an instance of any other class      object, of the fields that the class annotates, else its ``str`` if its class wrote
                                    one
a lone surrogate                    ``\\ufffd``
a circle, more than 60 levels       ``"…"``
past 200,000 values in all          ``"…"`` for what follows: a few lists that hold each other have no end
==================================  ==========================================================================

:class:`Unsayable` is raised for what has no such form: a result of bytes that are neither text nor media, keys that are
one in JSON, an object with nothing to tell.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import gc
import inspect
import io
import itertools
import json
import math
import pathlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from typing import Any, TypeAlias

import msgspec
from pydantic_core import PydanticSerializationError

from livetools.errors import ToolError
from livetools.log import get_logger
from livetools.protocol.messages.lenient_json import Json

from .media import BYTES, MediaPart, ResponsePart, Unsayable, is_function_response, media_of, parts
from .tool_result import ToolResult

log = get_logger("livetools.tools")


EXACT = 2**53  # whole numbers up to here are exact in a double
_DEEPEST = 60  # levels
_MOST = 10_000  # values of an iterator
LAZY = 100_000  # values of a sequence or mapping that need not lie in memory, such as a range
MAX_VALUES = 200_000  # values in one result, then no further container is looked into
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
REFERENCE = "$ref"
_LARGE = 500  # values; a result of more is copied as a whole, if it can be
_PLAIN = frozenset({dict, list})
_NAMES = tuple(
    f'"{name}"'.encode() for name in ("$ref", "inlineData", "inline_data", "fileData", "file_data")
)
_LONG = b"0" * 16  # digits of a number that may lie beyond EXACT
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)


def clean(value: object) -> tuple[Json, list[ResponsePart], bytes | None]:
    """``value`` as JSON, the media in it, and the text of that JSON if it had to be made. Raises :class:`Unsayable`,
    and what a user's object raises."""
    if type(value) in _PLAIN and _LARGE < _count(value) < MAX_VALUES and (copied := _copy(value)) is not None:
        return copied[0], [], copied[1]
    if (simple := SIMPLE.get(type(value))) is not None:
        return simple(value), [], None
    found: list[ResponsePart] = []
    return _clean(value, (_State(found),)), found, None


def place_of_failure(value: Any) -> tuple[str, object]:
    """The place in a result, such as ``bill[0]``, of what has made :func:`clean` raise, and what is there. The whole
    result is at ``""``. Looks into dicts and lists, and makes each value in them once more."""
    path = ""
    while type(value) in (dict, list, tuple):
        items = value.items() if type(value) is dict else enumerate(value)
        found = next(((key, each) for key, each in items if _fails(each)), None)
        if found is None:  # not the values: the keys, or what was read only once
            break
        path += f"[{found[0]}]" if type(value) is not dict else f"{'.' if path else ''}{_name_of(found[0])}"
        value = found[1]
    return path, value


def _name_of(key: object) -> str:
    try:
        return text(str(key))
    except Exception:
        return f"a key of the class {type(key).__name__}"


def _fails(value: object) -> bool:
    try:
        _clean(value, (_State([]), 0))  # as a value inside of another
    except Exception:
        return True
    return False


def _count(value: Any) -> int:
    """The values and keys in a dict or list and in those inside of it, up to :data:`MAX_VALUES` or a little more.

    :data:`MAX_VALUES` where containers are nested more deeply than :data:`_DEEPEST`: a copy of the whole would not cut
    them.
    """
    level, count = [value], 1
    for _ in range(_DEEPEST):
        if not level or count >= MAX_VALUES:
            return count
        held = gc.get_referents(*level)  # a whole level at once: the interpreter knows what a container holds
        count += len(held)
        level = [one for one in held if type(one) in _PLAIN]
    return MAX_VALUES if level else count


def _copy(value: Any) -> tuple[Json, bytes] | None:
    """A copy of a large value that is JSON as it is, and its text: what comes back of that is equal to it. ``None``: it
    is not, or something in it is to be told otherwise. A third of the time that looking at every value takes."""
    try:
        encoded = msgspec.json.encode(value)
        if any(name in encoded for name in _NAMES) or _LONG in encoded.translate(_DIGITS):
            return None
        copied = msgspec.json.decode(encoded)
        return (copied, encoded) if copied == value else None
    except Exception:  # something in it is not JSON, or has an __eq__ that raises
        return None


class _State:
    """How many values a result may still have, and the media found in it."""

    __slots__ = ("found", "left")

    def __init__(self, found: list[ResponsePart]) -> None:
        self.left, self.found = MAX_VALUES, found


Above: TypeAlias = tuple[Any, ...]  # a _State, the ids of the containers around a value, and its own
ALONE = 2  # its length for a value that is the whole result


def _clean(value: object, above: Above) -> Json:
    """``value`` as JSON."""
    kind = type(value)
    if (simple := SIMPLE.get(kind)) is not None:
        return simple(value)
    state = above[0]
    if id(value) in above or len(above) > _DEEPEST or state.left <= 0:
        return "…"
    state.left -= 1 + (len(value) if isinstance(value, dict | list | tuple) else 0)
    above = (*above, id(value))
    if kind is dict:
        return _dict(value, above)  # type: ignore[arg-type]  # by its class
    if kind is list or kind is tuple:
        return _list(value, above)  # type: ignore[arg-type]  # by its class
    if (special := _special(value, above)) is not _ORDINARY:
        return special
    for known, convert in _KINDS:
        if isinstance(value, known):
            return convert(value, above)
    return _object(value, above)


# Containers, of which most hold nothing but texts, numbers and further containers: those are looked at as a whole.

_HOLDERS = frozenset({"inlineData", "inline_data", "fileData", "file_data"})
_TELLING = _HOLDERS | {REFERENCE}
_AS_IT_IS = frozenset({bool, type(None)})
_ONLY_TEXT = frozenset({str})


def _list(values: Sequence[Any], above: Above) -> Json:
    kinds = set(map(type, values))
    if kinds <= _AS_IT_IS or (kinds == _ONLY_TEXT and "".join(values).isascii()):
        return list(values)
    return [
        v if (t := type(v)) is str and v.isascii() else f(v) if (f := SIMPLE.get(t)) else _clean(v, above)
        for v in values
    ]


def _dict(value: dict[Any, Any], above: Above) -> Json:
    named = set(map(type, value)) <= _ONLY_TEXT and "".join(value).isascii()
    ordinary = named and _TELLING.isdisjoint(value)
    if not ordinary and not _HOLDERS.isdisjoint(value) and (media := _media_in(value)) is not None:
        return _shown(media, above)
    made = {
        (k if named else _key(k)): v
        if (t := type(v)) is str and v.isascii()
        else f(v)
        if (f := SIMPLE.get(t))
        else _clean(v, above)
        for k, v in value.items()
    }
    return made if ordinary else _checked(made, value)


def _media_in(value: Mapping[Any, Any]) -> MediaPart | None:
    """The media that a dict holds as the API has them; one that only looks like that is a dict as any other."""
    try:
        return media_of(value)
    except TypeError:
        return None


def _checked(made: dict[str, Json], keys: Iterable[object]) -> Json:
    """An object, if no two of its keys are one in JSON; its JSON text where Gemini would look for a part."""
    counted = list(keys)
    if len(made) < len(counted):
        seen: dict[str, object] = {}
        for key in counted:
            if (one := _key(key)) in seen:
                raise Unsayable(
                    f"a dict with the keys {seen[one]!r} and {key!r}, which are one in JSON: rename one"
                )
            seen[one] = key
    if REFERENCE in made:
        return json.dumps(made, ensure_ascii=False)
    return made


def _key(key: object) -> str:
    """A key of an object: text as it is, an enum by its value, anything else as JSON would write it."""
    if isinstance(key, enum.Enum):
        key = key.value
    clean = _clean(key, (_State([]),))
    if isinstance(clean, str):
        return clean
    if clean is None or isinstance(clean, bool):
        return {None: "null", True: "true", False: "false"}[clean]
    return str(key)


def _mapping(value: Mapping[object, object], above: Above) -> Json:
    keys = list(_some(value, above, LAZY))
    return _checked({_key(k): _clean(value[k], above) for k in keys}, keys)


def _set(value: Set[object], above: Above) -> Json:
    values = list(_some(value, above, LAZY))
    try:
        return [_clean(v, above) for v in sorted(values)]  # type: ignore[type-var]  # tried
    except TypeError:
        return [_clean(v, above) for v in values]


def _some(values: Iterable[object], above: Above, most: int) -> Iterator[object]:
    """At most so many of them, and each counts."""
    state = above[0]
    for value in itertools.islice(values, most):
        state.left -= 1
        if state.left <= 0:
            return
        yield value


def _iterator(value: Iterable[object], above: Above) -> Json:
    return [_clean(v, above) for v in _some(value, above, _MOST)]


def _sequence(value: Sequence[object], above: Above) -> Json:
    values = value if isinstance(value, tuple) else _some(value, above, LAZY)
    return [_clean(v, above) for v in values]


def _fields(value: object, names: Sequence[str], above: Above) -> Json:
    return {text(name): _clean(getattr(value, name), above) for name in names if hasattr(value, name)}


# Texts and numbers


def text(value: str) -> str:
    """``value`` without lone surrogates, which UTF-8 cannot carry."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(value)


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


def _bytes(value: bytes | bytearray | memoryview, above: Above) -> str:
    """Bytes that are not media. Inside a larger value the rest of it still says something; alone they are an error."""
    data = bytes(value)
    try:
        if b"\0" not in data:
            return data.decode()
    except UnicodeDecodeError:
        pass
    if len(above) > ALONE:
        return f"[{len(data)} bytes that are not text]"
    raise Unsayable(
        f"{len(data)} bytes that are neither UTF-8 text nor a known kind of image or sound: return text, or "
        "ToolResult(..., parts=[(data, 'image/png')])"
    )


# Objects


_ORDINARY: Any = object()


def _special(value: object, above: Above) -> Json:
    """The JSON of media, rows and tables, which are known by more than their class; ``_ORDINARY`` for other values."""
    if isinstance(value, str | int | float):
        return _ORDINARY
    if isinstance(value, ToolResult):
        above[0].found.extend(value.parts)
        return _clean(value.value, above)
    if is_function_response(value):
        above[0].found.extend(parts(value.parts or ()))  # type: ignore[attr-defined]  # by its class
        return _clean(value.response, above)  # type: ignore[attr-defined]  # by its class
    kind = type(value)
    if not isinstance(value, Mapping) and (media := media_of(value)) is not None:
        return _shown(media, above)
    if kind.__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, Mapping | type | enum.Enum):
        return _ORDINARY
    for name in ("to_dicts", "to_pylist"):  # polars, arrow
        if callable(getattr(kind, name, None)):
            return _clean(getattr(value, name)(), above)
    if (
        callable(getattr(kind, "to_dict", None))
        and hasattr(kind, "index")
        and not isinstance(value, Sequence)
    ):
        return _clean(_table(value), above)
    if hasattr(kind, "dtype") and getattr(value.dtype, "names", None):  # type: ignore[attr-defined]  # asked before
        return _records(value, above)
    if callable(getattr(kind, "keys", None)) and hasattr(kind, "__getitem__"):
        keys = list(value.keys())  # type: ignore[attr-defined]  # asked above
        return _checked({_key(k): _clean(value[k], above) for k in keys}, keys)  # type: ignore[index]  # asked above
    names = value._fields if hasattr(kind, "_fields") else None  # type: ignore[attr-defined]  # asked before
    if isinstance(names, tuple) and all(isinstance(name, str) for name in names):
        return _fields(value, names, above)
    return _ORDINARY


def _shown(media: MediaPart, above: Above) -> str:
    above[0].found.append(media.part)
    return media.words


def _table(value: Any) -> object:
    """A table or a column of pandas."""
    index = value.index
    counts = type(index).__name__ == "RangeIndex" and index.name is None
    if hasattr(type(value), "columns"):
        frame = value if counts else _with_index(value)
        if not frame.columns.is_unique:
            twice = next(str(name) for name in frame.columns[frame.columns.duplicated()])
            raise Unsayable(f"a table with two columns {twice!r}: rename one")
        return frame.to_dict(orient="records")
    if counts:
        return value.tolist()
    if index.nlevels == 1 and index.is_unique:
        return value.to_dict()
    if value.name is not None and value.name in index.names:
        value = value.rename("values")
    return value.reset_index().to_dict(orient="records")


def _with_index(table: Any) -> Any:
    """A table with its index as columns; an index that repeats a column (``set_index(..., drop=False)``) is that."""
    name, columns = table.index.name, table.columns
    if name is not None and name in columns and columns.is_unique:
        return table.reset_index(allow_duplicates=True, drop=table.index.tolist() == table[name].tolist())
    return table.reset_index(allow_duplicates=True)


def _as_python(value: Any) -> object:
    """A scalar or an array of numpy, or of a library like it, as Python's own values."""
    dtype = value.dtype if type(value).__module__.startswith("numpy") else None
    # Of nanoseconds tolist() makes plain counts, and a long double it gives back as it is.
    if dtype is not None and dtype.kind in "mM" and "[ns]" in dtype.str:
        value = value.astype(f"{dtype.kind}8[us]")
    elif dtype is not None and dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        value = value.astype("f8" if dtype.kind == "f" else "c16")
    return value.tolist()


def _records(value: Any, above: Above) -> Json:
    """Records of numpy, one or many."""
    names = value.dtype.names
    if getattr(value, "shape", ()) == ():
        return _checked({text(name): _clean(value[name], above) for name in names}, names)
    return [_clean(one, above) for one in value]


def _object(value: object, above: Above) -> Json:
    """An instance of some class."""
    kind = type(value)
    if str(kind.__module__).startswith("google.genai") and hasattr(kind, "model_fields"):
        given = {name: one for name in kind.model_fields if (one := getattr(value, name)) is not None}
        return given["text"] if given.keys() == {"text"} else _clean(given, above)
    dump = getattr(kind, "model_dump", None)
    if callable(dump):  # pydantic
        return _clean(dump(value), above)
    if dataclasses.is_dataclass(kind):
        return _fields(value, [f.name for f in dataclasses.fields(kind)], above)
    if hasattr(kind, "__attrs_attrs__"):
        return _fields(value, [a.name for a in kind.__attrs_attrs__], above)
    if callable(getattr(kind, "tolist", None)):
        return _clean(_as_python(value), above)
    if callable(getattr(kind, "to_list", None)):  # a column of polars
        return _clean(value.to_list(), above)  # type: ignore[attr-defined]  # asked above
    if isinstance(value, type) or inspect.isroutine(value):
        return words(value)
    columns = getattr(getattr(kind, "__mapper__", None), "column_attrs", None)  # SQLAlchemy's mapped classes
    names = (
        [name for name in _annotated(kind) if hasattr(value, name)]
        if columns is None
        else list(columns.keys())
    )
    if names:
        return _fields(value, names, above)
    said = words(value)
    if said == f"<{kind.__name__}>" or ADDRESS.search(said):
        raise Unsayable(
            f"an object of the class {kind.__name__}, which has nothing to tell: return a dict, or annotate its fields"
        )
    log.warning(
        "a %s has no annotated fields: the model gets only its text. Return a dict, or annotate the class",
        kind.__name__,
    )
    return said


def _annotated(kind: type) -> list[str]:
    """The fields that a class annotates, those it inherits first; private ones and class variables are left out."""
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        found |= inspect.get_annotations(base)
    return [name for name, hint in found.items() if not name.startswith("_") and "ClassVar" not in str(hint)]


def words(value: object) -> str:
    """The ``str`` of an object whose class wrote one. Never raises."""
    kind = type(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return f"<{value.__name__}>"
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return f"<{kind.__name__}>"
    try:
        return text(str(value))
    except Exception:
        return f"<{kind.__name__}>"


def tool_error(error: BaseException) -> ToolError | None:
    """What the model may read of an error: a ``ToolError``, or those in a group as one, their texts joined. pydantic
    raises an error of its own for what a serializer raises."""
    if isinstance(error, PydanticSerializationError) and error.__cause__ is not None:
        return tool_error(error.__cause__)
    if isinstance(error, ToolError):
        return error
    found = list(_tool_errors(error))
    if len(found) < 2:
        return found[0] if found else None
    return ToolError("; ".join(map(words, found)), retry=all(one.retry for one in found))


def _tool_errors(error: BaseException) -> Iterator[ToolError]:
    if isinstance(error, ToolError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _tool_errors(inner)


def _exception(value: BaseException, above: Above) -> str:
    meant = tool_error(value)
    return type(value).__name__ if meant is None else words(meant)


def _plain(value: str) -> str:
    return value if value.isascii() else text(value)


#: How values of these very classes are put into JSON.
SIMPLE: dict[type, Callable[[Any], Json]] = {
    str: _plain,
    int: _integer,
    float: _real,
    bool: lambda v: v,
    type(None): lambda v: v,
}

_KINDS: tuple[tuple[Any, Callable[[Any, Above], Json]], ...] = (
    (enum.Enum, lambda v, above: _clean(v.value, above)),
    (str, lambda v, _: text(str.__str__(v))),
    (int, lambda v, _: _integer(v)),
    (float, lambda v, _: _real(v)),
    (datetime.date | datetime.time, lambda v, _: v.isoformat()),
    (datetime.timedelta, lambda v, _: _seconds(v)),
    (decimal.Decimal, lambda v, _: str(v) if v.is_finite() else None),
    (uuid.UUID | pathlib.PurePath | complex, lambda v, _: text(str(v))),
    (BYTES, _bytes),
    (io.BytesIO, lambda v, above: _bytes(v.getvalue(), above)),
    (collections.UserString, lambda v, _: text(str(v))),
    (io.StringIO, lambda v, _: text(v.getvalue())),
    (BaseException, _exception),
    (dict, _dict),
    (list, _list),
    (Mapping, _mapping),
    (Set, _set),
    (Sequence, _sequence),
    (Iterator | ValuesView, _iterator),
)
