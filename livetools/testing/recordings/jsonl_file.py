"""Recordings: JSON lines, one frame a line, with its time, direction and connection.

::

    {"time": 0.0, "direction": "client", "connection": 1, "frame": {"setup": {"model": "models/…"}}}
    {"time": 0.213, "direction": "server", "connection": 1, "frame": {"setupComplete": {}}}

A close is written as ``{"_close": {"code": …, "reason": …}}``. Session handles are replaced by ``handle-1``,
``handle-2`` and so on: they open conversations, and a replay can hand the stand-ins out again.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, TypeAlias

from livetools.testing.wire import Frame, Message, snake, without_media

from .handle_stand_ins import StandIns

Mode: TypeAlias = Literal["w", "x", "a"]

_SECRETS = re.compile(r"AIza[\w-]{30,}|ya29\.[\w.-]+|auth_tokens/[\w-]+|Bearer [\w.~+/-]+=*|AQ\.[\w-]{20,}")
# Media, a signature: what looks like a key in it is chance.
_OPAQUE = re.compile(r"[\w+/-]{200,}=*", re.ASCII)
REDACTED = "REDACTED"
PRIVATE = 0o600  # a recording is a conversation of somebody's
_HANDLES = (("setup", "sessionResumption", "handle"), ("sessionResumptionUpdate", "newHandle"))


class Recording:
    """Frames that are written to a file as they come, or were read from one.

    From ``with`` on the frames are in the file and not in memory: ``frames`` reads the file, and raises as :meth:`load`
    does. What comes after the block is not recorded.

    ``mode`` is that of ``open``: ``"w"`` overwrites a file that exists, ``"x"`` raises ``FileExistsError`` for
    it, ``"a"`` reads it, with a ``ValueError`` for a line that is not of a recording, and continues: its
    connections and handles are numbered from where it ended. Only the file's owner may read it (mode 0600).

    ``media=False`` leaves sound and pictures out: their place is kept, with their size. Keys and tokens are
    always left out, at any place in a frame. ``redact`` has the last word on each frame's text::

        with Recording("call.jsonl", media=False) as recording:
            async with FakeLiveServer() as server:
                server.recording = recording
                await my_app.talk_to(server.url)
        frames = Recording.load("call.jsonl").frames
    """

    def __init__(
        self,
        path: str | Path,
        *,
        media: bool = True,
        redact: Callable[[str], str] | None = None,
        mode: Mode = "w",
    ) -> None:
        self.path = Path(path)
        self._kept: list[Frame] | None = []  # what is in memory; None: the file was opened, and holds all
        self._media = media
        self._redact = redact
        self.mode = mode
        self._file: IO[str] | None = None
        self._began: float | None = None
        self._before = 0  # connections of a recording that continues
        self._ended = 0.0  # its last time
        self._count = 0
        self._stand_ins = StandIns()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a recording; ``ValueError`` names the line that is not one of it. ``OSError`` as from ``open``."""
        recording = cls(path)
        recording._kept = list(_frames(recording.path))
        return recording

    @property
    def frames(self) -> list[Frame]:
        """Every frame, in order."""
        return list(_frames(self.path)) if self._kept is None else self._kept

    @property
    def count(self) -> int:
        """How many frames there are. It reads no file."""
        return self._count if self._kept is None else len(self._kept)

    def __eq__(self, other: object) -> bool:
        return self.frames == other.frames if isinstance(other, Recording) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle and copy: the frames, and neither the file nor the handles that were left out of them."""
        return _with_frames, (type(self), self.path, self._media, self.mode, self.frames)

    def __enter__(self) -> Self:
        self._count = 0
        if self.mode == "a" and self.path.exists():
            self._go_on()
        flags = {"w": os.O_TRUNC, "x": os.O_EXCL, "a": os.O_APPEND}[self.mode]
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | flags, PRIVATE)
        if hasattr(os, "fchmod"):  # not on Windows
            os.fchmod(handle, PRIVATE)  # of a file that was there
        # a lone surrogate, which UTF-8 does not have, becomes its JSON escape
        self._file = open(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n")
        self._kept = None
        return self

    def _go_on(self) -> None:
        for frame in _frames(self.path):
            self._count += 1
            self._before = max(self._before, frame.connection)
            self._ended = max(self._ended, frame.time)
            for holder, key in handles_in(frame.message):
                self._stand_ins.keep(holder[key])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, frame: Frame) -> None:
        """Keep one frame, redacted; times count from the first. On return it is in the file, if that is open."""
        if self._file is None and self._kept is None:
            return  # the recording has ended
        self._began = frame.time if self._began is None else self._began
        time = round(frame.time - self._began + self._ended, 6)
        connection = frame.connection + self._before if frame.connection else 0
        kept = Frame(time, frame.direction, connection, self._clean(frame.message))
        if self._file is not None:
            self._file.write(_line(kept) + "\n")
            self._file.flush()
            self._count += 1
        elif self._kept is not None:
            self._kept.append(kept)

    def _clean(self, message: Message) -> Message:
        named = [self._stand_ins.of(holder[key]) for holder, key in handles_in(message)]
        cleaned: Message = _mapped(message if self._media else without_media(message), self._harmless)
        for (holder, key), name in zip(handles_in(cleaned), named, strict=True):
            holder[key] = name
        if self._redact is not None:
            cleaned = json.loads(self._redact(json.dumps(cleaned, ensure_ascii=False)))
        return cleaned

    def _harmless(self, text: str) -> str:
        """The text without keys, tokens and handles. Media are not changed."""
        if _OPAQUE.fullmatch(text):
            return self._stand_ins.known(text) or text
        return _SECRETS.sub(REDACTED, self._stand_ins.replace(text))

    def connections(self) -> list[int]:
        """The numbers of the connections, in the order of their dials."""
        return list(dict.fromkeys(frame.connection for frame in self.frames))


def _with_frames(
    kind: type[Recording], path: Path, media: bool, mode: Mode, frames: list[Frame]
) -> Recording:
    recording = kind(path, media=media, mode=mode)
    recording._kept = frames
    return recording


def handles_in(message: Message) -> Iterator[tuple[Message, str]]:
    """The places of session handles in a message: the object that holds one, and its key, in either casing."""
    for *path, last in _HANDLES:
        found: Any = message  # any JSON value
        for name in path:
            found = (found.get(name) or found.get(snake(name))) if isinstance(found, dict) else None
        if isinstance(found, dict):
            held = [key for key in dict.fromkeys((last, snake(last))) if isinstance(found.get(key), str)]
            yield from ((found, key) for key in held if found[key])


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # any JSON value
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _mapped(item, change) for key, item in value.items()}
    return [_mapped(item, change) for item in value] if isinstance(value, list) else value


def _line(frame: Frame) -> str:
    entry = {"time": frame.time, "direction": frame.direction, "connection": frame.connection}
    return json.dumps(entry | {"frame": frame.message}, ensure_ascii=False)


def _frames(path: Path) -> Iterator[Frame]:
    # a line ends with a newline and with nothing else: texts may hold U+2028 and other line separators
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a recording ({error.reason} at byte {error.start})") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _frame(line, f"{path}:{number}")


def _frame(line: str, place: str) -> Frame:
    try:
        entry = json.loads(line)
        direction = entry["direction"]
        if direction not in ("client", "server") or not isinstance(entry["frame"], dict):
            raise ValueError(f"the direction {direction!r}")
        time = float(entry.get("time", 0))
        if not math.isfinite(time):
            raise ValueError(f"the time {time}")
        return Frame(time, direction, int(entry.get("connection", 1)), entry["frame"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"{place}: not a line of a recording ({what})") from None


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
