"""Handles outlive their process."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import anyio
import pytest
from support.waiting import everybody_waits

from livetools import connect
from livetools.events import HandleUpdate, TextChunk
from livetools.session.handle_store import (
    FileHandleStore,
    HandleStore,
    Keeper,
    MemoryHandleStore,
    load_handle,
)
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> HandleStore:
    return MemoryHandleStore() if request.param == "memory" else FileHandleStore(tmp_path / "handle")


async def test_a_store_gives_back_the_newest_handle(store: HandleStore) -> None:
    assert await store.load() is None
    await store.save("h1")
    await store.save("h2")
    assert await store.load() == "h2"


async def test_a_file_is_readable_by_its_owner_only_and_nothing_else_is_left(tmp_path: Path) -> None:
    store = FileHandleStore(tmp_path / "handle")
    await store.save("h1")
    assert stat.S_IMODE((tmp_path / "handle").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["handle"]


async def test_a_file_that_cannot_be_replaced_leaves_no_rubbish(tmp_path: Path) -> None:
    (tmp_path / "handle").mkdir()
    with pytest.raises(OSError, match=r"."):
        await FileHandleStore(tmp_path / "handle").save("h1")
    assert [path.name for path in tmp_path.iterdir()] == ["handle"]


async def test_a_keeper_saves_the_newest_and_survives_a_store_that_fails() -> None:
    class Failing(MemoryHandleStore):
        async def save(self, handle: str) -> None:
            if handle == "bad":
                raise OSError("disk full")
            await super().save(handle)

    store = Failing()
    keeper = Keeper(store, None)
    async with anyio.create_task_group() as group:
        group.start_soon(keeper.run)
        for handle in ("bad", "h1", "h2"):
            keeper.event(HandleUpdate(handle))
            keeper.event(TextChunk("x"))
            await everybody_waits()
        group.cancel_scope.cancel()
    keeper.event(HandleUpdate("h3"))
    await keeper.finish()
    assert store.handle == "h3"


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00\x01\x80",
        b"\x00" * 100,
        b"a\nb",
        b"x" * 3_000_000,
        b"a\xed\xa0\x80",
        b"[" * 100_000,
        b"yesterday",
    ],
)
async def test_a_file_of_any_content_begins_a_new_session_and_is_told(tmp_path, caplog, content):
    (tmp_path / "handle").write_bytes(content)
    async with FakeLiveServer() as server:
        with caplog.at_level(logging.INFO, "livetools.session"):
            async with connect(
                "gemini-3.8-live", handle_store=FileHandleStore(tmp_path / "handle"), **server.options
            ) as session:
                assert "hello" in str(await session.ask("hello"))
    assert any("a new session begins" in line or "a new one" in line for line in caplog.messages)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
async def test_an_empty_file_is_no_handle_and_nothing_to_tell(tmp_path, caplog, content):
    (tmp_path / "handle").write_bytes(content)
    assert await FileHandleStore(tmp_path / "handle").load() is None
    assert not caplog.messages


async def test_whatever_a_store_has_only_a_line_of_text_is_a_handle():
    for content in ("a\nb", "a\x00", "a\ud800", b"bytes", 7):
        store = MemoryHandleStore()
        store.handle = content
        assert await load_handle(store) is None
    assert await load_handle(MemoryHandleStore()) is None
