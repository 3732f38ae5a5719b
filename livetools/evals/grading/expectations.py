"""The expectations that judge a conversation. Each says why a conversation does not meet it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from livetools.errors import ConfigError
from livetools.evals.recording.conversation_record import CallRecord, Conversation, names
from livetools.evals.value_checks import (
    expect_arguments,
    expect_count,
    expect_flag,
    expect_installed,
    expect_name,
    expect_number,
    expect_text,
)

from .argument_matching import differences
from .judge import NoOpinion, pretending

if TYPE_CHECKING:
    from .judge import Judge


NO_JUDGE = (
    "no judge was given: pass judge=Judge(), or name its model in the file, as in judge: gemini-3.8-flash"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one expectation. ``why`` says why it failed, or gives the judge's reasons.

    ``passed`` is ``None`` for one that was skipped, because there was nobody to judge it; ``why`` says so.
    """

    expectation: str
    passed: bool | None
    why: str = ""
    score: float | None = None


def tools_named(expectation: object) -> list[str]:
    """The functions that an expectation names, to be looked for among the agent's."""
    match expectation:
        case Called(name) | NotCalled(str() as name) | _OfOneTool(name):
            return [name]
        case InOrder(names):
            return list(names)
    return []


class Expectation(Protocol):
    """An object that judges a conversation. ``judge`` is ``None`` if no judge model was given."""

    async def check(self, conversation: Conversation, judge: Judge | None) -> Verdict:
        """Judge it. Raises what the judge model's client raises."""
        ...


def _checked(pattern: object, what: str, turn: object) -> None:
    if turn is not None:
        expect_count(turn, f"{what}: turn")
    if not isinstance(pattern, str):
        raise ConfigError(f"{what} takes a text, a regular expression; got {pattern!r:.60}")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{what}: {pattern!r} is not a regular expression: {error}") from None


def _calls_of(name: str, conversation: Conversation) -> list[CallRecord]:
    return [call for call in conversation.calls if call.name == name]


def _not_called(conversation: Conversation) -> str:
    return f"it was not called; called were: {names(conversation.calls)}"


class _Plain:
    """An expectation that needs no judge: ``against`` returns why it failed, or ``None``."""

    def against(self, conversation: Conversation) -> str | None:
        raise NotImplementedError

    async def check(self, conversation: Conversation, judge: Judge | None) -> Verdict:
        why = self.against(conversation)
        return Verdict(str(self), why is None, why or "")


@dataclass(frozen=True)
class Answered(_Plain):
    """Every turn of the caller was answered, and the session did not end early. Part of every eval."""

    def __str__(self) -> str:
        return "every turn is answered"

    def against(self, conversation: Conversation) -> str | None:
        if conversation.error is not None:
            return f"the conversation ended: {conversation.error}"
        if not conversation.turns:
            return "the caller said nothing"
        for number, turn in enumerate(conversation.turns, 1):
            if turn.trouble is not None:
                return f"turn {number}: {turn.trouble}"
            if turn.silent:
                continue
            if not turn.text.strip() and not turn.interrupted:
                return f"turn {number}: no words came for {turn.said!r:.60}"
        return None


@dataclass(frozen=True)
class Called(_Plain):
    """The function was called with these arguments, ``times`` times if that is given.

    It counts what the model asked for, also calls that were refused: see :class:`Ran` for those that ran. An argument
    is compared by value, or by a matcher (:func:`~.matching.matches`, ``between``, ``schema``, ``ANYTHING``, any
    callable). Unlisted arguments fail the check, unless ``others`` is set.

    ::

        print(Called("book_table", {"name": matches("ann"), "guests": between(2, 4)}, times=1))
    """

    name: str
    args: Mapping[str, Any] | None = None
    times: int | None = None
    others: bool = False

    def __post_init__(self) -> None:
        expect_name(self.name, "Called")
        expect_arguments(self.args, "Called")
        expect_flag(self.others, "Called: others")
        if self.times is not None:
            expect_count(self.times, "Called: times", 0)

    def __str__(self) -> str:
        given = "" if self.args is None else ", ".join(f"{k}={v!r}" for k, v in self.args.items())
        often = "" if self.times is None else ", once" if self.times == 1 else f", {self.times} times"
        return f"calls {self.name}({given}){often}"

    def against(self, conversation: Conversation) -> str | None:
        same = _calls_of(self.name, conversation)
        if not same and self.times != 0:
            return _not_called(conversation)
        if self.args is None:
            fitting, wrong = same, []
        else:
            wrong = [differences(self.args, call.args, others=self.others) for call in same]
            fitting = [call for call, why in zip(same, wrong, strict=True) if not why]
        if not fitting and self.times != 0:
            return "; ".join(wrong[-1])
        if self.times is not None and len(fitting) != self.times:
            return f"it was called {len(fitting)} time{'' if len(fitting) == 1 else 's'}"
        return None


@dataclass(frozen=True)
class NotCalled(_Plain):
    """This function was not called. Without a name: no function was called."""

    name: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            expect_name(self.name, "NotCalled")

    def __str__(self) -> str:
        return f"does not call {self.name or 'anything'}"

    def against(self, conversation: Conversation) -> str | None:
        calls = [call for call in conversation.calls if self.name in (None, call.name)]
        return f"called were: {', '.join(map(_told, calls))}" if calls else None


@dataclass(frozen=True)
class _OfOneTool(_Plain):
    """An expectation about the calls of one function. Fails if it was not called."""

    name: str

    def __post_init__(self) -> None:
        expect_name(self.name, type(self).__name__)

    def against(self, conversation: Conversation) -> str | None:
        calls = _calls_of(self.name, conversation)
        return self.fault(calls) if calls else _not_called(conversation)

    def fault(self, calls: Sequence[CallRecord]) -> str | None:
        """Why these calls, one or more, do not meet it."""
        raise NotImplementedError


@dataclass(frozen=True)
class AskedApproval(_OfOneTool):
    """A person was asked to approve a call of this function, even if they refused.

    Fails if the function was not called, and if one of its calls ran without anybody being asked.
    """

    def __str__(self) -> str:
        return f"asks for approval of {self.name}"

    def fault(self, calls: Sequence[CallRecord]) -> str | None:
        unasked = [call for call in calls if not call.asked and call.has_run]
        if unasked:
            return f"it ran and nobody was asked: {_told(unasked[0])}"
        return None if any(call.asked for call in calls) else "nobody was asked"


@dataclass(frozen=True)
class Ran(_OfOneTool):
    """The function was called and ran, with or without success: the call was neither refused nor invalid."""

    def __str__(self) -> str:
        return f"runs {self.name}"

    def fault(self, calls: Sequence[CallRecord]) -> str | None:
        if any(call.has_run for call in calls):
            return None
        why = "was refused" if calls[-1].refused else "did not run"
        return f"{self.name} {why}: {_told(calls[-1])} -> {dict(calls[-1].response or {})}"


@dataclass(frozen=True)
class Refused(_OfOneTool):
    """The function was called, and its calls were refused: by a person, its ``approval``, a hook, or a limit.

    Fails if one of its calls ran. A call with invalid arguments does not count as refused.
    """

    def __str__(self) -> str:
        return f"has {self.name} refused"

    def fault(self, calls: Sequence[CallRecord]) -> str | None:
        if ran := [call for call in calls if call.has_run]:
            return f"{self.name} ran: {_told(ran[0])}"
        refused = any(call.refused for call in calls)
        return None if refused else f"{self.name} was not refused: {_told(calls[-1])}"


@dataclass(frozen=True)
class InOrder(_Plain):
    """These functions were called in this order. Other calls may come between them, unless ``only`` is set."""

    names: Sequence[str]
    only: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.names, list | tuple) or not self.names:
            raise ConfigError(f"InOrder: {self.names!r:.60} is not a list of names of functions")
        for name in self.names:
            expect_name(name, "InOrder")
        expect_flag(self.only, "InOrder: only")

    def __str__(self) -> str:
        return f"calls {' then '.join(self.names)}{', and nothing else' if self.only else ''}"

    def against(self, conversation: Conversation) -> str | None:
        called = [call.name for call in conversation.calls]
        rest = iter(called)
        in_order = called == list(self.names) if self.only else all(name in rest for name in self.names)
        return None if in_order else f"called were, in order: {names(conversation.calls)}"


@dataclass(frozen=True)
class Said(_Plain):
    """What the model said matches this regular expression, ignoring case, in one turn (``turn``) or in any."""

    pattern: str
    turn: int | None = None

    def __post_init__(self) -> None:
        _checked(self.pattern, "Said", self.turn)

    def __str__(self) -> str:
        return f"says /{self.pattern}/{_in(self.turn)}"

    def against(self, conversation: Conversation) -> str | None:
        text = _words(conversation, self.turn)
        return None if re.search(self.pattern, text, re.IGNORECASE) else f"it said: {text!r:.200}"


@dataclass(frozen=True)
class NotSaid(_Plain):
    """What the model said does not match this regular expression, ignoring case."""

    pattern: str
    turn: int | None = None

    def __post_init__(self) -> None:
        _checked(self.pattern, "NotSaid", self.turn)

    def __str__(self) -> str:
        return f"does not say /{self.pattern}/{_in(self.turn)}"

    def against(self, conversation: Conversation) -> str | None:
        if self.turn is not None and self.turn > len(conversation.turns):
            return f"there was no turn {self.turn}"
        found = re.search(self.pattern, _words(conversation, self.turn), re.IGNORECASE)
        return f"it said {found[0]!r}" if found else None


@dataclass(frozen=True)
class Language(_Plain):
    """The model speaks this language (``"de"``), as the service says, or else as py3langid detects from the words."""

    code: str

    def __post_init__(self) -> None:
        wanted = "the code of a language, such as 'en' (in YAML write 'no' in quotes)"
        expect_text(self.code, "Language", wanted)
        expect_installed("py3langid", "py3langid", "Language()")

    def __str__(self) -> str:
        return f"speaks {self.code}"

    def against(self, conversation: Conversation) -> str | None:
        wanted = self.code.partition("-")[0].lower()
        told = [turn.language for turn in conversation.turns if turn.language]
        spoken = told or [_language(turn.text) for turn in conversation.turns if turn.text.strip()]
        other = [code for code in spoken if code.partition("-")[0].lower() != wanted]
        if not spoken:
            return "it said nothing"
        return f"it spoke {', '.join(dict.fromkeys(other))}" if other else None


@dataclass(frozen=True)
class Latency(_Plain):
    """In every turn the first text or audio came within ``seconds``; ``worst`` turns may be later."""

    seconds: float
    late: int = 0

    def __post_init__(self) -> None:
        expect_number(self.seconds, "Latency", "seconds")
        expect_count(self.late, "Latency: late", 0)

    def __str__(self) -> str:
        return f"answers within {self.seconds:g} s"

    def against(self, conversation: Conversation) -> str | None:
        late = [t.latency for t in conversation.turns if t.latency is not None and t.latency > self.seconds]
        turns = "1 turn was" if len(late) == 1 else f"{len(late)} turns were"
        return f"{turns} later, up to {max(late):.2f} s" if len(late) > self.late else None


@dataclass(frozen=True)
class Cost(_Plain):
    """The conversation cost at most ``dollars``. Fails, and says so, if the model's price is unknown."""

    dollars: float

    def __post_init__(self) -> None:
        expect_number(self.dollars, "Cost", "dollars")
        expect_installed("genai_prices", "genai-prices", "Cost()")

    def __str__(self) -> str:
        return f"costs at most {self.dollars:g} $"

    def against(self, conversation: Conversation) -> str | None:
        if conversation.cost is None:
            return "the price of this model is unknown"
        return f"it cost {conversation.cost:.4f} $" if conversation.cost > self.dollars else None


@dataclass(frozen=True)
class SurvivedInterruptions(_Plain):
    """At least ``times`` turns were interrupted, and the turn after each was answered."""

    times: int = 1

    def __post_init__(self) -> None:
        expect_count(self.times, "SurvivedInterruptions")

    def __str__(self) -> str:
        return f"survives {self.times} interruption{'s' * (self.times != 1)}"

    def against(self, conversation: Conversation) -> str | None:
        cut = [n for n, turn in enumerate(conversation.turns) if turn.interrupted]
        if len(cut) < self.times:
            return "1 turn was interrupted" if len(cut) == 1 else f"{len(cut)} turns were interrupted"
        silent = [
            n + 2 for n in cut if n + 1 < len(conversation.turns) and not conversation.turns[n + 1].text
        ]
        return f"turn {silent[0]} was not answered" if silent else None


@dataclass(frozen=True)
class ReachedGoal:
    """The caller says that the goal was reached (``Persona(..., goal=...)``).

    Skipped, and named with the reason, where the pretend model plays the caller and no rule of it says so.
    """

    def __str__(self) -> str:
        return "the caller reaches the goal"

    async def check(self, conversation: Conversation, judge: Judge | None) -> Verdict:
        if conversation.reached is None:
            if pretending():
                return Verdict(
                    str(self), None, "the pretend caller does not say whether the goal was reached"
                )
            return Verdict(str(self), False, "no caller said whether it was; a Persona with a goal can")
        return Verdict(str(self), conversation.reached, "" if conversation.reached else "the caller did not")


@dataclass(frozen=True)
class Judged:
    """A judge model reads the conversation, gives a score from 0 to 1 for this rubric, and its reasons.

    Skipped, and named with the reason, where no judge was given, or where the pretend one gives no score.
    """

    rubric: str
    least: float = field(default=0.7)

    def __post_init__(self) -> None:
        expect_text(self.rubric, "Judged", "a rubric")
        expect_number(self.least, "Judged: least", "", high=1.0)

    def __str__(self) -> str:
        return f"judged at least {self.least:g}: {self.rubric}"

    async def check(self, conversation: Conversation, judge: Judge | None) -> Verdict:
        if judge is None:
            return Verdict(str(self), None, NO_JUDGE)
        try:
            opinion = await judge.score(conversation, self.rubric)
        except NoOpinion:
            if not judge.pretend:
                raise
            return Verdict(str(self), None, "the pretend judge gives no score")
        return Verdict(str(self), opinion.score >= self.least, opinion.reasons, opinion.score)


def _told(call: CallRecord) -> str:
    return f"{call.name}({', '.join(f'{k}={v!r}' for k, v in call.args.items())})"


def _in(turn: int | None) -> str:
    return "" if turn is None else f" in turn {turn}"


def _words(conversation: Conversation, turn: int | None) -> str:
    if turn is None:
        return conversation.text
    return conversation.turns[turn - 1].text if 0 < turn <= len(conversation.turns) else ""


def _language(text: str) -> str:
    import py3langid  # takes a moment to load, and only a service that says no language needs it

    return str(py3langid.classify(text)[0])
