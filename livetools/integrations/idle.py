"""A caller who says nothing: the model asks once whether anybody is there, and then the conversation ends."""

from __future__ import annotations

from livetools.events import (
    AudioChunk,
    Event,
    InputTranscript,
    Interrupted,
    OutputTranscript,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolStarted,
    VoiceActivity,
)
from livetools.session.running.clock import Clock, SystemClock
from livetools.session.session import Session

#: What the model is told when nobody has spoken for a while.
ASK = "The user has said nothing for a while. Ask in one short sentence whether they are still there."

_PCM = 2  # bytes a sample


class Idle:
    """Watches one conversation: feed it every event of the session (:meth:`tap`), and run it beside.

    After ``seconds`` of silence on both sides, counted from the end of the last sound, the model asks
    (``generate_reply``). After as many seconds more, counted from the end of its question, :meth:`run` returns: the
    conversation should be ended. A user who has answered is asked again the next time. While a function call is open,
    silence is not counted.

    It knows of the user what the service tells (``InputTranscript``, ``VoiceActivity``: have them asked for), and
    what it is told by :meth:`heard`.
    """

    def __init__(self, session: Session, seconds: float, *, clock: Clock | None = None) -> None:
        self._session = session
        self._seconds = seconds
        self._clock = clock or SystemClock()
        self._spoken_until = self._clock.now()
        self._calls: set[str] = set()
        self._asked = False

    def tap(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case InputTranscript(text=text) if text.strip():
                self.heard()
            case VoiceActivity() | Interrupted():
                self.heard()
            case AudioChunk(data=pcm, rate=rate):
                self._spoken_until = max(self._spoken_until, self._clock.now()) + len(pcm) / _PCM / rate
            case TextChunk() | OutputTranscript():
                self._touch()
            case ToolStarted(call=call):
                self._calls.add(call.id)
            case ToolFinished(call=call) | ToolCancelled(call=call):
                self._calls.discard(call.id)
                self._touch()

    def heard(self) -> None:
        """The user has spoken, typed, or pressed a key: what still played does not any more."""
        self._asked = False
        self._spoken_until = self._clock.now()

    async def run(self) -> None:
        """Return when the user is gone. Raises what ended the session; cancelling it is always safe."""
        while True:
            now = self._clock.now()
            if self._calls:
                self._spoken_until = max(self._spoken_until, now)
            if now < (until := self._spoken_until + self._seconds):
                await self._clock.sleep_until(until)
            elif self._asked:
                return
            else:
                self._asked = True
                await self._session.generate_reply(ASK)
                self._touch()

    def _touch(self) -> None:
        self._spoken_until = max(self._spoken_until, self._clock.now())
