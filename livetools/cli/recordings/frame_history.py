"""The frames of the page's sessions, kept for the details of calls and for exports."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from livetools.session.frame_log import Direction
from livetools.testing import Recording
from livetools.testing.wire import Frame, Message, close_message, without_media

from .session_files import SessionAbout, SessionFile, SessionFiles

#: Bytes of frames that are kept of a session: past them media are left out, oldest first, then whole frames.
_MAX_BYTES = 64 * 2**20
#: Sessions whose frames are kept after their end.
_MAX_SESSIONS = 16
#: Bytes of a frame that has no media worth leaving out.
SMALL = 1024


@dataclass(slots=True)
class _Kept:
    time: float
    direction: Direction
    connection: int
    data: bytes


class FrameHistory:
    """The frames of one session. A :class:`~livetools.session.frame_log.FrameListener`.

    It is also the :class:`~livetools.session.handle_store.HandleStore` of its session: the relay makes one store for
    each page, which is how a session finds the history of its page. ``file`` is where the session is kept on disk; a
    history without one keeps no handle, and a page that comes back too late gets a new session. ``before`` are frames
    of the same conversation that an earlier session had.
    """

    def __init__(
        self,
        max_bytes: int = _MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
        *,
        file: SessionFile | None = None,
        before: Sequence[Frame] = (),
    ) -> None:
        self.dropped = 0  # whole frames that went, past the bound
        self.file = file
        self.token: str | None = None  # with which the page of this session has come
        self._max_bytes, self._clock = max_bytes, clock
        self._frames: deque[_Kept] = deque()
        self._slim = 0  # so many, from the oldest on, have no media any more
        self._size = 0
        self.before: list[Frame] = []
        self.follow(before)

    def follow(self, before: Sequence[Frame]) -> None:
        """Continue from these frames. Only for a history that has none yet, or whose user has said nothing."""
        own = [(kept.time, kept.direction, kept.connection, kept.data) for kept in self._frames]
        self._frames.clear()
        self._size = self._slim = 0
        self.before = list(before)
        self._connections = max((frame.connection for frame in before), default=0)
        last = max((frame.time for frame in before), default=0.0)
        self._began = self._clock() - last
        for frame in before:
            self._keep(frame.time, frame.direction, frame.connection, json.dumps(frame.message).encode())
        for _, direction, connection, data in own:
            self._keep(last, direction, connection + self._connections, data)

    def begin(self) -> None:
        """A session begins; what an earlier one of this conversation had is before it."""
        if len(self._frames) > len(self.before):
            before = self.frames()
            self._frames.clear()
            self.follow(before)
            if self.file is not None:
                self.file.pause()  # its connections are counted on when it is opened again

    async def load(self) -> str | None:
        """The newest handle, where sessions are kept on disk."""
        return None if self.file is None else self.file.handle

    async def save(self, handle: str) -> None:
        """See :meth:`load`."""
        if self.file is not None:
            self.file.keep_handle(handle)

    @property
    def resumed(self) -> bool:
        """Whether the service was asked to continue an earlier conversation."""
        setups = (frame.message.get("setup") for frame in self.frames()[len(self.before) :])
        last = [setup for setup in setups if isinstance(setup, dict)][-1:]
        return any((setup.get("sessionResumption") or {}).get("handle") for setup in last)

    def frame(self, direction: Direction, connection: int, data: bytes) -> None:
        """See :class:`~livetools.session.frame_log.FrameListener`."""
        at = self._clock() - self._began
        self._keep(at, direction, connection + self._connections, data)
        if self.file is not None:
            self.file.add(parsed(at, direction, connection, data))

    def _keep(self, at: float, direction: Direction, connection: int, data: bytes) -> None:
        self._frames.append(_Kept(at, direction, connection, data))
        self._size += len(data)
        while self._size > self._max_bytes and len(self._frames) > 1:
            self._shrink()

    def closed(self, connection: int, code: int, reason: str, by_us: bool) -> None:
        """See :class:`~livetools.session.frame_log.FrameListener`."""
        close = json.dumps(close_message(code, reason)).encode()
        self.frame("client" if by_us else "server", connection, close)

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
    """The histories of a page's sessions, by a name that only the page knows; those used last are kept in memory.

    ``files``: where they are kept on disk, if they are, as sessions of ``agent``. ``keeps_handles``: the service still
    knows their handles when this process has ended.
    """

    def __init__(
        self,
        max_sessions: int = _MAX_SESSIONS,
        *,
        files: SessionFiles | None = None,
        agent: str = "",
        keeps_handles: bool = True,
    ) -> None:
        self.files, self.agent = files, agent
        self._keeps_handles = keeps_handles
        self._max_sessions = max_sessions
        self._histories: OrderedDict[str, FrameHistory] = OrderedDict()

    def __iter__(self) -> Iterator[FrameHistory]:
        return iter(self._histories.values())

    def of(self, name: str) -> FrameHistory:
        """The history of this name; from the disk, or a new one, if it is not in memory."""
        if name not in self._histories:
            before: Sequence[Frame] = ()
            if self.files is not None and self.files.has(name):
                with contextlib.suppress(ValueError, OSError):  # its handle is of use all the same
                    before = self.files.frames(name)
            self._enter(name, FrameHistory(file=self._file(name), before=before))
        self._histories.move_to_end(name)
        return self._histories[name]

    def find(self, name: str) -> FrameHistory | None:
        """The history of this name, if it is in memory."""
        return self._histories.get(name)

    def reopen(self, name: str, other: str) -> bool:
        """Give the session ``name``, which is over, the name ``other``, under which a page continues it.

        False, without a change, if there is no handle to continue with. Raises ``LookupError`` if there is no such
        session, ``ValueError`` and ``OSError`` if its frames cannot be read.
        """
        if self.files is None or not self.files.has(name):
            raise LookupError(name)
        frames, known = self.files.frames(name), self.of(name).file
        handle = None if known is None else known.handle  # of a fake it is in memory alone
        if handle is None:
            return False
        self.forget(name)
        self.files.rename(name, other)
        file = self._file(other)
        if file is not None:
            file.keep_handle(handle)
        self._enter(other, FrameHistory(file=file, before=frames))
        return True

    def join(self, name: str, other: str) -> None:
        """Let the session ``other``, in which nothing was said yet, continue below the conversation of ``name``.

        Raises as :meth:`reopen` does.
        """
        history = self._histories[other]
        if self.files is None or history.file is None or self.files.has(other) or not self.files.has(name):
            raise LookupError(name)
        frames = self.files.frames(name)
        self.forget(name)
        self.files.rename(name, other)
        history.follow(frames)
        history.file.join(self.files.about(other))

    def forget(self, name: str) -> None:
        """Keep the history of this name in memory no more. What is on disk stays."""
        history = self._histories.pop(name, None)
        if history is not None and history.file is not None:
            history.file.stop()

    def stop(self) -> None:
        """Close the files."""
        for history in self:
            if history.file is not None:
                history.file.stop()

    def _enter(self, name: str, history: FrameHistory) -> None:
        self._histories[name] = history
        while len(self._histories) > self._max_sessions:
            _, oldest = self._histories.popitem(last=False)
            if oldest.file is not None:
                oldest.file.pause()  # its session may continue

    def _file(self, name: str) -> SessionFile | None:
        if self.files is None:
            return None
        about = self.files.about(name) or SessionAbout(agent=self.agent, began=time.time())
        return SessionFile(self.files, name, about, keeps_handle=self._keeps_handles)
