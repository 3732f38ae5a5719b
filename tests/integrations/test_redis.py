"""Handles in a real Redis, and a conversation that outlives its process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from livetools import ConfigError
from livetools.integrations.redis import RedisHandleStore
from livetools.testing import FakeLiveServer


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
        yield client


@pytest.mark.anyio
async def test_the_newest_handle_is_kept_for_as_long_as_it_is_good(client: redis.Redis) -> None:
    store = RedisHandleStore(client, "talk")
    assert await store.load() is None
    await store.save("first")
    await store.save("second")
    assert await store.load() == "second"
    assert 7190 < client.ttl("talk") <= 7200


@pytest.mark.anyio
async def test_a_client_that_decodes_is_as_good(redis_url: str, client: redis.Redis) -> None:
    with redis.Redis.from_url(redis_url, decode_responses=True) as decoding:
        store = RedisHandleStore(decoding, "talk", lifetime=0.5)
        await store.save("ä")
        assert await store.load() == "ä"
    assert client.ttl("talk") == 1


@pytest.mark.parametrize("lifetime", [0, -1, float("nan"), float("inf"), 1e30, True, "7200", None])
def test_a_handle_is_good_for_a_time(lifetime: Any) -> None:
    with pytest.raises(ConfigError, match="lifetime"):
        RedisHandleStore("redis://localhost", "talk", lifetime=lifetime)


@pytest.mark.parametrize("key", ["", None, 5, b"talk"])
def test_a_key_has_a_name(key: Any) -> None:
    with pytest.raises(ConfigError, match=r"key=.*: expected a text"):
        RedisHandleStore("redis://localhost", key)


def test_a_client_is_a_url_or_one_of_redis() -> None:
    with pytest.raises(ConfigError, match="client is a dict: expected a URL, or a client of redis-py"):
        RedisHandleStore({"url": "redis://localhost"}, "talk")  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_the_client_of_a_cluster_is_as_good() -> None:
    class Cluster(redis.RedisCluster):
        def __init__(self) -> None:
            self.kept: dict[str, str] = {}

        def get(self, name: str) -> str | None:  # type: ignore[override]
            return self.kept.get(name)

        def set(self, name: str, value: str, *, ex: int) -> None:  # type: ignore[override]
            self.kept[name] = value

        def __del__(self) -> None:
            """There are no connections to close."""

    store = RedisHandleStore(Cluster(), "talk")
    await store.save("here")
    assert await store.load() == "here"


def test_an_asyncio_client_of_a_cluster_is_awaited() -> None:
    import asyncio

    class Cluster(redis.asyncio.RedisCluster):
        def __init__(self) -> None:
            self.kept: dict[str, str] = {}

        async def get(self, name: str) -> str | None:
            return self.kept.get(name)

        async def set(self, name: str, value: str, *, ex: int) -> None:  # type: ignore[override]
            self.kept[name] = value

        def __del__(self, *_: object) -> None:
            """There are no connections to close."""

    async def kept() -> str | None:
        store = RedisHandleStore(Cluster(), "talk")
        await store.save("here")
        return await store.load()

    assert asyncio.run(kept()) == "here"


async def _async_client(redis_url: str) -> str | None:
    async with redis.asyncio.Redis.from_url(redis_url) as client:
        store = RedisHandleStore(client, "talk")
        await store.save("here")
        return await store.load()


def test_an_asyncio_client_serves_asyncio(redis_url: str, client: redis.Redis) -> None:
    import asyncio

    assert asyncio.run(_async_client(redis_url)) == "here"
    assert client.get("talk") == b"here"


@pytest.mark.anyio
async def test_a_redis_that_is_away_is_an_error_without_the_password(client: redis.Redis) -> None:
    store = RedisHandleStore("redis://:very-secret@127.0.0.1:1/0", "talk")
    with pytest.raises(redis.RedisError) as caught:
        await store.load()
    assert "very-secret" not in f"{caught.value}{caught.value!r}{store!r}"


PROGRAM = """
import os, signal, sys
import anyio, livetools
from livetools.integrations.redis import RedisHandleStore

async def main(base_url, redis_url, text, end):
    store = RedisHandleStore(redis_url, "talk")
    async with livetools.connect(
        "gemini-3.8-live", base_url=base_url, api_key="fake", handle_store=store
    ) as session:
        print(await session.ask(text), flush=True)
        while await store.load() != session.handle:
            await anyio.sleep(0.01)
        if end == "die":
            os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main, *sys.argv[2:], backend=sys.argv[1])
"""


def test_a_process_that_dies_is_followed_by_another_that_goes_on(
    redis_url: str, client: redis.Redis, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        said = [
            part["text"] for content in turn.session.history for part in content["parts"] if "text" in part
        ]
        await turn.say(" / ".join(said))

    def talk(backend: str, text: str, end: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(program), backend, server.url, redis_url, text, end]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    server.start()
    try:
        first = talk("asyncio", "My name is Ada.", "die")
        second = talk("trio", "Who am I?", "end")
    finally:
        server.stop()
    assert (first.returncode, second.returncode) == (-9, 0), first.stderr + second.stderr
    assert first.stdout == "My name is Ada.\n"
    assert second.stdout == "My name is Ada. / My name is Ada. / Who am I?\n"
    assert len(server.sessions) == 1
