"""Misbehaviour on demand: each switch does what it says, and the same seed does the same."""

from __future__ import annotations

import json
import random

import anyio
import pytest

from livetools.testing import FakeClock, FakeLiveServer
from livetools.testing.faults import Faults

pytestmark = pytest.mark.anyio


async def frames(dial, fault, count, **kwargs):
    """The next frames after a turn in which the fault happens; raw."""
    async with FakeLiveServer(**kwargs) as server:

        @server.model
        async def model(turn):
            await turn.fault(fault)

        async with dial(server) as client:
            await client.say("go")
            with anyio.fail_after(5):
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
            with anyio.fail_after(5):
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


def test_the_same_seed_draws_the_same_faults():
    faults = Faults(drop=0.2, garbage=0.3)
    drawn = [[faults.draw(chance) for _ in range(50)] for chance in (random.Random(1), random.Random(1))]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {"drop", "garbage", None}


def test_switches_are_read_from_a_command_line():
    assert Faults.parse(["drop=0.1", "never-setup", "flapping=3"]) == Faults(
        drop=0.1, never_setup=True, flapping=3
    )
    with pytest.raises(ValueError, match="no fault is called 'dorp'; there are drop, half_frame"):
        Faults.parse(["dorp"])
    assert Faults.parse(["flapping=0", "early-content=0", "slow-pong = 0.5", "drop=1"]) == Faults(
        slow_pong=0.5, drop=1.0
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "drop=much",
            "fault drop takes a share of the frames, from 0 to 1, such as 0.01; 'much' is not that",
        ),
        ("drop=2", "fault drop takes a share of the frames.*'2' is not that"),
        ("half-frame=-0.1", "fault half_frame takes a share"),
        ("garbage=nan", "fault garbage takes a share"),
        ("drop", "fault drop takes a share of the frames.*it was given none"),
        ("drop=", "fault drop takes a share of the frames.*'' is not that"),
        ("flapping=1.5", "fault flapping takes a number of connections"),
        ("flapping", "fault flapping takes a number of connections.*it was given none"),
        ("flapping=-1", "fault flapping takes a number of connections"),
        ("slow-pong=inf", "fault slow_pong takes a time in seconds"),
        ("slow-pong", "fault slow_pong takes a time in seconds.*it was given none"),
        ("never-setup=2", "fault never_setup takes nothing, or 0 or 1"),
    ],
)
def test_a_value_that_a_switch_does_not_take_is_told_with_what_it_takes(text, told):
    with pytest.raises(ValueError, match=told):
        Faults.parse([text])
