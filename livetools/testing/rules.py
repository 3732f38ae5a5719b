r"""A pretend model without code: when the user says this, call that, say so.

::

    rules:
      - when: weather in (?P<city>\w+)
        call: get_weather
        args: {city: "{city}"}
        say: "It is {output} in {city}."
      - when: hello|hi
        say: Good day.
    otherwise: I did not understand.

In Python: ``Rules([Rule(when="hello", say="Good day.")])``, a model like any other. ``when`` is a regular
expression, looked for in what the user says, whatever its case; the first rule that fits answers. Arguments
that a rule does not give are filled from the declared schema (see :mod:`livetools.testing.guess`). ``say``
and ``args`` know the groups of ``when``, the keys of the function's response, ``text`` (what the user said)
and ``response``. A rule that calls and says nothing has its answer read out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import guess
from .turn import Turn


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``call`` is a function's name, ``args`` its arguments (templates where they are strings)."""

    when: str
    call: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)  # any JSON value
    say: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """A pretend model made of rules: ``FakeLiveServer(Rules([...]))``.

    Without rules, or where none fits, it picks the declared function whose name and description share the
    most words with what the user said, and fills its arguments from them; where no function fits, it says
    ``otherwise``.
    """

    rules: Sequence[Rule] = ()
    otherwise: str | None = None

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """Rules from a YAML (or JSON) file; ``ValueError`` says which rule is wrong and why.

        ``ImportError`` says what to install where PyYAML is missing.
        """
        try:
            import yaml
        except ImportError as error:
            raise ImportError("rules in a file need PyYAML: pip install 'livetools[serve]'") from error
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        if not isinstance(document, dict) or not isinstance(document.get("rules", []), list):
            raise ValueError(f"{path}: a mapping with a list `rules` is due")
        rules = [_rule(entry, f"{path}: rule {n}") for n, entry in enumerate(document.get("rules", []), 1)]
        otherwise = document.get("otherwise")
        return cls(rules, None if otherwise is None else str(otherwise))

    async def __call__(self, turn: Turn) -> None:
        """Answer one user turn."""
        for rule in self.rules:
            found = re.search(rule.when, turn.text, re.IGNORECASE)
            if found is not None:
                await self._follow(rule, found, turn)
                return
        await self._guess(turn)

    async def _follow(self, rule: Rule, found: re.Match[str], turn: Turn) -> None:
        words: dict[str, object] = {"text": turn.text, **found.groupdict("")}
        if rule.call is not None:
            declaration = turn.session.declarations().get(rule.call, {})
            given = {name: _fill(value, words) for name, value in rule.args.items()}
            response = await turn.call(rule.call, **(guess.arguments(declaration, turn.text) | given))
            words |= {"response": response, **response}
            if rule.say is None:
                await turn.say(guess.words_for(rule.call, response))
        if rule.say is not None:
            await turn.say(str(_fill(rule.say, words)))

    async def _guess(self, turn: Turn) -> None:
        declaration = guess.pick(turn.session.declarations().values(), turn.text)
        if declaration is not None:
            name = declaration["name"]
            response = await turn.call(name, **guess.arguments(declaration, turn.text))
            await turn.say(guess.words_for(name, response))
        else:
            heard = turn.text or "something I cannot make out"
            await turn.say(self.otherwise or f"You said: {heard}. No tool of yours fits that.")


def _rule(entry: object, place: str) -> Rule:
    if not isinstance(entry, dict) or "when" not in entry:
        raise ValueError(f"{place}: a mapping with `when` is due")
    unknown = set(entry) - {"when", "call", "args", "say"}
    if unknown:
        raise ValueError(f"{place}: unknown key {min(map(str, unknown))!r}; there are when, call, args, say")
    if not (entry.get("call") or entry.get("say")):
        raise ValueError(f"{place}: neither `call` nor `say`")
    try:
        re.compile(str(entry["when"]))
    except re.error as error:
        raise ValueError(f"{place}: `when` is no regular expression: {error}") from None
    return Rule(str(entry["when"]), entry.get("call"), entry.get("args") or {}, entry.get("say"))


def _fill(value: object, words: Mapping[str, object]) -> object:
    """The value with ``{name}`` replaced; a name that nobody knows stays as it is."""
    if not isinstance(value, str):
        return value
    return re.sub(r"\{(\w+)\}", lambda found: str(words.get(found[1], found[0])), value)
