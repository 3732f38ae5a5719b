"""Tools on a Dask cluster: each call is run once, whatever becomes of the worker that runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.waiting import until_true

import livetools
from livetools import Call, ConfigError
from livetools.integrations.dask import executor
from livetools.testing import FakeLiveServer, Turn

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.filterwarnings("default")]


def cluster(failures: int) -> Any:
    """A scheduler and one worker in processes of their own."""
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": failures}):
        return distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster(0) as local, distributed.Client(local) as client:
        yield client


def note(path: str, key: str, workers: int = 0) -> str:
    """Note that this ran. ``key`` and ``workers`` are names that Dask has a use for."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{key}\n")
    return f"{key}, {workers}"


def die(path: str) -> None:
    """Note it, and take the worker along."""
    note(path, "died")
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(path: str, seconds: float) -> str:
    """Note it, and take a while."""
    note(path, f"slept {seconds}")
    time.sleep(seconds)
    return "slept"


async def asked(
    client: Any, function: Callable[..., object], model: Callable[[Turn], Any], **options: Any
) -> str:
    """What the model says after it was asked."""
    tool = livetools.Tool(function, executor=executor(client), **options)
    async with FakeLiveServer(model) as server:
        async with livetools.connect("gemini-3.8-live", tools=[tool], **server.options) as session:
            return str(await session.ask("go"))


async def test_equal_calls_are_run_each(client: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "notes")

    async def model(turn: Turn) -> None:
        args = {"path": path, "key": "k", "workers": 3}
        answers = await turn.calls(("note", args), ("note", args))
        await turn.say(str([answer["output"] for answer in answers]))

    assert await asked(client, note, model) == "['k, 3', 'k, 3']"
    assert Path(path).read_text().split() == ["k", "k"]


async def test_a_call_whose_worker_is_killed_is_answered_with_an_error_and_not_run_again(
    client: Any, tmp_path: Path
) -> None:
    path = str(tmp_path / "notes")

    async def model(turn: Turn) -> None:
        failed = await turn.call("die", path=path)
        await turn.say(str(failed))

    assert "die failed" in await asked(client, die, model)
    assert Path(path).read_text().split() == ["died"]
    assert client.submit(os.getpid, pure=False).result(timeout=60)  # the nanny has started another worker


async def test_what_waits_for_a_worker_is_withdrawn_and_what_runs_is_abandoned(
    client: Any, tmp_path: Path
) -> None:
    path, undone = str(tmp_path / "notes"), list[str]()

    def undo(call: Call, result: object) -> None:
        undone.append(call.id)

    async def model(turn: Turn) -> None:
        first = await turn.start_call("sleep", path=path, seconds=2.0)
        await until_true(lambda: os.path.exists(path))
        second = await turn.start_call("sleep", path=path, seconds=0.1)
        await turn.cancel(first, second)
        await turn.say("never mind")

    assert await asked(client, sleep, model, undo=undo) == "never mind"
    assert len(undone) == 2
    assert client.submit(os.getpid, pure=False).result(timeout=60)  # behind both
    assert Path(path).read_text() == "slept 2.0\n"


async def test_a_call_past_its_time_is_answered_though_the_worker_runs_on(
    client: Any, tmp_path: Path
) -> None:
    async def model(turn: Turn) -> None:
        late = await turn.call("sleep", path=str(tmp_path / "notes"), seconds=1.5)
        await turn.say(str(late))

    assert "timed out" in await asked(client, sleep, model, timeout=0.3)


def test_a_cluster_that_runs_lost_calls_again_is_refused() -> None:
    with cluster(3) as local, distributed.Client(local) as client:
        with pytest.raises(ConfigError, match="allowed-failures is 3"):
            executor(client)


async def test_an_asynchronous_client_is_refused(anyio_backend: str) -> None:
    if anyio_backend == "trio":
        pytest.skip("Dask runs on asyncio")
    async with distributed.Client(processes=False, asynchronous=True, dashboard_address=None) as client:
        with pytest.raises(ConfigError, match="asynchronous"):
            executor(client)


async def test_a_scheduler_that_is_gone_is_an_error_for_the_model() -> None:
    local = cluster(0)
    client = distributed.Client(local)
    tool = livetools.Tool(sleep, executor=executor(client))
    local.close()

    async def model(turn: Turn) -> None:
        failed = await turn.call("sleep", path="nowhere", seconds=0.1)
        await turn.say(str(failed))

    async with FakeLiveServer(model) as server:
        async with livetools.connect("gemini-3.8-live", tools=[tool], **server.options) as session:
            assert "sleep failed" in str(await session.ask("go", timeout=60))
    client.close(timeout=1)


PROGRAM = '''
import asyncio, dask, distributed
dask.config.set({"distributed.scheduler.allowed-failures": 0})
import livetools
from livetools.integrations.dask import executor
from livetools.testing import FakeLiveServer

async def main(simulate):
    async def model(turn):
        print(await turn.call("simulate", steps=7))
        await turn.say("Done.")
    async with FakeLiveServer(model) as server:
        async with livetools.connect("gemini-3.8-live", tools=[simulate], **server.options) as session:
            await session.ask("go", timeout=60)

if __name__ == "__main__":
    with distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:

        @livetools.tool(executor=executor(client), timeout=60)
        def simulate(steps: int) -> float:
            """Simulate something for many steps."""
            return steps * 1.5

        asyncio.run(main(simulate))
'''


def test_a_decorated_function_of_a_program_runs_on_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=90
    )
    assert "{'output': 10.5}" in done.stdout, done.stderr
