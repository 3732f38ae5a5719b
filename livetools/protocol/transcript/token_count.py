"""Adds up the tokens of a session from the counts that the service sends."""

from __future__ import annotations

from livetools.events import Usage

_NONE = Usage()


class TokenCount:
    """Tokens of a session: the last count of each turn, summed.

    The service counts a turn more than once, and its last count holds. A count that comes after the end of a turn is
    still of that turn, unless another end follows with no output between: then that turn was empty, and it was its own.
    """

    def __init__(self) -> None:
        self._before = _NONE  # of the turns before the last one
        self._last = _NONE  # of the turn under way, or else of the last one
        self.over = False  # the last turn has ended, and none has begun since
        self._replaced: Usage | None = None  # what stood in _last before a count that came after the end

    @property
    def total(self) -> Usage:
        """Tokens of all turns so far."""
        return self._before + self._last

    def count(self, usage: Usage) -> bool:
        """A count has come. Whether it shows that the model has worked since the one before: it is not the same."""
        last, self._last = self._last, usage
        # The first count behind an end: whose it is shows with what follows, output (the last turn's) or another end
        # (its own).
        if self.over and self._replaced is None:
            self._replaced = last
        # Within a turn counts only grow: an equal one is the keep-alive of a model that is stuck (whisper-shortcut
        # PR71).
        return usage != last

    def begins(self) -> None:
        """The model says something, or calls."""
        if self.over:
            self._before, self._last = self._before + self._last, _NONE
            self.over, self._replaced = False, None

    def ends(self) -> None:
        """A turn has ended, or was cut off for good."""
        if self._replaced is not None:
            self._before, self._replaced = self._before + self._replaced, None
        # Two ends in a row: the second turn was empty, and had no count.
        elif self.over:
            self._before, self._last = self._before + self._last, _NONE
        self.over = True
