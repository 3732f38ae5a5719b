"""What a turn has said so far, and what the whole conversation holds."""

from __future__ import annotations

from dataclasses import dataclass

from livetools.protocol.profiles import ModelProfile

from . import audio as sound
from .wire import Message


@dataclass(slots=True)
class Said:
    """What a turn has said so far, for its usage and its end."""

    text: str = ""
    seconds: float = 0.0
    until: float = (
        0.0  # by the server's clock: when its sound would have been played, if the server holds the end back
    )
    closed: bool = False  # `interrupted` and its turnComplete were sent, and nothing since

    def add(self, setup: Message, facts: ModelProfile, text: str, audio: bytes | None) -> float:
        """Add an utterance; the seconds of its sound."""
        self.text += text
        self.closed = False
        if modality(setup, facts) != "AUDIO":
            return 0.0
        added = sound.spoken_seconds(text) if audio is None else sound.duration(audio)
        self.seconds += added
        return added


class History(list[Message]):
    """The conversation as ``contents``, and about how many tokens the model sees of it."""

    def __init__(self) -> None:
        super().__init__()
        self._begin = 0  # of the window: what comes before was compressed away
        self._sizes: list[int] = []  # of each content, in characters
        self._characters = 0  # in the window

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


def compression(setup: Message, facts: ModelProfile) -> tuple[int, int] | None:
    """From how many tokens the window slides, and to how many: by default 80 % of the model's, and half of that."""
    asked = setup.get("contextWindowCompression") or {}
    if "slidingWindow" not in asked or facts.compression != "honoured":
        return None
    trigger = int(asked.get("triggerTokens") or facts.window * 0.8)
    return trigger, int((asked["slidingWindow"] or {}).get("targetTokens") or trigger / 2)


def modality(setup: Message, facts: ModelProfile) -> str:
    """What the setup asks to be answered in; absent, the model's own."""
    asked = (setup.get("generationConfig") or {}).get("responseModalities") or [facts.default_modality]
    return str(asked[0])
