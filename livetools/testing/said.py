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
    closed: bool = False  # `interrupted` and its turnComplete were sent, and nothing since

    def add(self, setup: Message, facts: ModelProfile, text: str, audio: bytes | None) -> None:
        self.text += text
        self.closed = False
        if modality(setup, facts) == "AUDIO":
            self.seconds += sound.spoken_seconds(text) if audio is None else sound.duration(audio)


class History(list[Message]):
    """The conversation as ``contents``, and about how many tokens they are."""

    _counted = (0, 0)  # how many contents were counted, and their characters

    def forget(self, after: int) -> None:
        """Keep the first ``after`` contents."""
        del self[after:]
        self._counted = (0, 0)

    def tokens(self) -> int:
        """Four characters each, counted once a content."""
        seen, characters = self._counted
        characters += sum(len(str(content)) for content in self[seen:])
        self._counted = len(self), characters
        return characters // 4 + 1


def modality(setup: Message, facts: ModelProfile) -> str:
    """What the setup asks to be answered in; absent, the model's own."""
    asked = (setup.get("generationConfig") or {}).get("responseModalities") or [facts.default_modality]
    return str(asked[0])
