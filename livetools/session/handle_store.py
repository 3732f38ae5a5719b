"""Stores the handle of a session, so that another process can resume the conversation.

A handle is valid for two hours, and anybody who has it can resume the conversation: keep it as a secret.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import anyio.to_thread

from livetools.events import Call, Event, HandleUpdate
from livetools.log import get_logger
from livetools.setup.secrecy import place
from livetools.transport.loop.wake import make_wake

from .frame_log import detail
from .handlers.user_code import is_of_the_user

log = get_logger("livetools.session")

#: Bytes of a file that may hold a handle. One has some hundred characters; a store may keep more beside it.
MAX_HANDLE = 2**20


class HandleStore(Protocol):
    """Keeps the newest handle of one conversation. What ``save`` raises is logged, and ends no session.

    ::

        class InMemory:
            handle = None

            async def load(self):
                return self.handle

            async def save(self, handle):
                self.handle = handle

        store = InMemory()
        async with connect(MODEL, handle_store=store) as session:
            await session.ask("My name is Ann.")
        print("resumable:", store.handle is not None)
    """

    async def load(self) -> str | None:
        """The handle that was saved last, if there is one."""

    async def save(self, handle: str) -> None:
        """Keep this one, in place of the last."""


@runtime_checkable
class ConversationStore(HandleStore, Protocol):
    """A :class:`HandleStore` that also knows which calls of its conversation a process has left behind."""

    async def left(self) -> Sequence[Call]:
        """The calls whose results the model may not know, in their order. Asked after ``load`` has found a handle.

        Where the state of that handle is restored each of them is a lost call: its tool is called here with the same
        id, and the result goes to the model as a text.
        """

    def follow(self, session: object) -> None:
        """This session is about to open: :func:`livetools.session.listening.frame_tap.listen` reports its events."""


#: Makes what saves the handles of a session, from its store and the handle of that store with which the session is
#: resumed (``None``: the store had none, or another handle was given).
KeeperMaker: TypeAlias = "Callable[[HandleStore, str | None], Keeper]"


class MemoryHandleStore:
    """For sessions of one process."""

    def __init__(self) -> None:
        self.handle: str | None = None

    async def load(self) -> str | None:
        """See :class:`HandleStore`."""
        return self.handle

    async def save(self, handle: str) -> None:
        """See :class:`HandleStore`."""
        self.handle = handle


class FileHandleStore:
    """In a file that only its owner may read. It is replaced as a whole: no reader meets half a handle.

    ::

        store = FileHandleStore(FOLDER / "conversation")
        async with connect(MODEL, handle_store=store) as session:
            await session.ask("My name is Ann.")
        print("resumable:", await store.load() is not None)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    async def load(self) -> str | None:
        """The file's text; ``None`` where it is missing or empty, and, with a warning in the log, where it is no text
        of at most 1 MiB: a new session begins. Raises ``OSError``.
        """
        return await anyio.to_thread.run_sync(self._read)

    async def save(self, handle: str) -> None:
        """Write and rename. Raises ``OSError``."""
        await anyio.to_thread.run_sync(self._write, handle)

    def _read(self) -> str | None:
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_HANDLE + 1)
            if len(content) > MAX_HANDLE:
                raise ValueError(f"more than {MAX_HANDLE:,} bytes")
            return content.decode("utf-8-sig").strip() or None
        except FileNotFoundError:
            return None
        except ValueError as error:
            log.warning("%s holds no session handle, so a new session begins: %s", self.path, error)
            return None

    def _write(self, handle: str) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}-")  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(handle)
                file.flush()
                # Before the rename, or a crash could leave an empty file under the old name.
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            # Nothing of a handle is left behind in a file that nobody looks for.
            os.unlink(name)
            raise


async def load_handle(store: HandleStore) -> str | None:
    """The handle in the store. Anything but a line of text is ignored, and logged. Raises what the store raises."""
    handle: object = await store.load()  # the user's store may return anything
    if handle is None or (isinstance(handle, str) and handle.isprintable()):
        return handle
    log.warning("the handle store has no line of text as its session handle: a new session begins")
    return None


class Keeper:
    """Saves what a session tells of its handle, the newest only, beside everything else.

    ``resumed``: the handle of the store with which the session was resumed; ``None``: with none of the store's.
    """

    def __init__(self, store: HandleStore, resumed: str | None = None) -> None:
        self.store = store
        self.lock = anyio.Lock()  # the store is used by one task at a time
        self._newest: str | None = None
        self._changed = make_wake()

    def event(self, event: Event) -> None:
        """Take note."""
        if type(event) is HandleUpdate:
            self._newest = event.handle
            self._changed.set()

    async def run(self) -> None:
        """Save, as long as the session runs."""
        while True:
            await self._changed.wait()
            await self.finish()

    async def finish(self) -> None:
        """Save what is not saved yet."""
        # Taken before the save, so that a handle that comes meanwhile is saved next.
        handle, self._newest = self._newest, None
        if handle is None:
            return
        try:
            async with self.lock:
                await self.save(handle)
        except BaseException as error:
            if not is_of_the_user(error):
                raise
            log.warning("the session handle was not saved: %s", place(error), exc_info=detail(error))

    async def save(self, handle: str) -> None:
        """Save this one. Raises what the store raises."""
        await self.store.save(handle)
