"""A call in a stereo WAV, at the rate of the line: the caller left, and right what was played to the caller."""

from __future__ import annotations

import os
import re
from array import array
from pathlib import Path

from livetools.audio.pcm import seconds_of
from livetools.audio.stereo_wav import StereoFile
from livetools.log import get_logger
from livetools.session.running.clock import Clock

log = get_logger("livetools.telephony")

#: Seconds by which the caller's sound may be late and still follow what came before: a line sends silence too, so that
#: what is late for less has been held up, and not left out.
_HELD_UP = 1.0
#: Seconds by which it may be ahead of the clock, which it is where a gap was filled and the sound came nevertheless.
_AHEAD = 0.1
#: The loudest sample of what counts as silence.
_QUIET = 200


class CallRecording:
    """A recording under way. The caller's sound is placed by when it came, what is played by when it plays.

    A file that can no longer be written ends the recording, logged, and not the call.
    """

    def __init__(self, path: Path, rate: int, clock: Clock) -> None:
        self.path = path
        self._file, self._rate, self._clock = StereoFile(path, rate, clock), rate, clock

    def caller(self, pcm: bytes) -> None:
        """Sound of the caller, 16-bit PCM of the line's rate, that comes now."""
        side, begins = self._file.left, self._file.now() - seconds_of(pcm, self._rate)
        late = begins - side.until
        if late < -_AHEAD and _is_silent(pcm):
            return  # left out, until the rest is where it belongs
        side.put(pcm, self._rate, begins if late > _HELD_UP else side.until)
        self._file.settle()

    def agent(self, pcm: bytes, at: float) -> None:
        """Sound that is played to the caller from ``at`` on, by the clock."""
        self._file.right.put(pcm, self._rate, max(self._file.right.until, self._since(at)))
        self._file.settle()

    def cut(self) -> None:
        """What has not been played by now will not be."""
        self._file.right.cut(self._file.now())

    def close(self) -> None:
        """End it. What had not been played by now was not heard."""
        self.cut()
        self._file.close()

    def _since(self, at: float) -> float:
        return self._file.now() + at - self._clock.now()


def begun(folder: str | os.PathLike[str], stream: str, rate: int, clock: Clock) -> CallRecording | None:
    """A recording in a new file of ``folder``, which is created if it does not exist, named after the stream.

    Only its owner may read the file. ``None``: it cannot be written, which is logged.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "-", stream)[:100]
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return CallRecording(_reserved(Path(folder), name), rate, clock)
    except OSError as error:
        log.error("a call is not recorded: %s: %s", folder, error.strerror)
        return None


def _reserved(folder: Path, name: str) -> Path:
    """A file of this name that was not there; with a number, if it was: a call has a second stream."""
    number = 1
    while True:
        path = folder / f"{name}{f'-{number}' if number > 1 else ''}.wav"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path
        except FileExistsError:
            number += 1


def _is_silent(pcm: bytes) -> bool:
    samples = array("h", pcm)
    return not samples or max(max(samples), -min(samples)) < _QUIET
