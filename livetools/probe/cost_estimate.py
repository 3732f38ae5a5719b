"""What a probe costs, estimated before it: the sessions and the tokens of the table, and a list price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from livetools.events import Usage

from .experiment_steps import SILENCE
from .experiment_types import Answer, Experiment, Undecided

PROMPT = 400  # tokens that one exchange reads: the instruction, a declaration, the text, what was said before
_SPOKEN = 100  # tokens of speech in an answer, with a few thoughts: four seconds at 25 a second
_HEARD = 25  # tokens a second of sound
TEXT_IN, AUDIO_IN, AUDIO_OUT = 0.75, 3.0, 12.0  # $ a million tokens of gemini-3.8-live (genai-prices 0.2.3)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much a probe sends and receives."""

    model: str
    sessions: int
    exchanges: int

    @property
    def usage(self) -> Usage:
        """The tokens."""
        text, heard, spoken = PROMPT * self.exchanges, round(_HEARD * SILENCE), _SPOKEN * self.exchanges
        audio = {"prompt_audio": heard, "response_audio": spoken}
        return Usage(text + heard, spoken, text + heard + spoken, modalities=audio, model=self.model)

    @property
    def dollars(self) -> float:
        """By the price list, if it is installed and knows the model; else by the prices of gemini-3.8-live."""
        usage = self.usage
        if (listed := usage.cost) is not None:
            return listed
        heard, spoken = usage.modalities["prompt_audio"], usage.modalities["response_audio"]
        return ((usage.prompt_tokens - heard) * TEXT_IN + heard * AUDIO_IN + spoken * AUDIO_OUT) / 1e6


def estimate(model: str, experiments: Iterable[Experiment]) -> Estimate:
    """What these experiments cost on ``model``, if none is left out and none repeated."""
    sessions, exchanges = 2, 1  # those that find out what the model accepts at all
    for experiment in experiments:
        for talk in experiment.talks(_LIKELY).values():
            sessions += 1
            exchanges += sum(step.says for step in talk.steps)
    return Estimate(model, sessions, exchanges)


_LIKELY: Mapping[str, Answer | Undecided] = {"blocking": Answer(("honoured",), "")}
