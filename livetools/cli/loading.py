"""``MODULE:NAMES`` and ``FILE.py[:NAMES]``: from a word on the command line to tools."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from livetools.protocol.errors import ConfigError, LiveToolsError
from livetools.tools import Tool, Toolset, as_tools
from livetools.tools.tool import UNMARKED, mark_of

USUAL = ("tools", "TOOLS")


def load(target: str) -> list[Tool]:
    """The tools that ``target`` names.

    ``NAMES`` are names of the module, with commas between them: functions, ``Tool``, ``Toolset``, or lists of
    those. Without any: the module's ``tools`` (or ``TOOLS``), or else whatever in it bears ``@tool`` or is a
    ``Tool`` or a ``Toolset``. A file's folder, or the working directory for a module, is put on the path, as
    ``python FILE`` and ``python -m MODULE`` do. Raises ``ConfigError`` when there is nothing, and when the
    module cannot be imported, with the line that failed.
    """
    place, names = _split(target)
    module = _imported(place)
    tools = as_tools([_named(module, name, place) for name in names] if names else _found(module, place))
    if not tools:
        raise ConfigError(f"{target} holds no tools")
    return tools


def _split(target: str) -> tuple[str, list[str]]:
    if target.endswith(".py") or ":" not in target:
        return target, []
    place, _, names = target.rpartition(":")
    return place, [name.strip() for name in names.split(",") if name.strip()]


def _imported(place: str) -> ModuleType:
    is_file = place.endswith(".py") or "/" in place
    if is_file and not Path(place).is_file():
        raise ConfigError(f"there is no file {place}")
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
            raise ConfigError(
                f"there is no module {place!r} here or among the installed ones{hint}"
            ) from None
        raise ConfigError(f"{place} cannot be imported: {told(error)}") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{place} cannot be imported: {told(error)}") from error


def _executed(path: Path) -> ModuleType:
    name = path.stem
    if name in sys.modules:  # of another file, or of a package: keep that one
        name = f"_livetools_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is no Python file")
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
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""
    return f"{place}{type(error).__name__}: {error}"


def _named(module: ModuleType, name: str, place: str) -> object:
    value: object = module
    for step in name.split("."):
        if not hasattr(value, step):
            known = ", ".join(_callables(module)) or "no functions"
            raise ConfigError(f"{place} has no {name}; it has {known}")
        value = getattr(value, step)
    return value


def _found(module: ModuleType, place: str) -> list[object]:
    for name in USUAL:
        if hasattr(module, name):
            return [getattr(module, name)]
    marked = [value for value in vars(module).values() if _is_meant(value)]
    if not marked:
        plain = _callables(module)
        hint = f": say which of its functions are meant, as in {place}:{','.join(plain)}" if plain else ""
        raise ConfigError(f"{place} has neither a list called tools nor anything that bears @tool{hint}")
    return marked


def _is_meant(value: object) -> bool:
    return isinstance(value, Tool | Toolset) or (
        callable(value) and not isinstance(value, type) and mark_of(value) is not UNMARKED
    )


def _callables(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and not isinstance(value, type)
        and getattr(value, "__module__", None) == module.__name__
    ]
