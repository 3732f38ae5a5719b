"""The two clients of websockets behind one contract: what only a real socket shows."""

from __future__ import annotations

import sys

import anyio
import pytest

import livetools
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("tls", [False, True])
async def test_a_stream_of_audio_is_taken_over_tcp_and_over_tls(tls: bool) -> None:
    async with FakeLiveServer(tls=tls) as server:
        async with livetools.connect("gemini-3.8-live", **server.options) as session:
            with anyio.fail_after(30):
                for _ in range(30):
                    await session.send_audio(bytes(3200))
                assert str(await session.ask("hello"))
        audio = [f for f in server.frames if "audio" in str(f.message)[:60]]
        assert len(audio) >= 30


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio_a_websockets_without_a_client_for_it_is_a_config_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "livetools.transport.on_trio", raising=False)
    monkeypatch.setitem(sys.modules, "websockets.trio.client", None)  # as before websockets 17
    async with FakeLiveServer() as server:
        with pytest.raises(livetools.ConfigError, match=r"pip install '.*\[trio\]'"):
            async with livetools.connect("gemini-3.8-live", **server.options):
                raise AssertionError("it cannot stand")
