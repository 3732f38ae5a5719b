"""Gathers what the client sends until a user turn is complete.

Nothing is sent here and nothing awaited: each message of the client gives what it means, in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from livetools.testing.messages.client_schema import decode_base64
from livetools.testing.messages.output import History
from livetools.testing.model.fake_call import key_of
from livetools.testing.settings.vad import ActivityDetector, Edge
from livetools.testing.wire import Message

AUDIO_KEPT = 16000 * 2 * 300  # bytes of one user turn: five minutes at 16 kHz
LEAD_IN = 16000  # bytes of sound kept before speech is heard: half a second at 16 kHz
USER_RATE = 16000  # Hz: of sound whose MIME type names none


@dataclass(frozen=True, slots=True)
class Responses:
    """Function responses came within a content. ``restored``: the ids, or names, of the calls that came with them."""

    responses: list[Message]
    restored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TextComplete:
    """A turn by text is complete."""


@dataclass(frozen=True, slots=True)
class NothingSaid:
    """``turnComplete`` came without a turn: some models speak unprompted then."""


@dataclass(frozen=True, slots=True)
class ContentAdded:
    """Content without ``turnComplete``: no answer follows, and a turn in progress is interrupted."""


@dataclass(frozen=True, slots=True)
class SpeechChange:
    """The user begins to speak, or has ended; ``offset`` seconds into the stream, where a detector heard it.

    ``by_stream``: it ended because the stream did.
    """

    kind: Literal["START", "END"]
    offset: float | None = None
    by_stream: bool = False


Heard: TypeAlias = Responses | TextComplete | NothingSaid | ContentAdded | SpeechChange


class UserInput:
    """What was heard of the user on one connection.

    A turn by voice is complete when the detector hears the end of speech, at ``activityEnd``, and at
    ``audioStreamEnd`` where the stream has made no turn yet.
    """

    def __init__(
        self, setup: Message, detector: Callable[[Mapping[str, Any]], ActivityDetector], history: History
    ) -> None:
        config = setup.get("realtimeInputConfig") or {}
        self._detection = config.get("automaticActivityDetection") or {}
        self._new_detector = detector
        self._detector = detector(self._detection)
        self._history = history
        self.texts: list[str] = []
        self.audio = bytearray()
        self.heard = 0  # messages on this connection, the setup being 0
        self.rate: int | None = None
        self.in_activity = False
        self._in_speech = False
        self._stream_had_turn = False
        self._stream_ended = False  # and no sound has followed
        self.manual = bool(self._detection.get("disabled"))
        seeds = (setup.get("historyConfig") or {}).get("initialHistoryInClientContent")
        self.seeding = bool(seeds) and not history

    @property
    def empty(self) -> bool:
        """Whether the user has sent no text and no audio since the last turn."""
        return not self.audio and not self.texts

    @property
    def user_speaks(self) -> bool:
        """Whether the user is speaking now."""
        return self.in_activity or self._in_speech

    def content(self, body: Message) -> Iterator[Heard]:
        """``clientContent``: turns are history at once; a turn begins when it says that they are complete."""
        responses: list[Message] = []
        calls: list[Message] = []
        for content in body.get("turns") or []:
            self._history.append(content)
            parts = [part for part in content.get("parts") or [] if isinstance(part, dict)]
            responses += [part["functionResponse"] for part in parts if "functionResponse" in part]
            calls += [part["functionCall"] for part in parts if "functionCall" in part]
            if content.get("role") == "model":
                self.texts.clear()
            else:
                self.texts += [part["text"] for part in parts if part.get("text")]
        if responses:
            yield Responses(responses, frozenset(key_of(call) for call in calls))
        if not body.get("turnComplete"):
            if not responses and not self.seeding:
                yield ContentAdded()
            return
        if self.seeding:
            # a seed is never answered by itself: the next realtime input begins the turn
            self.seeding = False
        elif self.texts:
            yield TextComplete()
        elif not body.get("turns"):
            yield NothingSaid()

    def realtime(self, body: Message) -> Iterator[Heard]:
        """``realtimeInput``: text is a turn, sound waits for its end."""
        if "activityStart" in body:
            self.in_activity = True
            yield SpeechChange("START")
        for blob in [body["audio"]] if "audio" in body else (body.get("mediaChunks") or [])[:1]:
            yield from self._sound(blob)
        if "text" in body:
            yield from self._text(str(body["text"]))
        if "activityEnd" in body:
            self.in_activity = False
            yield SpeechChange("END")
        if body.get("audioStreamEnd"):
            yield from self._stream_ends()

    def take(self, words: str) -> tuple[str, bytes]:
        """The text and the sound of the turn that is complete; ``words`` are what the sound says."""
        if len(self.texts) > 1 and self.texts[-1].strip() == ".":
            self.texts.pop()  # some clients end their turns with a lone full stop
        if words:
            self.texts.append(words)
            self._history.append({"role": "user", "parts": [{"text": words}]})
        text, sound = "\n".join(self.texts), bytes(self.audio)
        self.forget()
        return text, sound

    def forget(self) -> None:
        """Drop what was said since the last turn."""
        self.texts.clear()
        self.audio.clear()

    def _text(self, text: str) -> Iterator[Heard]:
        if text.strip():
            self.texts.append(text)
            self._history.append({"role": "user", "parts": [{"text": text}]})
        if self.texts and not self.in_activity:  # " " says nothing itself, but sets a seed going
            self.seeding = False
            yield TextComplete()

    def _sound(self, blob: dict[str, Any]) -> Iterator[Heard]:  # a Blob in camelCase
        mime = str(blob.get("mimeType", ""))
        if not mime.startswith("audio/"):
            return
        self.seeding = False
        self.rate = rate_of(mime)
        pcm = decode_base64(str(blob.get("data", "")))
        self._stream_ended = self._stream_ended and not any(pcm)
        if self._stream_ended:
            return  # the silence that ends a turn on 3.8 belongs to no other
        self.audio += pcm
        del self.audio[:-AUDIO_KEPT]
        if self.manual:
            return
        for edge in self._detector.feed(pcm, self.rate):
            yield self._edge(edge)
        if self._stream_had_turn and not self._in_speech:
            del self.audio[:-LEAD_IN]  # the silence between two turns belongs to neither

    def _edge(self, edge: Edge) -> SpeechChange:
        self._in_speech = edge.kind == "start"
        if self._in_speech:
            return SpeechChange("START", edge.offset)
        self._stream_had_turn = True
        return SpeechChange("END", edge.offset)

    def _stream_ends(self) -> Iterator[Heard]:
        pending = self._in_speech or not self._stream_had_turn
        self._in_speech = self._stream_had_turn = False
        self._stream_ended = True
        self._detector = self._new_detector(self._detection)
        if not pending or self.empty:
            self.audio.clear()
        else:
            yield SpeechChange("END", by_stream=True)


def rate_of(mime: str) -> int:
    """The sample rate that a MIME type names; 16 kHz where it names none."""
    found = re.search(r"rate=([1-9][0-9]{0,5})(?![0-9])", mime)
    return int(found[1]) if found else USER_RATE
