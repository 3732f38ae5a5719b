"""The keyboard of a command that also listens to single keys: keys while nothing is asked, lines while something is."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import typer

from livetools.session.handlers.threads import DaemonThreads

from .line_input import forget_typed


class Keyboard:
    """Standard input. ``pressed`` gets each key, in a thread, while it is listened to and nothing is asked."""

    def __init__(self, pressed: Callable[[str], object] | None = None) -> None:
        self.is_there = sys.stdin.isatty()
        self._pressed = pressed
        self._line: Future[str | None] | None = None  # what is asked
        self._typed = ""
        self._threads = DaemonThreads()  # a thread that waits for a key keeps no process alive
        self._restore: Callable[[], None] = lambda: None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Give each key as it is pressed, without Enter and without showing it, until this is left."""
        if self._pressed is None:
            yield
            return
        self._set_keys()
        try:
            self._threads.submit(self._read)
            yield
        finally:
            self._restore()

    def ask(self, prompt: str) -> str | None:
        """A line that is typed; ``None`` where nobody sits at the keyboard. What was typed before is no answer."""
        if not self.is_there:
            return None
        forget_typed()
        if self._pressed is None:
            typer.echo(prompt, nl=False)
            return sys.stdin.readline() or None
        self._typed, self._line = "", Future()
        self._restore()  # the terminal shows and edits the line
        typer.echo(prompt, nl=False)
        try:
            return self._line.result()
        finally:
            self._line = None
            self._set_keys()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder(sys.stdin.encoding or "utf-8")("replace")
        while data := os.read(sys.stdin.fileno(), 1024):
            for key in decoder.decode(data):
                self._take(key)
        if self._line is not None:
            self._line.set_result(None)

    def _take(self, key: str) -> None:
        line = self._line
        if line is None:
            if self._pressed is not None:
                self._pressed(key)
        elif key == "\n" and not line.done():
            line.set_result(self._typed)
        else:
            self._typed += key

    def _set_keys(self) -> None:
        import termios
        import tty

        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)

        def restore() -> None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(fd, termios.TCSANOW, before)

        self._restore = restore
        tty.setcbreak(fd, termios.TCSANOW)
