"""Who may hear the frames of a session, and their log: ``LIVETOOLS_LOG=frames`` prints them, the logger
``livetools.frames`` has them at DEBUG.

That level is set on this very logger: a program that turns on DEBUG for all logs has not asked for what people said.

Media is cut, and so are session handles, which let anybody resume the conversation. Keys and tokens
never stand in a frame. Arguments and results do: that is what the switch is for.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from typing import Literal, Protocol, TypeAlias

from livetools.log import get_logger

log = get_logger("livetools.frames")

LONGEST = 2000  # characters of a frame that are logged

_DATA = re.compile(r'("data"\s*:\s*")([^"]{40})([^"]+)"')
_HANDLE = re.compile(r'("(?:newHandle|new_handle|handle)"\s*:\s*")([^"]{4})([^"]*)"')
_SPACE = re.compile(r"\n\s*")


Direction: TypeAlias = Literal["client", "server"]


class FrameListener(Protocol):
    """It must not block: it is on the path of every frame. One that raises is logged, and not called any more."""

    def frame(self, direction: Direction, connection: int, data: bytes) -> None:
        """A whole message, as sent or received; before it is sent, so before the answer can come. Connections count
        from 1."""
        ...

    def closed(self, connection: int, code: int, reason: str, by_us: bool) -> None:
        """A connection that was open has ended. ``by_us``: the session closed it."""
        ...


class FrameLog:
    """Notes frames as they pass. Made only where somebody wants to see them.

    The end of a connection has log lines of its own.
    """

    def __init__(self, to_stderr: bool) -> None:
        self._to_stderr = to_stderr
        self._began = time.monotonic()

    @classmethod
    def wanted(cls) -> FrameLog | None:
        """One, if the environment or the logger asks for it."""
        to_stderr = "frames" in os.environ.get("LIVETOOLS_LOG", "").split(",")
        logs = log.level != logging.NOTSET and log.isEnabledFor(logging.DEBUG)
        return cls(to_stderr) if to_stderr or logs else None

    def frame(self, direction: Direction, connection: int, data: bytes) -> None:
        """See :class:`FrameListener`."""
        arrow, text = "->" if direction == "client" else "<-", readable(data)
        log.debug("%s %d %s", arrow, connection, text)
        if self._to_stderr:
            elapsed = time.monotonic() - self._began
            print(f"{elapsed:8.3f} {arrow} {connection} {text}", file=sys.stderr)  # noqa: T201  # what was asked for


def detail(error: BaseException) -> BaseException | None:
    """The exception for a log that may show its words, which ``LIVETOOLS_LOG=frames`` asks for; else ``None``."""
    return error if FrameLog.wanted() is not None else None


def readable(frame: bytes) -> str:
    """A frame on one line, without its media and its handle."""
    text = _SPACE.sub(" ", frame.decode("utf-8", "replace").strip())
    text = _DATA.sub(lambda m: f'{m[1]}{m[2][:8]}… {len(m[2]) + len(m[3])} characters"', text)
    text = _HANDLE.sub(r'\1\2…"', text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… {len(text)} characters"
