"""How a command ends: called wrongly, with an error that is explained in one line, or stopped by a signal."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import anyio
import typer

from livetools.errors import ConfigError


class UsageError(ConfigError):
    """The command was called wrongly, with a target or a file that does not exist: exit status 2."""


SIGNALS = [signal.SIGINT, signal.SIGTERM]


async def until_stopped(
    begin: Callable[[], None], tick: Callable[[], None] = lambda: None, every: float = 0.25
) -> None:
    """Return at Ctrl-C or SIGTERM.

    ``begin`` is called when both are waited for, ``tick`` from then on, ``every`` so many seconds.

    Where signals cannot be received (Windows) Ctrl-C raises ``KeyboardInterrupt``, as it does by default.
    """
    if sys.platform == "win32":
        begin()
        await _tick(tick, every)
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        begin()
        async with anyio.create_task_group() as group:
            group.start_soon(_tick, tick, every)
            async for _ in signals:
                group.cancel_scope.cancel()
                return


async def _tick(tick: Callable[[], None], every: float) -> None:
    while True:
        tick()
        await anyio.sleep(every)


@contextmanager
def explained(what: str = "") -> Iterator[None]:
    """Turn errors about files, ports and values into a ``ConfigError`` with one line.

    ``what`` was being done, for errors that do not name a file.
    """
    try:
        yield
    except ConfigError:
        raise
    except socket.gaierror as error:
        raise UsageError(f"{what}: {error.strerror}") from error  # the host does not exist
    except OSError as error:
        place = error.filename or what
        raise ConfigError(f"{place}: {error.strerror or error}" if place else str(error)) from error
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error


@contextmanager
def usable(option: str) -> Iterator[None]:
    """Report an error in an option's value in one line that names the option, with exit status 2."""
    try:
        with explained():
            yield
    except ConfigError as error:
        refuse(f"{option}: {error}")


def refuse(text: str) -> NoReturn:
    """End a command that was called wrongly: one line on standard error, and exit status 2."""
    typer.secho(f"livetools: {text}", fg=typer.colors.RED, err=True)
    raise typer.Exit(2)
