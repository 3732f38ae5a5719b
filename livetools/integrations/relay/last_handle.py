"""Sees that another process has saved a newer handle of the same conversation, and gives it back.

A page may come to this process while the other one still parks its conversation: the session that is resumed here then
lacks what was said last, and the handle that the other process saves belongs in the place of this session's own.
"""

from __future__ import annotations

import contextlib

from livetools.session.handle_store import HandleStore, Keeper, load_handle


class LastHandle(Keeper):
    """A keeper that looks into the store before it saves for the first time.

    ``resumed``: the handle of the store with which the session was resumed; ``None``: with none of it.
    """

    def __init__(self, store: HandleStore, resumed: str | None) -> None:
        super().__init__(store, resumed)
        self._resumed = resumed
        self._overtaken: str | None = None  # the handle of another process, saved after that
        self._withdrawn = False

    async def save(self, handle: str) -> None:
        """Save it, unless the session has given way."""
        await self._look()  # what is saved now would hide it
        if not self._withdrawn:
            await super().save(handle)

    async def withdraw(self) -> bool:
        """If another process has saved a handle since this session was resumed, put it back, and save no more.

        The session is to be closed then, and resumed again. Returns whether that happened. Raises what ``save`` of the
        store raises.
        """
        async with self.lock:
            await self._look()
            if self._overtaken is not None:
                self._withdrawn = True
                await self.store.save(self._overtaken)
        return self._withdrawn

    async def _look(self) -> None:
        """See, once, whether the store still has the handle that was resumed."""
        resumed, self._resumed = self._resumed, None
        with contextlib.suppress(Exception):  # a store that fails says so where a handle is saved
            if resumed is not None and (newest := await load_handle(self.store)) != resumed:
                self._overtaken = newest
