"""Where sync functions may run: any ``concurrent.futures.Executor``, processes and clusters included."""

from __future__ import annotations

import multiprocessing
import os
import shlex
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import livetools
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["threads", "processes", pytest.param("dask", marks=pytest.mark.slow)])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """One of each kind; Dask's cluster is an extra of its own."""
    if request.param == "threads":
        with ThreadPoolExecutor(1) as threads:
            yield threads
    elif request.param == "processes":
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
            yield processes
    else:
        distributed = pytest.importorskip("distributed")
        cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
        with cluster, distributed.Client(cluster) as client:
            yield client.get_executor()


@pytest.mark.filterwarnings("default")  # other people's clusters warn as they like
async def test_a_function_runs_where_it_is_told_to_and_its_result_comes_back(executor: Executor) -> None:
    server = FakeLiveServer()

    @server.model
    async def model(turn: Turn) -> None:
        first, broken = await turn.calls(("quote", {"s": "it's"}), ("quote", {"s": 5}))
        await turn.say(f"{first['output']} and {'error' in broken}")

    async with server:
        options: dict[str, Any] = server.options
        quote = livetools.Tool(
            shlex.quote, name="quote", description="Quotes for a shell.", executor=executor
        )
        async with livetools.connect("gemini-3.8-live", tools=[quote], **options) as session:
            said = str(await session.ask("go"))
    assert said == shlex.quote("it's") + " and True"


def leave() -> None:
    """End the process that this runs in."""
    os._exit(1)


@pytest.mark.parametrize("how", ["a worker that dies", "an executor that was shut down"])
async def test_a_dead_worker_or_executor_is_an_error_for_the_model(how: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    executor: Executor = (
        ThreadPoolExecutor(1) if how.startswith("an") else ProcessPoolExecutor(1, mp_context=spawn)
    )
    if how.startswith("an"):
        executor.shutdown()
    server = FakeLiveServer()

    @server.model
    async def model(turn: Turn) -> None:
        await turn.say(str(await turn.call("leave")))

    async with server:
        options: dict[str, Any] = server.options
        tool = livetools.Tool(leave, executor=executor)
        async with livetools.connect("gemini-3.8-live", tools=[tool], **options) as session:
            assert "leave failed" in str(await session.ask("go"))
    executor.shutdown()
