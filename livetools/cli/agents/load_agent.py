"""Loads the agent or the tools that a target names: ``MODULE:NAMES`` or ``FILE.py[:NAMES]``."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import typer

from livetools.cli.process.errors_and_signals import UsageError
from livetools.errors import ConfigError, LiveToolsError
from livetools.session.agents import AgentLike, is_agent
from livetools.tools import Tool, Toolset, as_tools
from livetools.tools.tool import UNMARKED, mark_of

USUAL = ("tools", "TOOLS")
RUNNERS = frozenset({"asyncio", "anyio", "trio", "uvicorn"})  # whose run() serves until the program ends


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a target names: an agent, or tools for a session that the command makes.

    ``left_out``: the plain functions of a file in which others bear ``@tool``, and nothing was named. ``names``: what
    they are called in the module, such as ``agent``, ``tools`` or ``House.book``.
    """

    tools: tuple[Tool, ...] = ()
    agent: AgentLike | None = None
    left_out: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def tell(self) -> None:
        """Say on standard error which functions are not among the tools, though they look like some."""
        if self.left_out:
            names = ", ".join(self.left_out)
            typer.secho(f"left out, because they lack @tool: {names}", fg=typer.colors.YELLOW, err=True)


def load(target: str) -> Loaded:
    """The agent or the tools that ``target`` names.

    ``NAMES`` are names of the module, with commas between them: one agent, or functions, ``Tool``, ``Toolset``
    and lists of those. Without any: the module's ``agent``, or the only agent in it; else its ``tools`` (or
    ``TOOLS``); else whatever bears ``@tool`` or is a ``Tool`` or a ``Toolset``; else the functions that are
    defined in it. A file's folder, or the working directory for a module, is put on the path, as ``python FILE``
    and ``python -m MODULE`` do. Raises :class:`UsageError` when there is nothing, and
    ``ConfigError`` when the file would run a program
    while it is imported, and when it cannot be imported, with the line that failed.
    """
    place, names = split(target)
    module = _imported(place)
    found = {name: _named(module, name, place) for name in names} if names else _found(module, place)
    values = list(found.values())
    agents = [value for value in values if is_agent(value)]
    if agents and len(values) > 1:
        raise UsageError(
            f"{target} names an agent and something else: name the agent alone, as in {place}:agent"
        )
    if agents:
        return Loaded(agent=agents[0], names=tuple(found))
    tools = as_tools(values)
    if not tools:
        raise UsageError(f"{target} holds no tools")
    return Loaded(tuple(tools), left_out=() if names else _left_out(module, tools), names=tuple(found))


def values_of(place: str) -> list[object]:
    """What the module at ``place`` names in public, lists unpacked. Raises as :func:`load` does."""
    found: list[object] = []
    for name, value in vars(_imported(place)).items():
        if not name.startswith("_"):
            found += value if isinstance(value, list | tuple) else [value]
    return found


def split(target: str) -> tuple[str, list[str]]:
    """The module or file of a target, and the names in it."""
    if target.endswith(".py") or ":" not in target:
        return target, []
    place, _, names = target.rpartition(":")
    return place, [name.strip() for name in names.split(",") if name.strip()]


def _imported(place: str) -> ModuleType:
    is_file = place.endswith(".py") or "/" in place or place.startswith(".") or not place
    if is_file and not Path(place).is_file():
        raise UsageError(f"there is no file {place or repr(place)}")
    folder = str(Path(place).resolve().parent if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return _executed(Path(place)) if is_file else importlib.import_module(place)
    except LiveToolsError:
        raise
    except ModuleNotFoundError as error:
        if error.name and (place == error.name or place.startswith(error.name + ".")):
            hint = f"; is it a file? Then say {place}.py" if Path(f"{place}.py").is_file() else ""
            raise UsageError(f"there is no module {place!r} here or among the installed ones{hint}") from None
        raise ConfigError(f"{place} cannot be imported: {told(error)}") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{place} cannot be imported: {told(error)}") from error


def _executed(path: Path) -> ModuleType:
    name = path.stem
    if name in sys.modules:  # of another file, or of a package: keep that one
        name = f"_livetools_{name}"
    _refuse_program(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where annotations and dataclasses look for it
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def told(error: BaseException) -> str:
    """An error of the user's module in one line, with the place where it was raised."""
    if isinstance(error, SyntaxError):
        if error.filename is None:  # the file is no text at all
            return error.msg
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""
    return f"{place}{type(error).__name__}: {error}"


def _named(module: ModuleType, name: str, place: str) -> object:
    value: object = module
    for step in name.split("."):
        if not hasattr(value, step):
            known = ", ".join(_known(module)) or "no functions"
            raise UsageError(f"{place} has no {name}; it has {known}")
        value = getattr(value, step)
    return value


def _found(module: ModuleType, place: str) -> dict[str, object]:
    """The tools of a module if no names are given, by their names in it."""
    if is_agent(chosen := getattr(module, "agent", None)):
        return {"agent": chosen}
    agents = {name: value for name, value in _own(module).items() if is_agent(value)}
    if len(agents) > 1:
        first = next(iter(agents))
        raise UsageError(f"{place} has several agents ({', '.join(agents)}): name one, as in {place}:{first}")
    if agents:
        return {**agents}
    for name in USUAL:
        if hasattr(module, name):
            return {name: getattr(module, name)}
    marked = {name: value for name, value in vars(module).items() if _is_meant(value)}
    plain = {name: getattr(module, name) for name in _functions(module)}
    if not (marked or plain):
        raise UsageError(
            f"{place} defines no agent and no tools: expected an agent, a list named tools, or functions"
        )
    return marked or plain


def _is_meant(value: object) -> bool:
    return isinstance(value, Tool | Toolset) or (
        callable(value) and not isinstance(value, type) and mark_of(value) is not UNMARKED
    )


def _own(module: ModuleType) -> dict[str, object]:
    """The public names in the module's text. An imported function is not the module's own; a partial has no module."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", module.__name__) in (module.__name__, "functools")
    }


def _known(module: ModuleType) -> list[str]:
    """The names a target may end in, for an error."""
    return [name for name, v in _own(module).items() if inspect.isfunction(v) or is_agent(v) or _is_meant(v)]


def _functions(module: ModuleType) -> list[str]:
    return [name for name, v in _own(module).items() if inspect.isfunction(v) and not is_agent(v)]


def _refuse_program(path: Path) -> None:
    """Refuse a file whose top level runs an event loop: its import would never return."""
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError):
        return  # importing it tells more
    runs = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _runner(node)}
    for statement in tree.body:
        if isinstance(statement, ast.Expr | ast.Assign) and (line := _runner(statement, runs)):
            raise ConfigError(
                f"{path}, line {line} runs a program while the file is imported: put it under "
                "if __name__ == '__main__':"
            )


def _left_out(module: ModuleType, tools: Collection[Tool]) -> tuple[str, ...]:
    """The functions of a module that were left out because others have ``@tool``.

    Those that the module calls itself are helpers of its own, and a list called ``tools`` is a choice.
    """
    if any(hasattr(module, name) for name in USUAL):
        return ()
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return ()
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    taken = [tool.handler for tool in tools]
    return tuple(
        name for name in _functions(module) if name not in called and getattr(module, name) not in taken
    )


def _runner(tree: ast.AST, functions: Collection[str] = ()) -> int:
    """The line where ``tree`` runs an event loop, by itself or by one of these functions; 0: nowhere."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="run")) if name in RUNNERS:
                return node.lineno
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                return node.lineno
    return 0
