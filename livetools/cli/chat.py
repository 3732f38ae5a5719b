"""``livetools chat``: type, read, and see every call.

The terminal belongs to the main thread, the session to an event loop in another: so reading a line needs no
tricks, and Ctrl-C arrives where the line is read.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Annotated

import anyio
import typer
from anyio.from_thread import BlockingPortal, start_blocking_portal
from rich.console import Console

from livetools.protocol.errors import LiveToolsError
from livetools.protocol.events import ApprovalRequested, Call, Event
from livetools.session.connect import connect
from livetools.session.session import Session

from .endpoint import service_or_fake
from .loading import load
from .options import BASE_URL, DEFAULT_MODEL, MODEL, TARGET, THINKING, thinking_config
from .view import View, called


class _Answered:
    """In the queue of events: the exchange is over."""


_ANSWERED = _Answered()


def chat(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str, MODEL] = DEFAULT_MODEL,
    instructions: Annotated[str | None, typer.Option(help="The system instruction.")] = None,
    thinking: Annotated[str | None, THINKING] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
) -> None:
    """Type, see the answer stream in, and see every call with its arguments, result and time.

    From a pipe it reads a question a line. With a key in the environment (GEMINI_API_KEY) it talks to the
    service; without one, or with --fake, to a pretend model on this machine. Ctrl-C or Ctrl-D ends it.
    """
    tools = load(target) if target else []
    with service_or_fake(fake, base_url) as endpoint:
        view = View(Console(highlight=False), "pretend model" if endpoint.fake else model)
        if endpoint.notice:
            view.notice(endpoint.notice)
        view.notice(f"tools: {', '.join(tool.name for tool in tools) or 'none'}")
        session = connect(
            model,
            tools=tools,
            instructions=instructions,
            config=thinking_config(thinking),
            **endpoint.options,
        )
        try:
            _talk(session, view)
        except KeyboardInterrupt:
            view.end()


def _talk(session: Session, view: View) -> None:
    heard: SimpleQueue[Event | _Answered] = SimpleQueue()
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(session):
        portal.start_task_soon(_listen, session, heard)
        for line in _lines(view):
            answered = portal.start_task_soon(_exchange, session, line, heard)
            _show(portal, session, heard, view)
            answered.result()


async def _listen(session: Session, heard: SimpleQueue[Event | _Answered]) -> None:
    try:
        async for event in session:
            heard.put(event)
    except LiveToolsError:
        pass  # whoever asks next is raised it, too


async def _exchange(session: Session, text: str, heard: SimpleQueue[Event | _Answered]) -> None:
    try:
        await session.ask(text)
        await anyio.lowlevel.checkpoint()  # the listener, woken before us, hands out what it has
    finally:
        heard.put(_ANSWERED)


def _show(
    portal: BlockingPortal, session: Session, heard: SimpleQueue[Event | _Answered], view: View
) -> None:
    """Show events until the exchange is over."""
    while not isinstance(event := heard.get(), _Answered):
        view.show(event)
        if isinstance(event, ApprovalRequested):
            _decide(portal, session, event.call, view)
    view.end()


def _decide(portal: BlockingPortal, session: Session, call: Call, view: View) -> None:
    """Ask the person at the terminal; in a pipe there is nobody, which is a refusal."""
    view.notice(f"  ? {called(call)}", "yellow")
    answer = input("    run it? [y/N] ") if sys.stdin.isatty() else ""
    try:
        if answer.strip().lower() in ("y", "yes"):
            portal.call(session.approve, call)
        else:
            portal.call(session.refuse, call, "the user said no")
    except LiveToolsError as error:
        view.notice(f"  {error}", "yellow")


def _lines(view: View) -> Iterator[str]:
    """What the user says, a line at a time: typed, or from a pipe."""
    typed = sys.stdin.isatty()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a byte that is no text ends no conversation
    while True:
        if typed:
            try:
                line = input("> ")
            except EOFError:
                view.console.print()
                return
        else:
            line = sys.stdin.readline()
            if not line:
                return
        if line.strip():
            if not typed:
                view.notice(f"> {line.strip()}", "")
            yield line.strip()
