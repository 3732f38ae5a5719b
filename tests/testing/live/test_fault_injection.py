"""Misbehaviour on demand: each fault does to the wire what it says."""

from __future__ import annotations

import json

import anyio
import pytest

from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio


async def frames(dial, fault, count, **kwargs):
    """The next frames after a turn in which the fault happens; raw."""
    async with FakeLiveServer(**kwargs) as server:

        @server.model
        async def model(turn):
            await turn.fault(fault)

        async with dial(server) as client:
            await client.say("go")
            with anyio.fail_after(30):
                return [await client.socket.recv() for _ in range(count)]


async def test_garbage_is_no_json_and_the_turn_goes_on(dial):
    garbage, last = await frames(dial, "garbage", 2)
    with pytest.raises(ValueError, match=r"."):
        json.loads(garbage)
    assert "turnComplete" in json.loads(last)["serverContent"]


async def test_an_oversized_message_is_larger_than_libraries_like(dial):
    large, _ = await frames(dial, "oversize", 2)
    assert len(large) > 1024 * 1024


async def test_an_unknown_message_and_a_text_frame(dial):
    (unknown,) = await frames(dial, "unknown", 1)
    assert isinstance(unknown, bytes)
    assert "somethingNew" in json.loads(unknown)
    (text,) = await frames(dial, "text_frame", 1)
    assert isinstance(text, str)


@pytest.mark.parametrize("fault", ["drop", "half_frame"])
async def test_a_line_that_is_cut_even_within_a_frame_is_1006(dial, fault):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.fault(fault)

        async with dial(server) as client:
            await client.say("go")
            assert (await client.closed())[0] == 1006
    assert server.log[0] == f"fault on connection 1: {fault}"


async def test_a_stalled_connection_is_silent_for_half_a_minute_of_the_clock(dial, text_of):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:

        @server.model
        async def model(turn):
            await turn.fault("stall")
            await turn.say("late")

        async with dial(server) as client:
            await client.say("go")
            with anyio.fail_after(30):
                while clock.sleepers < 2:
                    await anyio.lowlevel.checkpoint()
            assert len(server.frames) == 4
            clock.advance(30)
            assert text_of(await client.until("turnComplete")) == "late"


async def test_duplicates_and_unknown_messages_by_their_share(dial):
    async with FakeLiveServer() as server:
        server.faults.duplicate = 1.0
        async with dial(server) as client:
            await client.say("hi")
            seen = [await client.recv() for _ in range(6)]
    assert seen[0] == seen[1]
    assert seen[2] == seen[3] == {"serverContent": {"generationComplete": True}}


async def test_a_frame_that_changes_places_with_the_next_is_not_lost(dial):
    async with FakeLiveServer() as server:
        server.faults.reorder = 1.0
        async with dial(server) as client:
            await client.say("one two three four five six seven eight nine")
            seen = [await client.recv() for _ in range(4)]
    kinds = ["".join(each["serverContent"]) for each in seen]
    assert sorted(kinds) == sorted(["modelTurn", "modelTurn", "generationComplete", "turnComplete"])
    assert kinds != ["modelTurn", "modelTurn", "generationComplete", "turnComplete"]


async def test_a_setup_that_is_never_completed(dial):
    async with FakeLiveServer() as server:
        server.faults.never_setup = True
        async with dial(server, model=None) as client:
            await client.send({"setup": {"model": "models/gemini-3.8-live"}})
            with anyio.move_on_after(0.05) as scope:
                await client.socket.recv()
    assert scope.cancelled_caught


async def test_the_first_frame_may_be_another_than_the_setups(dial):
    async with FakeLiveServer() as server:
        server.faults.early_content = True
        async with dial(server, model=None) as client:
            await client.send({"setup": {"model": "models/gemini-3.8-live"}})
            assert "somethingNew" in await client.recv()
            assert "setupComplete" in await client.recv()


async def test_a_flapping_server_cuts_so_many_connections(dial):
    async with FakeLiveServer() as server:
        server.faults.flapping = 2
        for _ in range(2):
            async with dial(server) as client:
                assert (await client.closed())[0] == 1006
        async with dial(server) as client:
            await client.say("at last")
            await client.until("turnComplete")


async def test_what_a_stalled_connection_still_owed_is_not_sent_on_the_next_one(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:

        @server.model
        async def model(turn):
            if turn.text == "stall":
                await turn.fault("stall")
                await anyio.sleep_forever()
            await turn.call("f")

        async def has_logged(note):
            with anyio.fail_after(30):
                while note not in server.log:
                    await anyio.lowlevel.checkpoint()

        declared = {"name": "f", "behavior": "BLOCKING"}
        setup = {"model": "models/gemini-3.8-live", "tools": [{"functionDeclarations": [declared]}]}
        async with dial(server, sessionResumption={}, **setup) as client:
            handle = (await client.recv())["sessionResumptionUpdate"]["newHandle"]
            await client.say("stall")
            await has_logged("fault on connection 1: stall")
            await client.say("never mind")  # the word that the model was interrupted waits on its way
            with anyio.fail_after(30):
                while {"serverContent": {"interrupted": True}} not in [f.message for f in server.frames]:
                    await anyio.lowlevel.checkpoint()
            await server.sessions[0].drop()
        async with dial(server, sessionResumption={"handle": handle}, **setup) as client:
            await client.say("go")
            (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
            server.faults.drop = 1.0  # of the frame that waits
            clock.advance(30)
            await has_logged("fault on connection 1: drop")
            server.faults.drop = 0.0
            await client.answer(call, output="done")
            await client.until("turnComplete")
        assert [call.state for call in server.calls] == ["answered"]
