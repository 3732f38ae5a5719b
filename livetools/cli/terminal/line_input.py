"""Reads the lines that are typed: from a terminal with line editing, history and completion, or a pipe."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from prompt_toolkit.history import History

from livetools.cli.process.state_folder import state_folder

#: The file that keeps what was typed.
HISTORY = "chat_history"


class Lines(Protocol):
    """Reads what a person types."""

    typed: bool  # by a person who can be asked; a pipe cannot

    def read(self, prompt: str) -> str | None:
        """A line; ``None`` at the end of input. Raises ``KeyboardInterrupt`` for Ctrl-C."""
        ...

    def forget(self) -> None:
        """Drop what a person has typed until now: it does not answer the question that comes next."""
        ...


def lines(commands: Sequence[str]) -> Lines:
    """The lines of standard input. ``commands`` are completed where a line begins with ``/``."""
    return Typed(commands) if sys.stdin.isatty() else Piped(sys.stdin)


class Piped:
    """Standard input that is not a terminal, or any other text."""

    typed = False

    def __init__(self, source: TextIO) -> None:
        if isinstance(source, io.TextIOWrapper):
            source.reconfigure(errors="replace")  # a byte that is not text ends no conversation
        self._source = source

    def read(self, prompt: str) -> str | None:
        """The next line. Nobody sees the prompt."""
        return self._source.readline() or None

    def forget(self) -> None:
        """See :class:`Lines`. Lines in a pipe are kept: they were written to be read later."""


class Typed:
    """A terminal. Questions of the conversation are kept from one program to the next, answers to prompts are not."""

    typed = True

    def __init__(self, commands: Sequence[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter

        completer = WordCompleter(list(commands), sentence=True)
        self._session: PromptSession[str] = PromptSession(
            history=_history(), completer=completer, complete_while_typing=False
        )
        self._question: PromptSession[str] = PromptSession()

    def read(self, prompt: str) -> str | None:
        """Ask for a line."""
        session = self._session if prompt == "> " else self._question
        try:
            return session.prompt(prompt)
        except EOFError:
            return None

    def forget(self) -> None:
        """See :class:`Lines`."""
        from prompt_toolkit.input.typeahead import clear_typeahead

        clear_typeahead(self._session.app.input)
        forget_typed()


def _history() -> History:
    """What was typed in conversations before; of this one alone, where no file can be kept (no home, a disk that is
    full)."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    try:
        return FileHistory(str(history_file()))
    except (OSError, RuntimeError):  # the latter: nobody knows where the home is
        return InMemoryHistory()


def forget_typed() -> None:
    """Drop what waits to be read from the terminal."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows; standard input is not a terminal
        import termios

        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def history_file() -> Path:
    """The file that keeps what was typed, readable by its owner alone. It is created if it does not exist."""
    file = state_folder() / HISTORY
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    return file
