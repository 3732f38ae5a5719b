"""The two clients of websockets behind one contract: what only a real socket shows."""

from __future__ import annotations

import anyio
import pytest

import livetools
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("tls", [False, True])
async def test_a_stream_of_audio_is_taken_over_tcp_and_over_tls(tls: bool) -> None:
    async with FakeLiveServer(tls=tls) as server:
        async with livetools.connect("gemini-3.8-live", **server.options) as session:
            with anyio.fail_after(10):
                for _ in range(30):
                    await session.send_audio(bytes(3200))
                assert str(await session.ask("hello"))
        audio = [f for f in server.frames if "audio" in str(f.message)[:60]]
        assert len(audio) >= 30
