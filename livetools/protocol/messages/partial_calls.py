"""Joins calls that arrive in pieces; a call runs only when it is whole.

Vertex AI may stream the arguments of a call: the first piece has the name, the pieces that follow have
``partialArgs`` (a JSON path and a value each, a string in several parts), all but the last say ``willContinue``.
Pieces need not repeat the id or the name. A call that is never whole is never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from livetools.setup.sdk.camel_case import camel

from .incoming import RAW_ARGS, FunctionCall, PlainCall
from .lenient_json import MAX_DEPTH, Json

#: Characters of the parts of one call; what has more is answered with a refusal.
MAX_CHARACTERS = 4 * 1024 * 1024
#: Calls that may be incomplete at the same time; the oldest is dropped for one more.
MAX_PARTIAL_CALLS = 64

_STEP = re.compile(
    r"""\.([^.\[\]]+) | \[(\d{1,9})\] | \['((?:[^'\\]|\\.)*)'\] | \["((?:[^"\\]|\\.)*)"\]""", re.VERBOSE
)


class _GrowingCall(FunctionCall, eq=False):
    """One call so far; its parts are raw."""

    size: int = 0  # characters of the parts

    def add(self, piece: FunctionCall) -> None:
        """Take what this piece brings."""
        self.name = self.name or piece.name
        self.args.update(piece.args)
        self.partial_args += piece.partial_args
        self.size += sum(len(str(part)) for part in piece.partial_args)
        if self.size > MAX_CHARACTERS:
            # It cannot be read as a part: the call is refused, and the error says why.
            self.partial_args = [f"more than {MAX_CHARACTERS} characters"]


class PartialCalls:
    """The calls of a connection that are not whole yet."""

    def __init__(self) -> None:
        self.growing: list[_GrowingCall] = []  # read-only from outside

    def whole(self, calls: Sequence[FunctionCall]) -> Sequence[PlainCall]:
        """The calls of one message that are whole now; the rest waits for its other pieces."""
        # Nearly always nothing is in pieces: the list is handed on as it is.
        if not (self.growing or any(call.will_continue or call.partial_args for call in calls)):
            return calls
        return [whole for call in calls if (whole := self._add(call)) is not None]

    def cancel(self, ids: Iterable[str]) -> None:
        """The server takes these back: they will not become whole."""
        gone = set(ids)
        self.growing = [each for each in self.growing if each.id not in gone]

    def clear(self) -> None:
        """The connection is lost: what was not whole never will be."""
        self.growing = []

    def _add(self, piece: FunctionCall) -> PlainCall | None:
        growing = self._of(piece)
        if growing is None:
            if not (piece.will_continue or piece.partial_args):
                return piece
            growing = _GrowingCall(piece.id)
            # The oldest makes room: it has waited longest for a piece that does not come.
            self.growing = [*self.growing[1 - MAX_PARTIAL_CALLS :], growing]
        growing.add(piece)
        if piece.will_continue:
            return None
        self.growing.remove(growing)
        return PlainCall(growing.id, growing.name, _arguments(growing.args, growing.partial_args))

    def _of(self, piece: FunctionCall) -> _GrowingCall | None:
        """The call that this piece belongs to: by its id, else the newest one, if it may be of that name."""
        if piece.id:
            return next((each for each in self.growing if each.id == piece.id), None)
        # Without an id a piece can only continue the newest call; another name begins another call.
        return next((each for each in self.growing[-1:] if piece.name in ("", each.name)), None)


def _arguments(args: dict[str, Json], parts: Sequence[Json]) -> dict[str, Json]:
    """All arguments, with those that came in parts. What cannot be read or placed takes the place of all, so that the
    call is refused: half of its arguments must not run.
    """
    values: dict[str, Json] = {}  # by path; a string as the list of its parts
    at: Json = None  # the part, or the path, that is read now
    try:
        for at in parts:
            said = {camel(name): value for name, value in at.items()}
            if not isinstance(path := said["jsonPath"], str):
                raise TypeError
            for name in ("stringValue", "numberValue", "boolValue"):
                value = said.get(name)
                # A string may come in several parts, each appended to those before it; the others come whole.
                if isinstance(value, str):
                    values.setdefault(path, []).append(value)
                elif value is not None:
                    values[path] = value
            if "nullValue" in said:  # its value does not matter
                values[path] = None
        for at, value in values.items():
            _put(args, at, "".join(value) if isinstance(value, list) else value)
    except (AttributeError, LookupError, TypeError):
        return {RAW_ARGS: at}
    return args


def _put(args: dict[str, Json], path: str, value: Json) -> None:
    """Set what ``$.a.b[0]`` names; objects and lists on the way are made. Raises where the path names nothing."""
    steps = _STEP.findall(path)
    if not 0 < len(steps) < MAX_DEPTH or not path.startswith("$") or _STEP.sub("", path) != "$":
        raise LookupError
    names = [
        int(index) if index else re.sub(r"\\(.)", r"\1", plain or one or two)
        for plain, index, one, two in steps
    ]
    made = [*([] if isinstance(name, int) else {} for name in names[1:]), value]
    holder: Json = args
    for name, new in zip(names, made, strict=True):
        inside = holder
        # A list grows at its end only: an index far beyond it would make a list of that size.
        if isinstance(inside, list) and name == len(inside):
            inside.append(new)
        elif isinstance(inside, dict) and isinstance(name, str):
            inside.setdefault(name, new)
        holder = inside[name]
    inside[name] = value
