"""The rooms of the fake, read from its sources: which may import which, and that no object holds its holder."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from livetools import testing

FAKE = Path(testing.__file__).parent
MODULES = sorted(FAKE.rglob("*.py"))
ALLOWED = {
    "net": {"net"},
    "auth": {"auth"},
    "messages": {"messages"},
    "settings": {"settings"},
    "recordings": {"recordings"},
    "model": {"settings", "model"},
    "pretend": {"model", "pretend"},
    "live": {"net", "auth", "messages", "settings", "model", "live"},
    "rest": {"messages", "model", "live", "rest"},
}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_every_room_is_named():
    assert {path.parent.name for path in FAKE.glob("*/__init__.py")} == set(ALLOWED)


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_from_those_before_it(room):
    found = set()
    for path in (FAKE / room).glob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("livetools.testing."):
                found |= {node.module.split(".")[2], *(alias.name for alias in node.names)} & set(ALLOWED)
    assert found <= ALLOWED[room]


def classes() -> dict[str, ast.ClassDef]:
    return {
        node.name: node for path in MODULES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)
    }


def held(node: ast.ClassDef) -> Iterator[ast.expr]:
    """What an object keeps: its fields, what it is made with and makes of it, and what a Protocol promises."""
    promised = any(ast.unparse(base) == "Protocol" for base in node.bases)
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            yield part.annotation
        elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
            yield from (
                each.annotation for each in [*part.args.args, *part.args.kwonlyargs] if each.annotation
            )
            for inner in ast.walk(part):
                if isinstance(inner, ast.AnnAssign):
                    yield inner.annotation
                elif isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call):
                    yield inner.value.func
        elif promised and isinstance(part, ast.FunctionDef) and part.decorator_list and part.returns:
            yield part.returns


def names(annotation: ast.expr) -> Iterator[str]:
    """The names in an annotation. What a callable takes and gives is not kept."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in ("Callable", "type"):
        return
    if isinstance(annotation, ast.Name):
        yield annotation.id
    for inner in ast.iter_child_nodes(annotation):
        if isinstance(inner, ast.expr):
            yield from names(inner)


def test_no_object_holds_its_holder():
    known = classes()
    arrows = {
        name: {each for annotation in held(node) for each in names(annotation) if each in known} - {name}
        for name, node in known.items()
    }
    assert "Service" in arrows["FakeSession"]
    assert "TurnQueue" in arrows["FakeSession"]
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name not in done:
            for each in sorted(arrows[name]):
                walk(each, (*above, name))
            done.add(name)

    for name in arrows:
        walk(name, ())


def test_no_two_classes_share_a_name():
    named = [node.name for path in MODULES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    assert len(named) == len(set(named))
