"""The microphone, on a card that the test plays."""

from __future__ import annotations

import threading

import anyio
import pytest
from support.waiting import everybody_waits

from livetools.audio import Microphone
from livetools.errors import ConcurrencyError, LiveToolsError

pytestmark = pytest.mark.anyio

USB = ("USB", 1, 0, 48000.0)
BLOCK = b"\x01\x02" * 640  # 40 ms


def hear(stream, *blocks: bytes) -> None:
    """As PortAudio does it: in a thread of its own, with a buffer that is reused afterwards."""

    def run() -> None:
        for block in blocks:
            buffer = bytearray(block)
            stream.callback(buffer, len(buffer) // 2, None, None)
            buffer[:] = bytes(len(buffer))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


async def test_what_is_said_comes_in_its_order(cards):
    card = cards(USB)
    with Microphone() as microphone:
        hear(card.streams[0], b"ab" * 640, b"cd" * 640)
        assert await anext(microphone) == b"ab" * 640
        assert await anext(microphone) == b"cd" * 640


async def test_who_waits_is_woken_from_the_thread_of_the_card(cards):
    card, got = cards(USB), []

    async def listen() -> None:
        got.append(await anext(microphone))

    with Microphone() as microphone, anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await everybody_waits()
            hear(card.streams[0], BLOCK)
    assert got == [BLOCK]


async def test_who_reads_too_slowly_gets_the_newest_and_the_rest_is_counted(cards):
    card = cards(USB)
    with Microphone(seconds=0.04, limit=0.08) as microphone:
        hear(card.streams[0], b"1", b"2", b"3", b"4", b"5")
        assert [await anext(microphone), await anext(microphone)] == [b"4", b"5"]
        assert microphone.dropped == 3


async def test_cancelling_a_wait_loses_nothing(cards):
    card = cards(USB)
    with Microphone() as microphone:
        with anyio.move_on_after(0):
            await anext(microphone)
        hear(card.streams[0], BLOCK)
        assert await anext(microphone) == BLOCK


async def test_leaving_the_context_closes_the_card_and_ends_the_loop(cards):
    card, got = cards(USB), []
    with Microphone() as microphone:
        hear(card.streams[0], BLOCK)
    async for pcm in microphone:
        got.append(pcm)
    assert got == [BLOCK]
    assert card.streams[0].state == "closed"


async def test_it_can_be_opened_again(cards):
    card, microphone = cards(USB), Microphone()
    for opening in range(2):
        with microphone:
            with anyio.move_on_after(0):
                await anext(microphone)  # waits, where it would say that the device has stopped
            hear(card.streams[opening], BLOCK)
            assert await anext(microphone) == BLOCK


async def test_a_device_that_goes_away_is_an_error_after_what_it_heard(cards):
    card = cards(USB)
    with Microphone() as microphone:
        hear(card.streams[0], BLOCK)
        card.streams[0].settings["finished_callback"]()
        assert await anext(microphone) == BLOCK
        with pytest.raises(LiveToolsError, match="unplugged"):
            await anext(microphone)


async def test_two_readers_are_told_that_each_would_miss_something(cards):
    cards(USB)
    with Microphone() as microphone:
        async with anyio.create_task_group() as group:
            group.start_soon(anext, microphone)
            await everybody_waits()
            with pytest.raises(ConcurrencyError, match="Two tasks read one microphone"):
                await anext(microphone)
            group.cancel_scope.cancel()


async def test_a_device_with_its_own_rate_is_heard_at_16_khz(cards):
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    card = cards(USB, refused=(16000,))
    with Microphone(limit=10) as microphone:
        stream = card.streams[0]
        assert stream.settings["samplerate"] == 48000
        assert stream.settings["blocksize"] == 1920
        hear(stream, *[bytes(3840)] * 25)  # one second
        heard = 0
        while heard < 31000:
            heard += len(await anext(microphone))
        assert heard <= 32000


def test_it_can_be_read_in_one_loop_after_another_and_a_loop_that_has_ended_harms_nobody(cards):
    card = cards(USB)
    microphone = Microphone()

    async def once() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(anext, microphone)
            await everybody_waits()
            hear(card.streams[0], BLOCK)

    with microphone:
        anyio.run(once)
        hear(card.streams[0], BLOCK)
        anyio.run(microphone.__anext__)
        anyio.run(once, backend="trio")
