"""Notices that a session was resumed from a handle that was not the last one of the process before it.

A conversation moves while the other process still parks it: the handle may be read a moment before that process saves
its last one, and the service accepts the older handle as soon as the other session is closed. What was said in between
would be missing.
"""

from __future__ import annotations

from typing import Any

from livetools.session.handle_store import HandleStore


class Successor:
    """The handle store of a session that continues that of another process. Once it has saved a handle of its own it
    only passes on.
    """

    def __init__(self, store: HandleStore) -> None:
        self._store = store
        self._resumed: str | None = None
        self._saved = False  # a handle of its own: it is the only one that saves
        self._late = False

    def __getattr__(self, name: str) -> Any:  # the methods of a ConversationStore, where it is one
        return getattr(self._store, name)

    async def load(self) -> str | None:
        """See :class:`~livetools.session.HandleStore`."""
        self._resumed = await self._store.load()
        return self._resumed

    async def save(self, handle: str) -> None:
        """See :class:`~livetools.session.HandleStore`. A handle that lacks what the other process has saved last is not
        kept."""
        if not await self.too_early():
            self._saved = True
            await self._store.save(handle)

    async def too_early(self) -> bool:
        """Whether the other process has saved a handle after this session was resumed: it is to be resumed again."""
        if not (self._saved or self._late):
            self._late = await self._store.load() != self._resumed
        return self._late
