"""Reads the code of the core: which class an expression is an object of, as far as annotations and names tell.

A type is the set of the core's classes that its annotation names: of a list or a dict, those that it holds. What is not
annotated is followed through assignments. What is known to be somebody else's has the type ``OTHER``. What cannot be
followed has none, and then the name of an attribute decides.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ("protocol", "setup", "session", "attach", "transport")

OTHER = "an object of another library"

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def room_of(path: str) -> str:
    """The room that a module belongs to: its folder, and in ``protocol/`` itself the module alone."""
    folder, _, name = path.rpartition("/")
    if folder == "protocol":
        return path
    return folder.split("/")[0] if folder.startswith(("transport", "setup")) else folder or name


@dataclass
class Class:
    """A class of the core: where it is, its bases, and the types of its attributes and of what its methods return."""

    name: str
    path: str
    bases: list[str]
    types: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class Code:
    """The modules of the core, or those of a test: path → source."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.trees = {path: ast.parse(source) for path, source in sources.items()}
        self.classes: dict[str, Class] = {}
        self.bounds: dict[str, set[str]] = {}  # of type variables
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    bases = [name for base in node.bases for name in _names(base)]
                    self.classes[node.name] = Class(node.name, path, bases)
        for tree in self.trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and "TypeVar" in _names(node.value):
                    self.bounds[ast.unparse(node.targets[0])] = self.named(node.value)
        for tree in self.trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self._bind(node)
        for _ in range(2):  # attributes that are assigned from attributes
            for tree in self.trees.values():
                for node in ast.walk(tree):
                    if isinstance(node, ast.ClassDef):
                        self._learn(node)

    @classmethod
    def of_the_core(cls) -> Code:
        """All modules of the core."""
        root = ROOT / "livetools"
        paths = (path for folder in CORE for path in (root / folder).rglob("*.py"))
        return cls({path.relative_to(root).as_posix(): path.read_text() for path in paths})

    def named(self, annotation: ast.AST | None) -> set[str]:
        """The classes of the core that an annotation names."""
        if annotation is None:
            return set()
        found: set[str] = set()
        names = _names(annotation)
        for name in names:
            found |= {name} if name in self.classes else self.bounds.get(name, set())
        return found or (set() if "Any" in names else {OTHER})

    def owners(self, classes: Iterable[str], attribute: str) -> set[str]:
        """Those of these classes, or of their bases, that have this attribute of their own."""
        found: set[str] = set()
        for name in classes:
            if (one := self.classes.get(name)) is not None:
                found |= {name} if attribute in one.types else self.owners(one.bases, attribute)
        return found

    def type_of(self, node: ast.AST, known: Mapping[str, set[str]]) -> set[str]:
        """The type of an expression, where the names ``known`` have types."""
        match node:
            case ast.Name(id=name):
                return known.get(name, set())
            case ast.Attribute(value=value, attr=attr):
                base = self.type_of(value, known)
                if base == {OTHER}:
                    return base
                owners = self.owners(base, attr)
                types = {found for owner in owners for found in self.classes[owner].types[attr]}
                return types if owners else base if attr in _OF_CONTAINERS else set()
            case ast.Call(func=ast.Name(id=name)) if name in self.classes:
                return {name}
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _SAME:
                return self.type_of(first, known)
            case ast.Call(func=func):
                return self.type_of(func, known)
            case ast.Subscript(value=value) | ast.Await(value=value) | ast.Starred(value=value):
                return self.type_of(value, known)
            case ast.IfExp(body=first, orelse=second):
                return self.type_of(first, known) | self.type_of(second, known)
            case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                return {name for value in values for name in self.type_of(value, known)}
            case ast.NamedExpr(value=value):
                return self.type_of(value, known)
        return set()

    def functions(self) -> Iterator[tuple[str, Function, dict[str, set[str]]]]:
        """Every function with its path and the types of the names in it."""
        for path, tree in self.trees.items():
            for function in (node for node in tree.body if isinstance(node, _FUNCTIONS)):
                yield path, function, self._known(function, {})
            for one in ast.walk(tree):
                if isinstance(one, ast.ClassDef):
                    for function in (node for node in one.body if isinstance(node, _FUNCTIONS)):
                        yield path, function, self._known(function, {"self": {one.name}})

    def _known(self, function: Function, known: dict[str, set[str]]) -> dict[str, set[str]]:
        """The types of the names of a function, and of the functions inside it."""
        known = defaultdict(set, known)
        for node in ast.walk(function):
            if isinstance(node, ast.arg) and node.arg != "self":
                known[node.arg] |= self.named(node.annotation)
        for _ in range(2):  # names that are assigned from names
            for node in ast.walk(function):
                for target, value in _assigned(node):
                    if isinstance(target, ast.Name):
                        known[target.id] |= self.type_of(value, known)
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    known[node.target.id] |= self.named(node.annotation)
        return known

    def _bind(self, node: ast.ClassDef) -> None:
        """The type variables of a generic class may be what its subclasses say."""
        for base in node.bases:
            if isinstance(base, ast.Subscript) and (generic := self.classes.get(ast.unparse(base.value))):
                for variable in self.bounds.keys() & generic.bases:
                    self.bounds[variable] |= self.named(base.slice) - {OTHER}

    def _learn(self, node: ast.ClassDef) -> None:
        types = self.classes[node.name].types
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                types[part.target.id] |= self.named(part.annotation)
            elif isinstance(part, ast.Assign):
                for target in part.targets:
                    if isinstance(target, ast.Name):
                        types[target.id] |= set()
            elif isinstance(part, _FUNCTIONS):
                types[part.name] |= self.named(part.returns)
                self._learn_from(part, node.name)

    def _learn_from(self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
        types, known = self.classes[name].types, self._known(function, {"self": {name}})
        for node in ast.walk(function):
            if isinstance(node, ast.AnnAssign) and _is_own(node.target):
                types[node.target.attr] |= self.named(node.annotation)  # type: ignore[union-attr]
            for target, value in _assigned(node):
                if _is_own(target) and not self.owners(self.classes[name].bases, target.attr):  # type: ignore[attr-defined]
                    types[target.attr] |= self.type_of(value, known)  # type: ignore[attr-defined]


#: Methods that change a container.
_CHANGES = frozenset(
    {
        "append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
        "setdefault", "update",
    }
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Methods of containers, and functions, that hand out what is in the container.
_OF_CONTAINERS = frozenset({"get", "pop", "popleft", "popitem", "values", "items", "setdefault", "copy"})
_SAME = frozenset(
    {"list", "tuple", "sorted", "reversed", "iter", "next", "set", "enumerate", "min", "max", "replace"}
)


def _names(node: ast.AST) -> list[str]:
    """The names in an annotation, those in text too."""
    names: list[str] = []
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            names.append(one.id)
        elif isinstance(one, ast.Attribute):
            names.append(one.attr)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
            names.append(one.value)
    return names


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _assigned(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What is assigned to what."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case (
            ast.AnnAssign(target=target, value=ast.AST() as value) | ast.NamedExpr(target=target, value=value)
        ):
            pairs = [(target, value)]
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            pairs = [(target, value)]
        case ast.comprehension(target=target, iter=value):
            pairs = [(target, value)]
        case ast.withitem(context_expr=value, optional_vars=ast.AST() as target):
            pairs = [(target, value)]
        case _:
            return
    for target, value in pairs:
        if isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            if len(values) == len(target.elts):
                yield from zip(target.elts, values, strict=True)
        else:
            yield target, value


def foreign_writes(code: Code) -> Iterator[str]:
    """Attributes that are written by another room than that of their class: ``path:line expression (class)``.

    What changes a list, a set or a dict that is an attribute writes it too.
    """
    for path, function, known in code.functions():
        for node in ast.walk(function):
            written = _written(node, code, known)
            if written is None or _is_own(written):
                continue
            found = code.type_of(written.value, known)
            owners = code.owners(found or code.classes, written.attr)
            if owners and room_of(path) not in {room_of(code.classes[owner].path) for owner in owners}:
                yield f"{path}:{written.lineno} {ast.unparse(node)} ({', '.join(sorted(owners))})"


def _written(node: ast.AST, code: Code, known: Mapping[str, set[str]]) -> ast.Attribute | None:
    """The attribute that is written here."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return node
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as written, attr=change)) if (
            change in _CHANGES
        ):
            is_method = code.owners(code.type_of(written, known), change)
            return None if is_method or not code.type_of(written.value, known) else written
    return None


def reaches(code: Code, rooms: frozenset[str], readers: tuple[str, ...]) -> Iterator[str]:
    """Where a module under ``readers`` asks an object of one of these classes for anything."""
    for path, function, known in code.functions():
        if path.startswith(readers):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and (found := code.type_of(node.value, known) & rooms):
                    yield f"{path}:{node.lineno} {ast.unparse(node)} ({', '.join(sorted(found))})"
