"""Where speech is heard: a card that the test plays, and files."""

from __future__ import annotations

import wave

import anyio
import pytest
from support.waiting import everybody_waits

from livetools.audio import FileSpeaker, Speaker
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio

USB = ("USB", 0, 2, 48000.0)


def play(stream, size: int) -> bytes:
    """What the card would play next."""
    buffer = bytearray(b"\xff" * size)
    stream.callback(memoryview(buffer), size // 2, None, None)
    return bytes(buffer)


async def test_the_card_plays_what_was_written_and_silence_after_it(cards):
    card = cards(USB)
    with Speaker() as speaker:
        stream = card.streams[0]
        assert stream.settings["samplerate"] == 24000
        speaker.write(b"abcdef")
        assert play(stream, 4) == b"abcd"
        assert play(stream, 4) == b"ef\0\0"
        assert speaker.played == 3 / 24000
    assert stream.state == "closed"


async def test_an_interruption_silences_the_card_with_its_next_block(cards):
    card = cards(USB)
    with Speaker() as speaker:
        speaker.write(bytes(b"\x01" * 48000))
        play(card.streams[0], 4800)
        assert speaker.flush() == 0.9
        assert play(card.streams[0], 4800) == bytes(4800)
        speaker.write(b"next")
        assert play(card.streams[0], 4) == b"next"


async def test_a_card_that_refuses_24_khz_plays_at_its_own_rate(cards):
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    card = cards(USB, refused=(24000,))
    with Speaker() as speaker:
        assert card.streams[0].settings["samplerate"] == 48000
        speaker.write(bytes(48000))
        play(card.streams[0], 200_000)
        assert speaker.played == pytest.approx(1.0, abs=0.05)


async def test_past_its_limit_the_speaker_drops_the_oldest_and_counts(cards):
    cards(USB)
    with Speaker(limit=0.5) as speaker:
        speaker.write(bytes(48000))
        assert speaker.dropped == 0.5


async def test_the_end_is_waited_for_until_the_card_has_it(cards):
    card = cards(USB)
    with Speaker() as speaker, anyio.fail_after(30):
        speaker.write(bytes(480))  # 10 ms
        async with anyio.create_task_group() as group:
            group.start_soon(speaker.drained)
            await everybody_waits()
            play(card.streams[0], 480)


def frames(path) -> bytes:
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24000, 1, 2)
        return file.readframes(1 << 30)


async def test_a_file_holds_all_that_was_said_once_it_is_drained(tmp_path):
    clock = FakeClock()
    with FileSpeaker(tmp_path / "answer.wav", clock=clock) as speaker:
        speaker.write(b"\x01\x02" * 12000)
        speaker.write(b"\x03\x04" * 12000)
        async with anyio.create_task_group() as group:
            group.start_soon(speaker.drained)
            await everybody_waits()
            clock.advance(1.0)
        assert speaker.played == 1.0
    assert frames(tmp_path / "answer.wav") == b"\x01\x02" * 12000 + b"\x03\x04" * 12000


async def test_an_interruption_cuts_the_file_where_it_cut_the_sound(tmp_path):
    clock = FakeClock()
    with FileSpeaker(tmp_path / "answer.wav", clock=clock) as speaker:
        speaker.write(b"\x01\x02" * 48000)  # two seconds
        clock.advance(0.5)
        assert speaker.flush() == 1.5
        clock.advance(10)  # a pause is not written
        speaker.write(b"\x03\x04" * 2400)
        clock.advance(1)
    assert frames(tmp_path / "answer.wav") == b"\x01\x02" * 12000 + b"\x03\x04" * 2400


async def test_leaving_early_keeps_what_was_heard_until_then(tmp_path):
    clock = FakeClock()
    with FileSpeaker(tmp_path / "answer.wav", clock=clock) as speaker:
        speaker.write(b"\x01\x02" * 24000)
        clock.advance(0.25)
    assert len(frames(tmp_path / "answer.wav")) == 12000


async def test_a_file_takes_speech_of_another_rate_to_its_last_sample(tmp_path):
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    clock = FakeClock()
    with FileSpeaker(tmp_path / "answer.wav", clock=clock) as speaker:
        speaker.write(bytes(16000), 16000)
        async with anyio.create_task_group() as group:
            group.start_soon(speaker.drained)
            await everybody_waits()
            clock.advance(1.0)
    assert len(frames(tmp_path / "answer.wav")) == pytest.approx(24000, abs=8)


async def test_a_file_without_an_answer_is_a_wav_file_all_the_same(tmp_path):
    with FileSpeaker(tmp_path / "answer.wav"):
        pass
    assert frames(tmp_path / "answer.wav") == b""
