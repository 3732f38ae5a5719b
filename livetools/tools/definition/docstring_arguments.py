"""Reads what a docstring says of the arguments, in any layout, before griffe reads the rest.

griffe, like other readers, wants sections set off as PEP 257 has it, and silently leaves any other in the text. Of
8,505 real docstrings 47 lost every description that way (no blank line above ``Args:``, bullets, ``\\r\\n``, backticks,
full-width colons …). This reader knows the names of the parameters, so that it can take any of these for what it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

ARGUMENTS = (
    r"(?:(?:keyword|other|optional|required)\s+)?(?:args?|arguments?|params?|parameters?|kwargs)|inputs?"
)
_OTHERS = r"returns?|yields?|raises?|exceptions?|receives|warns|examples?|notes?|see also|references|attributes|todo"
MARKED = r"(?:\#{1,6}\s*|[*_]{1,2})?"

HEADING = re.compile(
    rf"^(?P<indent>\s*){MARKED}(?P<title>{ARGUMENTS}|{_OTHERS})(?!\w){MARKED}\s*(?P<colon>:?)\s*{MARKED}\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
IS_ARGUMENTS = re.compile(ARGUMENTS, re.IGNORECASE)
UNDERLINE = re.compile(r"^\s*[-=~]{3,}\s*$")
FIELD = re.compile(
    r"^\s*(?:[-*+•]\s+)?(?::\s*|@)(?P<kind>param|parameter|arg|argument|key|keyword|kwarg|type|returns?|rtype"
    r"|raises?|except|exception|yields?|throws)\b\s*(?P<what>[^:]*?)\s*:+\s*(?P<text>.*)$"
)
JAVADOC = re.compile(r"^\s*@param\s+(?P<what>[`*]*\w+[`*]*)\s+(?:[-–—]\s*)?(?P<text>.+)$")
PARAMETERS = ("param", "parameter", "arg", "argument", "key", "keyword", "kwarg")
ITEM = re.compile(
    r"^\s*(?:(?:[-+•·–—]|\*(?=\s)|\d+[.)])\s+)?"  # a bullet
    r"[`'\"*]*(?P<names>\*{0,2}[^\W\d]\w*[`'\"*]*(?:\s*,\s*[`'\"*]*[^\W\d]\w*[`'\"*]*)*)"
    r"\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\]|<[^>]*>)?[`'\"*]*"  # its type
    r"\s*(?::(?=:))*(?P<mark>:|\s[-–—]{1,2}\s|=|$)[`*]*\s*(?P<text>.*)$"  # city:: is city:
)
TYPE = re.compile(  # what numpy's style has behind the colon
    r"^(?:(?:optional|int|integer|str|string|float|bool|boolean|list|dict|tuple|set|bytes|object|any|none|of|or"
    r"|array(?:[-_]like)?|number|callable|sequence|iterable|mapping|default[:=]?\s*\S+|[A-Z][\w.]*(?:\[.*\])?"
    r"|\w+\.\w[\w.]*|\w+\[.*\]|\(.*\)|\{.*\}|'[^']*'|\"[^\"]*\")(?:[\s,|]+|$))+$"
)


_EMPTY = re.compile(r"[\W_]*(?:(?:todo|tbd|fixme|xxx)[\W_]*)?|_(?:description|summary)_", re.IGNORECASE)


class Sections(NamedTuple):
    """What a docstring says of the arguments, the lines without it, and the sections that could not be read.

    ``twice``: the arguments that it describes more than once, of which the last text is taken. A text that says
    nothing (punctuation, ``TODO``, an editor's ``_description_``) is empty.
    """

    arguments: dict[str, str]
    rest: list[str]
    unread: list[str]
    twice: list[str]

    def add(self, name: str, text: str) -> None:
        """Take the text of an argument."""
        if self.arguments.get(name):
            self.twice.append(name)
        self.arguments[name] = "" if _EMPTY.fullmatch(text) else text


def split(lines: Sequence[str], names: Collection[str]) -> Sections:
    """Take the sections of arguments out of a docstring that is dedented.

    ``names`` are the parameters. An entry of a section that has another name is read too, if it looks like an
    argument.
    """
    found = Sections({}, [], [], [])
    at = 0
    while at < len(lines):
        at = _heading(lines, at, names, found) or _field(lines, at, names, found) or _line(lines, at, found)
    return found


def _line(lines: Sequence[str], at: int, found: Sections) -> int:
    found.rest.append(lines[at])
    return at + 1


def _heading(lines: Sequence[str], at: int, names: Collection[str], found: Sections) -> int:
    """Read the section of arguments that begins here; 0 where none does."""
    heading = HEADING.match(lines[at])
    if heading is None or not IS_ARGUMENTS.fullmatch(heading["title"]):
        return 0
    numpy = _underlined(lines, at)
    first = numpy or at + 1
    rest = heading["rest"].lstrip(":").strip()  # of "Args::" nothing
    if rest and (not heading["colon"] or not _is_item(rest, names)):
        return 0
    end = _end(lines, first, len(heading["indent"]), names, numpy > 0)
    block = [rest, *lines[first:end]] if rest else lines[first:end]
    marked = heading["colon"] or numpy or lines[at].strip() != heading["title"]
    begins = (
        _is_item(line, names) or (names and _stands_alone(block, n, names)) for n, line in enumerate(block)
    )
    if not marked and not any(begins):
        return 0
    items = _items(block, names, numpy > 0)
    if not items and any(line.strip() for line in block):
        found.unread.append("\n".join(lines[at:end]).strip())
    for name, text in items:
        found.add(name, text)
    found.rest.append("")
    return end


def _underlined(lines: Sequence[str], at: int) -> int:
    """Where the section begins, if its heading is underlined; else 0."""
    following = [n for n in range(at + 1, min(at + 3, len(lines))) if lines[n].strip()][:1]
    return following[0] + 1 if following and UNDERLINE.match(lines[following[0]]) else 0


def _end(lines: Sequence[str], first: int, indent: int, names: Collection[str], numpy: bool) -> int:
    """Behind the last line of a section whose heading has this indent."""
    end, flat, blank = first, False, False  # flat: the arguments are not indented
    for at in range(first, len(lines)):
        line = lines[at]
        if not line.strip():
            blank = True
            continue
        deep = _indent(line) > indent
        if FIELD.match(line) or _ends_section(lines, at, deep, names):
            break
        if not deep:
            begins = _is_item(line, names) or _stands_alone(lines, at, () if numpy else names)
            if not begins and (blank or not flat):
                break
            flat = True
        end, blank = at + 1, False
    return end


def _ends_section(lines: Sequence[str], at: int, deep: bool, names: Collection[str]) -> bool:
    """Whether another section begins, and not an argument that is called like one."""
    heading = HEADING.match(lines[at])
    if heading is None or heading["title"] in names:
        return False
    if _underlined(lines, at):
        return True
    return bool(heading["colon"]) and not (deep and heading["rest"])


def _stands_alone(lines: Sequence[str], at: int, names: Collection[str]) -> bool:
    """Whether a line is the name of an argument (of ``names``, if there are some) and its text follows, indented."""
    item = ITEM.match(lines[at])
    if item is None or (names and not all(name in names for name in _names(item))):
        return False
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return (item["mark"] == ":" and not names) or _indent(following) > _indent(lines[at])


def _is_item(line: str, names: Collection[str]) -> bool:
    """Whether a line begins the text of a parameter that there is."""
    item = ITEM.match(line)
    return item is not None and bool(item["mark"]) and all(name in names for name in _names(item))


def _names(item: re.Match[str]) -> list[str]:
    return [name.strip(" `'\"*") for name in item["names"].split(",")]


def _items(block: Sequence[str], names: Collection[str], numpy: bool) -> list[tuple[str, str]]:
    """The arguments in a section, each with its text."""
    # Names, what numpy's style has for a type, lines of text.
    items: list[tuple[list[str], str, list[str]]] = []
    seen: set[str] = set()
    base = min((_indent(line) for line in block if line.strip()), default=0)
    for line in block:
        item = ITEM.match(line)
        known = item is not None and all(name in names and name not in seen for name in _names(item))
        plain = (
            item is not None and item["mark"] == ":" and _indent(line) == base and "," not in item["names"]
        )
        if item is not None and (known or plain or (numpy and _indent(line) == base)):
            items.append((_names(item), item["text"] if numpy else "", [] if numpy else [item["text"]]))
            seen.update(_names(item))
        elif items:
            items[-1][2].append(line)
    for _, kind, lines in items:
        if kind and not TYPE.match(kind) and (" " in kind or not any(one.strip() for one in lines)):
            lines.insert(0, kind)
    return [(name, " ".join(" ".join(lines).split())) for called, _, lines in items for name in called]


def _field(lines: Sequence[str], at: int, names: Collection[str], found: Sections) -> int:
    """Read the Sphinx field that begins here; 0 where none does. Of what it says of results nothing is taken."""
    field = FIELD.match(lines[at]) or JAVADOC.match(lines[at])
    if field is None:
        return 0
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _begins(lines, end, names):
        end += 1
    text = " ".join([field["text"], *(line.strip() for line in lines[at + 1 : end])]).strip()
    kind, what = field.groupdict().get("kind", "param"), field["what"].split()
    if kind in PARAMETERS and what:
        found.add(what[-1].strip("`*'\""), " ".join(text.split()))
    elif kind in PARAMETERS:
        found.unread.append("\n".join(lines[at:end]).strip())
    elif kind not in ("type", "rtype"):
        found.rest.append(
            f":{kind} {' '.join(what)}: {text}".replace(" :", ":", 1) if what else f":{kind}: {text}"
        )
    return end


def _begins(lines: Sequence[str], at: int, names: Collection[str]) -> bool:
    """Whether another field or another section begins."""
    return bool(FIELD.match(lines[at]) or JAVADOC.match(lines[at])) or _ends_section(lines, at, False, names)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
