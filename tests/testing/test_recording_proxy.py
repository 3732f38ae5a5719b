"""A proxy between a client and a server, which records what it passes on."""

from __future__ import annotations

import pytest

from livetools.testing import FakeLiveServer, Recording, RecordingProxy

pytestmark = pytest.mark.anyio


async def test_what_passes_is_recorded_and_can_be_replayed(dial, text_of, tmp_path):
    path = tmp_path / "talk.jsonl"

    async def talk(server):
        async with dial(server, headers={"x-goog-api-key": "secret-key"}) as client:
            await client.say("hello")
            return text_of(await client.until("turnComplete"))

    async with FakeLiveServer(api_keys=["secret-key"]) as service:
        with Recording(path) as recording:
            async with RecordingProxy(service.http_url, recording) as proxy:
                assert await talk(proxy) == "hello"
    assert "secret-key" not in path.read_text()
    assert [f.message for f in recording.frames] == [f.message for f in service.frames]
    async with FakeLiveServer.replay(path) as server:
        assert await talk(server) == "hello"


async def test_it_speaks_tls_on_either_side(dial, tmp_path):
    async with FakeLiveServer(tls=True) as service:
        with Recording(tmp_path / "talk.jsonl") as recording:
            async with RecordingProxy(
                service.url, recording, tls=True, upstream_ssl=service.ssl_context
            ) as proxy:
                assert proxy.url.startswith("wss://localhost:")
                async with dial(proxy) as client:
                    await client.say("hello")
                    await client.until("turnComplete")


@pytest.mark.parametrize("code", [1008, 1006])
async def test_a_close_of_the_service_is_passed_on_and_recorded(dial, tmp_path, code):
    async with FakeLiveServer() as service:

        @service.model
        async def model(turn):
            await (turn.drop() if code == 1006 else turn.close(1008, "The operation was aborted."))

        with Recording(tmp_path / "talk.jsonl") as recording:
            async with RecordingProxy(service.url, recording) as proxy, dial(proxy) as client:
                await client.say("go")
                assert (await client.closed())[0] == code
    assert recording.frames[-1].message["_close"]["code"] == code


async def test_a_service_that_cannot_be_reached_is_told_to_the_client(dial, tmp_path):
    service = FakeLiveServer()
    url = service.url
    await service._down()
    with Recording(tmp_path / "talk.jsonl") as recording:
        async with RecordingProxy(url, recording) as proxy, dial(proxy, model=None) as client:
            code, reason = await client.closed()
    assert code == 1011
    assert reason.startswith("The proxy cannot reach the service")
    assert len(proxy.log) == 1
