"""Chooses the functions that a question is about, and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .fill_arguments import QuestionReader
from .words import GENERIC, Token, clauses, content, parts, same, tokens

Declaration: TypeAlias = Mapping[str, Any]  # a function declaration, camelCase

_ENOUGH = 1.0  # a score below it is chance


@dataclass(frozen=True, slots=True)
class Guess:
    """One function, its arguments, and the names of required ones that the question does not hold."""

    name: str
    args: dict[str, Any]
    missing: list[str] = field(default_factory=list)


def choose(text: str, declarations: Iterable[Declaration]) -> list[Guess]:
    """The functions to call for ``text``, none if its words point at none.

    Several, where each clause of the question is about a function of its own ("the weather in Oslo and the
    time in Tokyo") and can be filled by itself.
    """
    known = list(declarations)
    whole = tokens(text)
    guesses = [_guess(clause, known) for clause in clauses(whole)]
    several = [guess for guess in guesses if guess is not None and not guess.missing]
    distinct = [guess for at, guess in enumerate(several) if guess not in several[:at]]
    if len(distinct) > 1 and len(several) == len(guesses):
        return distinct
    guess = _guess(whole, known)
    return [] if guess is None else [guess]


def _guess(sequence: Sequence[Token], known: Sequence[Declaration]) -> Guess | None:
    scores = [_score(sequence, declaration, known) for declaration in known]
    best = max(scores, default=0.0)
    if best < _ENOUGH:
        return None
    candidates = [_filled(sequence, d) for d, score in zip(known, scores, strict=True) if score == best]
    return min(candidates, key=lambda guess: len(guess.missing))


def fill(text: str, declaration: Declaration) -> Guess:
    """This function, with the arguments that the text holds."""
    return _filled(tokens(text), declaration)


def schema_of(declaration: Declaration) -> Mapping[str, Any]:  # a schema: any JSON
    """The schema of a function's arguments, from either of its two fields."""
    schema = declaration.get("parameters") or declaration.get("parametersJsonSchema")
    return schema if isinstance(schema, Mapping) else {}


#: What the values of these keywords are, where a schema is one.
_KINDS: Mapping[str, Any] = {
    "properties": Mapping,
    "items": Mapping,
    "required": list,
    "enum": list,
    "anyOf": list,
    "type": str | list,
    "minimum": int | float,
    "maximum": int | float,
    "minItems": int,
}


def readable(declaration: Declaration) -> Declaration:
    """The declaration with its schema in ``parameters``, without keywords whose values are not of their kind.

    ``parametersJsonSchema`` may hold any JSON.
    """
    rest = {key: value for key, value in declaration.items() if key != "parametersJsonSchema"}
    return {**rest, "parameters": _readable(schema_of(declaration))}


def _readable(schema: object) -> dict[str, Any]:
    if not isinstance(schema, Mapping):  # JSON Schema has true and false
        return {}
    kept = {key: value for key, value in schema.items() if isinstance(value, _KINDS.get(key, object))}
    if "properties" in kept:
        kept["properties"] = {name: _readable(inner) for name, inner in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _readable(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [_readable(inner) for inner in kept["anyOf"]]
    if "required" in kept:
        kept["required"] = [name for name in kept["required"] if isinstance(name, str)]
    return kept


def _filled(sequence: Sequence[Token], declaration: Declaration) -> Guess:
    name = str(declaration["name"])
    reader = QuestionReader(sequence, [name, *parts(name)])
    args, missing = reader.arguments(schema_of(declaration))
    return Guess(name, args, missing)


def _score(sequence: Sequence[Token], declaration: Declaration, known: Sequence[Declaration]) -> float:
    """How much a question has in common with a function; what it has with several counts for less."""
    own = _vocabulary(declaration)
    others = [_vocabulary(each) for each in known if each is not declaration]
    score = 0.0
    for token in {token.lower: token for token in sequence if token.kind == "word"}.values():
        if token.lower == str(declaration["name"]).lower():
            score += 10.0
            continue
        for word in content([token.lower]):
            weight = _weight(word, own)
            shared = sum(1 for other in others if _weight(word, other) >= weight)
            score += weight / (1 + shared)
    return score


def _weight(word: str, vocabulary: Mapping[str, float]) -> float:
    return max((weight for own, weight in vocabulary.items() if same(word, own)), default=0.0)


def _vocabulary(declaration: Declaration) -> dict[str, float]:
    """The words of a function, each with its weight."""
    words: dict[str, float] = {}
    for text, weight in _texts(declaration):
        for word in content(parts(text)):
            heavy = 0.5 if word in GENERIC and weight < 3.0 else weight
            words[word] = max(words.get(word, 0.0), min(heavy, 1.5) if word in GENERIC else heavy)
    return words


def _texts(declaration: Declaration) -> Iterator[tuple[str, float]]:
    yield str(declaration["name"]), 3.0
    yield str(declaration.get("description") or ""), 1.0
    yield from _schema_texts(schema_of(declaration))


def _schema_texts(schema: object) -> Iterator[tuple[str, float]]:
    if not isinstance(schema, Mapping):  # JSON Schema has true and false
        return
    yield str(schema.get("description") or ""), 0.5
    for value in schema.get("enum") or ():
        yield str(value), 1.5
    for name, inner in (schema.get("properties") or {}).items():
        yield name, 1.0
        yield from _schema_texts(inner)
    for inner in (*(schema.get("anyOf") or ()), *([schema["items"]] if "items" in schema else ())):
        yield from _schema_texts(inner)
