"""What counts as said: the transcript of the speech, and its text where there is none."""

from __future__ import annotations

import pytest

from livetools.events import AudioChunk, Event, OutputTranscript, TextChunk, ThoughtChunk, TurnComplete
from livetools.protocol.transcript.spoken_text import Words

SPEECH = AudioChunk(b"\0\0", 24000)
END = TurnComplete()


def said(*events: Event, transcribed: bool = True) -> list[str]:
    """The words that come with each event, and those that are left in the end."""
    words = Words(transcribed)
    return [word for word in [*map(words.take, events), words.rest()] if word]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((TextChunk("**Greeting**"), SPEECH, OutputTranscript("Hello"), END), ["Hello"]),
        ((OutputTranscript("Hel"), TextChunk("Hello"), OutputTranscript("lo"), END), ["Hel", "lo"]),
        ((OutputTranscript("Hello"), END, TextChunk("Hello")), ["Hello", "Hello"]),  # another turn
        (
            (TextChunk("only "), SPEECH, TextChunk("text"), END, OutputTranscript("Next")),
            ["only text", "Next"],
        ),
        ((TextChunk("cut short"),), ["cut short"]),
        (
            (TextChunk("filler"), TurnComplete(status="IN_PROGRESS"), OutputTranscript("Hello"), END),
            ["Hello"],
        ),
        ((TextChunk("text"), OutputTranscript("", finished=True), END), ["text"]),
        ((ThoughtChunk("hm"), END), []),
    ],
)
def test_text_beside_speech_counts_only_in_a_turn_without_a_transcript(
    events: tuple[Event, ...], expected: list[str]
) -> None:
    assert said(*events) == expected


def test_a_model_that_writes_is_read_as_it_writes() -> None:
    assert said(TextChunk("a"), TextChunk("b"), END, transcribed=False) == ["a", "b"]
