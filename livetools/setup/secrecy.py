"""Keeps secrets out of tracebacks and of texts, and the text of exceptions out of logs.

Many tracebacks print variables (rich, pytest ``-l``, crash reporters). A function of ours that has a key in one
cannot keep it from them, so what passes :class:`Sealed` leaves the variables of its frames behind.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

_SECRETS = re.compile(
    r"AIza[\w-]{6,}|ya29\.[\w.-]+|AQ\.[\w-]{10,}|auth_tokens/[\w./-]+|(?i:x-goog-api-key)\W{1,4}[\w.-]+"
    r"|(?i:bearer|token)\s+(?=[\w.-]*\d)[\w.~+/-]{16,}=*|(?<=[?&])(?i:key|access_token)=[^&\s\"']+"
)


class Sealed:
    """``with Sealed():`` empties the frames that an exception has passed inside of it: the places stay, for a
    traceback to tell, and the variables go, those of the exceptions that led to it too.

    The frame that holds the block continues, and keeps its own: it puts secrets into :class:`Secrets`.
    """

    def __enter__(self) -> None:
        self._before = sys.exception()  # being handled by the caller: not ours to touch

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        waiting, seen = [error], {id(self._before)}
        while waiting:
            cause = waiting.pop()
            if cause is None or id(cause) in seen or not isinstance(cause, Exception | BaseExceptionGroup):
                continue  # a cancellation comes from a task that may continue: to empty its frames would end it
            seen.add(id(cause))
            traceback.clear_frames(cause.__traceback__)
            if cause.__suppress_context__ and cause.__context__ is not self._before:
                cause.__context__ = None  # nobody was to see it, and its words may hold a secret
            waiting += [cause.__cause__, cause.__context__]
            if isinstance(cause, BaseExceptionGroup):
                waiting += cause.exceptions


class Secrets(SimpleNamespace):
    """Values by name, none of which its ``repr`` shows."""

    def __repr__(self) -> str:
        return "Secrets(***)"

    def some(self, names: Iterable[str]) -> dict[str, Any]:
        """The values of these names."""
        return {name: vars(self)[name] for name in names}


def place(error: BaseException) -> str:
    """Where an exception was raised, without its words: those may hold arguments, results and worse."""
    # What Python makes of a StopIteration in a coroutine was raised nowhere.
    if type(error) is RuntimeError and isinstance(error.__cause__, StopIteration):
        error = error.__cause__
    name, passed = type(error).__name__, traceback.extract_tb(error.__traceback__, limit=-1)
    return " at ".join([name, *(f"{at.filename}, line {at.lineno}, in {at.name}" for at in passed)])


def scrub(text: str) -> str:
    """The text without what looks like an API key or a token."""
    return _SECRETS.sub("[secret]", text)
