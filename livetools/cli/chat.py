"""``livetools chat``: type, read, and see every call.

The terminal belongs to the main thread, the session to an event loop in another: so reading a line needs no
tricks, and Ctrl-C arrives where the line is read.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated

import anyio
import typer
from anyio.from_thread import BlockingPortal, start_blocking_portal
from rich.console import Console

from livetools.protocol.errors import LiveToolsError, ToolError
from livetools.protocol.events import ApprovalRequested, Call, Event, ToolStarted
from livetools.session.session import Session

from .agent import Choices, sessions
from .endpoint import service_or_fake
from .options import BASE_URL, CONFIG, INSTRUCTIONS, LANGUAGE, MODEL, TARGET, THINKING, VOICE
from .view import View, called, short


class _Answered:
    """In the queue of events: the exchange is over."""


_ANSWERED = _Answered()


def chat(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str | None, MODEL] = None,
    instructions: Annotated[str | None, INSTRUCTIONS] = None,
    voice: Annotated[str | None, VOICE] = None,
    language: Annotated[str | None, LANGUAGE] = None,
    config: Annotated[Path | None, CONFIG] = None,
    thinking: Annotated[str | None, THINKING] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
) -> None:
    """Type, see the answer stream in, and see every call with its arguments, result and time.

    From a pipe it reads a question a line. With a key in the environment (GEMINI_API_KEY) it talks to the
    service; without one, or with --fake, to a pretend model on this machine. Ctrl-C or Ctrl-D ends it.
    """
    choices = Choices(model, instructions, voice, language, thinking, config)
    with service_or_fake(fake, base_url) as endpoint:
        session = sessions(target, choices, endpoint.options)()
        view = View(Console(highlight=False), "pretend model" if endpoint.fake else short(session.model))
        if endpoint.notice:
            view.notice(endpoint.notice)
        view.notice(f"tools: {', '.join(session.tools) or 'none'}")
        if sys.stdin.isatty():
            view.notice("Ctrl-D ends it.")
        unserved = {name for name, handled in session.tools.items() if not handled}
        with contextlib.suppress(KeyboardInterrupt), start_blocking_portal() as portal:
            with portal.wrap_async_context_manager(session):
                _Talk(portal, session, view, unserved).run()
        view.end()


class _Talk:
    """The conversation, seen from the terminal. ``unserved`` tools have no handler: the person answers."""

    def __init__(
        self, portal: BlockingPortal, session: Session, view: View, unserved: Collection[str]
    ) -> None:
        self.portal, self.session, self.view, self.unserved = portal, session, view, unserved
        self.typed = sys.stdin.isatty()
        self.heard: SimpleQueue[Event | _Answered] = SimpleQueue()

    def run(self) -> None:
        """Ask what is typed, a line at a time, to the end of input. Raises what ended the session."""
        self.portal.start_task_soon(self._listen)
        for line in self._lines():
            answered = self.portal.start_task_soon(self._exchange, line)
            while not isinstance(event := self.heard.get(), _Answered):
                self._show(event)
            self.view.end()
            answered.result()

    # -- in the session's loop

    async def _listen(self) -> None:
        with contextlib.suppress(LiveToolsError):  # whoever asks next is raised it, too
            async for event in self.session:
                self.heard.put(event)

    async def _exchange(self, text: str) -> None:
        try:
            await self.session.ask(text)
            await anyio.lowlevel.checkpoint()  # the listener, woken before us, hands out what it has
        finally:
            self.heard.put(_ANSWERED)

    # -- at the terminal

    def _lines(self) -> Iterator[str]:
        """What the user says: typed, or from a pipe, and then shown."""
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # a byte that is no text ends no conversation
        while (line := self._asked("> ") if self.typed else sys.stdin.readline() or None) is not None:
            if line.strip():
                if not self.typed:
                    self.view.notice(f"> {line.strip()}", "")
                yield line.strip()

    def _asked(self, prompt: str) -> str | None:
        """A line of the person at the terminal; ``None`` at the end of input."""
        try:
            return input(prompt)
        except EOFError:
            self.view.console.print()
            return None

    def _show(self, event: Event) -> None:
        self.view.show(event)
        match event:
            case ApprovalRequested(call):
                self._settle(self._decide(call))
            case ToolStarted(call) if call.name in self.unserved:
                self._settle(self._answer(call))

    def _decide(self, call: Call) -> Callable[[], Awaitable[None]]:
        """Whether it may run: in a pipe, or past the end of input, there is nobody to ask, which is a refusal."""
        self.view.notice(f"  ? {called(call)}", "yellow")
        said = self._asked("    run it? [y/N] ") if self.typed else None
        if said is None:
            self.view.notice("    refused: approvals are given at a terminal, and nobody is at one", "yellow")
            return partial(self.session.refuse, call, "nobody was there to be asked")
        if said.strip().lower() in ("y", "yes"):
            return partial(self.session.approve, call)
        return partial(self.session.refuse, call, "the user said no")

    def _answer(self, call: Call) -> Callable[[], Awaitable[None]]:
        """What a function without a handler returns."""
        said = self._asked(f"    {call.name} returns: ") if self.typed else None
        value = ToolError("nobody was there to answer") if said is None else said
        return partial(self.session.respond, call, value)

    def _settle(self, deed: Callable[[], Awaitable[None]]) -> None:
        try:
            self.portal.call(deed)
        except LiveToolsError as error:  # timed out, or cancelled meanwhile
            self.view.notice(f"  {error}", "yellow")
