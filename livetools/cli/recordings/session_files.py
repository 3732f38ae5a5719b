"""The sessions of ``livetools web`` on disk, so that the page lists those of today and reopens them.

A session is two files in a folder that only its owner may read: ``ID.jsonl``, its frames as a recording without media
(``livetools replay`` reads it as well), and ``ID.json``, what the list shows and the handle with which the service
continues. Both have the mode 0600, the folder 0700. Nothing is written before the user has said something.

What is older than a day goes, then what exceeds :data:`MAX_SAVED_SESSIONS` or :data:`MAX_BYTES`, oldest first. A file
that cannot be read costs nothing but itself: the list says so, and it can be deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from livetools.log import get_logger
from livetools.testing import Recording
from livetools.testing.wire import Frame, Message

log = get_logger("livetools.web")

#: Seconds that a session is kept after its last frame.
MAX_AGE = 24 * 3600.0
#: Sessions that are kept, of all agents.
MAX_SAVED_SESSIONS = 100
#: Bytes that all sessions may have together, and one of them: past it no more of its frames are written.
MAX_BYTES, MAX_SESSION = 256 * 2**20, 16 * 2**20
#: Frames that wait for the first words of the user.
_MAX_WAITING = 256
#: Characters of the first words of the user, which the list shows.
MAX_TITLE = 120
#: Bytes of the file about a session: instructions chosen on the page are in it.
MAX_ABOUT = 2**18

_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(slots=True)
class SessionAbout:
    """What is known of a session beside its frames. Times are seconds since the epoch."""

    agent: str = ""
    model: str = ""
    title: str = ""
    began: float = 0.0
    handle: str | None = None
    choices: dict[str, str] | None = None  # that were made on the page

    @classmethod
    def read(cls, file: Path) -> SessionAbout:
        """Raises ``ValueError`` for a file that is not one of these, ``OSError`` as from ``open``."""
        with file.open("rb") as opened:
            return _about.validate_json(opened.read(MAX_ABOUT))


_about: TypeAdapter[SessionAbout] = TypeAdapter(SessionAbout)


@dataclass(frozen=True, slots=True)
class Listed:
    """A session on disk. ``about``: ``None`` if its file cannot be read."""

    id: str
    used: float
    about: SessionAbout | None


class SessionFiles:
    """The folder. Where it cannot be written, that is logged once, and nothing is kept any more.

    Raises nothing but what :meth:`frames` says: a full disk must not end a conversation.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder, self._clock = folder, clock
        self._warned = False

    def listed(self) -> list[Listed]:
        """The sessions of the last day, newest first. What is too old, or too much, is deleted."""
        found: list[tuple[float, str]] = []
        with self._kept():
            for file in self.folder.glob("*.jsonl"):
                if _ID.fullmatch(file.stem):
                    with contextlib.suppress(OSError):
                        found.append((file.stat().st_mtime, file.stem))
        found.sort(reverse=True)
        kept: list[Listed] = []
        size = 0
        for used, id in found:
            with contextlib.suppress(OSError):
                size += self._frames_of(id).stat().st_size
            if (
                used < self._clock() - MAX_AGE
                or len(kept) >= MAX_SAVED_SESSIONS
                or (size > MAX_BYTES and kept)
            ):
                self.delete(id)
            else:
                kept.append(Listed(id, used, self.about(id)))
        return kept

    def about(self, id: str) -> SessionAbout | None:
        """What is known of a session; ``None`` if it does not exist, or its file cannot be read."""
        try:
            return SessionAbout.read(self._about_of(id)) if _ID.fullmatch(id) else None
        except (OSError, ValueError):
            return None

    def frames(self, id: str) -> list[Frame]:
        """The frames of a session. A last line that is not whole, as a crash leaves it, is left out.

        Raises ``ValueError`` that names the line that cannot be read, and ``OSError`` as from ``open``.
        """
        file = self._frames_of(id)
        text = file.read_bytes()
        if text and not text.endswith(b"\n"):
            os.truncate(file, text.rfind(b"\n") + 1)
        return Recording.load(file).frames

    def has(self, id: str) -> bool:
        """Whether there is a session of this id."""
        return bool(_ID.fullmatch(id)) and self._frames_of(id).is_file()

    def delete(self, id: str) -> None:
        """Delete a session, if there is one."""
        if _ID.fullmatch(id):
            for file in (self._frames_of(id), self._about_of(id)):
                with self._kept():
                    file.unlink(missing_ok=True)

    def rename(self, id: str, other: str) -> None:
        """Give a session another id: another token opens it from now on."""
        with self._kept():
            for file_of in (self._frames_of, self._about_of):
                with contextlib.suppress(FileNotFoundError):
                    file_of(id).replace(file_of(other))

    def write_about(self, id: str, about: SessionAbout) -> None:
        """Keep what is known of a session, whole or as it was before."""
        with self._kept():
            self._make_folder()
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".about-")  # mode 0600
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    json.dump(asdict(about), file)
                os.replace(name, self._about_of(id))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def opened(self, id: str) -> Recording | None:
        """The file of a session's frames, open for more of them; ``None`` if it cannot be written."""
        try:
            self._make_folder()
            return Recording(self._frames_of(id), media=False, mode="a").__enter__()
        except (OSError, ValueError) as error:
            self.warn(error)
            return None

    def size(self, id: str) -> int:
        """Bytes of a session's frames."""
        try:
            return self._frames_of(id).stat().st_size
        except OSError:
            return 0

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)  # of one that was there

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.warn(error)

    def warn(self, error: Exception) -> None:
        """Log what the disk refuses, once."""
        if not self._warned:
            self._warned = True
            log.warning("sessions cannot be kept in %s: %s", self.folder, error)

    def _frames_of(self, id: str) -> Path:
        return self.folder / f"{id}.jsonl"

    def _about_of(self, id: str) -> Path:
        return self.folder / f"{id}.json"


class SessionFile:
    """The files of one session, which are written while it runs. ``about`` is what its file says, and ``handle`` the
    newest handle; ``keeps_handle``: another process can use it.
    """

    def __init__(
        self, files: SessionFiles, id: str, about: SessionAbout, *, keeps_handle: bool = True
    ) -> None:
        self.id, self.about = id, about
        self._files, self._keeps_handle = files, keeps_handle
        self._exists = files.has(id)
        self._recording: Recording | None = None
        self._waiting: deque[Frame] = deque(maxlen=_MAX_WAITING)  # what came before the user said something
        self._count = 0
        self._over = False
        self._title = about.title == ""  # the first words are still to come, or not all here
        self._sound = False  # the last frame was the user's sound

    @property
    def handle(self) -> str | None:
        """The newest handle of the session."""
        return self.about.handle

    def keep_handle(self, handle: str) -> None:
        """Keep this one, in place of the last."""
        self.about.handle = handle
        if self._exists and not self._over:
            self._write_about()

    def add(self, frame: Frame) -> None:
        """Append a frame. Of the user's sound, the first frame of each piece is kept: the rest says no more."""
        if self._over:
            return
        sound = frame.direction == "client" and "audio" in (frame.message.get("realtimeInput") or {})
        if not self._exists and not sound and not _typed(frame):
            self._waiting.append(frame)
            return
        if self._recording is None:
            self._begin()
        if not (sound and self._sound):
            self._append(frame)
        self._sound = sound
        if self._title:
            self._read_title(frame)

    def join(self, about: SessionAbout | None) -> None:
        """Continue in the files of another session, with what is known about that one."""
        self._exists = True
        if about is not None:
            about.handle, about.choices, about.model = self.about.handle, self.about.choices, self.about.model
            self.about = about
            self._title = about.title == ""
        if self._recording is None:
            self._begin()

    def stop(self) -> None:
        """Write nothing any more."""
        self._over = True
        self.pause()

    def pause(self) -> None:
        """Close the file until the next frame comes."""
        recording, self._recording = self._recording, None
        if recording is not None:
            with contextlib.suppress(OSError):  # of a disk that is full
                recording.__exit__(None, None, None)

    def _begin(self) -> None:
        self._exists = True
        self._recording = self._files.opened(self.id)
        while self._waiting:
            self._append(self._waiting.popleft())
        if not self._over:
            self._write_about()

    def _append(self, frame: Frame) -> None:
        if self._recording is None:
            return self.stop()
        try:
            self._recording.add(frame)
        except OSError as error:
            self._files.warn(error)
            return self.stop()
        self._count += 1
        if self._count % 64 == 0 and self._files.size(self.id) > MAX_SESSION:
            log.warning("a session of the page is larger than is kept on disk: the rest of it is not written")
            self.stop()
        return None

    def _read_title(self, frame: Frame) -> None:
        """Take the first words of the user: typed, or heard until the model begins."""
        content = frame.message.get("serverContent") or {}
        heard = (content.get("inputTranscription") or {}).get("text")
        typed = _typed(frame)
        if typed or heard:
            self.about.title = re.sub(r"\s+", " ", f"{self.about.title}{typed or heard}").lstrip()[:MAX_TITLE]
            self._write_about()
        begins = "toolCall" in frame.message or content.keys() & {"modelTurn", "outputTranscription"}
        self._title = not (typed or (begins and self.about.title))

    def _write_about(self) -> None:
        self._files.write_about(
            self.id, self.about if self._keeps_handle else replace(self.about, handle=None)
        )


def _typed(frame: Frame) -> str:
    """What the user typed, in a frame of the client."""
    if frame.direction == "server":
        return ""
    content: Message = frame.message.get("clientContent") or {}
    parts = [part for turn in content.get("turns") or [] for part in turn.get("parts") or []]
    realtime: Message = frame.message.get("realtimeInput") or {}
    return "\n".join(str(part["text"]) for part in parts if part.get("text")) or str(
        realtime.get("text") or ""
    )
