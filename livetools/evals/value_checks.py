"""Checks of the values in an eval. A slip in one is an error when the eval is made, before anything is played."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from importlib.util import find_spec

from livetools.errors import ConfigError
from livetools.setup.install_hints import install


class UnknownTool(ConfigError):
    """An eval names a tool that its agent does not have."""


def expect_name(value: object, what: str) -> None:
    """Raise ``ConfigError`` if this is not the name of a function."""
    if not isinstance(value, str) or not value:
        raise _error(value, what, "the name of a function")


def expect_text(value: object, what: str, wanted: str) -> None:
    """Raise ``ConfigError`` if this is not a text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise _error(value, what, wanted)


def expect_count(value: object, what: str, least: int = 1) -> None:
    """Raise ``ConfigError`` if this is not a whole number from ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _error(value, what, f"a whole number from {least}")


def expect_number(value: object, what: str, unit: str, low: float = 0.0, high: float = math.inf) -> None:
    """Raise ``ConfigError`` if this is not a number of ``unit`` from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        most = "" if high == math.inf else f" to {high:g}"
        raise _error(value, what, f"a number{unit and f' of {unit}'}, from {low:g}{most}")


def expect_flag(value: object, what: str) -> None:
    """Raise ``ConfigError`` if this is neither ``True`` nor ``False``."""
    if not isinstance(value, bool):
        raise _error(value, what, "True or False")


def expect_arguments(value: object, what: str) -> None:
    """Raise ``ConfigError`` if this is neither ``None`` nor the arguments of a call, by their names."""
    if value is not None and not isinstance(value, Mapping):
        raise _error(value, what, "a mapping of arguments by their names")


def expect_approve(value: bool | Collection[str], what: str) -> None:
    """Raise ``ConfigError`` if this does not say which calls are approved."""
    if isinstance(value, bool):
        return
    wrong = isinstance(value, str | bytes | Mapping) or not isinstance(value, Collection)
    if wrong or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"{what}: approve={value!r:.60}: expected True, False, or a list of names")


def expect_installed(module: str, package: str, what: str) -> None:
    """Raise ``ConfigError`` if this module of the extra ``evals`` is not installed."""
    if find_spec(module) is None:
        raise ConfigError(f"{what} needs {package}: {install('evals')}")


def _error(value: object, what: str, wanted: str) -> ConfigError:
    return ConfigError(f"{what}: {value!r:.60} is not {wanted}")
