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
        self._late: Usage | None = None  # a count that came after the end: of that turn, or of an empty one

    @property
    def total(self) -> Usage:
        """Tokens of all turns so far."""
        return self._before + (self._late or self._last)

    def count(self, usage: Usage) -> bool:
        """A count has come. Whether it shows that the model has worked since the one before."""
        last = _counts(self._late or self._last)
        if self.over:
            self._late = usage
            return _counts(usage) != last
        # Within a turn counts grow as the model works: an equal one is the keep-alive of a model that is stuck
        # (whisper-shortcut PR71).
        self._last = usage
        return any(now > then for now, then in zip(_counts(usage), last, strict=True))

    def begins(self) -> None:
        """The model says something, or calls: a count that came after the end was of the turn that had ended."""
        if self.over:
            self._before, self._last, self._late = self.total, _NONE, None
            self.over = False

    def ends(self) -> None:
        """A turn has ended, or was cut off for good."""
        # Two ends in a row: the second turn was empty, and what was counted between them was its own.
        if self.over:
            self._before, self._last, self._late = self._before + self._last, self._late or _NONE, None
        self.over = True


def _counts(usage: Usage) -> tuple[int, ...]:
    return (
        usage.prompt_tokens, usage.response_tokens, usage.total_tokens,
        usage.thoughts_tokens, usage.tool_use_tokens, usage.cached_tokens,
    )  # fmt: skip
