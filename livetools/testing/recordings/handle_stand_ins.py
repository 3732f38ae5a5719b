"""Stand-ins for session handles, which open conversations: ``handle-1``, ``handle-2`` and so on.

A session may be given thousands of handles, and none may appear in any text of a recording. So the cost of
a text does not depend on their number: it is scanned once, and each place is looked up by its first characters.
"""

from __future__ import annotations

import re

UNMISTAKABLE = 16  # characters: a handle of this length is replaced in every text
_RUN = re.compile(r"[\w+/=.~:-]{16,}")  # what may hold a handle: the service's are base64
_ANYTHING = re.compile(r".{16,}", re.DOTALL)


class StandIns:
    """The stand-in of each handle that was seen."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}  # by the first characters of handles: how long those are
        self._places = _RUN

    def of(self, handle: str) -> str:
        """The stand-in of this handle, a new one if it was not seen before."""
        return self._names.get(handle) or self._enter(handle, f"handle-{len(self._names) + 1}")

    def keep(self, name: str) -> None:
        """Keep a stand-in of an earlier recording as it is."""
        self._names.setdefault(name, name)

    def known(self, text: str) -> str | None:
        """The stand-in, where the whole text is a handle that cannot be mistaken for anything else."""
        return self._names.get(text) if len(text) >= UNMISTAKABLE else None

    def replace(self, text: str) -> str:
        """The text, with each handle that cannot be mistaken for anything else replaced by its stand-in."""
        if not self._lengths or len(text) < UNMISTAKABLE:
            return text
        return self.known(text) or self._places.sub(self._in_run, text)

    def _enter(self, handle: str, name: str) -> str:
        self._names[handle] = name
        if len(handle) >= UNMISTAKABLE:
            lengths = self._lengths.setdefault(handle[:UNMISTAKABLE], [])
            if len(handle) not in lengths:
                lengths.append(len(handle))
                lengths.sort(reverse=True)  # a handle may begin with another one
            if not _RUN.fullmatch(handle):
                self._places = _ANYTHING
        return name

    def _in_run(self, run: re.Match[str]) -> str:
        text, lengths = run[0], self._lengths
        pieces: list[str] = []
        taken = at = 0
        while at <= len(text) - UNMISTAKABLE:
            for length in lengths.get(text[at : at + UNMISTAKABLE], ()):
                name = self._names.get(text[at : at + length])
                if name is not None:
                    pieces += text[taken:at], name
                    taken = at = at + length
                    break
            else:
                at += 1
        return "".join([*pieces, text[taken:]])
