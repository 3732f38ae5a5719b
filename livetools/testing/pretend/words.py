"""Splits a question into tokens (words, numbers, dates, quotations), and compares words by meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

WordKind: TypeAlias = Literal["quote", "url", "email", "date", "time", "number", "word", "mark"]

_TOKEN = re.compile(
    r"""
      "(?P<quote1>[^"]+)" | “(?P<quote2>[^”]+)” | «(?P<quote3>[^»]+)» | (?<!\w)'(?P<quote4>[^']+)'(?!\w)
    | (?P<url>https?://[^\s,;'"]*[^\s,;.!?)'"])
    | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<date>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)(?!\d)
    | (?P<time>\d{1,2}:\d\d(?::\d\d)?)(?!\d)
    | (?P<number>(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?)
    | (?P<word>[^\W\d](?:[\w]|['’-](?=\w))*)
    | (?P<mark>[,;.!?:=])
    """,
    re.X,
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

STOP = _set(
    "a about all am an and any are as at be been but by can could dear did do does for from give had has have hello "
    "hey hi how i if in into is it its just like many may me might much my named no not now of on or our please right "
    "same should so some tell than thank thanks that the their them then there these they this those to today tomorrow "
    "tonight too under until up us via was we were what what's when where which while who whose why will with would "
    "yes yesterday you your called using saying"
)
GENERIC = _set(
    "book call check compute create delete do fetch find get give list look make open read run search send set show "
    "tell update write"
)
PREPOSITIONS = _set("about at by called for from in into named of on saying than to until via with")

_UNITS = (
    ("km", "kilometre", "kilometer"),
    ("m", "metre", "meter"),
    ("cm", "centimetre", "centimeter"),
    ("mm", "millimetre", "millimeter"),
    ("mi", "mile"),
    ("ft", "foot", "feet"),
    ("in", "inch"),
    ("yd", "yard"),
    ("kg", "kilogram", "kilo"),
    ("g", "gram"),
    ("lb", "pound", "lbs"),
    ("oz", "ounce"),
    ("l", "litre", "liter"),
    ("c", "celsius", "centigrade"),
    ("f", "fahrenheit"),
    ("k", "kelvin"),
    ("h", "hour", "hr"),
    ("min", "minute"),
    ("s", "second", "sec"),
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the question. ``first`` says that it begins a sentence, ``at`` its place among the tokens."""

    kind: WordKind
    text: str
    at: int
    first: bool = False

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def capital(self) -> bool:
        return self.kind == "word" and self.text[0].isupper() and self.lower != "i"


def tokens(text: str) -> list[Token]:
    """The tokens of a text, in order; number words are numbers."""
    found: list[Token] = []
    first = True
    for match in _TOKEN.finditer(text):
        kind = re.sub(r"\d", "", match.lastgroup or "word")
        piece = match[match.lastgroup or 0]
        if kind == "number":
            piece = piece.replace(",", "")
        elif kind == "word" and piece.lower() in _NUMBERS:
            kind, piece = "number", str(_NUMBERS.index(piece.lower()))
        found.append(Token(kind, piece, len(found), first))  # type: ignore[arg-type]  # the groups' names
        first = kind == "mark" and piece in ".!?"
    return found


def parts(name: str) -> list[str]:
    """The words of a text or of an identifier, in lower case: ``getUnit_price`` → get, unit, price."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", spaced)]


def stem(word: str) -> str:
    """A word without its ending: weathers, weather → weather; rates, rating, rate → rat."""
    word = word.lower().removesuffix("'s").removesuffix("’s")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def same(one: str, other: str) -> bool:
    """Whether two words are forms of one, the one begins with the other, or both name one unit."""
    one, other = one.lower(), other.lower()
    if one == other or stem(one) == stem(other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) >= 4 and long.startswith(short):
        return True
    return any(_names(unit, one) and _names(unit, other) for unit in _UNITS)


def _names(unit: Iterable[str], word: str) -> bool:
    return any(word in (name, name + "s", name + "es") for name in unit)


def content(words: Iterable[str]) -> list[str]:
    """The words that carry meaning."""
    return [word for word in words if word not in STOP]


def clauses(sequence: Sequence[Token]) -> list[list[Token]]:
    """The question, cut at commas, ends of sentences, "and" and "then"."""
    cut: list[list[Token]] = [[]]
    for token in sequence:
        if (token.kind == "mark" and token.text in ",;.!?") or token.lower in ("and", "then"):
            cut.append([])
        else:
            cut[-1].append(token)
    return [clause for clause in cut if clause]
