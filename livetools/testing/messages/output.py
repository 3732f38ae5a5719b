"""Builds the messages of a turn: text, audio, transcripts, the end of the turn, usage.

Sound without a voice is a tone, as long as the words would take.
"""

from __future__ import annotations

import array
import base64
import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from livetools.setup.model_profiles import ModelProfile
from livetools.testing.wire import Message, seconds

PIECE = 24  # characters of text a message, about what the service streams
OUT_RATE = 24000  # Hz: what the service sends
CHUNK_SECONDS = 0.2  # about 13 kB of JSON a message, as measured on the service
CHARACTERS_A_SECOND = 15.0  # unhurried speech
OUT_MIME = f"audio/pcm;rate={OUT_RATE}"
INTERRUPTED: Message = {"serverContent": {"interrupted": True}}
GENERATION_COMPLETE: Message = {"serverContent": {"generationComplete": True}}


# -- sound


def duration(pcm: bytes, rate: int = OUT_RATE) -> float:
    """Seconds of 16-bit mono PCM."""
    return len(pcm) / 2 / rate


def duration_of_base64(length: int) -> float:
    """Seconds of that PCM in so many characters of base64."""
    return length * 3 // 4 / 2 / OUT_RATE


def spoken_seconds(text: str) -> float:
    """How long it takes to say ``text``, in whole chunks, at least one."""
    return max(1, math.ceil(len(text) / CHARACTERS_A_SECOND / CHUNK_SECONDS)) * CHUNK_SECONDS


@functools.lru_cache(maxsize=64)
def tone(seconds: float, frequency: float = 440.0, rate: int = OUT_RATE) -> bytes:
    """A quiet sine of 16-bit little-endian mono PCM."""
    step = 2 * math.pi * frequency / rate
    samples = array.array("h", (int(3000 * math.sin(step * n)) for n in range(int(seconds * rate))))
    return samples.tobytes()


@functools.cache
def tone_chunk() -> str:
    """One chunk of the tone in base64. It holds whole periods, so that chunks join without a click."""
    return base64.b64encode(tone(CHUNK_SECONDS)).decode()


def chunks(pcm: bytes) -> list[str]:
    """The sound in base64 pieces of one chunk each."""
    size = int(CHUNK_SECONDS * OUT_RATE) * 2
    return [base64.b64encode(pcm[start : start + size]).decode() for start in range(0, len(pcm), size)]


def _tones(text: str) -> list[str]:
    return [tone_chunk()] * round(spoken_seconds(text) / CHUNK_SECONDS)


# -- an utterance


def modality(setup: Message, profile: ModelProfile) -> str:
    """What the setup asks to be answered in; absent, the model's own."""
    asked = (setup.get("generationConfig") or {}).get("responseModalities") or [profile.default_modality]
    return str(asked[0])


def pieces(text: str) -> list[str]:
    """The text in pieces of about 24 characters, cut after spaces; joined they are the text again."""
    words, result = re.findall(r"\S*\s*", text), [""]
    for word in words:
        if result[-1] and len(result[-1]) + len(word) > PIECE:
            result.append("")
        result[-1] += word
    return [piece for piece in result if piece]


def messages(setup: Message, profile: ModelProfile, text: str, audio: bytes | None) -> Iterator[Message]:
    """The ``serverContent`` messages of one utterance."""
    if modality(setup, profile) == "TEXT":
        for piece in pieces(text):
            yield _content(profile, {"text": piece})
        return
    transcripts = pieces(text) if "outputAudioTranscription" in setup else []
    sound = _tones(text) if audio is None else chunks(audio)
    mime = "audio/pcm" if profile.vertex else OUT_MIME
    for n, chunk in enumerate(sound):
        yield _content(profile, {"inlineData": {"mimeType": mime, "data": chunk}})
        if n < len(transcripts):
            yield {"serverContent": {"outputTranscription": {"text": transcripts[n]}}}
    for piece in transcripts[len(sound) :]:
        yield {"serverContent": {"outputTranscription": {"text": piece}}}


def seconds_of(message: Message) -> float:
    """How long it takes to play this message."""
    parts = (message["serverContent"].get("modelTurn") or {}).get("parts") or [{}]
    data = (parts[0].get("inlineData") or {}).get("data", "")
    return duration_of_base64(len(data))


def _content(profile: ModelProfile, part: Message) -> Message:
    # js-genai's recordings: no role from 2.x on the Gemini API, "model" from Vertex; 3.8 says it (2026-09-17)
    role = {"role": "model"} if profile.vertex or profile.empty_frames else {}
    return {"serverContent": {"modelTurn": {"parts": [part]} | role}}


def voice_activity(setup: Message, kind: str, offset: float | None) -> Iterator[Message]:
    """``voiceActivity``, ``START`` or ``END``, and the older signal where it was asked for."""
    at = {} if offset is None else {"audioOffset": seconds(offset)}
    yield {"serverContent": {}, "voiceActivity": {"type": f"ACTIVITY_{kind}"} | at}
    if setup.get("explicitVadSignal"):
        signal = "VAD_SIGNAL_TYPE_SOS" if kind == "START" else "VAD_SIGNAL_TYPE_EOS"
        yield {"voiceActivityDetectionSignal": {"vadSignalType": signal}}


# -- a turn and its end


@dataclass(slots=True)
class OutputSoFar:
    """What a turn has said so far, for its usage and its end."""

    text: str = ""
    seconds: float = 0.0
    played_at: float = (
        0.0  # by the server's clock: when its sound will have been played, if that is waited for
    )
    closed: bool = False  # `interrupted` and its turnComplete were sent, and nothing since

    def add(self, setup: Message, profile: ModelProfile, text: str, audio: bytes | None) -> float:
        """Add an utterance; the seconds of its sound."""
        self.text += text
        self.closed = False
        if modality(setup, profile) != "AUDIO":
            return 0.0
        added = spoken_seconds(text) if audio is None else duration(audio)
        self.seconds += added
        return added


def status(*, busy: bool) -> Message:
    """``interactionStatus``: IDLE comes once nothing is left to be spoken of."""
    return {"interactionStatus": "IN_PROGRESS" if busy else "IDLE"}


def turn_complete(usage: Message, status: Message) -> Message:
    content: Message = {"turnComplete": True} | status
    return {"serverContent": content, "usageMetadata": usage}


# -- the conversation


class Moment:
    """A moment of a conversation, to which a handle leads back."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.contents: list[Message] | None = (
            None  # of then and later, once the conversation went another way
        )


class History(list[Message]):
    """The conversation as ``contents``, and about how many tokens the model sees of it."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: list[Moment] = []  # in the conversation as it is now
        self._begin = 0  # of the window: what comes before was compressed away
        self._sizes: list[int] = []  # of each content, in characters
        self._characters = 0  # in the window

    def mark(self) -> Moment:
        """This moment, for :meth:`restore`."""
        self._marks.append(Moment(len(self)))
        return self._marks[-1]

    def restore(self, mark: Moment) -> None:
        """Go back to that moment. Marks of what came later still lead there."""
        if mark.contents is None and mark.length == len(self):
            return
        # A service that keeps the state of each handle can resume the older one first and the newer one then.
        present = list(self)
        for each in self._marks:
            each.contents = present
        self._marks = []
        then = (present if mark.contents is None else mark.contents)[: mark.length]
        self.forget(sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(self, then, strict=False))))
        self += then[len(self) :]

    def forget(self, after: int) -> None:
        """Keep the first ``after`` contents."""
        del self[after:], self._sizes[after:]
        self._begin = min(self._begin, len(self))
        self._characters = sum(self._sizes[self._begin :])

    def tokens(self) -> int:
        """Four characters each, counted once a content."""
        fresh = [len(str(content)) for content in self[len(self._sizes) :]]
        self._sizes += fresh
        self._characters += sum(fresh)
        return self._characters // 4 + 1

    def slide(self, trigger: int, target: int) -> None:
        """Beyond ``trigger`` tokens the oldest contents leave the window, down to ``target`` and a user's turn."""
        if self.tokens() <= trigger:
            return
        while self._begin < len(self) and not (self.tokens() <= target and self._opens(self._begin)):
            self._characters -= self._sizes[self._begin]
            self._begin += 1

    def _opens(self, at: int) -> bool:
        content = self[at]
        return content.get("role") != "model" and "functionResponse" not in str(content)


def compression(setup: Message, profile: ModelProfile) -> tuple[int, int] | None:
    """From how many tokens the window slides, and to how many: by default 80 % of the model's, and half of that."""
    asked = setup.get("contextWindowCompression") or {}
    if "slidingWindow" not in asked or profile.compression != "honoured":
        return None
    trigger = int(asked.get("triggerTokens") or profile.window * 0.8)
    return trigger, int((asked["slidingWindow"] or {}).get("targetTokens") or trigger / 2)


def usage(setup: Message, profile: ModelProfile, history: History, so_far: OutputSoFar) -> Message:
    """Tokens as counted: the history, in its window, is the prompt, this turn the response; 25 a second of sound."""
    if bounds := compression(setup, profile):
        history.slide(*bounds)
    spoken = modality(setup, profile) == "AUDIO"
    prompt = history.tokens()
    response = round(so_far.seconds * 25) if spoken else -(-len(so_far.text) // 4)
    kind = "AUDIO" if spoken else "TEXT"
    name = "candidates" if profile.vertex else "response"
    counted: Message = {
        "promptTokenCount": prompt,
        f"{name}TokenCount": response,
        "totalTokenCount": prompt + response,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
        f"{name}TokensDetails": [{"modality": kind, "tokenCount": response}],
    }
    return counted if response else {key: counted[key] for key in list(counted) if not key.startswith(name)}
