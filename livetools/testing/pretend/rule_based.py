r"""A pretend model from rules: when the user says this, call that, say so.

::

    rules:
      - when: weather in (?P<city>\w+)
        call: get_weather
        args: {city: "{city}"}
        say: "It is {output} in {city}."
      - when: hello|hi
        say: Good day.
      - after: 30
        say: Are you still there?
    otherwise: I did not understand.

In Python: ``Rules([Rule(when="hello", say="Good day.")])``, a model like any other. ``when`` is a regular
expression that is searched in what the user says, ignoring case; the first rule that matches answers. Arguments
that a rule does not give are filled from what the user said, by the declared schema (see
:mod:`livetools.testing.pretend`); what is required and missing is asked for. ``say`` and ``args`` know the
groups of ``when``, the keys of the function's response, ``text`` (what the user said) and ``response``. If a
rule has ``call`` and no ``say``, the model reads the function's response out. A rule with ``after`` in place of
``when`` speaks without being asked, that many seconds after each connection or reconnection.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf
from pathlib import Path
from typing import Any, Protocol

from livetools.setup.install_hints import install
from livetools.testing.model.turn import Turn, TurnCancelled
from livetools.testing.yaml_file import read_yaml

from .choice import fill, readable
from .model import Pretend, asking, spoken


class Proactive(Protocol):
    """A conversation in which the model may speak without being asked."""

    service: Any

    async def speak(self, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``call`` is a function's name, ``args`` its arguments (templates where they are strings)."""

    when: str
    call: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)  # any JSON value
    say: str | None = None


@dataclass(frozen=True, slots=True)
class Unasked:
    """Text that the model says ``after`` seconds into each connection, without being asked."""

    after: float
    say: str


class Rules:
    """A pretend model made of rules: ``FakeLiveServer(Rules([...]))``.

    Where no rule fits it is a :class:`~livetools.testing.Pretend`: it picks a declared function by the words
    of what the user said; where no function fits either, it says ``otherwise``.

    ::

        model = Rules([Rule(r"weather in (?P<city>\\w+)", call="get_weather", args={"city": "{city}"})])
        async with FakeLiveServer(model) as server, connect(MODEL, tools=[get_weather], **server.options) as session:
            print(await session.ask("What is the weather in Oslo?"))
    """

    def __init__(
        self, rules: Sequence[Rule] = (), otherwise: str | None = None, unasked: Sequence[Unasked] = ()
    ) -> None:
        self.rules = tuple(rules)
        self.unasked = tuple(sorted(unasked, key=lambda each: each.after))
        self._pretend = Pretend(otherwise)

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """Rules from a YAML (or JSON) file; ``ValueError`` says which rule is wrong and why.

        ``ImportError`` says what to install where PyYAML is missing.
        """
        try:
            document = read_yaml(path)
        except ImportError as error:
            raise ImportError(f"rules in a file need PyYAML: {install('serve')}") from error
        if not isinstance(document, dict) or not isinstance(document.get("rules", []), list):
            raise ValueError(f"{path}: expected a mapping with a list `rules`")
        if unknown := set(document) - {"rules", "otherwise"}:
            raise ValueError(f"{path}: unknown key {min(map(str, unknown))!r}; there are rules, otherwise")
        made = [_rule(entry, f"{path}: rule {n}") for n, entry in enumerate(document.get("rules", []), 1)]
        return cls(
            [each for each in made if isinstance(each, Rule)],
            _text(document.get("otherwise"), f"{path}: `otherwise`"),
            [each for each in made if isinstance(each, Unasked)],
        )

    async def connected(self, session: Proactive) -> None:
        """Say the texts that have ``after``. Called when a connection is open; cancelled when it ends."""
        clock, began = session.service.clock, session.service.clock.now()
        for each in self.unasked:
            await clock.sleep_until(began + each.after)
            with contextlib.suppress(TurnCancelled):
                await session.speak(each.say)

    async def __call__(self, turn: Turn) -> None:
        """Answer one user turn."""
        for rule in self.rules:
            found = re.search(rule.when, turn.text, re.IGNORECASE)
            if found is not None:
                await self._follow(rule, found, turn)
                return
        await self._pretend(turn)

    async def _follow(self, rule: Rule, found: re.Match[str], turn: Turn) -> None:
        words: dict[str, object] = {"text": turn.text, **found.groupdict("")}
        if rule.call is not None:
            guess = fill(
                turn.text, readable(turn.session.declarations().get(rule.call) or {"name": rule.call})
            )
            given = {name: _fill(value, words) for name, value in rule.args.items()}
            if missing := [name for name in guess.missing if name.partition(".")[0] not in given]:
                await turn.say(asking(replace(guess, missing=missing)))
                return
            response = await turn.call(rule.call, **(guess.args | given))
            words |= {"response": response, **response}
            if rule.say is None:
                await turn.say(spoken(rule.call, response))
        if rule.say is not None:
            await turn.say(str(_fill(rule.say, words)))


def _rule(entry: object, place: str) -> Rule | Unasked:
    if isinstance(entry, dict) and "after" in entry:
        return _unasked(entry, place)
    if not isinstance(entry, dict) or "when" not in entry:
        raise ValueError(f"{place}: expected a mapping with `when`")
    unknown = set(entry) - {"when", "call", "args", "say"}
    if unknown:
        raise ValueError(f"{place}: unknown key {min(map(str, unknown))!r}; expected when, call, args, say")
    if not (entry.get("call") or entry.get("say")):
        raise ValueError(f"{place}: neither `call` nor `say`")
    call, args, say = entry.get("call"), entry.get("args") or {}, entry.get("say")
    if not isinstance(call, str | None):
        raise ValueError(f"{place}: `call` is the name of a function")
    if not isinstance(args, dict):
        raise ValueError(f"{place}: `args` is a mapping")
    when = _text(entry["when"], f"{place}: `when`")
    if when is None:
        raise ValueError(f"{place}: `when` is empty, expected a regular expression")
    try:
        re.compile(when)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{place}: `when` is not a regular expression: {error}") from None
    return Rule(when, call, args, _text(say, f"{place}: `say`"))


def _text(value: object, place: str) -> str | None:
    """A text, or a number or a date as one. Raises ``ValueError`` for anything else, as which YAML reads ``no``."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | date):
        raise ValueError(
            f"{place} is {value!r:.40}, expected a text (in YAML write 'yes' and 'no' in quotes)"
        )
    return str(value)


def _unasked(entry: Mapping[str, object], place: str) -> Unasked:
    after = entry["after"]
    if set(entry) != {"after", "say"} or not isinstance(entry["say"], str):
        raise ValueError(f"{place}: a rule with `after` must have `say`, a text, and no other key")
    if isinstance(after, bool) or not isinstance(after, int | float) or not 0 <= after < inf:
        raise ValueError(f"{place}: `after` is a number of seconds, not {after!r:.40}")
    return Unasked(float(after), entry["say"])


def _fill(value: object, words: Mapping[str, object]) -> object:
    """The value with ``{name}`` replaced; a name that nobody knows stays as it is."""
    if not isinstance(value, str):
        return value
    return re.sub(r"\{(\w+)\}", lambda found: str(words.get(found[1], found[0])), value)
