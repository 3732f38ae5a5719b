"""What only the built site has: each page as Markdown, ``llms.txt`` that lists them, and ``reference.md``."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOMS = [
    "livetools",
    "livetools.session",
    "livetools.testing",
    "livetools.audio",
    "livetools.evals",
    "livetools.formats",
]


def write(docs: Path, site: Path) -> int:
    """Write them into ``site``, which exists. Returns the exit status."""
    for page in pages(docs):
        target = site / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((docs / page).read_text(encoding="utf-8"), encoding="utf-8")
    (site / "llms.txt").write_text(llms(docs), encoding="utf-8")
    (site / "reference.md").write_text(reference(), encoding="utf-8")
    return 0


def navigation(docs: Path) -> list[dict[str, Any]]:
    config = tomllib.loads((docs.parent / "zensical.toml").read_text(encoding="utf-8"))
    nav: list[dict[str, Any]] = config["project"]["nav"]
    return nav


def pages(docs: Path) -> list[str]:
    """Every page of the navigation, in its order."""
    found = []
    for entry in navigation(docs):
        for value in entry.values():
            found += [value] if isinstance(value, str) else value
    return found


def llms(docs: Path) -> str:
    """The index for language models (llmstxt.org): a line a page."""
    config = tomllib.loads((docs.parent / "zensical.toml").read_text(encoding="utf-8"))["project"]
    parts = [f"# {config['site_name']}\n\n> {config['site_description']}"]
    for entry in navigation(docs):
        for title, value in entry.items():
            if not isinstance(value, str):
                parts.append(f"## {title}\n\n" + "\n".join(line(docs, page) for page in value))
    parts.append(
        "## The whole reference\n\n- [reference.md](reference.md): every public name, with its docstring"
    )
    return "\n\n".join(parts) + "\n"


def line(docs: Path, page: str) -> str:
    text = (docs / page).read_text(encoding="utf-8")
    [title] = re.findall(r"^# (.*)$", text, re.MULTILINE)[:1]
    return f"- [{title}]({page}): {opening(text)}"


def opening(text: str) -> str:
    """The first sentence of a page's first paragraph, without its links."""
    for paragraph in re.split(r"\n{2,}", text):
        if paragraph and paragraph[0] not in "#|<!-:=>" and not paragraph.startswith("```"):
            words = re.sub(r"\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.])\s", words, maxsplit=1)[0]
    return ""


def reference() -> str:
    """Every public name with its signature and docstring, room by room."""
    parts = ["# livetools: the reference in one file"]
    for room in ROOMS:
        module = importlib.import_module(room)
        parts.append(f"## {room}\n\n{inspect.getdoc(module) or ''}")
        names = getattr(module, "__all__", ())
        parts += [entry(name, getattr(module, name)) for name in names]
    return "\n\n".join(parts) + "\n"


def entry(name: str, value: object) -> str:
    head = f"### {name}\n\n```python\n{name}{signature(value)}\n```"
    doc = inspect.getdoc(value) if callable(value) or inspect.isclass(value) else ""
    return "\n\n".join(filter(None, [head, doc, *methods(value)]))


def methods(value: object) -> Iterator[str]:
    """The public methods and properties of a class and its bases; a dataclass has its fields in the signature."""
    if not inspect.isclass(value):
        return
    fields = {field.name for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
    own = [kind for kind in value.__mro__ if kind.__module__.partition(".")[0] == "livetools"]
    for name, member in {
        name: member for kind in reversed(own) for name, member in vars(kind).items()
    }.items():
        inner = getattr(member, "__func__", getattr(member, "fget", member))
        if not name.startswith("_") and name not in fields and callable(inner):
            arguments = "" if isinstance(member, property) else signature(inner)
            yield f"#### {value.__name__}.{name}{arguments}\n\n{inspect.getdoc(member) or ''}"


def signature(value: object) -> str:
    try:
        return str(inspect.signature(value)) if callable(value) else ""
    except (ValueError, TypeError):
        return ""
