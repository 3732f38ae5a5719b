"""The callers who talk to an agent: a script, or a persona that a Gemini model plays."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from livetools.audio import read_wav
from livetools.errors import ConfigError

from .judge import MODEL, generate
from .record import Conversation

if TYPE_CHECKING:
    from google.genai import Client

#: Speaks a text: to chunks of 16-bit little-endian mono PCM at 16 kHz.
Voice: TypeAlias = Callable[[str], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the caller says in one turn: spoken if there is ``sound`` (16-bit mono PCM at 16 kHz), else typed."""

    text: str
    sound: tuple[bytes, ...] = field(default=(), repr=False)


class Caller(Protocol):
    """An object that talks to an agent."""

    async def next(self, conversation: Conversation) -> Utterance | None:
        """Return what to say next, after everything said so far; ``None`` hangs up."""
        ...


class Script:
    """A caller with fixed turns: texts, or utterances from :func:`wav` and :func:`spoken`."""

    def __init__(self, turns: str | Utterance | Sequence[str | Utterance]) -> None:
        several = [turns] if isinstance(turns, str | Utterance) else list(turns)
        if not several:
            raise ConfigError("a script needs one turn at least")
        self.turns = [Utterance(turn) if isinstance(turn, str) else turn for turn in several]

    async def next(self, conversation: Conversation) -> Utterance | None:
        """The turn that follows those that were said."""
        said = len(conversation.turns)
        return self.turns[said] if said < len(self.turns) else None


def wav(path: str | Path, text: str | None = None) -> Utterance:
    """A WAV file as an utterance; ``text`` is what it says, for the record. Raises as ``read_wav`` does."""
    return Utterance(text or f"({Path(path).name})", tuple(read_wav(Path(path))))


def spoken(text: str, voice: Voice | None = None) -> Utterance:
    """A text spoken by a voice: espeak-ng's, unless another is given.

    Raises ``ConfigError`` where espeak-ng is not installed.
    """
    return Utterance(text, tuple((voice or espeak)(text)))


def espeak(text: str) -> Iterable[bytes]:
    """Speak with the espeak-ng of this machine."""
    program = shutil.which("espeak-ng")
    if program is None:
        raise ConfigError(
            "espeak-ng speaks the texts of callers and is not installed: apt-get install espeak-ng"
        )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "speech.wav"
        subprocess.run([program, "-w", str(file), "--", text], check=True, capture_output=True)
        return list(read_wav(file))


ORDER = """You play a person who calls an assistant. Who you are and what you want:
{persona}

Say what this person says next, in one or two short sentences, as one speaks on the phone. When you have what you want,
or it is clear that you will not get it, say goodbye and set done. Never speak for the assistant.

The conversation so far:
{conversation}
"""

SAYS: dict[str, Any] = {  # a schema of google-genai
    "type": "OBJECT",
    "properties": {"say": {"type": "STRING"}, "done": {"type": "BOOLEAN"}},
    "required": ["say", "done"],
}


class Persona:
    """A caller that a Gemini model plays, through google-genai's ordinary API.

    ``persona``: who calls and what they want. At most ``turns`` turns. ``client``: as of :class:`~.judge.Judge`.
    """

    def __init__(
        self, persona: str, *, turns: int = 8, client: Client | None = None, model: str = MODEL
    ) -> None:
        self.persona, self.turns, self.model, self._client = persona, turns, model, client
        self._done = False

    async def next(self, conversation: Conversation) -> Utterance | None:
        """Ask the model what this person says. Raises what google-genai raises."""
        if not conversation.turns:
            self._done = False
        if self._done or len(conversation.turns) >= self.turns:
            return None
        order = ORDER.format(persona=self.persona, conversation=conversation.render() or "(you begin)")
        text = await generate(self._client, self.model, order, SAYS)
        try:
            answer = json.loads(text)
            said, self._done = str(answer["say"]), bool(answer.get("done"))
        except (ValueError, KeyError, TypeError):
            said = text  # a model that ignores the schema has said it plainly
        return Utterance(said) if said.strip() else None
