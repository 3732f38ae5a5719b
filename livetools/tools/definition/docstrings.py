"""Reads a docstring for the declaration: the description, and a text for each argument.

The sections of arguments are read first, in any layout (:mod:`.docstring_arguments`). Of the rest griffe reads the
Google, NumPy and Sphinx sections (results, errors, examples). It costs some 40 ms to import and is loaded only for a
docstring that has such sections.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Collection
from typing import Any, NamedTuple

from . import docstring_arguments
from .annotations import owner_of

GOOGLE = re.compile(
    r"^[ \t]*(?:\#{1,6}[ \t]*|[*_]{1,2})?(?P<title>returns?|yields?|raises|exceptions|receives|warns|examples?|notes?)"
    r"[*_]{0,2}:[*_]{0,2}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
NUMPY = re.compile(
    r"^[ \t]*(returns|yields|raises|receives|warns|examples|notes)[ \t]*\n[ \t]*-{3,}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
SPHINX = re.compile(r"^[ \t]*:(returns?|yields?|raises?|except|exception)\b[^:\n]*:", re.MULTILINE)
TITLES = {"return": "Returns", "yield": "Yields", "example": "Examples", "notes": "Note"}
_HEAD = re.compile(r"[\s#*_`'\"+•–—:@.\d)-]*(?:\w+[ ,]*){0,4}[`*'\"]*\s*(?:\([^)]*\))?[\s*_`'\"]*")


LIBRARIES = frozenset(sys.stdlib_module_names) | {
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "attr",
    "attrs",
}


class Described(NamedTuple):
    """The description, without the sections of arguments, and a text for each argument.

    ``unread``: the headings of sections in which no argument was found; they stay in the description, at its end.
    ``twice``: the arguments that are described more than once; the last text is taken.
    """

    text: str
    arguments: dict[str, str]
    unread: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()


def of(handler: Any) -> list[str]:
    """The docstrings that describe a handler, the nearest first.

    Of an object that can be called: that of its ``__call__``, its own, its class's; of a class: its own, that of its
    ``__init__``. What Python and pydantic write themselves (``Call self as a function.``) describes nothing.
    """
    while isinstance(handler, functools.partial):
        handler = handler.func
    if isinstance(handler, type):
        found = [_of_class(handler), _of_method(handler, "__init__")]
    elif inspect.isroutine(handler):
        function = inspect.unwrap(getattr(handler, "__func__", handler))
        owner = owner_of(handler)
        inherited = None if owner is None else _of_method(owner, getattr(handler, "__name__", ""))
        found = [getattr(handler, "__doc__", None) or function.__doc__, inherited]
    else:
        kind = type(handler)
        found = [
            _of_method(kind, "__call__"),
            getattr(handler, "__dict__", {}).get("__doc__"),
            _of_class(kind),
        ]
    return [text for text in found if isinstance(text, str) and text.strip()]


def _of_class(kind: type) -> str | None:
    """A class's own docstring, or that of the nearest class of the user's that it inherits from."""
    for base in kind.__mro__:
        text = base.__dict__.get("__doc__")
        if _is_of_the_user(base) and isinstance(text, str) and not text.startswith(f"{base.__name__}("):
            return text  # what begins so was written by dataclass or NamedTuple
    return None


def _of_method(kind: type, name: str) -> str | None:
    for base in kind.__mro__:
        method = base.__dict__.get(name)
        text = (
            getattr(inspect.unwrap(getattr(method, "__func__", method)), "__doc__", None) if method else None
        )
        if text and _is_of_the_user(base):
            return str(text)
    return None


def _is_of_the_user(kind: type) -> bool:
    """Whether a class is the user's, and not the standard library's or pydantic's."""
    return kind.__module__.partition(".")[0] not in LIBRARIES or kind.__module__ == "__main__"


def read(docstring: str | None, names: Collection[str] = ()) -> Described:
    """Read a docstring of a function with these parameters.

    Never raises: what cannot be read stays in the description.
    """
    if not docstring:
        return Described("", {})
    lines = inspect.cleandoc("\n".join(docstring.splitlines())).splitlines()
    sections = docstring_arguments.split([_narrow(line).rstrip() for line in lines], names)
    arguments = {name: text for name, text in sections.arguments.items() if text}
    text = "\n\n".join(part for part in (_rest(sections.rest), *sections.unread) if part)
    unread = tuple(section.partition("\n")[0] for section in sections.unread)
    return Described(text, arguments, unread, tuple(dict.fromkeys(sections.twice)))


def _narrow(line: str) -> str:
    """The line with ASCII spaces, and an ASCII colon after a heading or a name. A sentence keeps its own."""
    line = line.translate({0x3000: " ", 0xA0: " "})
    while (head := line.partition("\uff1a")[0]) != line and _HEAD.fullmatch(head):
        text = line[len(head) + 1 :]
        line = f"{head}: {text}" if text and head.strip() else f"{head}:{text}"
    return line


def _rest(lines: list[str]) -> str:
    """The text without the arguments, its other sections in the form that griffe reads."""
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    for style, pattern in (("numpy", NUMPY), ("sphinx", SPHINX), ("google", GOOGLE)):
        if pattern.search(text):
            return _sections(text if style != "google" else _set_off(text), style)
    return text


def _set_off(text: str) -> str:
    """Google's sections as PEP 257 has them: a blank line above the heading, none below, the text indented."""
    made: list[str] = []
    inside = False
    for line in text.split("\n"):
        heading = GOOGLE.match(line)
        if heading is not None:
            title = heading["title"].lower()
            made += ["", f"{TITLES.get(title, title.capitalize())}:"]
            inside = True
        elif inside and not line.strip() and made[-1].endswith(":") and not made[-1].startswith(" "):
            continue
        elif inside and line.strip() and not line.startswith(" ") and made[-1].strip():
            made.append(f"    {line}")
        else:
            inside = inside and line.startswith(" ")
            made.append(line)
    return "\n".join(made).strip()


def _sections(text: str, style: Any) -> str:  # griffe's Literal of style names
    import griffe

    try:
        return _collect(griffe.Docstring(text).parse(style, warnings=False))
    except Exception:  # a parser's fault must not cost the user a tool
        return text


def _collect(sections: Any) -> str:  # griffe's sections
    texts: list[str] = []
    for section in sections:
        kind = section.kind.value
        if kind == "text":
            texts.append(section.value.strip())
        elif kind in ("returns", "yields", "raises"):
            texts.extend(_outcome(kind, item) for item in section.value if item.description)
        elif kind == "admonition":
            texts.append(f"{section.title}: {section.value.description.strip()}")
        elif kind == "examples":
            texts.append("Examples:\n" + "\n".join(text.strip() for _, text in section.value))
    return "\n\n".join(t for t in texts if t)


def _outcome(kind: str, item: Any) -> str:  # griffe's DocstringReturn, DocstringYield or DocstringRaise
    name = f"{item.annotation}: " if kind == "raises" and item.annotation else ""
    return f"{kind.capitalize()}: {name}{' '.join(item.description.split())}"
