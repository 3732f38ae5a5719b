"""Checks and cuts audio: 16-bit little-endian mono PCM, in chunks of any size."""

from __future__ import annotations

import operator
import sys
from array import array
from collections.abc import Iterator
from itertools import repeat

from msgspec import Struct

from livetools.errors import ConfigError, LocalProtocolError

SAMPLE = 2  # bytes of a sample

#: The order of the bytes in a buffer, by its format (PEP 3118): bytes stand as they are sent; int8 is other sound.
_ORDERS = {
    **dict.fromkeys(("B", "c", "<h"), "little"),
    **dict.fromkeys(("h", "@h", "=h"), sys.byteorder),
    **dict.fromkeys((">h", "!h"), "big"),
}

SLOWEST, FASTEST = 1_000, 384_000  # Hz that a sampling rate may have


class Samples(Struct, eq=False, gc=False):
    """Whole samples out of chunks cut anywhere: an odd byte at the end of one begins the next."""

    _odd: bytes = b""

    def whole(self, pcm: bytes) -> bytes:
        """The samples that are complete by now; perhaps none."""
        pcm = self._odd + pcm  # without an odd byte that is what came, and no copy
        end = len(pcm) // SAMPLE * SAMPLE
        self._odd = pcm[end:]
        return pcm[:end]

    def clear(self) -> None:
        """What comes next begins with a whole sample."""
        self._odd = b""


def silence(seconds: float, rate: int) -> Iterator[bytes]:
    """Silence in chunks of 100 ms, at ``rate`` Hz."""
    return repeat(bytes(rate // 10 * SAMPLE), round(seconds * 10))


def pcm_bytes(sound: object) -> bytes:
    """Sound in any buffer, as the wire wants it: bytes as they are, arrays of 16-bit integers in their order.

    Raises :class:`ConfigError` for other numbers, more than one channel, and what is not a buffer: the service
    would hear noise.
    """
    # Nearly all sound is bytes: it is neither looked at nor copied.
    if type(sound) is bytes:
        return sound
    try:
        view = memoryview(sound)  # type: ignore[arg-type]  # what is not a buffer raises
    except TypeError:
        raise ConfigError(
            f"the audio is a {type(sound).__name__}: bytes of 16-bit mono PCM are expected, or an array of int16"
        ) from None
    if sum(size != 1 for size in view.shape or ()) > 1:
        raise ConfigError(
            f"the audio has the shape {'×'.join(map(str, view.shape or ()))}: one channel is expected."
            " Send one of them, or their mean"
        )
    order = _ORDERS.get(view.format)
    if order is None:
        raise ConfigError(
            f"the audio holds numbers of the format {view.format!r}: 16-bit integers are expected. For floats from"
            " -1 to 1: (samples.clip(-1, 1) * 32767).astype('int16')"
        )
    if order == "little":
        return view.tobytes()
    # A copy: the caller's buffer must not change.
    turned = array("h", view.tobytes())
    turned.byteswap()
    return turned.tobytes()


def sample_rate(rate: object) -> int:
    """A rate in Hz. Raises :class:`ConfigError` for what is not one."""
    try:
        # operator.index takes numpy's integers too, and no floats; True is no rate.
        hertz = 0 if isinstance(rate, bool) else operator.index(rate)  # type: ignore[arg-type]
    except TypeError:
        hertz = 0
    if not SLOWEST <= hertz <= FASTEST:
        raise ConfigError(f"rate={rate!r:.40}: a whole number of Hz is expected, such as 16000")
    return hertz


def same_rate(rate: object, before: int) -> int:
    """A rate in Hz. Raises ``LocalProtocolError`` unless it is that of what was sent ``before`` (0: nothing was)."""
    hertz = sample_rate(rate)
    if before and hertz != before:
        raise LocalProtocolError(
            f"audio at {hertz} Hz after audio at {before} Hz: the service closes a session for it. Resample"
        )
    return hertz
