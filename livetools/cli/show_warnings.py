"""Prints the warnings that the library logs, for the person at the terminal."""

from __future__ import annotations

import logging

import typer

from .agents.load_agent import told


class WarningHandler(logging.Handler):
    """A warning or an error as one line on standard error; of a traceback the last place, and the error."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            text = f"{text}: {told(error)}"
        typer.secho(f"  ! {text}", fg=typer.colors.YELLOW, err=True)


def show_warnings() -> None:
    """Show the library's warnings in this process, once a logger."""
    logger = logging.getLogger("livetools")
    if not any(isinstance(handler, WarningHandler) for handler in logger.handlers):
        logger.addHandler(WarningHandler(logging.WARNING))
        logger.propagate = False
