"""Secrets that callers must show."""

from __future__ import annotations

from livetools.errors import ConfigError


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
