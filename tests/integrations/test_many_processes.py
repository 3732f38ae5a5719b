"""A rolling restart under load: every process is replaced while pages talk, and no call is lost or run twice."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest
import redis
from support.fleet import Balancer, Client, Fleet

from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio
PAGES = 6


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # uvicorn's


async def takes_orders(turn: Any) -> None:
    """Passes each order on, and says what it was told."""
    number = turn.text.removeprefix("order ")
    taken = await turn.call("order", number=number)
    await turn.say(f"done {taken['output']}", b"\x00\x00" * 240)


async def test_a_rolling_restart_under_load_loses_no_call_and_runs_none_twice(redis_url: str) -> None:
    codes: list[int] = []
    async with FakeLiveServer(takes_orders) as server, Fleet.of(server.url, redis_url) as fleet:
        async with Balancer().serve() as balancer, asyncio.timeout(50), asyncio.TaskGroup() as group:
            balancer.processes = [await fleet.start() for _ in range(2)]
            url, enough = f"ws://127.0.0.1:{balancer.port}/live/", asyncio.Event()
            pages = [Client(f"p{number}", url) for number in range(PAGES)]
            for page in pages:
                group.create_task(page.order(enough))
            for _ in range(2):  # one after the other: its successor is ready before it goes
                balancer.processes.append(await fleet.start())
                while not all(page.answered for page in pages):
                    await asyncio.sleep(0.05)
                codes.append(await fleet.stop(balancer.processes.pop(0)))
            enough.set()
    assert codes == [-signal.SIGTERM] * 2  # uvicorn ends by the signal that it was sent
    assert [page.name for page in pages if not page.resumed] == []
    assert all(resumed for page in pages for resumed in page.resumed)
    wanted = [f"{page.name}-{number}" for page in pages for number in range(len(page.answered))]
    assert [number for page in pages for number in page.answered] == wanted
    with redis.Redis.from_url(redis_url) as client:
        runs = {number: (client.get(f"runs:{number}"), client.get(f"done:{number}")) for number in wanted}
        assert {number: ran for number, ran in runs.items() if ran != (b"1", b"1")} == {}
        assert len(client.keys("runs:*")) == len(wanted)
        client.flushdb()
