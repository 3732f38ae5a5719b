"""Conversations in a file: JSON lines, a frame a line, with its time, its direction and its connection.

::

    {"time": 0.0, "direction": "client", "connection": 1, "frame": {"setup": {"model": "models/…"}}}
    {"time": 0.213, "direction": "server", "connection": 1, "frame": {"setupComplete": {}}}

A close stands as ``{"_close": {"code": …, "reason": …}}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from .wire import Frame, Message, without_media

_SECRETS = re.compile(r"AIza[\w-]{30,}|ya29\.[\w.-]+|auth_tokens/[\w-]+|Bearer [\w.~+/-]+=*|AQ\.[\w-]{20,}")
_OPAQUE = re.compile(
    r"[\w+/-]{200,}=*", re.ASCII
)  # media, a signature: what looks like a key in it is chance
REDACTED = "REDACTED"


class Recording:
    """Frames that are written to a file as they come, or were read from one.

    ``media=False`` leaves sound and pictures out: their place is kept, with their size. Keys and tokens are
    always left out, wherever in a frame they stand. ``redact`` has the last word on each frame's text::

        with Recording("call.jsonl", media=False) as recording:
            server.recording = recording
    """

    def __init__(
        self, path: str | Path, *, media: bool = True, redact: Callable[[str], str] | None = None
    ) -> None:
        self.path = Path(path)
        self.frames: list[Frame] = []
        self._media = media
        self._redact = redact
        self._file: IO[str] | None = None
        self._began: float | None = None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a recording; ``ValueError`` names the line that is none. ``OSError`` as from ``open``."""
        recording = cls(path)
        for number, line in enumerate(recording.path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                recording.frames.append(_frame(line, f"{path}:{number}"))
        return recording

    def __enter__(self) -> Self:
        self._file = self.path.open("w", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, frame: Frame) -> None:
        """Keep one frame, redacted; times count from the first. It is in the file when this returns."""
        self._began = frame.time if self._began is None else self._began
        message = self._clean(frame.message)
        kept = Frame(round(frame.time - self._began, 6), frame.direction, frame.connection, message)
        self.frames.append(kept)
        if self._file is not None:
            self._file.write(_line(kept) + "\n")
            self._file.flush()

    def _clean(self, message: Message) -> Message:
        cleaned: Message = _without_secrets(message if self._media else without_media(message))
        if self._redact is not None:
            cleaned = json.loads(self._redact(json.dumps(cleaned, ensure_ascii=False)))
        return cleaned

    def connections(self) -> list[int]:
        """The numbers of the connections, in the order of their dials."""
        return list(dict.fromkeys(frame.connection for frame in self.frames))


def _without_secrets(value: Any) -> Any:  # any JSON value
    if isinstance(value, str):
        return value if _OPAQUE.fullmatch(value) else _SECRETS.sub(REDACTED, value)
    if isinstance(value, dict):
        return {_without_secrets(key): _without_secrets(item) for key, item in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def _line(frame: Frame) -> str:
    entry = {"time": frame.time, "direction": frame.direction, "connection": frame.connection}
    return json.dumps(entry | {"frame": frame.message}, ensure_ascii=False)


def _frame(line: str, place: str) -> Frame:
    try:
        entry = json.loads(line)
        direction = entry["direction"]
        if direction not in ("client", "server") or not isinstance(entry["frame"], dict):
            raise ValueError(f"the direction {direction!r}")
        return Frame(float(entry.get("time", 0)), direction, int(entry.get("connection", 1)), entry["frame"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{place}: no line of a recording ({type(error).__name__}: {error})") from None


def differences(recorded: object, now: object, path: str = "") -> Iterable[str]:
    """Where two JSON values differ, a line each: the path, what was recorded, what came now."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            place = f"{path}.{key}" if path else key
            yield from differences(recorded.get(key, _ABSENT), now.get(key, _ABSENT), place)
    elif isinstance(recorded, list) and isinstance(now, list):
        for n in range(max(len(recorded), len(now))):
            pair = [each[n] if n < len(each) else _ABSENT for each in (recorded, now)]
            yield from differences(pair[0], pair[1], f"{path}[{n}]")
    elif recorded != now:
        yield f"{path}: recorded {_shown(recorded)}, now {_shown(now)}"


_ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "nothing"})()  # compares with any JSON value


def _shown(value: object) -> str:
    return "nothing" if value is _ABSENT else json.dumps(without_media(value), ensure_ascii=False)
