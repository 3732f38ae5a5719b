"""Joins calls that arrive in pieces; a call runs only when it is whole.

Vertex AI may stream the arguments of a call: the first piece has the name, the pieces that follow have
``partialArgs`` (a JSON path and a value each, a string in several parts), all but the last say ``willContinue``.
Pieces need not repeat the id or the name. A call that is never whole is never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from livetools.events import Call
from livetools.setup.sdk.camel_case import camel

from .incoming import RAW_ARGS, FunctionCall

Asked: TypeAlias = Call | FunctionCall  # a call that is whole
Json: TypeAlias = Any  # whatever JSON can say

#: Characters of values and paths in one call; what has more is answered with a refusal.
MAX_CHARACTERS = 4 * 1024 * 1024
#: Calls that may be incomplete at the same time; the oldest is dropped for one more.
MAX_PARTIAL_CALLS = 64

_TOKEN = re.compile(
    r"""\.([^.\[\]]+) | \[(\d+)\] | \['((?:[^'\\]|\\.)*)'\] | \["((?:[^"\\]|\\.)*)"\]""", re.VERBOSE
)


class PartialCalls:
    """The calls of a connection that are not whole yet."""

    def __init__(self) -> None:
        self.growing: tuple[_Growing, ...] = ()  # read-only from outside

    def whole(self, calls: Sequence[FunctionCall]) -> Sequence[Asked]:
        """The calls of one message that are whole now; the rest waits for its other pieces."""
        # Nearly always nothing is in pieces: the list is handed on as it is.
        if not (self.growing or any(call.will_continue or call.partial_args for call in calls)):
            return calls
        return [whole for call in calls if (whole := self._add(call)) is not None]

    def cancel(self, ids: Iterable[str]) -> None:
        """The server takes these back: they will not become whole."""
        gone = set(ids)
        self.growing = tuple(each for each in self.growing if each.id not in gone)

    def clear(self) -> None:
        """The connection is lost: what was not whole never will be."""
        self.growing = ()

    def _add(self, piece: FunctionCall) -> Asked | None:
        growing = self._of(piece)
        if growing is None:
            if not (piece.will_continue or piece.partial_args):
                return piece
            growing = _Growing(piece)
            # The oldest makes room: it has waited longest for a piece that does not come.
            self.growing = (*self.growing[1 - MAX_PARTIAL_CALLS :], growing)
        growing.add(piece)
        if piece.will_continue:
            return None
        self.growing = tuple(each for each in self.growing if each is not growing)
        return FunctionCall(growing.id, growing.name, growing.arguments())

    def _of(self, piece: FunctionCall) -> _Growing | None:
        """The call that this piece belongs to: by its id, else the newest one, if it may be of that name."""
        if piece.id:
            return next((each for each in self.growing if each.id == piece.id), None)
        # Without an id a piece can only continue the newest call; another name begins another call.
        newest = self.growing[-1] if self.growing else None
        return newest if newest is not None and piece.name in ("", newest.name) else None


class _Growing:
    """One call so far."""

    def __init__(self, first: FunctionCall) -> None:
        self.id, self.name = first.id, first.name
        self._args: dict[str, Json] = {}
        self._values: dict[str, Json | list[str]] = {}  # by path; a string as its parts
        self._size = 0
        self._unreadable: object = None  # the first piece that could not be placed

    def add(self, piece: FunctionCall) -> None:
        """Take what this piece brings."""
        self.name = self.name or piece.name
        self._args.update(piece.args)
        for part in piece.partial_args:
            # The first piece that cannot be read spoils the call: half of its arguments must not run.
            if self._unreadable is None and not (isinstance(part, Mapping) and self._take(part)):
                self._unreadable = {"partialArgs": part}
                self._values.clear()

    def arguments(self) -> dict[str, Json]:
        """The arguments, all of them. An error says what was not understood, so that the call is refused."""
        for path, value in self._values.items():
            text = "".join(value) if isinstance(value, list) else value
            if not _put(self._args, path, text):
                self._unreadable = {"jsonPath": path}
        return self._args if self._unreadable is None else {RAW_ARGS: self._unreadable}

    def _take(self, part: Mapping[str, Json]) -> bool:
        said = {camel(name): value for name, value in part.items()}
        path = said.get("jsonPath")
        if not isinstance(path, str):
            return False
        for name in ("stringValue", "numberValue", "boolValue"):
            value = said.get(name)
            # A string may come in several parts, each appended to those before it; numbers and booleans come whole.
            if isinstance(value, str):
                self._size += len(value)
                parts = self._values.setdefault(path, [])
                if not isinstance(parts, list):
                    return False
                parts.append(value)
            elif value is not None:
                self._values[path] = value
        if "nullValue" in said:  # its value does not matter
            self._values[path] = None
        # Paths count too: a flood of empty values would otherwise be free.
        self._size += len(path)
        return self._size <= MAX_CHARACTERS


def _put(args: dict[str, Json], path: str, value: Json) -> bool:
    """Set what the path names; objects and lists on the way are made. False if it names nothing."""
    names = _names(path)
    if not names:
        return False
    holder: Json = args
    for name, following in zip(names, [*names[1:], None], strict=True):
        new = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(name, int):
            # A list grows at its end only: an index far beyond it would make a list of that size.
            if not isinstance(holder, list) or name > len(holder):
                return False
            if name == len(holder):
                holder.append(new)
        elif not isinstance(holder, dict):
            return False
        else:
            holder.setdefault(name, new)
        if following is None:
            holder[name] = value
        holder = holder[name]
    return True


def _names(path: str) -> list[str | int]:
    """``$.a.b[0]`` → ``["a", "b", 0]``; empty for what is not such a path."""
    names: list[str | int] = []
    at = 1
    while path.startswith("$") and at < len(path):
        token = _TOKEN.match(path, at)
        if token is None:
            return []
        plain, index, *quoted = token.groups()
        name = next((text for text in (plain, *quoted) if text is not None), "")
        names.append(int(index) if index is not None else re.sub(r"\\(.)", r"\1", name))
        at = token.end()
    return names
