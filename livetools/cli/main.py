"""The entry point of the ``livetools`` command."""

from __future__ import annotations

import codecs
import contextlib
import errno
import importlib.util
import io
import os
import sys

_INTERRUPTED = 130  # what shells say of a program that Ctrl-C has ended


def main() -> None:
    """Run the command; without its extra, say how to get it. Ctrl-C ends it without a traceback, and so does an output
    that cannot be written: it says so on standard error, unless the reader of the output has gone."""
    try:
        try:
            _run()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # at the interpreter's end its failure would be a traceback
    except KeyboardInterrupt:  # while the command itself is imported: there typer does not see it yet
        sys.exit(_INTERRUPTED)
    except OSError as error:
        _drop_output()
        gone = error.errno == errno.EPIPE
        sys.exit(1 if gone else f"livetools: the output cannot be written: {error.strerror or error}")


def _drop_output() -> None:
    """Let the interpreter's end write the rest of the output nowhere: it would fail again."""
    with contextlib.suppress(OSError, ValueError):  # a stream of another program's has no number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


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
_MARKS = {"→": "->", "←": "<-", "✔": "ok", "✘": "x", "≠": "!="}


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """What is written for a character that standard output cannot write."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _MARKS.get(error.object[error.start], "?"), error.start + 1
