"""Sounds that are made here: the tones of a keypad (DTMF), and the sound that a caller hears while a tool runs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from functools import lru_cache

from livetools.audio.pcm import silence
from livetools.errors import ConfigError

#: Hz of the rows and the columns of a keypad (ITU-T Q.23).
_ROWS, _COLUMNS = (697, 770, 852, 941), (1209, 1336, 1477, 1633)
_KEYPAD = ("123A", "456B", "789C", "*0#D")
_PAIRS = {
    key: (row, column)
    for row, keys in zip(_ROWS, _KEYPAD, strict=True)
    for column, key in zip(_COLUMNS, keys, strict=True)
}
#: Seconds of a tone and of the pause behind it (Q.24 asks for 40 ms of each), and of the pause for a ``w``.
_TONE, _GAP, _WAIT = 0.1, 0.1, 0.5
_LOUD = 6000  # of 32767, for each of the two
#: The keys that may be pressed at once.
MOST_KEYS = 64


def checked_keys(keys: str) -> str:
    """The keys, of ``0-9*#A-D`` and ``w``. Raises ``ConfigError`` for others, for none, and for more than 64."""
    if not keys or len(keys) > MOST_KEYS or set(keys) - {*_PAIRS, "w"}:
        raise ConfigError(f"keys are 1 to {MOST_KEYS} of 0-9*#A-D, and w for a pause of half a second")
    return keys


def keypad(keys: str, rate: int) -> bytes:
    """The tones of ``keys``, 16-bit mono PCM of ``rate`` Hz, 0.2 s for each. ``w`` is half a second of silence."""
    gap = silence(_GAP, rate)
    return b"".join(silence(_WAIT, rate) if key == "w" else _key(key, rate) + gap for key in keys)


def keys_in(pcm: bytes, rate: int) -> str:
    """The keys whose tones are in ``pcm``: each once, however long it is pressed."""
    samples = array("h", pcm[: len(pcm) // 2 * 2])
    step = rate // 50
    found, last = "", ""
    for at in range(0, len(samples) - step + 1, step):
        key = _heard(samples[at : at + step], rate)
        if key and key != last:
            found += key
        last = key
    return found


@lru_cache
def hold_sound(rate: int) -> bytes:
    """Two soft notes every two seconds, 16-bit mono PCM of ``rate`` Hz."""
    notes = _note(392.0, 0.5, rate) + _note(523.25, 0.7, rate)
    return notes + silence(0.8, rate)


@lru_cache
def _key(key: str, rate: int) -> bytes:
    steps = [2 * math.pi * hertz / rate for hertz in _PAIRS[key]]
    return _samples(sum(_LOUD * math.sin(step * n) for step in steps) for n in range(round(_TONE * rate)))


def _note(hertz: float, seconds: float, rate: int) -> bytes:
    """A note that swells and fades, quiet enough to be spoken over."""
    count, step = round(seconds * rate), 2 * math.pi * hertz / rate
    return _samples(1500 * math.sin(math.pi * n / count) ** 2 * math.sin(step * n) for n in range(count))


def _samples(values: Iterable[float]) -> bytes:
    return array("h", map(round, values)).tobytes()


def _heard(samples: array[int], rate: int) -> str:
    """The key whose two tones are nearly all of the sound in a piece of 20 ms; empty: none."""
    whole = sum(sample * sample for sample in samples)
    if whole < len(samples) * 200**2:
        return ""
    row = max(_ROWS, key=lambda hertz: _power(samples, hertz, rate))
    column = max(_COLUMNS, key=lambda hertz: _power(samples, hertz, rate))
    shares = [_power(samples, hertz, rate) * 2 / len(samples) / whole for hertz in (row, column)]
    return (
        _KEYPAD[_ROWS.index(row)][_COLUMNS.index(column)] if min(shares) > 0.25 and sum(shares) > 0.7 else ""
    )


def _power(samples: array[int], hertz: int, rate: int) -> float:
    """How strong one frequency is (Goertzel)."""
    turn = 2 * math.cos(2 * math.pi * hertz / rate)
    before = last = 0.0
    for sample in samples:
        before, last = last, sample + turn * last - before
    return last * last + before * before - turn * last * before
