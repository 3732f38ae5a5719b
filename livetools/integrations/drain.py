"""Ends a process without cutting off its conversations: it accepts no new ones, and parks those that are open.

::

    drain = Drain()
    live = relay(agent, stores=stores, drain=drain)
    app = FastAPI(lifespan=drain.lifespan)         # SIGTERM drains before the server closes a websocket
    app.mount("/live", live)

A server that stops closes its websockets at once, in the middle of a word. So the drain comes first: the readiness
check (``/live/ready``) fails, conversations are parked at their next quiet moment, and only then the server stops.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from livetools.log import get_logger
from livetools.session.running.task_host import Host
from livetools.transport.loop.race import race

from .shared.option_checks import checked_seconds

log = get_logger("livetools.relay")


class Parkable(Protocol):
    """A conversation that can continue elsewhere, or can be waited for."""

    async def park(self, within: float) -> None:
        """End it at a quiet moment, at the latest in ``within`` seconds; return when it has left the drain."""


class Drain:
    """Lets the conversations of this process end, or move to another one, before the process ends.

    ``within``: seconds that each conversation may take. Pass one object to every relay and phone number of the process.
    Raises ``ConfigError`` for what is not a number of seconds from 0 on.

    ::

        from fastapi import FastAPI
        from livetools.integrations.starlette import relay

        drain = Drain(within=20.0)
        app = FastAPI(lifespan=drain.lifespan)
        app.mount("/live", relay(partial(connect, MODEL), drain=drain))
        print(drain.held, "conversations")
    """

    def __init__(self, within: float = 30.0) -> None:
        checked_seconds(within, "within", zero=True)
        self.within = within
        self.began = False  # no conversation is taken any more
        self._held: dict[int, Parkable] = {}

    @property
    def held(self) -> int:
        """How many conversations there are."""
        return len(self._held)

    @contextmanager
    def holds(self, conversation: Parkable) -> Iterator[None]:
        """The conversation is held in this block."""
        self._held[id(conversation)] = conversation
        try:
            yield
        finally:
            del self._held[id(conversation)]

    async def drain(self) -> int:
        """Stop accepting conversations, wait until all have ended or moved, and return how many there were.

        Call it before you stop the process by other means than SIGTERM. A second call waits too. Cancelling stops only
        the waiting; the conversations still end.
        """
        if not self.began:
            log.info("draining: conversations that are to end within %g s: %d", self.within, self.held)
        self.began, ended = True, self.held
        while self._held:
            async with anyio.create_task_group() as group:
                for conversation in tuple(self._held.values()):
                    group.start_soon(conversation.park, self.within)
        return ended

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """The lifespan of a Starlette or FastAPI app: on SIGTERM it drains, and then the server stops.

        A second SIGTERM stops the server at once. If the server stops without a signal, leaving the lifespan drains.
        Signals are caught in the main thread only. Made for uvicorn, whose own handler is called after the drain; if a
        server has no such handler, the signal ends the process after the drain.
        """
        host = Host("livetools drain")
        await host.start(self._watch)
        try:
            yield
        finally:
            await self.drain()
            await host.stop()

    async def _hurry(self, signals: AsyncIterator[signal.Signals]) -> None:
        await anext(signals)
        self.within = 0.0

    async def _watch(self, group: TaskGroup, ready: Callable[[], None]) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        before = signal.getsignal(signal.SIGTERM)
        if not callable(before) or getattr(before, "__module__", "").startswith("asyncio"):
            before = signal.SIG_DFL
        try:
            with anyio.open_signal_receiver(signal.SIGTERM) as signals:
                ready()
                await anext(signals)
                await race(self.drain, partial(self._hurry, signals))
        finally:
            signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
