"""Compares the arguments of a call with those expected: by value, by a matcher, or by a JSON Schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from livetools.errors import ConfigError
from livetools.evals.value_checks import expect_number
from livetools.setup.install_hints import install


@dataclass(frozen=True, slots=True)
class Matcher:
    """An expected argument that several values match. ``fits`` decides; ``text`` describes it in messages."""

    text: str
    fits: Callable[[Any], bool]

    def __repr__(self) -> str:
        return self.text


#: Any value, as long as the argument is given.
ANYTHING = Matcher("anything", lambda value: True)


def matches(pattern: str) -> Matcher:
    """A text that matches this regular expression, ignoring case.

    Raises ``ConfigError`` for a pattern that is not a regular expression.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ConfigError(f"{pattern!r} is not a regular expression: {error}") from None
    return Matcher(f"text like /{pattern}/", lambda v: isinstance(v, str) and compiled.search(v) is not None)


def between(low: float, high: float) -> Matcher:
    """A number from ``low`` to ``high``, both included. Raises ``ConfigError`` where no number is between them."""
    expect_number(low, "between", "", -math.inf)
    expect_number(high, "between", "", low)
    return Matcher(f"a number from {low:g} to {high:g}", lambda v: _is_number(v) and low <= v <= high)


def schema(of: Mapping[str, Any]) -> Matcher:
    """A value that this JSON Schema (draft 2020-12) accepts. Raises ``ConfigError`` for an invalid schema."""
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
    except ImportError:
        raise ConfigError(f"schema() needs jsonschema: {install('evals')}") from None

    try:
        Draft202012Validator.check_schema(of)
    except SchemaError as error:
        raise ConfigError(f"{dict(of)} is not a JSON Schema: {error.message}") from None
    validator = Draft202012Validator(of)
    return Matcher(f"a value of the schema {dict(of)}", validator.is_valid)


def differences(expected: Mapping[str, Any], given: Mapping[str, Any], *, others: bool = False) -> list[str]:
    """What speaks against a call, a line each. ``others``: arguments that are not named are allowed."""
    found = []
    for name, wanted in expected.items():
        if name not in given:
            found.append(f"{name} is missing")
        elif not fits(wanted, given[name]):
            found.append(f"{name} is {given[name]!r}, expected {wanted!r}")
    if not others:
        found += [
            f"{name}={value!r} was not asked for" for name, value in given.items() if name not in expected
        ]
    return found


def fits(wanted: object, value: object) -> bool:
    """Whether ``value`` is what is wanted: a matcher decides, a callable is asked, anything else is compared.

    Texts are compared without regard to case and space at their ends, as a speaker cannot tell them apart.
    """
    if isinstance(wanted, Matcher):
        return wanted.fits(value)
    if callable(wanted):
        return bool(wanted(value))
    if isinstance(wanted, str) and isinstance(value, str):
        return wanted.strip().casefold() == value.strip().casefold()
    if isinstance(wanted, Mapping) and isinstance(value, Mapping):
        return wanted.keys() == value.keys() and all(fits(wanted[key], value[key]) for key in wanted)
    if isinstance(wanted, list | tuple) and isinstance(value, list | tuple):
        return len(wanted) == len(value) and all(map(fits, wanted, value))
    return wanted == value and isinstance(wanted, bool) == isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
