"""Time that costs nothing: a program runs on real sockets, and whenever nothing is left to do its clock jumps on.

Local sockets deliver at once, so a loop that finds nothing ready has only its timers to wait for. Threads are another
matter: while one works for a session, the clock stands still.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import selectors
import socket
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

import anyio
import trio
from trio._core import _run as trio_run
from trio.testing import MockClock

from livetools.session.handlers.threads import DaemonThreads
from livetools.session.running import clock
from livetools.testing.live import hang_detection
from livetools.transport.loop.wake import on_trio, poster

T = TypeVar("T")


class VirtualClock:
    """The clock of the loop that runs, for ``connect(clock=)`` and for the fake server."""

    @staticmethod
    def now() -> float:
        return anyio.current_time()

    @staticmethod
    async def sleep_until(t: float) -> None:
        if t == math.inf:
            await anyio.sleep_forever()
        await anyio.sleep(max(0.0, t - anyio.current_time()))


class Hurried:
    """Time that runs forty times as fast, where a server lives in a thread, or in a loop of another kind."""

    @staticmethod
    def now() -> float:
        return 40 * anyio.current_time()

    @classmethod
    async def sleep_until(cls, t: float) -> None:
        await anyio.sleep(max(0.0, t - cls.now()) / 40)


class _Threads:
    """How many functions of sessions are with a thread: while there are some, the clock stands still."""

    def __init__(self) -> None:
        self.busy = 0
        self.changed: Callable[[], None] = lambda: None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Count what is submitted, in the loop, until its result is back there."""
        piece_of_work = DaemonThreads.piece_of_work

        def counted(
            pool: DaemonThreads, function: Callable[[], Any]
        ) -> tuple[Future[Any], Callable[[], None]]:
            post = poster()
            self._count(1)
            future, work = piece_of_work(pool, function)

            def uncount() -> None:
                with contextlib.suppress(
                    RuntimeError, trio.RunFinishedError
                ):  # a thread that outlives its loop
                    post(lambda: self._count(-1))

            self._uncount_after(future, uncount)
            return future, work

        DaemonThreads.piece_of_work = counted  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            DaemonThreads.piece_of_work = piece_of_work  # type: ignore[method-assign]

    @staticmethod
    def _uncount_after(future: Future[Any], uncount: Callable[[], None]) -> None:
        """Once whoever waits for it has been told: between the two the thread may be put to sleep."""
        tell = future._invoke_callbacks  # type: ignore[attr-defined]

        def told() -> None:
            tell()
            uncount()

        with future._condition:  # type: ignore[attr-defined]
            done = future.done()
            if not done:
                future._invoke_callbacks = told  # type: ignore[attr-defined]
        if done:
            uncount()

    def _count(self, change: int) -> None:
        self.busy += change
        self.changed()


class _Selector(selectors.DefaultSelector):
    """Waits for sockets and threads, never for time: that is skipped."""

    skipped = 0.0

    def __init__(self, threads: _Threads) -> None:
        super().__init__()
        self._threads = threads

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self._threads.busy:
            return super().select(None)
        self.skipped += max(timeout, 0.0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, threads: _Threads) -> None:
        self._skipping = _Selector(threads)
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.skipped

    def block(self, seconds: float) -> None:
        self._skipping.skipped += seconds

    async def getaddrinfo(self, host: Any, port: Any, **hints: Any) -> Any:  # type: ignore[override]
        """Not in a thread, which the clock would not wait for."""
        return socket.getaddrinfo(host, port, **hints)


@contextlib.contextmanager
def backend(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the fixture ``anyio_backend`` gives, ``"asyncio"`` or ``"trio"``, for tests whose time costs nothing.

    The clock that sessions, servers and bridges have by themselves is that of the loop, too.
    """
    threads = _Threads()
    with threads.watched(), _system_clock():
        if name == "asyncio":
            yield name, {"loop_factory": lambda: _Loop(threads)}
            return
        mocked = MockClock(autojump_threshold=0)

        def changed() -> None:
            mocked.autojump_threshold = math.inf if threads.busy else 0

        threads.changed = changed
        yield name, {"clock": mocked}


@contextlib.contextmanager
def _system_clock() -> Iterator[None]:
    """The system's clock, those that are made meanwhile and the one that all sessions share, tells the loop's time; so
    does that of the fake's patience."""
    loops = SimpleNamespace(monotonic=anyio.current_time)
    with mock.patch.object(clock, "time", loops), mock.patch.object(hang_detection, "time", loops):
        with mock.patch.object(clock.SYSTEM_CLOCK, "now", anyio.current_time):
            yield


def block(seconds: float) -> None:
    """As if the loop were blocked, or its process stopped, for so long: it is later, and nothing has run meanwhile."""
    if on_trio():
        mocked = trio.lowlevel.current_clock()
        assert isinstance(mocked, MockClock)
        mocked.jump(seconds)
    else:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _Loop)
        loop.block(seconds)


def run(name: str, function: Callable[..., Awaitable[T]], *args: Any, seed: int = 0) -> T:
    """Run an async function to its end on ``"asyncio"`` or ``"trio"``, in no time; ``seed`` gives trio its order."""
    if name == "trio":
        trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True  # as Hypothesis does
        trio_run._r.seed(seed)
    with backend(name) as (loop, options):
        return anyio.run(function, *args, backend=loop, backend_options=options)
