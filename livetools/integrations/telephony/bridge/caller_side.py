"""The caller's side of a call: sound and keys, on their way to the model."""

from __future__ import annotations

import contextlib
from collections import deque

import anyio

from livetools.audio.pcm import INPUT_RATE, SAMPLE, Resampler
from livetools.errors import LiveToolsError
from livetools.integrations.shared.sound_ahead import MAX_AHEAD, SoundAhead
from livetools.integrations.telephony.sound.call_recording import CallRecording
from livetools.integrations.telephony.sound.codec import Codec
from livetools.integrations.telephony.sound.reorder import Reorder
from livetools.log import get_logger
from livetools.protocol.input.audio_format import Samples
from livetools.session.running.clock import Clock
from livetools.session.session import Session
from livetools.transport.loop.race import race
from livetools.transport.loop.wake import make_wake

log = get_logger("livetools.telephony")

#: Frames of the caller's sound that wait for the session to open, or for its line: two seconds.
_WAITING = 100
#: Bytes of sound that are sent at once, when more than one frame waits: 100 ms.
_TOGETHER = 3200
#: Seconds without a key after which the keys that were pressed are sent to the model, in one text.
PRESSING = 1.0
#: Keys that wait to be told; what is pressed beyond is dropped.
MAX_KEYS = 64


class CallerSide:
    """Queues what the caller says and presses for the model. It never waits; when it is full the oldest sound is
    dropped."""

    def __init__(self, codec: Codec, rate: int, recording: CallRecording | None = None) -> None:
        self._codec, self._rate, self._recording = codec, rate, recording
        self._order = Reorder()
        self._whole = Samples()
        self._resample = Resampler(rate, INPUT_RATE, prompt=True)
        self._sound: deque[bytes] = deque(maxlen=_WAITING)
        self._ahead = SoundAhead()
        self._warned = False  # that sound came too far ahead of its time
        self._keys = ""
        self._told_at = 0.0
        self._came = make_wake()
        self._pressed = make_wake()

    def take(self, number: int | None, sound: bytes, now: float) -> None:
        """A frame of sound came. More than ``MAX_AHEAD`` seconds ahead of its time it is dropped: each second costs."""
        if not self._ahead.allows(len(sound) / self._codec.width / self._rate, now):
            if not self._warned:
                log.warning("sound that came more than %g s ahead of its time is dropped", MAX_AHEAD)
            self._warned = True
            return
        for frame in self._order.take(number, sound):
            pcm = self._decoded(frame)
            self._sound.append(pcm)
            if self._recording is not None:
                self._recording.caller(pcm)
        self._came.set()

    def press(self, digit: str, now: float) -> None:
        """A key was pressed."""
        self._keys = (self._keys + digit)[:MAX_KEYS]
        self._told_at = now if digit == "#" else now + PRESSING
        self._pressed.set()

    async def speak(self, session: Session, clock: Clock) -> None:
        """Send all of it. Never returns: the reader of the events knows when the session is over."""
        with contextlib.suppress(LiveToolsError):
            await race(lambda: self._send_sound(session), lambda: self._send_keys(session, clock))
        await anyio.sleep_forever()

    async def _send_sound(self, session: Session) -> None:
        while True:
            await self._came.wait()
            while self._sound:
                pcm = b""
                while self._sound and len(pcm) < _TOGETHER:
                    pcm += self._resample(self._sound.popleft())
                if pcm:
                    await session.send_audio(pcm, INPUT_RATE)

    def _decoded(self, sound: bytes) -> bytes:
        """Linear PCM. A sample of two bytes may be cut in the middle by a message's end."""
        return self._codec.decode(self._whole.whole(sound) if self._codec.width == SAMPLE else sound)

    async def _send_keys(self, session: Session, clock: Clock) -> None:
        while True:
            await self._pressed.wait()
            while clock.now() < self._told_at:  # another key may come, and tell sooner or later
                await race(lambda: clock.sleep_until(self._told_at), self._pressed.wait)
            keys, self._keys = self._keys, ""
            if keys:
                await session.send_text(f"(The caller pressed {keys} on the phone.)")
