"""Dials that fail, hang, or are given up: each is one clear error, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest

import livetools
from livetools import ConnectFailed, SetupTimeout
from livetools.session.memory import MemoryTransport
from livetools.transport.contract import Transport

pytestmark = pytest.mark.anyio


async def enter(**options: object) -> None:
    async with livetools.connect("gemini-3.8-live", base_url="ws://localhost:1", **options):  # type: ignore[arg-type]
        raise AssertionError("it cannot stand")


async def test_a_port_that_nobody_listens_on_is_not_tried_again() -> None:
    with pytest.raises(ConnectFailed, match="nobody listens on localhost:1"):
        await enter()


async def test_a_dial_that_hangs_is_given_up_with_the_setup() -> None:
    class Hanging:
        @asynccontextmanager
        async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
            await anyio.sleep_forever()
            raise AssertionError
            yield

    with pytest.raises(SetupTimeout):
        await enter(transport=Hanging(), setup_timeout=0.05)


async def test_a_transport_that_raises_something_of_its_own_is_still_one_clear_error() -> None:
    transport = MemoryTransport()
    transport.refuse = ZeroDivisionError("a bug in a transport of the user's")
    with pytest.raises(ConnectFailed, match="ZeroDivisionError"):
        await enter(transport=transport)


async def test_a_key_that_cannot_be_had_is_the_error() -> None:
    async def key() -> str:
        raise ConnectFailed("the vault is sealed")

    with pytest.raises(livetools.LiveToolsError, match=r"api_key\(\) raised"):
        await enter(api_key=key, transport=MemoryTransport())


async def test_cancelling_the_entry_leaves_nothing_behind() -> None:
    transport = MemoryTransport()
    with anyio.move_on_after(0.05) as scope:
        await enter(transport=transport)
    assert scope.cancelled_caught
    server = await transport.accept()
    assert server.end is not None
