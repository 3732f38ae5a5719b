"""Runs evals, repeatedly if asked, and computes the pass rate with its confidence interval."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

from livetools.errors import ConfigError
from livetools.evals.grading.expectations import Answered, Expectation, Verdict
from livetools.evals.grading.judge import Judge
from livetools.evals.recording.conversation_record import Conversation
from livetools.evals.value_checks import UnknownTool, expect_count

from .playing import Eval, play


@dataclass(frozen=True, slots=True)
class Round:
    """One conversation and its verdicts. ``mistaken``: the eval names a tool that the agent does not have."""

    conversation: Conversation
    verdicts: tuple[Verdict, ...]
    mistaken: bool = False

    @property
    def passed(self) -> bool:
        """Whether every expectation that could be checked was met."""
        return all(verdict.passed is not False for verdict in self.verdicts)

    @property
    def skipped(self) -> list[str]:
        """The expectations that nobody could judge, each with the reason."""
        return [f"skipped: {v.expectation}: {v.why}" for v in self.verdicts if v.passed is None]

    def __str__(self) -> str:
        """What failed, what was skipped, and the conversation."""
        failed = [f"failed: {v.expectation}: {v.why}" for v in self.verdicts if v.passed is False]
        return "\n".join([*failed, *self.skipped, self.conversation.render()])


@dataclass(slots=True)
class Result:
    """All rounds of one eval."""

    name: str
    rounds: list[Round] = field(default_factory=list)

    @property
    def passed(self) -> int:
        """Rounds in which every expectation was met."""
        return sum(each.passed for each in self.rounds)

    @property
    def rate(self) -> float:
        """The share of the rounds that passed; 0 where none was played."""
        return self.passed / len(self.rounds) if self.rounds else 0.0

    @property
    def confidence(self) -> tuple[float, float]:
        """The 95 % interval of the pass rate, by Wilson."""
        return wilson(self.passed, len(self.rounds))


def wilson(passed: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """The interval in which a share lies, seen ``passed`` times in ``of``. Wilson's: it holds for few rounds too."""
    if not of:
        return 0.0, 1.0
    share = passed / of
    middle = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


async def judge_round(case: Eval, conversation: Conversation, judge: Judge | None = None) -> Round:
    """The verdicts on a conversation: every turn is answered, and whatever else the eval expects."""
    verdicts = [await _verdict(each, conversation, judge) for each in (Answered(), *case.expect)]
    return Round(conversation, tuple(verdicts))


async def _verdict(expectation: Expectation, conversation: Conversation, judge: Judge | None) -> Verdict:
    """An expectation that cannot be checked has failed; the others, and the other evals, continue."""
    try:
        verdict: object = await expectation.check(conversation, judge)
    except ConfigError:
        raise
    except Exception as error:
        return Verdict(str(expectation), False, f"it could not be checked: {type(error).__name__}: {error}")
    if not isinstance(verdict, Verdict):
        why = f"it could not be checked: its check() returned {verdict!r:.60}, expected a Verdict"
        return Verdict(str(expectation), False, why)
    return verdict


async def run(
    cases: Iterable[Eval], *, repeat: int = 1, judge: Judge | None = None, **options: Any
) -> AsyncIterator[Result]:
    """Play each eval ``repeat`` times, one conversation after another; a result as each is done.

    ``options`` say where, as ``open_agent`` takes them; without any the environment does, as for ``connect``. A
    conversation that breaks (an agent that cannot be opened, a caller that raises) is one that failed: its ``error``
    says why, and the others are played. Cancelling hangs up and stops the run. Raises ``ConfigError`` for a ``repeat``
    below 1, and for what is not an :class:`~.playing.Eval` or a judge.

    ::

        agent = partial(connect, MODEL, tools=[get_weather])
        case = Eval("weather", agent, "Weather in Oslo?", [Called("get_weather", {"city": "Oslo"})])
        async for result in run([case], repeat=3):
            print(f"{result.name}: {result.rate:.0%}")
    """
    expect_count(repeat, "run: repeat")
    if judge is not None and not callable(getattr(judge, "score", None)):
        raise ConfigError(f"run: {judge!r:.60} is not a judge, such as Judge(model={judge!r:.40})")
    for case in cases:
        if not isinstance(case, Eval):
            raise ConfigError(f"run: {case!r:.60} is not an Eval: pass a list of them")
        result = Result(case.name)
        for _ in range(repeat):
            result.rounds.append(await _round(case, judge, options))
        yield result


async def _round(case: Eval, judge: Judge | None, options: dict[str, Any]) -> Round:
    conversation = Conversation(case.name)
    try:
        await play(case, conversation, **options)
        return await judge_round(case, conversation, judge)
    except Exception as error:
        conversation.error = f"{type(error).__name__}: {error}"
        judged = await judge_round(Eval(case.name, case.agent, case.caller), conversation)
        return replace(judged, mistaken=isinstance(error, UnknownTool))
