"""Sound without a voice: tones as long as the words would take."""

from __future__ import annotations

import array
import base64
import functools
import math

OUT_RATE = 24000  # Hz: what the service sends
CHUNK_SECONDS = 0.2  # about 13 kB of JSON a message, as measured on the service
CHARACTERS_A_SECOND = 15.0  # unhurried speech
OUT_MIME = f"audio/pcm;rate={OUT_RATE}"


def duration(pcm: bytes, rate: int = OUT_RATE) -> float:
    """Seconds of 16-bit mono PCM."""
    return len(pcm) / 2 / rate


def duration_of_base64(length: int) -> float:
    """Seconds of that PCM in so many characters of base64."""
    return length * 3 // 4 / 2 / OUT_RATE


def spoken_seconds(text: str) -> float:
    """How long it takes to say ``text``, in whole chunks, at least one."""
    return max(1, math.ceil(len(text) / CHARACTERS_A_SECOND / CHUNK_SECONDS)) * CHUNK_SECONDS


@functools.lru_cache(maxsize=64)
def tone(seconds: float, frequency: float = 440.0, rate: int = OUT_RATE) -> bytes:
    """A quiet sine of 16-bit little-endian mono PCM."""
    step = 2 * math.pi * frequency / rate
    samples = array.array("h", (int(3000 * math.sin(step * n)) for n in range(int(seconds * rate))))
    return samples.tobytes()


@functools.cache
def tone_chunk() -> str:
    """One chunk of the tone in base64. It holds whole periods, so that chunks join without a click."""
    return base64.b64encode(tone(CHUNK_SECONDS)).decode()


def chunks(pcm: bytes) -> list[str]:
    """The sound in base64 pieces of one chunk each."""
    size = int(CHUNK_SECONDS * OUT_RATE) * 2
    return [base64.b64encode(pcm[start : start + size]).decode() for start in range(0, len(pcm), size)]
