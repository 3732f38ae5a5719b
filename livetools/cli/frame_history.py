"""The frames of the page's sessions, kept for the details of calls and for exports."""

from __future__ import annotations

import json
import tempfile
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from livetools.session.listening.tap import Direction
from livetools.testing import Recording
from livetools.testing.wire import Frame, Message, without_media

#: Bytes of frames that are kept of a session: past them media are left out, oldest first, then whole frames.
MAX_BYTES = 64 * 2**20
#: Sessions whose frames are kept after their end.
MAX_SESSIONS = 16
#: Bytes of a frame that has no media worth leaving out.
SMALL = 1024


@dataclass(slots=True)
class _Kept:
    time: float
    direction: Direction
    connection: int
    data: bytes


class FrameHistory:
    """The frames of one session. A :class:`~livetools.session.listening.tap.FrameListener`.

    It is also a :class:`~livetools.session.handle_store.HandleStore` that stores nothing: the relay makes one store
    for each page, which is how a session finds the history of its page.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self.dropped = 0  # whole frames that went, past the bound
        self._max_bytes, self._clock = max_bytes, clock
        self._began = clock()
        self._frames: deque[_Kept] = deque()
        self._slim = 0  # so many, from the oldest on, have no media any more
        self._size = 0

    async def load(self) -> str | None:
        """No handle: a page that comes back too late gets a new session."""
        return None

    async def save(self, handle: str) -> None:
        """See :meth:`load`."""

    def frame(self, direction: Direction, connection: int, data: bytes) -> None:
        """See :class:`~livetools.session.listening.tap.FrameListener`."""
        self._frames.append(_Kept(self._clock() - self._began, direction, connection, data))
        self._size += len(data)
        while self._size > self._max_bytes and len(self._frames) > 1:
            self._shrink()

    def closed(self, connection: int, code: int, reason: str, by_us: bool) -> None:
        """See :class:`~livetools.session.listening.tap.FrameListener`."""
        close = {"_close": {"code": code, "reason": reason}}
        self.frame("client" if by_us else "server", connection, json.dumps(close).encode())

    def frames(self, id: str | None = None) -> list[Frame]:
        """The frames in order, or those that name the call ``id``. Frames that are not JSON are under ``_text``.

        Safe to be called from another thread.
        """
        wanted = None if id is None else json.dumps(id).encode()
        return [_frame(kept) for kept in list(self._frames) if wanted is None or wanted in kept.data]

    def recording(self) -> str:
        """The session as :class:`~livetools.testing.Recording` reads it, without keys."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "recording.jsonl")
            with Recording(file) as recording:
                for frame in self.frames():
                    recording.add(frame)
            return file.read_text(encoding="utf-8")

    def _shrink(self) -> None:
        if self._slim == len(self._frames):
            self._size -= len(self._frames.popleft().data)
            self._slim -= 1
            self.dropped += 1
            return
        kept = self._frames[self._slim]
        self._slim += 1
        if len(kept.data) > SMALL:
            self._size -= len(kept.data)
            kept.data = json.dumps(without_media(_frame(kept).message), ensure_ascii=False).encode()
            self._size += len(kept.data)


def _frame(kept: _Kept) -> Frame:
    return parsed(kept.time, kept.direction, kept.connection, kept.data)


def parsed(time: float, direction: Direction, connection: int, data: bytes) -> Frame:
    """A frame as a recording has it; one that is not JSON is under ``_text``."""
    try:
        message: Message = json.loads(data)
        if not isinstance(message, dict):
            raise ValueError("not an object")
    except ValueError:
        message = {"_text": data.decode("utf-8", "replace")}
    return Frame(time, direction, connection, message)


class FrameHistories:
    """The histories of a page's sessions, by a name that only the page knows; those used last are kept."""

    def __init__(self, max_sessions: int = MAX_SESSIONS) -> None:
        self._max_sessions = max_sessions
        self._histories: OrderedDict[str, FrameHistory] = OrderedDict()

    def __iter__(self) -> Iterator[FrameHistory]:
        return iter(self._histories.values())

    def of(self, name: str) -> FrameHistory:
        """The history of this name; a new one if the name is unknown."""
        if name not in self._histories:
            self._histories[name] = FrameHistory()
            while len(self._histories) > self._max_sessions:
                self._histories.popitem(last=False)
        self._histories.move_to_end(name)
        return self._histories[name]

    def find(self, name: str) -> FrameHistory | None:
        """The history of this name, if there is one."""
        return self._histories.get(name)
