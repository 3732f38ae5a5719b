"""Prints a conversation, on a terminal or into a pipe."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from livetools import events
from livetools.events import Call, Event
from livetools.log import escaped

CUT = 300  # characters of a call's arguments, or of its result


class ConversationPrinter:
    """Prints a conversation, a piece at a time. ``speaker`` is what the model's lines begin with."""

    def __init__(self, console: Console, speaker: str) -> None:
        self.console = console
        self.speaker = speaker
        self._speaking = False  # the cursor is behind words of the model
        self._asking = False
        self._status = ""  # a line that the next one takes the place of

    def notice(self, text: str, style: str = "dim") -> None:
        """A line about the conversation."""
        self.end()
        self._print(text, style)

    def said(self, text: str) -> None:
        """A piece of what the model says."""
        if not self._speaking:
            self._print(f"{self.speaker}: ", "bold green", end="")
            self._speaking = True
        self._print(text, end="")

    def status(self, text: str) -> None:
        """A line that is shown until another is. Nothing, while the model speaks, and where no terminal can do it."""
        console = self.console
        if self._speaking or self._asking or text == self._status:
            return
        if not console.is_terminal or console.is_dumb_terminal:
            return
        self._erase()
        self.console.print(Text(text, "dim"), end="", soft_wrap=True)
        self._status = text

    @contextmanager
    def question(self) -> Iterator[None]:
        """A person is asked something: no line is shown that the next one takes the place of."""
        self._asking = True
        self.end()
        try:
            yield
        finally:
            self._asking = False

    def _erase(self) -> None:
        if self._status:
            self.console.control(Control.move_to_column(0), Control((ControlType.ERASE_IN_LINE, 2)))
            self._status = ""

    def end(self) -> None:
        """End the model's line."""
        self._erase()
        if self._speaking:
            self.console.print()
        self._speaking = False

    def show(self, event: Event) -> None:
        """Print an event of the session, if a person needs it."""
        match event:
            case events.TextChunk(text) | events.OutputTranscript(text):
                self.said(text)
            case events.ToolStarted(call):
                self.notice(f"  → {called(call)}", "cyan")
            case events.ToolProgress(call, value):
                self.notice(f"  … {call.name}: {json_text(value)}", "cyan")
            case events.ToolFinished(call, response, error, elapsed):
                text = f"  ← {call.name}: {result(response)}  ({duration(elapsed)})"
                self.notice(text, "red" if error else "cyan")
            case _:
                text = told(event)
                if text:
                    self.notice(f"  {text}", "yellow")

    def _print(self, text: str, style: str = "", end: str = "\n") -> None:
        self._erase()
        self.console.print(Text(harmless(text), style), end=end, soft_wrap=True)


def told(event: Event) -> str:
    """The line that describes an event outside the conversation; empty for most events."""
    match event:
        case events.ToolCancelled(call):
            return f"{call.name} was cancelled by the service"
        case events.ToolLost(call, delivery):
            fate = "its result follows as text" if delivery == "text" else "its result is dropped"
            return f"the line broke while {call.name} ran: {fate}"
        case events.Interrupted():
            return "interrupted"
        case events.HandedOff(name):
            return f"handed over to {name or 'another agent'}"
        case events.GoAway(left):
            return f"the service ends this connection{'' if left is None else f' in {left:g} s'}"
        case events.Reconnecting(attempt, delay, cause):
            return f"the connection is lost ({cause}): attempt {attempt} in {delay:.1f} s"
        case events.Reconnected(restored):
            return "connected again" if restored else "connected again, to a new session"
        case events.Stalled(waiting_for, seconds):
            return f"waiting for {waiting_for} since {seconds:.0f} s"
        case events.TurnComplete(reason) if reason not in (
            None,
            events.REPLACED,  # told by Interrupted
            events.SETTLED,
        ):
            return f"the turn ended: {reason}"
    return ""


def called(call: Call) -> str:
    """A call as Python would write it: ``get_weather(city="Oslo")``."""
    return cut(f"{call.name}({', '.join(f'{name}={json_text(value)}' for name, value in call.args.items())})")


def result(response: Mapping[str, object]) -> str:
    """The value of a response, without its wrapping."""
    keys = [key for key in ("output", "result", "content") if key in response]
    return cut(json_text(response[keys[0]] if len(response) == 1 and keys else dict(response)))


def short(model: str) -> str:
    """A model's name without its path: ``models/gemini-3.8-live`` → ``gemini-3.8-live``."""
    return model.rpartition("/")[2]


def json_text(value: object) -> str:
    """A value in a line, cut to ``CUT`` characters."""
    try:
        return cut(escaped(json.dumps(value, ensure_ascii=False, default=str)))
    except (ValueError, RecursionError):
        return f"<{type(value).__name__} that JSON cannot hold>"


def cut(text: str) -> str:
    return text if len(text) <= CUT else f"{text[:CUT]}…"


def duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def harmless(text: str) -> str:
    """Without the characters that could take over a terminal, or show its lines in another order."""
    return _DISORDER.sub("", text).encode(errors="replace").decode()


def printable(text: str) -> str:
    """Text that is read by programs, JSON or Python, as standard output can write it: what is not in its code page is
    escaped, where a ``?`` would take its place."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(each if each.isascii() else json.dumps(each)[1:-1] for each in text)
    return text


#: Control characters, and those that turn the direction of what follows.
_DISORDER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
