"""From one rate to a multiple or a fraction of it, with a delay of two milliseconds.

soxr filters in blocks: from 8 to 16 kHz it gives a sample 29 to 115 ms after it was given it, from 24 to 8 kHz 43 to
73 ms (1.0, quality HQ, pieces of 20 ms; measured 2026-11-28). A caller notices. This filter is shorter, and
gives all it can at once.
"""

from __future__ import annotations

from typing import Any

_REACH = 16  # samples of the lower rate on each side: 2 ms at 8 kHz
_PASS = 0.92  # of the lower rate's band
_INT16 = "<i2"
_BETA = 7.0  # of the Kaiser window: about 70 dB down


class WholeRatio:
    """16-bit mono samples from ``source`` Hz to ``target`` Hz, one of which is a multiple of the other. Needs numpy."""

    def __init__(self, source: int, target: int) -> None:
        import numpy

        self._up, self._down = max(1, target // source), max(1, source // target)
        ratio = max(self._up, self._down)
        taps = 2 * _REACH * ratio + 1
        at = numpy.arange(taps) - _REACH * ratio
        shape = numpy.sinc(at * _PASS / ratio) * numpy.kaiser(taps, _BETA)
        shape *= self._up / shape.sum()
        # one filter for each sample that is put between two; all of the same length, and turned round for `correlate`,
        # which is half as dear as `convolve` for pieces of 20 ms
        filters = [numpy.pad(shape[phase :: self._up], (0, phase > 0)) for phase in range(self._up)]
        self._filters = [numpy.ascontiguousarray(each[::-1]) for each in filters]
        self._reach = _REACH * self._down  # samples of the source that the filter looks ahead
        self._history = numpy.zeros(len(self._filters[0]) - 1 - self._reach)
        self._skip = 0  # samples of what follows, before the next that is kept

    def __call__(
        self, samples: Any, last: bool
    ) -> Any:  # arrays of numpy, which is not imported for their type
        """The samples of ``samples`` (int16) that can be told by now, as int16; with ``last`` all of them."""
        import numpy

        tail = [numpy.zeros(self._reach)] if last else []
        known = numpy.concatenate([self._history, samples, *tail])
        count = len(known) - len(self._filters[0]) + 1
        self._history = known[max(0, count) :]
        if count < 1:
            return numpy.zeros(0, dtype=_INT16)
        made = numpy.empty((count, self._up))
        for phase, shape in enumerate(self._filters):
            made[:, phase] = numpy.correlate(known, shape, "valid")
        kept = made.reshape(-1)[self._skip :: self._down]
        self._skip = (self._skip - count) % self._down
        numpy.rint(kept, out=kept)
        return numpy.minimum(numpy.maximum(kept, -32768, out=kept), 32767, out=kept).astype(_INT16)
