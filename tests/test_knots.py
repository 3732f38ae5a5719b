"""The live objects of an open session hold each other in no circle, but for those that report to whom they work for."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from support.live_objects import REPORTS, held_by, names

import livetools
from livetools.testing import FakeLiveServer, Turn
from livetools.transport.loop.wake import on_trio

pytestmark = pytest.mark.anyio


async def look_at_a_session(look: Callable[[livetools.Session], None]) -> None:
    """Look at a session in which calls of every kind are open and the microphone is on, and when they are answered."""
    release, begun = threading.Event(), anyio.Semaphore(0)
    home = anyio.lowlevel.current_token()

    async def waits(city: str) -> str:
        begun.release()
        await anyio.to_thread.run_sync(release.wait)
        return city

    def blocks(city: str) -> str:
        anyio.from_thread.run_sync(begun.release, token=home)
        release.wait()
        return city

    async def yields(city: str) -> AsyncIterator[str]:
        yield city
        begun.release()
        await anyio.to_thread.run_sync(release.wait)

    server = FakeLiveServer()

    @server.model
    async def model(turn: Turn) -> None:
        oslo = {"city": "Oslo"}
        await turn.calls(("waits", oslo), ("blocks", oslo), ("yields", oslo))
        await turn.say("It rains.")

    async with server:
        options: dict[str, Any] = {**server.options, "reply_batching": "batch"}
        tools = [waits, blocks, yields]
        async with livetools.connect("gemini-3.8-live", tools=tools, **options) as session:
            async with anyio.create_task_group() as group:
                await session.send_audio(bytes(640))
                group.start_soon(session.ask, "Weather?")
                try:
                    for _ in tools:
                        await begun.acquire()
                    look(session)
                finally:
                    release.set()
            look(session)


async def test_the_objects_of_a_session_hold_each_other_in_no_circle_that_is_not_named() -> None:
    seen: set[tuple[str, str]] = set()

    def look(session: livetools.Session) -> None:
        edges, circles = names([session])
        seen.update(edges)
        assert circles == []

    with anyio.fail_after(30):
        await look_at_a_session(look)
    kinds = {one for edge in seen for one in edge}
    assert [edge for edge in REPORTS if kinds.issuperset(edge) and edge not in seen] == []
    assert {"Machine", "Calls", "Dispatch", "ToolRunner", "TaskTimer" if on_trio() else "Timer"} <= kinds


class _Held:
    """A class of the core's, for the walk."""


_Held.__module__ = "livetools.protocol.made_up"


def ways(held: Any) -> Iterator[Any]:
    """Objects that hold this one."""

    def closure() -> Any:
        return held

    def default(one: Any = held) -> Any:
        return one

    yield from ([held], (held,), {"key": held}, {held: 1}, partial(print, held), closure, default)
    yield from (SimpleNamespace(held=held).__dict__, [[{"deep": (held,)}]], [held].append)


def test_the_walk_finds_what_is_held_in_every_way() -> None:
    for number in range(10):
        holder, held = _Held(), _Held()
        holder.way = list(ways(held))[number]  # type: ignore[attr-defined]
        assert list(held_by(holder)) == [held], number


def test_the_walk_finds_a_circle_through_a_bound_method() -> None:
    class Other(_Held):
        def method(self) -> None: ...

    Other.__module__ = _Held.__module__
    first, second = Other(), _Held()
    first.held, second.call = second, first.method  # type: ignore[attr-defined]
    _, circles = names([first])
    assert circles == [["Other", "_Held"]]
