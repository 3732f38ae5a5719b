"""A recording as a server."""

from __future__ import annotations

import pytest

import livetools
from livetools.testing import FakeClock, FakeLiveServer, Recording
from livetools.testing.wire import Frame

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.jsonl"


async def converse(dial, server, said="Weather?", answer="12 °C"):
    """A conversation with a call over two connections."""
    async with dial(server, sessionResumption={}) as client:
        await client.say(said)
        (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
        await client.answer(call, output=answer)
        handle = (await client.until("turnComplete")) and (await client.recv())["sessionResumptionUpdate"][
            "newHandle"
        ]
    async with dial(server, sessionResumption={"handle": handle}) as client:
        await client.send({"realtimeInput": {"audio": {"data": "AAAA", "mimeType": "audio/pcm;rate=16000"}}})
        await client.say("Thanks.")
        await client.until("turnComplete")


async def record(dial, path):
    with Recording(path) as recording:
        async with FakeLiveServer() as server:
            server.recording = recording

            @server.model
            async def model(turn):
                await turn.say(str(await turn.call("get_weather")) if turn.text == "Weather?" else "Bye.")

            await converse(dial, server)
    return server


async def test_the_same_client_meets_the_same_server(dial, path):
    original = await record(dial, path)
    async with FakeLiveServer.replay(path) as server:
        await converse(dial, server)
    recorded = Recording.load(path).frames
    assert [f.message for f in server.frames] == [f.message for f in recorded]
    assert [f.message.keys() for f in recorded] == [f.message.keys() for f in original.frames]


async def test_another_client_is_told_where_it_differs(dial, path):
    await record(dial, path)

    async def scenario():
        async with FakeLiveServer.replay(path) as server:
            async with dial(server, sessionResumption={}) as client:
                await client.say("Whether?")
                code, reason = await client.closed()
                assert code == 1011
                assert reason.startswith("Not as recorded: clientContent.turns[0].parts[0].text")

    with pytest.raises(AssertionError) as caught:
        await scenario()
    assert "frame 2 of the client is not as recorded" in str(caught.value)
    assert 'clientContent.turns[0].parts[0].text: recorded "Weather?", now "Whether?"' in str(caught.value)


async def test_the_casing_and_the_media_of_the_client_do_not_matter(dial, path):
    with Recording(path) as recording:
        for frame in (
            Frame(
                0,
                "client",
                1,
                {"setup": {"model": "m", "generationConfig": {"responseModalities": ["TEXT"]}}},
            ),
            Frame(0, "server", 1, {"setupComplete": {}}),
            Frame(0, "client", 1, {"realtimeInput": {"audio": {"data": "AAAA"}}}),
            Frame(0, "client", 1, {"realtimeInput": {"audioStreamEnd": True}}),
            Frame(0, "server", 1, {"serverContent": {"turnComplete": True}}),
            Frame(0, "server", 1, {"_close": {"code": 1008, "reason": "as it was"}}),
        ):
            recording.add(frame)
    async with FakeLiveServer.replay(path) as server, dial(server, model=None) as client:
        await client.send({"setup": {"model": "m", "generation_config": {"response_modalities": ["TEXT"]}}})
        await client.recv()
        for _ in range(3):
            await client.send({"realtime_input": {"audio": {"data": "BBBB"}}})
        await client.send({"realtime_input": {"audio_stream_end": True}})
        await client.until("turnComplete")
        assert await client.closed() == (1008, "as it was")


async def test_a_client_that_leaves_before_it_has_said_all_is_told(dial, path):
    await record(dial, path)

    async def scenario():
        async with FakeLiveServer.replay(path) as server, dial(server, sessionResumption={}):
            pass

    with pytest.raises(AssertionError, match=r"the client left; it was to say .*Weather"):
        await scenario()


async def test_more_dials_than_were_recorded_are_closed(dial, path):
    with Recording(path) as recording:
        recording.add(Frame(0, "server", 1, {"_close": {"code": 1006, "reason": ""}}))

    async def scenario():
        async with FakeLiveServer.replay(path) as server:
            for code in (1006, 1011):
                async with dial(server, model=None) as client:
                    assert (await client.closed())[0] == code

    with pytest.raises(AssertionError, match="connection 2: the recording has no more of them"):
        await scenario()


async def test_at_pace_one_the_recorded_times_are_kept(dial, path):
    with Recording(path) as recording:
        recording.add(Frame(5.0, "client", 1, {"setup": {"model": "m"}}))
        recording.add(Frame(7.0, "server", 1, {"setupComplete": {}}))
    clock = FakeClock()
    async with (
        FakeLiveServer.replay(path, pace=1.0, clock=clock) as server,
        dial(server, model=None) as client,
    ):
        await client.send({"setup": {"model": "m"}})
        while not clock.sleepers:
            from anyio.lowlevel import checkpoint

            await checkpoint()
        clock.advance(2)
        assert await client.recv() == {"setupComplete": {}}


async def test_a_client_that_reconnects_by_itself_does_so_in_the_replay_too(path):
    async def converse(server):
        async with livetools.connect("gemini-3.8-live", **server.options) as session:
            first = str(await session.ask("one"))
            await session.send_text("break")
            restored = None
            async for event in session:
                if isinstance(event, livetools.Reconnected):
                    restored = event.state_restored
                elif isinstance(event, livetools.TurnComplete) and restored is not None:
                    return first, restored
            return None

    with Recording(path) as recording:
        async with FakeLiveServer() as server:
            server.recording = recording

            @server.conversation
            async def script(user):
                turn = await user.says("one")
                await turn.say("First.")
                turn = await user.says("break")
                await turn.drop()
                await user.reconnects(handle=True)
                async for turn in user:  # what the dead line may have swallowed
                    await turn.say("Again.")

            assert await converse(server) == ("First.", True)
    assert "handle-1" in path.read_text()
    async with FakeLiveServer.replay(path) as server:
        assert await converse(server) == ("First.", True)


async def test_a_client_that_never_comes_fails_the_replay(dial, path):
    await record(dial, path)

    async def replay():
        async with FakeLiveServer.replay(path):
            pass

    with pytest.raises(AssertionError, match="not played out: 2 of its connections were not dialled"):
        await replay()


async def test_what_came_by_rest_is_not_a_connection(path):
    with Recording(path) as recording:
        recording.add(Frame(0.0, "client", 0, {"generateContent": {}}))
    async with FakeLiveServer.replay(path):
        pass
