"""The turns of the pretend model: what it says and calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from livetools.testing.model.late_results import late_results
from livetools.testing.model.turn import Turn

from .choice import Declaration, Guess, choose, readable, schema_of
from .fill_arguments import example


class Pretend:
    """A model for :class:`~livetools.testing.FakeLiveServer`: ``FakeLiveServer(Pretend())``.

    A question that lacks an argument is remembered, a session at a time, and joined with what the user says
    next. Where no function fits it says ``otherwise``; without one, what it is and which functions it has.

    It hears that somebody speaks, and not what: it takes a spoken question for the one that was typed last, and
    where none was typed it calls the first function with arguments of its own making.

    ::

        async with FakeLiveServer(Pretend()) as server:
            async with connect(MODEL, tools=[get_weather], **server.options) as session:
                print(await session.ask("Weather in Oslo?"))  # get_weather says: 12 °C, rain.
    """

    def __init__(self, otherwise: str | None = None) -> None:
        self.otherwise = otherwise
        self._unfinished: WeakKeyDictionary[object, str] = WeakKeyDictionary()  # they lack an argument
        self._typed: WeakKeyDictionary[object, str] = WeakKeyDictionary()  # the last question of a session

    async def __call__(self, turn: Turn) -> None:
        declarations = [readable(d) for d in turn.session.declarations().values() if d.get("name")]
        if late := late_results(turn.text):  # of calls that were lost: they ask for no other call
            await turn.say(" ".join(f"{name} says: {response}" for name, response in late))
            return
        decision = self._decide(turn, declarations)
        if not decision:
            heard = "" if turn.text or not turn.audio else f"I heard {len(turn.audio)} bytes of sound. "
            await turn.say(self.otherwise or heard + introduction(declarations))
            return
        if decision[0].missing:
            await turn.say(asking(decision[0]))
            return
        responses = await turn.calls(*((guess.name, guess.args) for guess in decision))
        await turn.say(" ".join(spoken(g.name, r) for g, r in zip(decision, responses, strict=True)))

    def _decide(self, turn: Turn, known: Sequence[Declaration]) -> list[Guess]:
        session, text = turn.session, turn.text
        if text:
            self._typed[session] = text
        elif not turn.audio:
            return []
        elif (typed := self._typed.get(session)) is not None:
            text = typed
        else:
            return [Guess(str(known[0]["name"]), example(schema_of(known[0])))] if known else []
        before = self._unfinished.pop(session, None)
        decision = choose(text, known)
        if before is not None and (not decision or decision[0].missing):
            text = f"{before}. {text}"
            decision = choose(text, known)
        if decision and decision[0].missing:
            self._unfinished[session] = text
        return decision


def spoken(name: str, response: Mapping[str, Any]) -> str:
    """What a person would hear about a function's response."""
    if "error" in response:
        return f"{name} failed: {_plain(response['error'])}."
    value = next((response[key] for key in ("output", "result", "content") if key in response), response)
    text = _plain(value)
    return f"{name} says: {text}" if text.endswith((".", "!", "?", "}", "]")) else f"{name} says: {text}."


def asking(guess: Guess) -> str:
    """The question back, for what a call still needs."""
    return (
        f"I would call {guess.name}, but I do not find {_listed(guess.missing)} in your words. "
        f"Tell me, for example: {' '.join(f'{name}=…' for name in guess.missing)}"
    )


def introduction(declarations: Iterable[Declaration]) -> str:
    """What it says when no function fits."""
    names = [f"{d['name']}({', '.join(schema_of(d).get('properties') or ())})" for d in declarations]
    text = "I am a pretend model: I pick a function by your words."
    return f"{text} {f'I have {_listed(names)}.' if names else 'I was given none.'}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
