"""The tables of the documentation that stand in the code already: events, errors, closes, states."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import io
import pkgutil
import re
import tokenize
import types
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

import livetools
from livetools import errors, events
from livetools.evals import files
from livetools.protocol.connection import close_codes
from livetools.protocol.input import resend
from livetools.testing.settings import fault_switches

CORE = ("setup", "protocol", "transport", "session", "attach")
#: The packages whose tables list the modules of their folders, too.
WITH_FOLDERS = (*CORE, "tools", "formats", "evals", "testing", "integrations.telephony", "cli")
RETRIES = {
    "yes": "yes",
    "no": "no",
    "once": "once; not again for the same reason",
    "fresh": "yes, as a new session",
}
WHEN = {"always": "always", "setup": "during the setup", "session": "after the setup"}


def row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table(headings: Iterable[str], lines: Iterable[str]) -> str:
    headings = list(headings)
    return "\n".join([row(*headings), row(*["---"] * len(headings)), *lines])


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain(doc: str | None) -> str:
    """A docstring in one line of Markdown, without its example: roles of reStructuredText as code, ``x`` as `x`."""
    text = " ".join((doc or "").partition("::\n")[0].split())
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`")


def first(doc: str | None) -> str:
    """Its first sentence."""
    return re.split(r"(?<=[.:])\s+(?=[A-Z`])", plain(doc), maxsplit=1)[0]


# Events


def fields_of(kind: type[Any]) -> str:
    shown = []
    for field in dataclasses.fields(kind):
        default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
        shown.append(f"`{field.name}: {field.type}{default}`")
    return ", ".join(shown) or "–"


def event_table() -> str:
    """Every event in one table, in the order of the source."""
    kinds = get_args(events.Event)
    lines = [row(f"[`{k.__name__}`][livetools.{k.__name__}]", fields_of(k), plain(k.__doc__)) for k in kinds]
    return table(["Event", "Fields", "Means"], lines)


# Errors


def error_tree() -> str:
    """The tree as the docstring of the module draws it."""
    tree = inspect.cleandoc((errors.__doc__ or "").partition("::\n")[2])
    return f"```text\n{tree.partition(chr(10) * 2)[0]}\n```"


def all_errors() -> list[type[BaseException]]:
    """Every public error, each behind those that it is a kind of."""
    found = [e for e in map(partial(getattr, livetools), livetools.__all__) if isinstance(e, type)]
    found = [e for e in found if issubclass(e, livetools.LiveToolsError)]
    return sorted(found, key=lambda e: [c.__name__ for c in reversed(e.__mro__)])


def error_table() -> str:
    """Every error, with what raises it."""
    found = all_errors()
    lines = [row(f"[`{e.__name__}`][livetools.{e.__name__}]", bases(e), first(e.__doc__)) for e in found]
    return table(["Error", "Is also", "Raised when"], lines)


def bases(error: type[BaseException]) -> str:
    return ", ".join(f"`{base.__name__}`" for base in error.__bases__) or "–"


# Closes


def close_table() -> str:
    """What each code means if its reason is not known."""
    lines = []
    for code, verdict in sorted(close_codes._CODES.items()):
        lines.append(
            row(str(code), f"`{verdict.error_class.__name__}`", RETRIES[verdict.retry], upper(verdict.advice))
        )
    other = close_codes._OTHER
    lines.append(
        row("any other", f"`{other.error_class.__name__}`", RETRIES[other.retry], upper(other.advice))
    )
    return table(["Code", "Error", "Reconnects", "What to do"], lines)


def reason_table() -> str:
    """What each reason means, whatever the code: the first rule that matches applies."""
    lines = []
    for rule in close_codes.CLOSE_RULES:
        retry = RETRIES[rule.retry]
        lines.append(
            row(
                ", ".join(f"… {text} …" for text in rule.texts),
                WHEN[rule.when],
                f"`{rule.error_class.__name__}`",
                retry,
                upper(rule.advice),
            )
        )
    return table(["Reason contains", "When", "Error", "Reconnects", "What to do"], lines)


# The command


def command_table() -> str:
    """Every command with the first sentence of its help, and its options."""
    from typer.main import get_command

    from livetools.cli.app import app

    commands: Mapping[str, Any] = getattr(get_command(app), "commands", {})
    lines = []
    for name, command in commands.items():
        options = [f"`{option.opts[0]}`" for option in command.params if option.param_type_name == "option"]
        lines.append(row(f"`{name}`", first(command.help), ", ".join(options)))
    return table(["Command", "Does", "Options"], lines)


# Faults


def fault_table() -> str:
    """The switches of the fake server: what each takes, and the comment beside it."""
    source = inspect.getsource(fault_switches.Faults)
    told = comments(source)
    [body] = ast.parse(source).body
    lines = []
    for node in getattr(body, "body", []):
        if isinstance(node, ast.AnnAssign):
            name = ast.unparse(node.target)
            value = fault_switches._VALUES["share" if name in get_args(fault_switches.Fault) else name]
            takes = "`True`" if value.type is bool else value.what.partition(", such as")[0]
            lines.append(row(f"`{name}`", takes, upper(told[node.lineno])))
    return table(["Fault", "Takes", "What happens"], lines)


def eval_fault_table() -> str:
    """The faults of an eval, in Python and in a file."""
    lines = []
    for kind, form in files.FAULTS.items():
        given = ", ".join(field.name for field in dataclasses.fields(kind))
        lines.append(row(f"`{kind.__name__}({given})`", f"`{form}`", plain(kind.__doc__)))
    return table(["In Python", "In a file", "What it does"], lines)


# States


def machines() -> dict[str, types.ModuleType]:
    """The modules of protocol/ that own a table of states, by their folders."""
    found = {}
    for module in modules("livetools.protocol"):
        if isinstance(rows := vars(module).get("TABLE"), Mapping) and all(map(is_move, rows.items())):
            *_, folder, _ = module.__name__.split(".")
            found[folder] = module
    return found


def modules(package: str) -> list[types.ModuleType]:
    """The modules of a package and of its folders, in the order of their names."""
    found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    return [importlib.import_module(name) for name in sorted(info.name for info in found if not info.ispkg)]


def file_of(module: types.ModuleType) -> str:
    return module.__name__.removeprefix("livetools.").replace(".", "/") + ".py"


def is_move(entry: tuple[object, object]) -> bool:
    match entry:
        case ((Enum(), Enum()), (Enum() | None, tuple()) | Enum()):
            return True
    return False


def moves(module: types.ModuleType) -> dict[tuple[Enum, Enum], tuple[Enum | None, tuple[Enum, ...]]]:
    """The table of a module: where each move leads, and what is done on the way."""
    return {pair: to if isinstance(to, tuple) else (to, ()) for pair, to in module.TABLE.items()}


def members(module: types.ModuleType, kind: type[Enum]) -> str:
    """The members of an enum with the comments beside them."""
    source = inspect.getsource(kind)
    told = comments(source)
    [body] = ast.parse(source).body
    lines = []
    for node in getattr(body, "body", []):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in kind.__members__ and node.lineno in told:
                lines.append(row(f"`{name}`", upper(told[node.lineno])))
    return table([kind.__name__, "Means"], lines) if lines else ""


def state_tables() -> str:
    """Every table of states in the code, a section each: the moves, then what the events and effects mean."""
    return "\n\n".join(state_table(name, module) for name, module in machines().items())


def state_table(name: str, module: types.ModuleType) -> str:
    rows = moves(module)
    states = list(dict.fromkeys([s for s, _ in rows] + [to for to, _ in rows.values()]))
    events_ = list(dict.fromkeys(event for _, event in rows))
    lines = [
        row(f"**{event.name}**", *(cell(rows.get((state, event)), state) for state in states))
        for event in events_
    ]
    effects = list(dict.fromkeys(effect for _, todo in rows.values() for effect in todo))
    kinds = [type(states[0]), type(events_[0]), *dict.fromkeys(map(type, effects))]
    parts = [
        f"## {name}",
        f"{plain(inspect.getdoc(type(states[0])))} In `livetools/{file_of(module)}`: {first(module.__doc__)}",
        picture(name),
        table(["", *(state.name for state in states)], lines),
        *filter(None, (members(module, kind) for kind in kinds)),
    ]
    return "\n\n".join(parts)


def picture(name: str) -> str:
    """The picture of a table of states, which ``generate_diagrams`` draws."""
    return f"![The states of the {name}, and the moves between them](../images/states-{name}.svg)"


def cell(entry: tuple[Enum | None, tuple[Enum, ...]] | None, state: Enum) -> str:
    if entry is None:
        return ""
    to, todo = entry
    target = "stays" if to is None or to is state else f"**{to.name}**"
    return target + (f": {', '.join(effect.name.lower() for effect in todo)}" if todo else "")


def comments(source: str) -> dict[int, str]:
    """The comments of a source by their lines, without their marks."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("#: ") for t in tokens if t.type == tokenize.COMMENT}


# Numbers


@cache
def number_table() -> str:
    """The numbers that stand at the top of the modules of the core, with their comments."""
    lines = []
    for package in CORE:
        for module in modules(f"livetools.{package}"):
            for names, value, comment in numbers(inspect.getsource(module)):
                lines.append(row(names, value, f"`{file_of(module)}`", upper(comment)))
    return table(["Number", "Value", "File", "Means"], lines)


def numbers(source: str) -> list[tuple[str, str, str]]:
    """Each public number of a module, its value as it is written, and its comment: above, beside or below it."""
    told, body, source_lines, found = comments(source), ast.parse(source).body, source.splitlines(), []
    for at, node in enumerate(body):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        [target] = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [ast.unparse(name) for name in (target.elts if isinstance(target, ast.Tuple) else [target])]
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if not all(map(is_number, values)) or any(name.startswith("_") for name in names):
            continue
        above: list[str] = []
        while (line := node.lineno - 1 - len(above)) in told and source_lines[line - 1].startswith("#"):
            above.insert(0, told[line])
        comment = told.get(node.lineno) or " ".join(above)
        behind = body[at + 1] if at + 1 < len(body) else None
        if not comment and isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant):
            comment = str(behind.value.value)
        shown = ", ".join(f"`{ast.get_source_segment(source, value)}`" for value in values)
        found.append((", ".join(f"`{name}`" for name in names), shown, plain(comment)))
    return found


def is_number(value: ast.expr) -> bool:
    """A number as it is written, or a product or power of such."""
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def outbox_tables() -> str:
    """What becomes of an entry of the outbox that was not read."""
    fates = {True: "It is written again", False: "It is not: its call knows what becomes of it"}
    kinds = sorted(resend.FOLLOWED, key=lambda kind: (kind not in resend.REPEATED, kind))
    return "\n\n".join(
        [
            f"In `livetools/protocol/input/resend.py`: {first(resend.__doc__)}",
            "When a connection is lost, what becomes of a message that was not read depends on its kind. Other kinds "
            "are forgotten: media is stale, and activity marks are invalid without their audio.",
            table(
                ["Kind", "When it was lost"],
                [row(f"`{kind}`", fates[kind in resend.REPEATED]) for kind in kinds],
            ),
        ]
    )


# Modules


def module_table(package: str) -> str:
    """Each module and folder of a package, with the first sentence of its docstring."""
    folder = Path(importlib.import_module(package).__path__[0])
    deep = package.removeprefix("livetools.") in WITH_FOLDERS
    lines = []
    for path in sorted(
        folder.rglob("*.py") if deep else [*folder.glob("*.py"), *folder.glob("*/__init__.py")]
    ):
        name = str(path.relative_to(folder).with_suffix("")).removesuffix("__init__")
        if name and not name.startswith("__"):
            doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            lines.append(row(f"`{name.rstrip('/').replace('/', '.')}`", first(doc)))
    return table(["Module", "Job"], lines)


# What mkdocstrings is to show


def shown(names: Callable[[], Iterable[str]]) -> str:
    """A line for each name, where mkdocstrings puts what the docstring says."""
    return "\n\n".join(f"::: {name}" for name in names())


def public(package: str) -> list[str]:
    return [f"{package}.{name}" for name in importlib.import_module(package).__all__]


def event_names() -> list[str]:
    return [f"livetools.{name}" for name in ("Call", *(k.__name__ for k in get_args(events.Event)))]


def error_names() -> list[str]:
    return [f"livetools.{error.__name__}" for error in all_errors()]


ROOMS = (
    *CORE, "tools", "audio", "formats", "testing", "integrations",
    "integrations.relay", "integrations.telephony", "evals", "probe", "cli",
)  # fmt: skip
PACKAGES = ("session", "testing", "audio", "evals", "formats")

TABLES: Mapping[str, Callable[[], str]] = {
    "names-of-events": partial(shown, event_names),
    "names-of-errors": partial(shown, error_names),
    **{f"names-of-{name}": partial(shown, partial(public, f"livetools.{name}")) for name in PACKAGES},
    "events": event_table,
    "error-tree": error_tree,
    "errors": error_table,
    "close-codes": close_table,
    "close-reasons": reason_table,
    "commands": command_table,
    "faults": fault_table,
    "faults-of-evals": eval_fault_table,
    "states": state_tables,
    "outbox": outbox_tables,
    "numbers": number_table,
    **{f"modules-{name}": partial(module_table, f"livetools.{name}") for name in ROOMS},
}
