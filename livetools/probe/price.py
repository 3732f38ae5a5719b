"""What a probe costs, estimated before it: the sessions and the tokens of the table, and a list price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from livetools.setup.price import dollars

from .steps import SILENCE
from .talk import Answer, Experiment, Undecided

PROMPT = 400  # tokens that one exchange reads: the instruction, a declaration, the text, what was said before
SPOKEN = 100  # tokens of speech in an answer, with a few thoughts: four seconds at 25 a second
HEARD = 25  # tokens a second of sound
TEXT_IN, AUDIO_IN, AUDIO_OUT = 0.75, 3.0, 12.0  # $ a million tokens of gemini-3.8-live (genai-prices 0.2.3)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much a probe sends and receives; it has the fields that ``setup.price`` asks for."""

    model: str
    sessions: int
    exchanges: int
    cached_tokens: int = 0
    thoughts_tokens: int = 0
    tool_use_tokens: int = 0
    modalities: Mapping[str, int] = field(default_factory=dict)

    @property
    def prompt_tokens(self) -> int:
        return PROMPT * self.exchanges + self.heard_tokens

    @property
    def heard_tokens(self) -> int:
        return round(HEARD * SILENCE)

    @property
    def response_tokens(self) -> int:
        return SPOKEN * self.exchanges

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.response_tokens

    @property
    def dollars(self) -> float:
        """By the price list, if it is installed and knows the model; else by the prices of gemini-3.8-live."""
        listed = dollars(self)
        if listed is not None:
            return listed
        text, heard, spoken = self.prompt_tokens - self.heard_tokens, self.heard_tokens, self.response_tokens
        return (text * TEXT_IN + heard * AUDIO_IN + spoken * AUDIO_OUT) / 1e6


def estimate(model: str, experiments: Iterable[Experiment]) -> Estimate:
    """What these experiments cost on ``model``, if none is left out and none repeated."""
    sessions, exchanges = 2, 1  # those that find out what the model accepts at all
    for experiment in experiments:
        for talk in experiment.talks(_LIKELY).values():
            sessions += 1
            exchanges += sum(step.says for step in talk.steps)
    made = Estimate(model, sessions, exchanges)
    audio = {"prompt_audio": made.heard_tokens, "response_audio": made.response_tokens}
    return Estimate(model, sessions, exchanges, modalities=audio)


_LIKELY: Mapping[str, Answer | Undecided] = {"blocking": Answer(("honoured",), "")}
