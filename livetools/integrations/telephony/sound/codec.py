"""The sound of telephones: G.711 by the µ-law (America, Japan) or the A-law (elsewhere), and L16, plain PCM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from livetools.errors import ConfigError

with warnings.catch_warnings():
    # 3.11 and 3.12 have it themselves; later it is audioop-lts.
    warnings.simplefilter("ignore", DeprecationWarning)
    import audioop

_WIDTH = 2  # bytes of a linear sample


def _as_it_is(fragment: bytes, width: int) -> bytes:
    return fragment


@dataclass(frozen=True, slots=True)
class Codec:
    """How samples are written. ``width``: the bytes of one; ``silence``: what a sample of silence is; ``rates``: the
    Hz that it is taken at."""

    name: str
    decode_fragment: Callable[[bytes, int], bytes]
    encode_fragment: Callable[[bytes, int], bytes]
    silence: bytes
    rates: tuple[int, ...]

    @property
    def width(self) -> int:
        """Bytes of a sample."""
        return len(self.silence)

    def decode(self, sound: bytes) -> bytes:
        """16-bit linear PCM, of what came from the line in whole samples."""
        return self.decode_fragment(sound, _WIDTH)

    def encode(self, pcm: bytes) -> bytes:
        """What goes to the line, of 16-bit linear PCM in whole samples."""
        return self.encode_fragment(pcm, _WIDTH)


PCMU = Codec("PCMU", audioop.ulaw2lin, audioop.lin2ulaw, b"\xff", (8000,))
PCMA = Codec("PCMA", audioop.alaw2lin, audioop.lin2alaw, b"\xd5", (8000,))
L16 = Codec("L16", _as_it_is, _as_it_is, b"\0\0", (8000, 16000, 24000))


def swapped(sound: bytes) -> bytes:
    """16-bit samples with their bytes in the other order. Raises ``audioop.error`` for half a sample."""
    return audioop.byteswap(sound, _WIDTH)


CODECS: Mapping[str, Codec] = {codec.name: codec for codec in (PCMU, PCMA, L16)}


def codec_of(encoding: object, rate: object) -> Codec:
    """The codec of this name. Raises ``ConfigError``, in one line of ASCII, for an unknown encoding or rate."""
    codec = CODECS.get(encoding) if isinstance(encoding, str) else None
    if codec is None:
        raise ConfigError(f"the sound is {encoding!a:.40}; expected PCMU, PCMA or L16")
    if not isinstance(rate, int) or rate not in codec.rates:
        rates = " or ".join(map(str, codec.rates))
        raise ConfigError(f"the sound is {codec.name} of {rate!a:.40} Hz; expected {rates} Hz")
    return codec
