"""Checks of options that the bridges have in common. Each raises ``ConfigError`` with the option's name."""

from __future__ import annotations

from math import inf

from livetools.errors import ConfigError
from livetools.setup.plan_fields import is_seconds

#: The most seconds of what is kept for a time: a year.
A_YEAR = 366 * 86400.0


def checked_secret(value: str | None, name: str) -> str | None:
    """The secret as it is; ``None`` for no secret.

    Raises ``ConfigError`` for an empty one, which anybody could show: ``os.environ.get(NAME, "")`` gives it where the
    variable is not set.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise ConfigError(f"{name} is a {type(value).__name__}: a string is expected")
    if not value.strip():
        raise ConfigError(
            f"{name} is empty: anybody could show it. Read it from a variable that is set, os.environ[NAME], or leave "
            f"{name} out"
        )
    return value


def checked_bound(bound: int | None, name: str) -> int | None:
    """The bound as it is. Raises ``ConfigError`` unless it is ``None`` or an integer from 1 on."""
    if bound is not None and (type(bound) is not int or bound < 1):
        raise ConfigError(f"{name}={bound!r:.40}: expected a number of sessions from 1 on, or None")
    return bound


def checked_seconds(
    value: object, name: str, *, zero: bool = False, optional: bool = False, most: float = inf
) -> None:
    """Raise ``ConfigError`` unless this is a number of seconds above 0 and not above ``most``, or 0 with ``zero``, or
    ``None`` with ``optional``."""
    allowed = (zero and type(value) in (int, float) and value == 0) or (optional and value is None)
    if not (allowed or (isinstance(value, int | float) and is_seconds(value) and value <= most)):
        wanted = f"a number of seconds {'from 0' if zero else 'above 0'}{', or None' if optional else ''}"
        if most < inf:
            wanted += f", at most {most:.0f}"
        raise ConfigError(f"{name}={value!r:.40}: expected {wanted}")


def checked_text(value: object, name: str) -> None:
    """Raise ``ConfigError`` unless this is ``None`` or a text."""
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{name}={value!r:.40}: expected a text")


def checked_function(value: object, name: str) -> None:
    """Raise ``ConfigError`` unless this is ``None`` or can be called."""
    if value is not None and not callable(value):
        raise ConfigError(f"{name}={value!r:.40}: expected a function")
