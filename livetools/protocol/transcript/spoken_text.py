"""The text of an answer: the transcript of the model's speech, or its text parts where it has no transcript.

Beside speech a text part is reasoning that bears no flag, or the same words again. So where a transcript was asked for,
text parts are held back until the turn has ended, and count only if no transcript came.
"""

from __future__ import annotations

from msgspec import Struct

from livetools.events import Event, OutputTranscript, TextChunk, TurnComplete


class Words(Struct, eq=False, gc=False):
    """Takes the events of a conversation, and gives its words. ``transcribed``: the setup asks for a transcript."""

    transcribed: bool
    _spoken: bool = False  # the turn has a transcript
    _held: str = ""

    def take(self, event: Event) -> str:
        """The words that are certain with this event; mostly none."""
        if isinstance(event, TextChunk):
            if not self.transcribed:
                return event.text
            self._held += event.text
        elif isinstance(event, OutputTranscript):
            self._spoken = self._spoken or bool(event.text)
            return event.text
        # IN_PROGRESS ends a filler, and not the answer.
        elif isinstance(event, TurnComplete) and event.status != "IN_PROGRESS":
            return self.rest()
        return ""

    def rest(self) -> str:
        """The words that were held back, if they are the turn's only ones. No more of it comes."""
        rest = "" if self._spoken else self._held
        self._held, self._spoken = "", False
        return rest
