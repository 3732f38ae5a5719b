"""Fills the arguments of a call from the words of a question and a schema (OpenAPI subset or JSON Schema)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .words import GENERIC, PREPOSITIONS, STOP, Token, WordKind, parts, same

_MISSING: Final = object()

# What a word before a value says about the parameter that it is meant for.
_MEANT = {
    "in": {"city", "place", "location", "country", "region", "area", "timezone", "zone", "language", "to", "currency"},
    "at": {"place", "location", "time", "hour", "when", "address"},
    "from": {"from", "source", "origin", "start", "since", "sender", "base"},
    "to": {"to", "target", "destination", "dest", "end", "recipient", "until", "person"},
    "into": {"to", "target", "into", "language"},
    "for": {"city", "name", "person", "customer", "topic", "query", "user", "guest", "what", "place", "location"},
    "of": {"city", "name", "place", "country", "location", "title", "what"},
    "about": {"topic", "query", "subject", "about"},
    "named": {"name", "title"},
    "called": {"name", "title"},
    "on": {"date", "day", "when", "topic"},
    "by": {"author", "by", "artist"},
    "with": {"person", "guest", "with"},
    "saying": {"text", "message", "body", "content"},
}  # fmt: skip
_FREE = {
    "text", "message", "query", "question", "note", "content", "body", "title", "topic", "prompt", "description",
}  # fmt: skip
_FORMATS: Mapping[str, WordKind] = {
    "date": "date", "date-time": "date", "time": "time", "email": "email", "uri": "url",
}  # fmt: skip
_LIKED: Mapping[WordKind, set[str]] = {
    "email": {"email", "mail", "to", "recipient"}, "url": {"url", "link", "uri", "website"}, "date": {"date", "day"},
}  # fmt: skip
_SAYS_NO = {"no", "not", "without", "don't", "never"}


def _kind(schema: Mapping[str, Any]) -> str:
    """The schema's type in capitals; of several, the first that is not null."""
    kinds = schema.get("type") or ("OBJECT" if "properties" in schema else "")
    several = [kinds] if isinstance(kinds, str) else kinds
    return next((str(kind).upper() for kind in several if str(kind).upper() != "NULL"), "")


def example(schema: Mapping[str, Any], name: str = "") -> Any:  # any JSON value
    """An invented value that this schema allows: its default or example if it has one, else a simple one of its type.

    An object has only its required properties; a string is the name of its property.
    """
    for key in ("default", "example"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = _kind(schema)
    if kind == "OBJECT" or "properties" in schema:
        properties = schema.get("properties") or {}
        required = [each for each in schema.get("required") or () if each in properties]
        return {each: example(properties[each], each) for each in required}
    if kind == "ARRAY":
        least = int(schema.get("minItems") or 0)
        return [example(schema.get("items") or {}, name)] * least
    if kind in ("INTEGER", "NUMBER"):
        return schema.get("minimum", 1)
    return True if kind == "BOOLEAN" else name or "example"


@dataclass(frozen=True, slots=True)
class _Span:
    """A value found in the question: its tokens, its text, and how likely it is one (less is likelier)."""

    at: range
    text: str
    rank: int


class QuestionReader:
    """Reads values out of a question, each piece of it once.

    ``spoken`` are words that belong to the function itself (its name), and so are nobody's value.
    """

    def __init__(self, sequence: Sequence[Token], spoken: Iterable[str] = ()) -> None:
        self.tokens = list(sequence)
        self.spoken = [*spoken]
        self.used: set[int] = set()

    def arguments(self, schema: Mapping[str, Any], path: str = "") -> tuple[dict[str, Any], list[str]]:
        """The arguments for an object schema, and the dotted names of required ones that were not found."""
        properties: dict[str, Mapping[str, Any]] = {
            name: inner if isinstance(inner, Mapping) else {}  # JSON Schema has true and false
            for name, inner in (schema.get("properties") or {}).items()
        }
        required = [name for name in schema.get("required") or [] if name in properties]
        found: dict[str, Any] = {}
        missing: list[str] = []
        explicit = {name: self._explicit(name, properties[name]) for name in properties}
        for name in sorted(properties, key=lambda name: name not in required):
            value, lacking = explicit[name], [path + name]
            if value is _MISSING:
                value, lacking = self._value(path + name, properties[name], name in required)
            if value is not _MISSING:
                found[name] = value
            elif name in required:
                missing += lacking
        return {name: found[name] for name in properties if name in found}, missing

    def _explicit(self, name: str, schema: Mapping[str, Any]) -> object:
        """What ``name=value``, ``name: value``, ``name is value`` or ``name "value"`` says."""
        for here, token in enumerate(self.tokens[:-1]):
            if token.lower.replace("_", "") != name.lower().replace("_", "") or token.kind != "word":
                continue
            at = here + 1
            if self.tokens[at].lower in ("=", ":", "is"):
                at += 1
            elif self.tokens[at].kind != "quote":
                continue
            if at < len(self.tokens) and at not in self.used:
                run = self._run(at, free=False) or [at]
                said = QuestionReader([replace(self.tokens[i], first=False) for i in run])
                value, _ = said._value(name, schema, True)
                if value is not _MISSING:
                    self.used.update(range(here, run[-1] + 1))
                    return value
        return _MISSING

    def _value(self, path: str, schema: Mapping[str, Any], required: bool) -> tuple[Any, list[str]]:
        """A value for one parameter, or _MISSING and the names that are."""
        name = path.rsplit(".", 1)[-1]
        kind = _kind(schema)
        value: Any = _MISSING
        if schema.get("anyOf"):
            values = (self._value(path, variant, required)[0] for variant in schema["anyOf"])
            value = next((each for each in values if each is not _MISSING), _MISSING)
        elif schema.get("enum"):
            value = self._enum(name, schema["enum"])
        elif kind == "OBJECT":
            return self._object(path, schema)
        elif kind == "ARRAY":
            value = self._array(path, schema)
        elif kind in ("INTEGER", "NUMBER"):
            value = self._number(name, schema, whole=kind == "INTEGER")
        elif kind == "BOOLEAN":
            value = self._boolean(name, required)
        elif kind == "STRING":
            value = self._string(name, str(schema.get("format", "")), required)
        return value, [path]

    def _object(self, path: str, schema: Mapping[str, Any]) -> tuple[Any, list[str]]:
        before = set(self.used)
        found, missing = self.arguments(schema, path + ".")
        if missing:
            self.used = before
            return _MISSING, missing
        return (found or _MISSING), [path]

    def _array(self, path: str, schema: Mapping[str, Any]) -> object:
        values: list[Any] = []
        while True:
            before = len(self.used)
            value, _ = self._value(path, schema.get("items") or {"type": "STRING"}, False)
            if value is _MISSING or len(self.used) == before:
                return values or _MISSING
            values.append(value)

    # -- one kind after another

    def _number(self, name: str, schema: Mapping[str, Any], *, whole: bool) -> object:
        low, high = float(schema.get("minimum", "-inf")), float(schema.get("maximum", "inf"))
        numbers = [
            (token, at)
            for at, token in enumerate(self.tokens)
            if token.kind == "number" and at not in self.used and low <= float(token.text) <= high
        ]
        if whole:
            numbers = [(token, at) for token, at in numbers if float(token.text).is_integer()]
        if not numbers:
            return _MISSING
        token, at = min(numbers, key=lambda each: (not self._beside(each[1], name), each[1]))
        self.used.add(at)
        number = float(token.text)
        return int(number) if number.is_integer() else number

    def _beside(self, at: int, name: str) -> bool:
        """Whether a word of the parameter's name is next to this token."""
        near = [self.tokens[i].text for i in (at - 1, at + 1) if 0 <= i < len(self.tokens)]
        return any(same(word, part) for word in near for part in parts(name))

    def _boolean(self, name: str, required: bool) -> object:
        for at, token in enumerate(self.tokens):
            if token.lower in ("true", "false") and len(self.tokens) == 1:
                return token.lower == "true"
            if token.kind == "word" and any(same(token.text, part) for part in parts(name) if len(part) > 2):
                before = self.tokens[at - 1].lower if at else ""
                return before not in _SAYS_NO
        return False if required else _MISSING

    def _enum(self, name: str, values: Sequence[Any]) -> object:
        found = [
            (value, span) for value in values for span in self._mentions(parts(str(value)) or [str(value)])
        ]
        if not found:
            return _MISSING
        value, span = min(
            found, key=lambda each: (-self._affinity(name, each[1]), -len(each[1].at), each[1].at.start)
        )
        self.used.update(span.at)
        return value

    def _mentions(self, words: Sequence[str]) -> Iterator[_Span]:
        """The places of these words, one after another."""
        for start in range(len(self.tokens) - len(words) + 1):
            at = range(start, start + len(words))
            here = [self.tokens[i] for i in at]
            stand = all(
                t.kind in ("word", "quote") and same(t.text, w) for t, w in zip(here, words, strict=True)
            )
            # The short name of a unit may be a word of its own ("in"): then it counts after a number only.
            doubtful = len(here[0].text) <= 2 and here[0].lower in STOP and not self._after_number(start)
            if stand and not doubtful and self.used.isdisjoint(at):
                yield _Span(at, " ".join(words), 0)

    def _after_number(self, at: int) -> bool:
        return at > 0 and self.tokens[at - 1].kind == "number"

    def _affinity(self, name: str, span: _Span) -> int:
        """How well the word before a value fits the parameter's name."""
        named = set(parts(name))
        if self._after_number(span.at.start):
            return -1 if named & {"to", "target", "into"} else 1
        before = self.tokens[span.at.start - 1].lower if span.at.start else ""
        if before in named or named & _MEANT.get(before, set()):
            return 2
        return 0

    def _string(self, name: str, format: str, required: bool) -> object:
        exact = _FORMATS.get(format)
        spans = self._exact(exact, required) if exact else self._texts(name, required)
        if not required:
            spans = [s for s in spans if s.rank == 0 or self._affinity(name, s) > 0]
        if not spans:
            return _MISSING
        span = min(spans, key=lambda s: (-self._affinity(name, s), s.rank, s.at.start))
        self.used.update(span.at)
        return span.text

    def _exact(self, kind: WordKind, required: bool) -> list[_Span]:
        return [*self._literals([kind], 0), *(self._quotes() if required else ())]

    def _texts(self, name: str, required: bool) -> list[_Span]:
        named = set(parts(name))
        liked = [kind for kind, words in _LIKED.items() if named & words]
        spans = list(self._literals(liked, 0))
        if spans:
            return spans
        free = bool(named & _FREE)
        spans = [*self._quotes(), *self._objects(free), *(() if free else self._named())]
        spans += self._literals(("email", "url", "date", "time"), 2)
        return spans or (list(self._rest(name)) if required else [])

    # -- where strings may be

    def _literals(self, kinds: Iterable[WordKind], rank: int) -> Iterator[_Span]:
        wanted = set(kinds)
        for at, token in enumerate(self.tokens):
            if token.kind in wanted and at not in self.used:
                yield _Span(range(at, at + 1), token.text, rank)

    def _quotes(self) -> Iterator[_Span]:
        for at, token in enumerate(self.tokens):
            if token.kind == "quote" and at not in self.used:
                yield _Span(range(at, at + 1), token.text, 0)

    def _named(self) -> Iterator[_Span]:
        """Runs of capitalised words, but for the function's own words and what begins a sentence by custom."""
        run: list[int] = []
        for at, token in enumerate([*self.tokens, Token("mark", ".", -1)]):
            if token.capital and at not in self.used and not self._is_spoken(token):
                run.append(at)
            elif run:
                yield self._span(run, rank=3 if self.tokens[run[0]].first else 1)
                run = []

    def _objects(self, free: bool) -> Iterator[_Span]:
        """What follows a preposition, up to the next word that carries no meaning; free text runs to the end."""
        for at, token in enumerate(self.tokens):
            if token.lower in PREPOSITIONS and at not in self.used:
                run = self._run(at + 1, free)
                if run:
                    yield self._span(run, rank=2)

    def _run(self, start: int, free: bool) -> list[int]:
        run: list[int] = []
        for at in range(start, len(self.tokens)):
            token = self.tokens[at]
            article = not run and token.lower in ("the", "a", "an", "my")
            plain = token.kind in ("word", "quote") and (token.lower not in STOP or article)
            if at in self.used or token.kind == "mark" or not (free or plain):
                break
            if not article:
                run.append(at)
        return run

    def _rest(self, name: str) -> Iterator[_Span]:
        """The words that belong neither to the function's name nor to the parameter's."""
        named = parts(name)
        run = [
            at
            for at, token in enumerate(self.tokens)
            if at not in self.used and token.kind == "word" and not self._is_spoken(token)
        ]
        run = [at for at in run if not any(same(self.tokens[at].text, part) for part in named)]
        if run:
            yield self._span(run, rank=4)

    def _is_spoken(self, token: Token) -> bool:
        if token.lower in STOP or (token.first and token.lower in GENERIC):
            return True
        return any(same(token.text, word) for word in self.spoken)

    def _span(self, run: Sequence[int], rank: int) -> _Span:
        text = " ".join(self.tokens[at].text for at in run)
        return _Span(range(run[0], run[-1] + 1), text, rank)
