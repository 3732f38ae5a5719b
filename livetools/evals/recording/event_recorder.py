"""Writes the record of a conversation from the events of its session, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from livetools.errors import ToolError
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Event,
    Interrupted,
    OutputTranscript,
    Reconnected,
    Reconnecting,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
    TurnComplete,
)
from livetools.protocol.transcript.spoken_text import Words
from livetools.tools import Hooks
from livetools.tools.validation.invalid_arguments import InvalidArguments

from .conversation_record import CallRecord, Conversation, Note, TurnRecord

if TYPE_CHECKING:
    from livetools.tools.interface.context import SessionLike


class EventRecorder(Hooks):
    """Observes one session. It sees each event before the session continues, so the record is never behind.

    ``now`` returns the seconds since the conversation began; ``transcribed`` says whether the session asks for a
    transcript, which then counts as what the model says.
    """

    def __init__(self, record: Conversation, now: Callable[[], float], transcribed: bool) -> None:
        self.record, self.now = record, now
        self._words = Words(transcribed)
        self._turn: TurnRecord | None = None  # the one that is being answered
        self._number = 0  # of it
        self._ended = True  # the model has ended its turn: what it says next is another sentence

    def begin(self, said: str, *, cutting_in: bool = False, silent: bool = False) -> TurnRecord:
        """The caller speaks. ``cutting_in``: until the model stops, its words still answer the turn before."""
        turn = TurnRecord(said, self.now(), silent=silent)
        self.record.turns.append(turn)
        if self._ended or not cutting_in:
            self._answer(turn)
        return turn

    def note(self, text: str) -> None:
        """Note something else that a timeline shows."""
        self.record.notes.append(Note(self.now(), text))

    def approved(self, id: str) -> None:
        """The caller has approved this call: from now on it may run."""
        self._call(id).ran = None

    def on_session(self, session: SessionLike) -> EventRecorder:
        """Observe the session itself."""
        return self

    def typed(self, text: str) -> None:
        """What the caller types is recorded by :meth:`begin`."""

    def ended(self, error: Exception | None) -> None:
        """Records nothing: the code that plays the session records why it ended."""

    def event(self, event: Event) -> None:
        """Record one event."""
        record, now = self.record, self.now()
        self._hear(event, now)
        match event:
            case ToolStarted(call):
                record.calls.append(CallRecord(call.id, call.name, dict(call.args), self._number, now))
            case ApprovalRequested(call):
                asked = self._call(call.id)
                asked.asked, asked.ran = True, False
            case ToolFinished(call, response, error):
                self._end(call.id, "failed" if "error" in response else "finished", response)
                ended = self._call(call.id)
                ended.ran = event.ran
                ended.refused = not event.ran and _refuses(error)
            case ToolCancelled(call):
                self._end(call.id, "cancelled")
            case ToolLost(call):
                self._call(call.id).state = "lost"
            case Interrupted() | TurnComplete():
                self._stopped(event)
            case Reconnecting(_, delay, cause):
                self.note(f"the connection was lost ({cause}); next attempt in {delay:.1f} s")
            case Reconnected(restored):
                self.note("resumed" if restored else "connected to a new session")

    def _hear(self, event: Event, now: float) -> None:
        """Words and sound of the model, and the words that were held back until its turn ended."""
        word = self._words.take(event)
        heard = isinstance(event, AudioChunk | TextChunk | OutputTranscript)
        if not heard and not word:
            return
        turn = self._turn or self.begin("(the agent begins)", silent=True)
        if heard and turn.first is None:
            turn.first = now
        if isinstance(event, OutputTranscript) and event.language:
            turn.language = event.language
        if word:
            turn.text += f" {word.lstrip()}" if self._ended and turn.text else word
            self._ended = False

    def _stopped(self, event: Event) -> None:
        """The model's turn has ended, or was cut off. What follows answers the caller's last words."""
        if isinstance(event, Interrupted):
            self.note("interrupted")
            if self._turn is not None:
                self._turn.interrupted = True
        self._ended = True
        if self.record.turns and self._turn is not self.record.turns[-1]:
            self._answer(self.record.turns[-1])

    def _answer(self, turn: TurnRecord) -> None:
        if self._turn is not None:
            self._turn.text += self._words.rest()
        self._turn, self._number = turn, len(self.record.turns)

    def _call(self, id: str) -> CallRecord:
        return next(call for call in reversed(self.record.calls) if call.id == id)

    def _end(self, id: str, state: Any, response: Mapping[str, Any] | None = None) -> None:
        call = self._call(id)
        call.state, call.ended, call.response = state, self.now(), response


def _refuses(error: Exception | None) -> bool:
    """Whether a call that did not run was refused, not answered because its arguments were invalid."""
    return isinstance(error, ToolError) and not isinstance(error, InvalidArguments)
