"""A docstring → what goes into the declaration: the description, and a text for each argument.

Google, NumPy and Sphinx styles, read by griffe. It costs some 40 ms to import and is loaded only for a
docstring that has sections at all.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

GOOGLE = re.compile(
    r"^[ \t]*(args|arguments|params|parameters|keyword args|keyword arguments|other parameters"
    r"|returns|yields|raises):[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
NUMPY = re.compile(
    r"^[ \t]*(parameters|other parameters|returns|yields|raises)[ \t]*\n[ \t]*-{3,}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
SPHINX = re.compile(
    r"^[ \t]*:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception)\b"
    r"[^:\n]*:",
    re.MULTILINE,
)


class Described(NamedTuple):
    """The description, without the sections of arguments, and a text for each argument."""

    text: str
    arguments: dict[str, str]


def read(docstring: str | None) -> Described:
    """Never raises: what griffe cannot read stays in the description."""
    if not docstring:
        return Described("", {})
    style = _style(docstring)
    if style is None:
        return Described(docstring.strip(), {})
    import griffe

    try:
        return _collect(griffe.Docstring(docstring).parse(style, warnings=False))
    except Exception:  # a parser's fault must not cost the user a tool
        return Described(docstring.strip(), {})


def _style(docstring: str) -> Any:  # griffe's Literal of style names
    for style, pattern in (("numpy", NUMPY), ("sphinx", SPHINX), ("google", GOOGLE)):
        if pattern.search(docstring):
            return style
    return None


def _collect(sections: Any) -> Described:  # griffe's sections
    texts: list[str] = []
    arguments: dict[str, str] = {}
    for section in sections:
        kind = section.kind.value
        if kind == "text":
            texts.append(section.value.strip())
        elif kind in ("parameters", "other parameters"):
            for item in section.value:
                arguments[item.name.lstrip("*")] = _line(item.description)
        elif kind in ("returns", "yields", "raises"):
            texts.extend(_outcome(kind, item) for item in section.value if item.description)
        elif kind == "admonition":
            texts.append(f"{section.title}: {section.value.description.strip()}")
        elif kind == "examples":
            texts.append("Examples:\n" + "\n".join(text.strip() for _, text in section.value))
    return Described("\n\n".join(t for t in texts if t), {k: v for k, v in arguments.items() if v})


def _outcome(kind: str, item: Any) -> str:  # griffe's DocstringReturn, DocstringYield or DocstringRaise
    name = f"{item.annotation}: " if kind == "raises" and item.annotation else ""
    return f"{kind.capitalize()}: {name}{_line(item.description)}"


def _line(text: str) -> str:
    return " ".join(text.split())
