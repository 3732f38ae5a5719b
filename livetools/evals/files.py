"""Reads evals from a file: YAML, or Python with ``Eval`` objects in it.

::

    agent: ../restaurant.py:agent
    judge: gemini-3.8-flash            # for `judged`; a model of google-genai's ordinary API
    rules: restaurant_rules.yaml       # the pretend model of offline runs (livetools.testing.Rules)
    evals:
      - name: books a table
        caller: ["A table for 4 in the name of Ann, please"]
        approve: [cancel_booking]      # or true, or false
        faults: [{drop: 1}, {slow: book_table, seconds: 2}, {barge_in: 1}]
        expect:
          - called: book_table
            with: {guests: 4, name: {matches: ann}}
          - ran: book_table
          - not_called: cancel_booking
          - order: [find_table, book_table]
          - said: table 4
          - language: en
          - latency: 2.0
          - judged: The agent is friendly and repeats the name.
            least: 0.7

A turn of the caller is a text (or ``{say: TEXT}``), ``{wav: FILE}`` or ``{speak: TEXT}``, each with ``cuts_in: true``
if the caller interrupts the answer, or ``{silence: SECONDS}``. ``caller: {persona: TEXT, goal: TEXT, turns: 8}`` lets a
model play the caller. ``timeout`` and ``patience`` are seconds, as of :class:`~livetools.evals.Eval`. An argument is a
value, ``{matches: REGEX}``, ``{between: [1, 4]}``, ``{schema: SCHEMA}`` or ``{anything: true}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from livetools.errors import ConfigError
from livetools.session.agents import AgentLike
from livetools.testing.yaml_file import read_yaml

from .grading.argument_matching import ANYTHING, between, matches, schema
from .grading.expectations import (
    AskedApproval,
    Called,
    Cost,
    Expectation,
    InOrder,
    Judged,
    Language,
    Latency,
    NotCalled,
    NotSaid,
    Ran,
    ReachedGoal,
    Refused,
    Said,
    SurvivedInterruptions,
)
from .running.playing import Eval
from .simulation.callers import Caller, Persona, Script, Utterance, spoken, wav
from .simulation.client_faults import BargeIn, ClientFault, Drop, SlowTool


@dataclass(frozen=True, slots=True)
class EvalFile:
    """What a file says. ``judge``: the judge model's name; ``rules``: of the pretend model, offline."""

    evals: tuple[Eval, ...]
    judge: str | None = None
    rules: Path | None = None


def load_yaml(path: Path, agent_of: Callable[[str], AgentLike]) -> EvalFile:
    """Read evals from YAML. ``agent_of`` finds the agent that a target (``FILE.py:agent``) names.

    Files are named relative to this one. Raises ``ConfigError`` that says which eval is wrong, and why.
    """
    try:
        document = read_yaml(path)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if not isinstance(document, dict) or not isinstance(document.get("evals"), list):
        raise ConfigError(f"{path}: expected a mapping with a list `evals`")
    _known(document, {"agent", "judge", "rules", "evals"}, str(path))
    if not document["evals"]:
        raise ConfigError(f"{path}: the list `evals` is empty")
    agents: dict[str, AgentLike] = {}
    evals = []
    for number, entry in enumerate(document["evals"], 1):
        place = f"{path}: eval {number}"
        if isinstance(entry, dict) and "name" in entry:
            place = f"{place} ({entry['name']})"
        if not isinstance(entry, dict):
            raise ConfigError(f"{place}: expected a mapping, got {entry!r:.60}")
        target = entry.get("agent", document.get("agent"))
        if not isinstance(target, str):
            raise ConfigError(f"{place}: expected `agent`, as in agent: restaurant.py:agent")
        if target not in agents:
            agents[target] = agent_of(str(path.parent / target))
        evals.append(_Reader(path.parent, place).eval(entry, agents[target], number))
    judge, rules = (document.get(key) for key in ("judge", "rules"))
    for key, value, wanted in (
        ("judge", judge, "the name of a model"),
        ("rules", rules, "the name of a file"),
    ):
        if value is not None and not isinstance(value, str):
            raise ConfigError(f"{path}: {key}: {value!r:.60} is not {wanted}")
    return EvalFile(tuple(evals), judge, path.parent / rules if rules else None)


class _Reader:
    """Reads one eval. Every error message begins with ``place``."""

    def __init__(self, folder: Path, place: str) -> None:
        self.folder, self.place = folder, place

    def eval(self, entry: Mapping[str, Any], agent: AgentLike, number: int) -> Eval:
        known = {"name", "agent", "caller", "expect", "faults", "approve", "timeout", "patience"}
        _known(entry, known, self.place)
        if "caller" not in entry:
            raise ConfigError(f"{self.place}: expected `caller`, as in caller: [Book a table for four]")
        try:
            caller = self.caller(entry["caller"])
        except OSError as error:
            raise ConfigError(f"{self.place}: {error.filename}: {error.strerror}") from None
        except ConfigError as error:
            raise self.placed(error) from None
        expect = [self.expectation(each) for each in self.several(entry, "expect")]
        try:
            faults = [self.fault(each) for each in self.several(entry, "faults")]
        except ConfigError as error:
            raise self.placed(error) from None
        seconds = {key: self.seconds(entry, key) for key in ("timeout", "patience") if key in entry}
        try:
            return Eval(
                str(entry.get("name", f"eval {number}")),
                agent,
                caller,
                expect,
                faults,
                entry.get("approve", True),
                **seconds,
            )
        except ConfigError as error:
            raise self.placed(error) from None

    def placed(self, error: ConfigError) -> ConfigError:
        """An error with the place where it is, unless it has it already."""
        return error if str(error).startswith(self.place) else ConfigError(f"{self.place}: {error}")

    def seconds(self, entry: Mapping[str, Any], key: str) -> float:
        value = entry[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{self.place}: {key}: {value!r:.60} is not a number of seconds")
        return float(value)

    def several(self, entry: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
        found = entry.get(key, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise ConfigError(f"{self.place}: `{key}` is {found!r:.60}, expected a list of mappings")
        return found

    def caller(self, value: object) -> Caller:
        if isinstance(value, dict):
            _known(value, {"persona", "goal", "turns", "model"}, f"{self.place}: caller")
            if not isinstance(value.get("persona"), str):
                raise ConfigError(
                    f"{self.place}: expected `persona` in the caller, who they are and what they want"
                )
            options = {key: value[key] for key in ("goal", "turns", "model") if key in value}
            return Persona(value["persona"], **options)
        turns = value if isinstance(value, list) else [value]
        return Script([self.turn(turn) for turn in turns])

    def turn(self, value: object) -> Utterance:
        match value:
            case str():
                return Utterance(value)
            case {"say": str(text), **rest} if not rest:
                return Utterance(text)
            case {"cuts_in": bool(cuts_in), **rest} if rest:
                return replace(self.turn(rest), cuts_in=cuts_in)
            case {"silence": int() | float() as seconds, **rest} if not rest and _ends(seconds):
                return Utterance(f"(silent for {seconds:g} s)", silence=float(seconds))
            case {"wav": str(file), **rest} if not rest.keys() - {"text"}:
                return wav(self.folder / file, str(rest["text"]) if "text" in rest else None)
            case {"speak": str(text), **rest} if not rest:
                return spoken(text)
        raise ConfigError(
            f"{self.place}: the turn {value!r:.60} is not a text, {{wav: FILE}}, {{speak: TEXT}}, "
            "{say: TEXT, cuts_in: true} or {silence: SECONDS}"
        )

    def fault(self, value: Mapping[str, Any]) -> ClientFault:
        match value:
            case {"drop": int(turn), **rest} if not rest:
                return Drop(turn)
            case {"barge_in": int(turn), **rest} if not rest:
                return BargeIn(turn)
            case {"slow": str(name), "seconds": int() | float() as seconds, **rest} if not rest:
                return SlowTool(name, float(seconds))
        forms = " or ".join(FAULTS.values())
        raise ConfigError(f"{self.place}: the fault {dict(value)} is not {forms}")

    def expectation(self, value: Mapping[str, Any]) -> Expectation:
        for key, (others, make) in EXPECTATIONS.items():
            if key in value:
                _known(value, {key, *others}, f"{self.place}: {key}")
                try:
                    return make(value)
                except ConfigError as error:
                    raise self.placed(error) from None
                except (TypeError, ValueError, AttributeError, OverflowError):
                    raise ConfigError(
                        f"{self.place}: {key}: {value[key]!r:.60} is not {_WANTED[key]}"
                    ) from None
        raise ConfigError(
            f"{self.place}: {dict(value)!r:.80} is not an expectation; known are {', '.join(EXPECTATIONS)}"
        )


def _called(value: Mapping[str, Any]) -> Called:
    args = value.get("with")
    wanted = None if args is None else {str(name): _argument(each) for name, each in args.items()}
    return Called(value["called"], wanted, value.get("times"), value.get("others", False))


def _order(value: Mapping[str, Any]) -> InOrder:
    if not isinstance(value["order"], list):
        raise TypeError
    return InOrder(value["order"], value.get("only", False))


def _number(value: Any) -> float:
    """A number, or the text of one; ``true`` and ``false`` are not numbers."""
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _reached(value: Mapping[str, Any]) -> ReachedGoal:
    if value["reached_goal"] is not True:
        raise ValueError
    return ReachedGoal()


#: How each fault is written in a file.
FAULTS: Mapping[type[ClientFault], str] = {
    Drop: "{drop: TURN}",
    BargeIn: "{barge_in: TURN}",
    SlowTool: "{slow: TOOL, seconds: N}",
}


#: What an expectation is called in a file, the keys that may be beside it, and what it becomes.
EXPECTATIONS: Mapping[str, tuple[set[str], Callable[[Mapping[str, Any]], Expectation]]] = {
    "called": ({"with", "times", "others"}, _called),
    "not_called": (set(), lambda v: NotCalled(None if v["not_called"] is True else v["not_called"])),
    "asked_approval": (set(), lambda v: AskedApproval(v["asked_approval"])),
    "ran": (set(), lambda v: Ran(v["ran"])),
    "refused": (set(), lambda v: Refused(v["refused"])),
    "reached_goal": (set(), _reached),
    "order": ({"only"}, _order),
    "said": ({"turn"}, lambda v: Said(v["said"], v.get("turn"))),
    "not_said": ({"turn"}, lambda v: NotSaid(v["not_said"], v.get("turn"))),
    "language": (set(), lambda v: Language(v["language"])),
    "latency": ({"late"}, lambda v: Latency(_number(v["latency"]), v.get("late", 0))),
    "cost": (set(), lambda v: Cost(_number(v["cost"]))),
    "interruptions": (set(), lambda v: SurvivedInterruptions(v["interruptions"])),
    "judged": ({"least"}, lambda v: Judged(v["judged"], _number(v.get("least", 0.7)))),
}


#: What each takes, in words.
_WANTED: Mapping[str, str] = {
    "called": "the name of a function, with its arguments under `with`",
    "not_called": "the name of a function, or true for any",
    "asked_approval": "the name of a function",
    "ran": "the name of a function",
    "refused": "the name of a function",
    "reached_goal": "true",
    "order": "a list of names of functions",
    "said": "a regular expression",
    "not_said": "a regular expression",
    "language": "the code of a language, such as en",
    "latency": "a number of seconds",
    "cost": "a number of dollars",
    "interruptions": "a number of interruptions",
    "judged": "a rubric, with `least`, a score from 0 to 1",
}


def _argument(value: object) -> object:
    match value:
        case {"matches": str(pattern), **rest} if not rest:
            return matches(pattern)
        case {"between": [int() | float() as low, int() | float() as high], **rest} if not rest:
            return between(low, high)
        case {"schema": dict(of), **rest} if not rest:
            return schema(of)
        case {"anything": True, **rest} if not rest:
            return ANYTHING
        case dict():
            return {str(name): _argument(each) for name, each in value.items()}
        case list():
            return [_argument(each) for each in value]
    return value


def _ends(seconds: float) -> bool:
    """Whether this is a time above 0 that has an end."""
    return 0 < seconds < math.inf and not isinstance(seconds, bool)


def _known(entry: Mapping[str, Any], known: set[str], place: str) -> None:
    if unknown := sorted(map(str, entry.keys() - known)):
        raise ConfigError(f"{place}: {unknown[0]!r} is unknown here; known are {', '.join(sorted(known))}")
