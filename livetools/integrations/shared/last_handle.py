"""Sees that another process has saved a newer handle of the same conversation, and gives it back.

A page, or the next stream of a phone call, may come to this process while the other one still parks its conversation.
The session that is resumed here then lacks what was said last, and the handle that the other process saves belongs in
the place of this session's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable

from livetools.errors import SessionClosed
from livetools.session.agents import adjust
from livetools.session.handle_store import HandleStore, Keeper, load_handle
from livetools.session.running.clock import Clock
from livetools.session.session import Session

#: Seconds to wait until another process has closed a conversation, before its caller learns that it cannot continue,
#: and seconds between two checks: the service does not resume a session that is still open.
TAKE_OVER, LOOK = 30.0, 0.25


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


@contextlib.asynccontextmanager
async def resumed_session(
    session: Session, again: Callable[[], Session], clock: Clock
) -> AsyncIterator[Session]:
    """Enter a session that continues a conversation, with the handle that another process has saved last.

    While the service still holds the session of the other process, and where a newer handle has come meanwhile, another
    one is made by ``again`` and entered, for at most ``TAKE_OVER`` seconds. Raises what entering raises.
    """
    until = clock.now() + TAKE_OVER
    entered = False
    while True:
        kept: list[LastHandle] = []

        def keep(store: HandleStore, resumed: str | None, kept: list[LastHandle] = kept) -> LastHandle:
            kept.append(LastHandle(store, resumed))
            return kept[-1]

        try:
            async with adjust(session, keeper=keep):
                if clock.now() >= until or not any([await each.withdraw() for each in kept]):
                    entered = True
                    yield session
                    return
        except SessionClosed as error:
            if entered or not error.retryable or clock.now() >= until:
                raise
        await clock.sleep_until(clock.now() + LOOK)
        session = again()
