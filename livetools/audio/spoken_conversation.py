"""A spoken conversation: the microphone goes to the model, its speech is played, and an interruption stops it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import TYPE_CHECKING

import anyio

from livetools.errors import LiveToolsError, SessionClosed
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Event,
    Interrupted,
    ToolCancelled,
    ToolFinished,
    ToolStarted,
    TurnComplete,
    VoiceActivity,
)
from livetools.session.running.clock import Clock, SystemClock
from livetools.transport.loop.race import race

from .activity_detection import DetectorOutput, send_speech
from .pcm import seconds_of
from .playback import Output

if TYPE_CHECKING:
    from livetools.session.session import Session

_PAUSE = 1.0  # seconds; what follows a longer one is a new stream


async def talk(
    session: Session,
    source: AsyncIterable[DetectorOutput],
    output: Output,
    *,
    tell: Callable[[Event], object] = lambda event: None,
    patience: float = 20.0,
    clock: Clock | None = None,
) -> None:
    """Send ``source`` (16-bit mono PCM at 16 kHz, or what :func:`activity_from` makes of it) and play the model's
    speech on ``output``.

    Returns when the session has ended, or when ``source`` has ended (a file does, a microphone does not) and the model
    has answered: its turn is complete and no call is open. The model's speech is first played to the end, so that a
    goodbye is heard. ``talk`` reads the session's events; ``tell`` gets each of them and must not block.

    An interruption empties ``output`` at once. Speech that comes afterwards is played, because the service may send
    ``interrupted`` just before a new answer (langwatch/scenario#360).

    It also returns when nothing comes for ``patience`` seconds after the end of ``source`` and of the speech, and no
    call is open: some answers have no end (a call answered ``silent``, a turn lost with its connection).

    Raises the error that ended the session, or that ``source`` or ``tell`` raised, and :class:`LiveToolsError` if the
    model did not react at all within ``patience``. Cancelling stops both directions.

    ::

        async with connect(MODEL, tools=[get_weather]) as session:
            await talk(session, microphone(), speaker, tell=print)
    """
    conversation = _Conversation(session, output, tell, clock or SystemClock())

    async def speak() -> None:
        try:
            await conversation.speak(source)
            await conversation.answer(patience)
        except SessionClosed as closed:
            if closed.code != 1000:
                raise
            await anyio.sleep_forever()  # a session that ended well ends ``listen``, after its last event

    await race(conversation.listen, speak)
    await output.drained()


class _Conversation:
    """What is known of it: whether all was said, and whether the model has answered."""

    def __init__(
        self, session: Session, output: Output, tell: Callable[[Event], object], clock: Clock
    ) -> None:
        self.session = session
        self.output = output
        self.tell = tell
        self.clock = clock
        self.events = 0  # of any kind
        self.moves = 0  # the model spoke, called or ended a turn
        self.speaks_until = 0.0  # by the clock: 3.x end a turn when it has been heard, not when it was sent
        self.open: set[str] = set()  # calls
        self.answered = False
        self.cut = False  # interrupted, and the end of that turn has not come yet
        self.said = False

    async def listen(self) -> None:
        async for event in self.session:
            self.take(event)
            self.tell(event)
            if self.said and self.answered:
                return

    def take(self, event: Event) -> None:
        self.events += 1
        match event:
            case AudioChunk(data=pcm, rate=rate):
                self.moves += 1
                self.answered = self.cut = False
                self.output.write(pcm, rate)
                self.speaks_until = max(self.speaks_until, self.clock.now()) + seconds_of(pcm, rate)
            case Interrupted():
                self.answered, self.cut = False, True
                self.output.flush()
                self.speaks_until = 0.0
            case VoiceActivity(kind="start"):
                self.answered = False
            case ToolStarted(call=call) | ApprovalRequested(call=call):
                self.moves += 1
                self.answered = False
                self.open.add(call.id)
            case ToolFinished(call=call) | ToolCancelled(call=call):
                self.open.discard(call.id)
            case TurnComplete(status=status):
                self.moves += 1
                # what ends an interrupted turn is not an answer to who cut in
                self.answered = status != "IN_PROGRESS" and not self.open and not self.cut
                self.cut = False

    async def speak(self, source: AsyncIterable[DetectorOutput]) -> None:
        await send_speech(self.session, source)

    async def answer(self, patience: float) -> None:
        """Return when the model had answered before the last word was sent; else ``listen`` ends it all."""
        self.said = True
        await self._end_of_stream()
        while not self.answered:
            before = self.events
            await self.clock.sleep_until(max(self.clock.now(), self.speaks_until) + patience)
            if self.events == before and not self.open:
                break
        if not self.moves:
            raise LiveToolsError(
                f"The model said nothing for {patience:g} s after the end of the sound. Is there speech in it, "
                "of 16 kHz, and half a second of silence at its end?"
            )

    async def _end_of_stream(self) -> None:
        """Say that the sound has ended, if silence did not.

        The service asks for it when a stream pauses for more than a second. Sent at once, it meets the call
        that the silence before it has set off, and 2.5 closes for input while a call is open (js-genai#1236).
        """
        if not self.answered and not self.open and not self.session.plan.manual:
            before = self.moves
            await self.clock.sleep_until(self.clock.now() + _PAUSE)
            if self.moves == before:
                await self.session.end_audio()
