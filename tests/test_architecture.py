"""The rules of the house, read from the sources. No exceptions are listed, because there are none."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import TypeGuard, Union, get_args, get_origin, get_type_hints

import msgspec
from support.cases import cases

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "livetools"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
ROOMS = [
    "log", "errors", "setup", "events", "protocol", "tools", "formats", "transport", "session", "attach",
    "audio", "integrations", "testing", "evals", "probe", "cli",
]  # fmt: skip
_PROTOCOL = {"errors", "setup", "events", "protocol"}
_SESSION = {*_PROTOCOL, "log", "tools", "formats", "transport", "session"}
_AUDIO = {*_SESSION, "attach", "audio"}
ALLOWED = {
    "log": {"log"},
    "errors": {"errors"},
    "setup": {"errors", "setup"},
    "events": {"errors", "setup", "events"},
    "protocol": _PROTOCOL,
    "tools": {*_PROTOCOL, "log", "tools"},
    "formats": {*_PROTOCOL, "log", "tools", "formats"},
    "transport": {*_PROTOCOL, "log", "transport"},
    "session": _SESSION,
    "attach": {*_SESSION, "attach"},
    "audio": _AUDIO,
    "integrations": {*_AUDIO, "integrations"},
    "testing": {*_AUDIO, "testing"},
    "evals": {*_AUDIO, "testing", "evals"},
    "probe": {*_SESSION, "probe"},
    "cli": set(ROOMS),
}
#: The rooms whose folders stay small enough to be read at a glance.
CORE = ["setup", "protocol", "transport", "session", "attach"]
#: Packages whose introduction is a page for users, with an example of what they export.
USERS_DOORS = [
    PACKAGE,
    *(
        PACKAGE / each
        for each in ("audio", "evals", "integrations", "integrations/telephony", "testing", "web")
    ),
]
MODULES_OF_THE_PURE = [
    path
    for path in MODULES
    if path.relative_to(PACKAGE).parts[0] in ("errors.py", "setup", "events.py", "protocol")
    or path == PACKAGE / "attach/attached_machine.py"
]
PURE = ["asyncio", "anyio", "trio", "socket", "time", "threading", "websockets"]


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


EACH_MODULE = cases("path", MODULES, ids=name_of)


def teardown_module() -> None:
    """The trees of all modules take more memory than is lent to the tests that follow."""
    nodes.cache_clear()


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Every node of a file; its module is the first."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that is imported anywhere in the file: at the top, in functions, for type checking."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def rooms_of(path: Path) -> set[str]:
    """The rooms that a file imports from; the door counts as the session."""
    found = set()
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "livetools":
            found.add(parts[1] if len(parts) > 1 and parts[1] in ROOMS else "session")
    return found


@EACH_MODULE
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room in ROOMS:
        # The session's package exports the transport for tests, and loads it on first use (see test_door.py).
        shown = {"testing"} if path == PACKAGE / "session/__init__.py" else set()
        assert rooms_of(path) <= ALLOWED[room] | shown


def test_a_folder_holds_a_dozen_modules_at_most() -> None:
    folders = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    assert {PACKAGE / room for room in CORE} <= folders.keys()
    assert not [name_of(folder) for folder, count in folders.items() if count > 12]


def test_a_folder_says_what_comes_in_and_what_goes_out() -> None:
    folders = [path for path in MODULES if path.name == "__init__.py" and path.parent not in USERS_DOORS]
    for path in folders:
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert "In: " in doc, path
        assert "Out: " in doc, path
        assert 5 <= len(doc.splitlines()) <= 16, path


def test_no_import_runs_in_a_circle() -> None:
    known = {dotted(path): path for path in MODULES}
    arrows = {
        name: {module for module in imports(path) if module in known and module != name}
        for name, path in known.items()
        if path.name != "__init__.py"
    }
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name in done:
            return
        for module in sorted(arrows.get(name, ())):
            walk(module, (*above, name))
        done.add(name)

    for name in arrows:
        walk(name, ())


@cases("path", MODULES_OF_THE_PURE, ids=name_of)
def test_what_is_pure_knows_no_loop_no_socket_and_no_clock(path: Path) -> None:
    assert not {module.split(".")[0] for module in imports(path)} & set(PURE)
    assert not any(isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in nodes(path))


def test_the_fake_server_reads_no_frame_with_the_clients_models() -> None:
    shared = {"livetools.protocol.messages.incoming", "livetools.protocol.messages.outgoing"}
    assert not [name_of(p) for p in MODULES if "testing" in p.parts and imports(p) & shared]


@EACH_MODULE
def test_a_module_is_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


def test_a_module_of_the_page_is_read_in_one_sitting() -> None:
    modules = [*PACKAGE.glob("web/src/*.ts"), *PACKAGE.glob("web/page/src/*.ts")]
    modules.remove(PACKAGE / "web/src/inlined.ts")  # generated
    assert len(modules) > 30
    assert not [p.name for p in modules if len(p.read_text(encoding="utf-8").splitlines()) > 600]


@EACH_MODULE
def test_a_function_body_fits_on_a_screen(path: Path) -> None:
    long = []
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines > 40:
                long.append(f"{node.name}: {lines} lines")
    assert not long


@EACH_MODULE
def test_no_module_imports_the_private_name_of_another(path: Path) -> None:
    private = {
        alias.name
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("livetools"))
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.endswith("__")
    }
    assert not private


#: Names that mean more than one thing in the package, where each of these modules keeps its own, and why.
NAMED_TWICE: Mapping[str, tuple[str, set[str]]] = {
    "Caller": (
        "users import both: who talks to an agent in an eval, and who calls a number in a test",
        {"evals/simulation/callers.py", "integrations/telephony/testing.py"},
    ),
    "Ended": (
        "users import the record of a call that is over; the class of the relay is the type of its message",
        {"integrations/relay/messages.py", "integrations/telephony/bridge/call_options.py"},
    ),
    "Refused": (
        "users import the expectation of an eval; the class of the relay is the type of its message",
        {"evals/grading/expectations.py", "integrations/relay/messages.py"},
    ),
    "Report": (
        "users import both: of a check of a document, and of a probe of a model",
        {"formats/rules/findings.py", "probe/report.py"},
    ),
    "Rule": (
        "users import both: a rule of the wire format, and a rule of a pretend model",
        {"formats/rules/rule.py", "testing/pretend/rule_based.py"},
    ),
    **dict.fromkeys(
        ("INPUT_RATE", "OUTPUT_RATE"),
        (
            "users import those of the audio; those of the relay are constants of the page's client as well",
            {"audio/pcm.py", "integrations/relay/messages.py"},
        ),
    ),
    "TABLE": (
        "each of these modules owns one table of states, and whoever searches or draws them all asks for it",
        {
            "protocol/calls/call_states.py",
            "protocol/connection/connection_states.py",
            "protocol/turns/turn_states.py",
        },
    ),
    "pytest_plugin": (
        "the entry points of two plugins of pytest",
        {"evals/pytest_plugin.py", "testing/pytest_plugin.py"},
    ),
    "memory": (
        "the one is only an import path that programs outside use",
        {"session/aliases/memory.py", "testing/memory.py"},
    ),
}
#: ``log`` is the logger of each module. One capital letter is a type variable, or an abbreviation inside of one table.
OF_EACH_MODULE = re.compile("log|[A-Z]")


def classes_in(path: Path) -> Iterator[str]:
    """The classes that a module defines, at its top or inside of others."""
    yield from (node.name for node in nodes(path) if isinstance(node, ast.ClassDef))


def assigned_in(body: list[ast.stmt]) -> Iterator[str]:
    """The names that are given a value at the top of a module: constants, aliases of types, type variables."""
    for node in body:
        match node:
            case ast.Assign(targets=targets):
                yield from (n.id for target in targets for n in ast.walk(target) if is_bound(n))
            case ast.AnnAssign(target=ast.Name(name)):
                yield name
            case ast.If(body=inner, orelse=other):
                yield from assigned_in([*inner, *other])
            case ast.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                yield from assigned_in(
                    [*inner, *other, *last, *chain.from_iterable(h.body for h in handlers)]
                )


def is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def named_in(path: Path) -> set[str]:
    """What others could import from a module: its file's name, its classes, constants and aliases."""
    [module] = [node for node in nodes(path) if isinstance(node, ast.Module)]
    inside = {
        name for name in (*classes_in(path), *assigned_in(module.body)) if not OF_EACH_MODULE.fullmatch(name)
    }
    return {name for name in (path.stem, *inside) if not name.startswith("_")}


def places_by_name(named: Callable[[Path], Iterable[str]], paths: Iterable[Path]) -> dict[str, set[str]]:
    """Each name that stands in more than one of the modules, and where."""
    found: dict[str, set[str]] = {}
    for path in paths:
        for name in named(path):
            found.setdefault(name, set()).add(path.relative_to(PACKAGE).as_posix())
    return {name: places for name, places in found.items() if len(places) > 1}


def test_a_class_a_constant_and_a_file_name_mean_one_thing_in_the_whole_package() -> None:
    assert places_by_name(named_in, MODULES) == {name: where for name, (_, where) in NAMED_TWICE.items()}


def test_a_private_class_of_the_core_has_a_name_of_its_own_too() -> None:
    core = [
        path for path in MODULES if path.relative_to(PACKAGE).parts[0] in [*CORE, "errors.py", "events.py"]
    ]
    assert not places_by_name(classes_in, core)


ATOMS = {str, bytes, int, float, bool, type(None)}


def are_atoms(hint: object) -> bool:
    """Whether what a hint allows can never lead to another object: text, bytes, numbers, and structs of these."""
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return all(map(are_atoms, get_args(hint)))
    return hint in ATOMS or (
        isinstance(hint, type) and issubclass(hint, msgspec.Struct) and is_outside_gc(hint)
    )


def is_outside_gc(kind: type[msgspec.Struct]) -> bool:
    return not kind.__struct_config__.gc and all(map(are_atoms, get_type_hints(kind).values()))


def test_what_the_collector_does_not_see_leads_nowhere() -> None:
    """A struct with ``gc=False`` in a circle would never be freed."""
    of_the_core = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in CORE]
    for name in filter(None, map(dotted, of_the_core)):
        import_module(name)
    found = [kind for kind in msgspec.Struct.__subclasses__() if kind.__module__.startswith("livetools.")]
    unseen = [kind for kind in found if not kind.__struct_config__.gc]
    assert unseen
    assert [kind.__qualname__ for kind in unseen if not is_outside_gc(kind)] == []


def test_a_struct_that_holds_a_dict_may_not_be_outside_the_collector() -> None:
    class Holder(msgspec.Struct, gc=False):
        held: dict[str, int] | None

    assert not is_outside_gc(Holder)


def held_by(node: ast.ClassDef) -> set[str]:
    """The names in the annotations of what a class is handed, or keeps."""
    kept: list[ast.expr] = []
    for part in ast.walk(node):
        if isinstance(part, ast.AnnAssign):
            kept.append(part.annotation)
        elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
            arguments = [*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs]
            kept += [argument.annotation for argument in arguments if argument.annotation is not None]
    return {name.id for annotation in kept for name in ast.walk(annotation) if isinstance(name, ast.Name)}


@EACH_MODULE
def test_no_two_objects_hold_each_other(path: Path) -> None:
    """As far as annotations show. Between modules they cannot: imports do not run in a circle."""
    found = {node.name: held_by(node) for node in nodes(path) if isinstance(node, ast.ClassDef)}

    def reached(name: str, seen: set[str]) -> set[str]:
        for other in found.get(name, set()) & found.keys():
            if other not in seen:
                seen.add(other)
                reached(other, seen)
        return seen

    alike = {name for name in found if name in found[name]}  # a tree, or a list, of its own kind
    assert not {name for name in found if name in reached(name, set())} - alike


def defaults(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The parameters, fields and entries of a table DEFAULTS in this one node, with their defaults."""
    match node:
        case ast.arguments():
            placed = [*node.posonlyargs, *node.args]
            yield from ((a.arg, d) for a, d in zip(reversed(placed), reversed(node.defaults), strict=False))
            yield from ((a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d)
        case ast.AnnAssign(target=ast.Name("DEFAULTS"), value=ast.Dict(keys, values)):
            yield from ((ast.literal_eval(k), v) for k, v in zip(keys, values, strict=True) if k)
        case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
            yield name, value
        case ast.Call(ast.Attribute(attr="get"), [ast.Constant(str(name)), value]):
            yield name, value


def is_number_or_word(value: ast.expr) -> bool:
    """Not ``None``, ``True``, ``False`` and what is empty: those only say that nothing was given."""
    if isinstance(value, ast.BinOp):
        return is_number_or_word(value.left)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float, str) and value.value != ""


def test_the_default_of_an_option_stands_once() -> None:
    """A number or a word that several signatures and fields share is a constant, which they read."""
    owners = [
        PACKAGE / "session/connect.py",
        PACKAGE / "attach/attach.py",
        PACKAGE / "tools/definition/tool_options.py",
    ]
    options = {
        name
        for path in owners
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.name in ("connect", "attach", "ToolOptions")
        for name in option_names(node)
    }
    assert {"max_concurrency", "max_history", "approval_timeout"} <= options
    found: dict[str, list[str]] = {name: [] for name in options}
    for path in MODULES:
        if {*CORE, "tools"} & set(path.relative_to(PACKAGE).parts):
            for name, value in chain.from_iterable(map(defaults, nodes(path))):
                if name in options and is_number_or_word(value):
                    found[name].append(f"{name_of(path)}: {name} = {ast.unparse(value)}")
    assert not [places for places in found.values() if len(places) > 1]


def option_names(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """The keyword parameters of a function, or the keys of a typed dict."""
    if isinstance(node, ast.FunctionDef):
        return [argument.arg for argument in node.args.kwonlyargs]
    return [ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)]


def test_tasks_are_made_in_one_place() -> None:
    makers = [p for p in MODULES if "create_task(" in p.read_text(encoding="utf-8")]
    assert [name_of(p) for p in makers] == ["livetools/session/running/task_host.py"]


def test_the_client_asks_a_profile_in_one_file() -> None:
    """The fake server is another matter: a profile is what it plays."""
    client = [path for path in MODULES if "testing" not in path.parts and path.name != "model_profiles.py"]
    askers = {
        name_of(path)
        for path in client
        for node in nodes(path)
        if isinstance(node, ast.If | ast.IfExp)
        for part in ast.walk(node.test)
        if isinstance(part, ast.Attribute) and ast.unparse(part.value).split(".")[-1] == "profile"
    }
    assert askers <= {"livetools/setup/plan.py"}


#: Names of dependencies that are documented nowhere, though they begin with no underscore.
UNDOCUMENTED = {
    "close_deadline",
    "connection_exc",
    "connection_lost_waiter",
    "drain_waiters",
    "parser_exc",
    "recv_exc",
    "recv_flow_control",
    "recv_messages",
    "send_context",
    "set_connection_exc",
}


def _foreign(module: str) -> bool:
    """Whether a module is neither ours nor the standard library's."""
    return module.partition(".")[0] not in {*sys.stdlib_module_names, "livetools"}


def private_names(path: Path) -> Iterator[str]:
    """The private names of dependencies that a module imports, or reads of what it has imported."""
    imported = set()
    for node in nodes(path):
        match node:
            case ast.Import(names=names):
                imported |= {a.asname or a.name.partition(".")[0] for a in names if _foreign(a.name)}
            case ast.ImportFrom(module=str(module), names=names, level=0) if _foreign(module):
                imported |= {a.asname or a.name for a in names}
    for node in nodes(path):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if _foreign(module):
                for name in (*module.split("."), *(alias.name for alias in node.names)):
                    if name.startswith("_"):
                        yield f"{module}: {name}"
            case ast.Attribute(value=ast.Name(base), attr=name) if base in imported and name.startswith("_"):
                if not name.startswith("__"):
                    yield f"{base}.{name}"
            case ast.Attribute(attr=name) if name in UNDOCUMENTED:
                yield name
            case ast.Call(ast.Name("getattr"), [_, ast.Constant(str(name)), *_]):
                if name.startswith("_") and not name.startswith("__"):
                    yield f"getattr: {name}"


#: Where there is no other way. Each is guarded, and tried with the lowest and the newest version.
PRIVATE_ALLOWED = {
    "google-genai's client": "endpoint.py",
    "anyio's worker threads": "from_thread.py",
    "DBOS's recovery": "dbos.py",  # the public `resume_workflow` does not ask whose run it is
}


@EACH_MODULE
def test_no_private_name_of_a_dependency_is_used(path: Path) -> None:
    if path.name not in PRIVATE_ALLOWED.values():
        assert not [*private_names(path)]


@EACH_MODULE
def test_nor_is_one_reached_through_the_globals_of_a_function(path: Path) -> None:
    assert not [
        node for node in nodes(path) if isinstance(node, ast.Attribute) and node.attr == "__globals__"
    ]
