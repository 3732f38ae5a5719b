"""The entry point of the ``livetools`` command."""

from __future__ import annotations

import codecs
import importlib.util
import io
import os
import sys

INTERRUPTED = 130  # what shells say of a program that Ctrl-C has ended


def main() -> None:
    """Run the command; without its extra, say how to get it. Ctrl-C ends it without a traceback."""
    try:
        _run()
    except KeyboardInterrupt:  # while the command itself is imported: there typer does not see it yet
        sys.exit(INTERRUPTED)


def _run() -> None:
    if importlib.util.find_spec("typer") is None or importlib.util.find_spec("rich") is None:
        from livetools.setup.install_hints import install

        sys.exit(f"livetools: the command needs typer and rich: {install('cli')}")
    from .app import app

    # 0 says that the terminal knows no size, and rich would print nothing in it.
    for size in ("COLUMNS", "LINES"):
        if os.environ.get(size) == "0":
            del os.environ[size]
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed when the command began, as those of a daemon may be
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    codecs.register_error("livetools", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="livetools")
    app()


#: Marks of ours that no code page of Windows has, in ASCII: a fault and a success must not look alike.
MARKS = {"→": "->", "←": "<-", "✔": "ok", "✘": "x", "≠": "!="}


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """What is written for a character that standard output cannot write."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return MARKS.get(error.object[error.start], "?"), error.start + 1
