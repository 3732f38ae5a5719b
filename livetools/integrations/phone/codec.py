"""G.711, the sound of telephones: 8 bits a sample, 8 kHz, by the µ-law (America, Japan) or the A-law (elsewhere)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # 3.11 and 3.12 have it themselves; later it is audioop-lts
    import audioop

_WIDTH = 2  # bytes of a linear sample


@dataclass(frozen=True, slots=True)
class Codec:
    """One of the two laws. ``silence`` is the byte that a sample of silence is."""

    name: str
    decode_fragment: Callable[[bytes, int], bytes]
    encode_fragment: Callable[[bytes, int], bytes]
    silence: bytes

    def decode(self, sound: bytes) -> bytes:
        """16-bit linear PCM of what came from the line."""
        return self.decode_fragment(sound, _WIDTH)

    def encode(self, pcm: bytes) -> bytes:
        """What goes to the line, of 16-bit linear PCM in whole samples."""
        return self.encode_fragment(pcm, _WIDTH)


PCMU = Codec("PCMU", audioop.ulaw2lin, audioop.lin2ulaw, b"\xff")
PCMA = Codec("PCMA", audioop.alaw2lin, audioop.lin2alaw, b"\xd5")

#: By the names that providers give them.
CODECS: Mapping[str, Codec] = {"PCMU": PCMU, "PCMA": PCMA, "audio/x-mulaw": PCMU, "audio/x-alaw": PCMA}
