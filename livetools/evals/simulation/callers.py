"""The callers who talk to an agent: a script, or a persona that a Gemini model plays."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from livetools.audio import read_wav
from livetools.errors import ConfigError
from livetools.evals.grading.judge import JUDGE_MODEL, generate, is_pretend
from livetools.evals.recording.conversation_record import Conversation
from livetools.evals.value_checks import expect_count, expect_text
from livetools.tools.definition.callbacks import overrides

if TYPE_CHECKING:
    from google.genai import Client

#: Speaks a text: to chunks of 16-bit little-endian mono PCM at 16 kHz.
Voice: TypeAlias = Callable[[str], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the caller does in one turn: speaks if there is ``sound`` (16-bit mono PCM at 16 kHz), else types.

    ``cuts_in``: the caller interrupts the answer at its first word, with the next turn. ``silence``: seconds in which
    the caller says nothing at all; ``text`` describes it in the record.
    """

    text: str
    sound: tuple[bytes, ...] = field(default=(), repr=False)
    cuts_in: bool = False
    silence: float = 0.0


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
        for turn in several:
            if not isinstance(turn, str | Utterance):
                raise ConfigError(f"the turn {turn!r:.60} of a script is not a text or an utterance")
        self.turns = [Utterance(turn) if isinstance(turn, str) else turn for turn in several]

    async def next(self, conversation: Conversation) -> Utterance | None:
        """The turn that follows those that were said."""
        said = _spoken_turns(conversation)
        return self.turns[said] if said < len(self.turns) else None


class CutsIn:
    """A caller who does not let the agent finish: interrupts the answers to ``turns`` (from 1) at their first word.

    ::

        CutsIn(Persona("You are in a hurry."), turns=[2, 3])
        CutsIn(["A table for four", "No, for five"], turns=[1])
    """

    def __init__(self, caller: Caller | str | Sequence[str | Utterance], turns: Collection[int]) -> None:
        self.caller, self.turns = as_caller(caller), frozenset(turns)

    async def next(self, conversation: Conversation) -> Utterance | None:
        """What the caller inside says, marked where it cuts in."""
        utterance = await self.caller.next(conversation)
        if utterance is None or _spoken_turns(conversation) + 1 not in self.turns:
            return utterance
        return replace(utterance, cuts_in=True)


class FallsSilent:
    """A caller who says nothing for ``seconds`` after turn number ``after`` (from 1), and then continues.

    What the agent says meanwhile is recorded, such as the question of ``connect(idle=...)``. No answer is expected.

    ::

        FallsSilent(["A table for four", "Yes, please"], after=1, seconds=20)
    """

    def __init__(
        self, caller: Caller | str | Sequence[str | Utterance], *, after: int, seconds: float
    ) -> None:
        self.caller, self.after, self.seconds = as_caller(caller), after, seconds

    async def next(self, conversation: Conversation) -> Utterance | None:
        """The silence, once; otherwise what the caller inside says."""
        silent = conversation.turns and conversation.turns[-1].silent
        if _spoken_turns(conversation) == self.after and not silent:
            return Utterance(f"(silent for {self.seconds:g} s)", silence=self.seconds)
        return await self.caller.next(conversation)


def as_caller(caller: Caller | str | Utterance | Sequence[str | Utterance]) -> Caller:
    """A caller as it is; the turns of a script as a :class:`Script`. Raises ``ConfigError`` for anything else."""
    if isinstance(caller, str | Utterance | Sequence):
        return Script(caller)
    if not overrides(caller, Caller, "next"):
        raise ConfigError(
            f"{caller!r:.60} is not a caller: expected texts, or an object such as Persona(...)"
        )
    return caller


def _spoken_turns(conversation: Conversation) -> int:
    """How many turns the caller has taken; silences are none."""
    return sum(not turn.silent for turn in conversation.turns)


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


_ORDER = """You play a person who calls an assistant. Who you are and what you want:
{persona}
{goal}
Say what this person says next, in one or two short sentences, as one speaks on the phone. When you have what you want,
or it is clear that you will not get it, say goodbye and set done. Set reached if you have what you want. Never speak
for the assistant.

The conversation so far:
{conversation}
"""

SAYS: dict[str, Any] = {  # a schema of google-genai
    "type": "OBJECT",
    "properties": {"say": {"type": "STRING"}, "done": {"type": "BOOLEAN"}, "reached": {"type": "BOOLEAN"}},
    "required": ["say", "done"],
}


class Persona:
    """A caller that a Gemini model plays, through google-genai's ordinary API.

    ``persona``: who calls and what they want. ``goal``: when they have what they want; ``conversation.reached`` then
    says whether they do, for the expectation ``ReachedGoal``. At most ``turns`` turns. ``client``: as of
    :class:`~.judge.Judge`. Offline the pretend model plays the person: by the rules of the file, or else by saying
    the text of ``persona``, once.

    ::

        Persona("You are Ann. You want a table for four tonight.", goal="You have been told the number of your table.")
    """

    def __init__(
        self,
        persona: str,
        *,
        goal: str | None = None,
        turns: int = 8,
        client: Client | None = None,
        model: str = JUDGE_MODEL,
    ) -> None:
        expect_text(persona, "Persona", "a text that says who calls and what they want")
        expect_count(turns, "Persona: turns")
        if goal is not None:
            expect_text(goal, "Persona: goal", "a text that says what they want to have")
        expect_text(model, "Persona: model", "the name of a model")
        self.persona, self.goal, self.turns, self.model, self._client = persona, goal, turns, model, client
        self._done = False

    async def next(self, conversation: Conversation) -> Utterance | None:
        """Ask the model what this person says. Raises what google-genai raises."""
        said = _spoken_turns(conversation)
        if not said:
            self._done = False
        if self._done or said >= self.turns:
            return None
        goal = "" if self.goal is None else f"You have what you want when: {self.goal}\n"
        so_far = conversation.render() or "(you begin)"
        order = _ORDER.format(persona=self.persona, goal=goal, conversation=so_far)
        text = self._read(await generate(self._client, self.model, order, SAYS), conversation)
        return Utterance(text) if text.strip() else None

    def _read(self, text: str, conversation: Conversation) -> str:
        try:
            answer = json.loads(text)
            said, self._done = str(answer["say"] or ""), bool(answer.get("done"))
        except (ValueError, KeyError, TypeError):
            if not is_pretend(self._client):
                return text  # a model that ignores the schema has said it plainly
            self._done = True  # the pretend model cannot play a person: it would introduce itself
            return self.persona
        if self.goal is not None and "reached" in answer:
            conversation.reached = bool(answer["reached"])
        return said
