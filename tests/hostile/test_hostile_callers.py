"""Strangers on the phone's websocket: odd starts, floods."""

from __future__ import annotations

import functools
import json
import logging
import tracemalloc
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.phone import TELNYX_START, TWILIO_START, phone, settled, tone

import livetools
from livetools.integrations.telephony import telnyx, twilio
from livetools.integrations.telephony.sound.codec import PCMU
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio

BRIDGES = [pytest.param(twilio, TWILIO_START, id="twilio"), pytest.param(telnyx, TELNYX_START, id="telnyx")]


@pytest.fixture
async def server():
    async with FakeLiveServer() as server:
        yield server


def agent_of(server: FakeLiveServer) -> Any:
    return functools.partial(livetools.connect, "gemini-3.8-live", **server.options)


NOWHERE = functools.partial(livetools.connect, "gemini-3.8-live", base_url="ws://localhost:1", api_key="k")
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
WORDS = [
    "event",
    "start",
    "streamSid",
    "stream_id",
    "callSid",
    "call_control_id",
    "mediaFormat",
    "encoding",
    "token",
]
NAMES = st.sampled_from(WORDS) | st.text(max_size=5)
JSON = st.recursive(
    SCALARS | st.sampled_from(["start", "connected", "x\nCRITICAL:root:lost", "S" * 300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize("bridge", [twilio, telnyx])
@settings(max_examples=40, deadline=None)
@given(before=st.lists(JSON, max_size=3), inside=JSON, beside=st.dictionaries(NAMES, JSON, max_size=4))
def test_whatever_a_start_holds_it_is_taken_or_refused_without_an_exception(bridge, before, inside, beside):
    raised: list[Exception] = []

    async def call() -> None:
        async with phone(bridge, NOWHERE, raised=raised) as line:
            for frame in before:
                line.page.send(json.dumps(frame))
            line.page.send(json.dumps({**beside, "event": "start", "start": inside}))
            with anyio.fail_after(30):
                closed = await line.closed()
            assert closed.code != 1000
            assert len(closed.reason.encode()) <= 123
            assert closed.reason.isprintable()

    anyio.run(call)
    assert not raised


@pytest.mark.parametrize(("bridge", "start"), BRIDGES)
async def test_what_comes_before_the_start_is_not_kept(server, bridge, start):
    raised: list[Exception] = []
    async with phone(bridge, agent_of(server), start, raised=raised) as line:
        tracemalloc.start()
        try:
            for number in range(40):
                line.page.send(json.dumps({"event": f"e{number}", "x": "y" * 1500}))
                await settled()
            kept = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        line.page.send(json.dumps({"event": "e", "x": "y" * 2**16}))
        assert (await line.closed()).code in (1008, 1009)
    assert kept < 2**20
    assert not raised
    assert not server.sessions


@pytest.mark.parametrize(("bridge", "start"), BRIDGES)
async def test_a_call_too_many_is_turned_away_and_the_next_is_taken_when_one_has_ended(server, bridge, start):
    async with phone(bridge, agent_of(server), start, max_sessions=1) as first:
        first.begin()
        await settled()
        async with phone(bridge, agent_of(server), start, max_sessions=1) as second:
            second.begin()
            assert (await second.closed()).code == 1013
    async with phone(bridge, agent_of(server), start, max_sessions=1) as third:
        third.begin()
        with anyio.fail_after(30):  # what the server does in its own thread is not seen by settled()
            while len(server.sessions) < 2 or server.sessions[1].connection is None:
                await anyio.lowlevel.checkpoint()


async def test_an_hour_of_sound_at_once_is_cut_to_a_minute_and_told_once(server, caplog):
    clock = FakeClock()
    minute = PCMU.encode(tone(60.0))
    async with phone(twilio, agent_of(server), clock=clock) as line:
        line.begin()
        await settled()
        with caplog.at_level(logging.WARNING, "livetools.telephony"):
            for _ in range(60):
                line.media(minute)
            await settled()
    sound = sum(len(json.dumps(frame.message)) for frame in server.frames if "realtimeInput" in frame.message)
    assert sound < 61 * 32_000 * 4 / 3 + 100_000
    assert [record.message for record in caplog.records if record.name == "livetools.telephony"] == [
        "sound that came more than 60 s ahead of its time is dropped"
    ]
