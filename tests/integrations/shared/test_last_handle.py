"""A session that was resumed while another process still parked its conversation gives way to the handle of that."""

from __future__ import annotations

import pytest

from livetools.events import HandleUpdate
from livetools.integrations.shared.last_handle import LastHandle
from livetools.session.handle_store import MemoryHandleStore

pytestmark = pytest.mark.anyio


async def test_a_session_that_was_resumed_before_another_process_saved_its_last_handle_puts_that_back() -> (
    None
):
    store = MemoryHandleStore()
    await store.save("first")
    keeper = LastHandle(store, "first")
    await store.save("last")  # by the process that parks the conversation
    keeper.event(HandleUpdate("own"))
    await keeper.finish()
    assert await keeper.withdraw()
    keeper.event(HandleUpdate("another"))
    await keeper.finish()
    assert store.handle == "last"


async def test_a_session_that_was_resumed_with_the_last_handle_keeps_saving_its_own() -> None:
    store = MemoryHandleStore()
    await store.save("last")
    keeper = LastHandle(store, "last")
    for own in ("own", "another"):
        assert not await keeper.withdraw()
        keeper.event(HandleUpdate(own))
        await keeper.finish()
        assert store.handle == own
