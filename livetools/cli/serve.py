"""``livetools serve``: the fake Live server on a port, with a table of what goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from livetools.testing.pretend import Pretend

from .options import PORT
from .view import harmless
from .waiting import explained, until_stopped

if TYPE_CHECKING:
    from livetools.testing import FakeLiveServer, FakeSession
    from livetools.testing.urls import Address

KEPT = 1000  # frames, calls and remarks that a server which runs for days remembers
SHOWN = 20  # sessions in the table, the newest


def serve(
    port: Annotated[int, PORT] = 8765,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    tls: Annotated[
        bool, typer.Option("--tls", help="wss:// with a certificate of its own; google-genai needs it.")
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(help="Behave as this model, whatever the client asks for.", show_default=False),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(help="A pretend model in YAML: when, call, args, say.", show_default=False)
    ] = None,
    rest: Annotated[
        bool, typer.Option("--rest", help="Show how to reach generateContent, which is on the same port.")
    ] = False,
    log: Annotated[bool, typer.Option("--log", help="Print every frame.")] = False,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Misbehave: drop=0.01, flapping=3 … (again for more).", show_default=False),
    ] = None,
    strict: Annotated[bool, typer.Option(help="Close for what the service closes for.")] = True,
) -> None:
    """Serve a fake Live API with a pretend model: for programs that shall not meet the real one yet.

    Without rules the model picks a function by the words of the question. Ctrl-C stops it.
    """
    from livetools.testing import FakeLiveServer, Rules
    from livetools.testing.faults import Faults

    with explained(f"{host}:{port}"):
        model = Pretend() if rules is None else Rules.load(rules)
        server = FakeLiveServer(model, profile=profile, strict=strict, tls=tls, host=host, port=port)
        server.faults = Faults.parse(fault or ())
        server.journal.limit = KEPT
        server.start()
    console = Console(highlight=False, soft_wrap=True)
    lines = announcement(server, f"serving a pretend model on {server.url}")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _watch(server, console, [*lines, curl(server)] if rest else lines, log)
    finally:
        server.stop(check=False)
    console.print("stopped")


def announcement(server: Address, what: str) -> list[str]:
    """What it does, and what a program needs to go there."""
    lines = [what, f"export GOOGLE_GEMINI_BASE_URL={server.http_url}"]
    trust = f"export SSL_CERT_FILE={server.ca_file}"
    return [*lines, trust if server.ca_file else "# google-genai's own client speaks wss:// only: --tls"]


def curl(server: FakeLiveServer) -> str:
    """A command that asks ``generateContent``."""
    trust = f"--cacert {server.ca_file} " if server.ca_file else ""
    body = """{"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}"""
    return f"curl {trust}-d '{body}' {server.http_url}/v1beta/models/gemini-3.8-flash:generateContent"


def _watch(server: FakeLiveServer, console: Console, lines: list[str], log: bool) -> None:
    """Frames as they come, or, on a terminal, a table that lives; first the announcement."""

    def begin() -> None:
        for line in lines:
            console.print(line, markup=False)

    if log:
        anyio.run(until_stopped, begin, _Follower(server, console).tick)
    elif console.is_terminal:
        with Live(get_renderable=lambda: table(server), console=console, refresh_per_second=4):
            anyio.run(until_stopped, begin)
    else:
        anyio.run(until_stopped, begin)


class _Follower:
    """Prints the frames, and the server's remarks, that came since the last time."""

    def __init__(self, server: FakeLiveServer, console: Console) -> None:
        self.server, self.console = server, console

    def tick(self) -> None:
        frames, notes = [*self.server.frames], [*self.server.log]
        del self.server.frames[: len(frames)], self.server.log[: len(notes)]
        for line in (*map(str, frames), *(f"! {note}" for note in notes)):
            self.console.print(harmless(line), markup=False)


def table(server: FakeLiveServer) -> Table:
    """The newest sessions: their model, their line, their turns and their calls."""
    shown = Table(
        "session",
        "model",
        "line",
        "turns",
        "calls",
        "last",
        title=f"{server.url}: {len(server.sessions)} sessions",
    )
    for session in server.sessions[-SHOWN:]:
        calls = [call for call in server.calls if call.connection in session.connections]
        waiting = sum(call.state == "open" for call in calls)
        shown.add_row(
            session.id[:8],
            str(session.setup.get("model", "")).rsplit("/", 1)[-1],
            "open" if session.connection is not None else "gone",
            str(
                sum(
                    content.get("role") == "user" and "text" in _first(content) for content in session.history
                )
            ),
            f"{len(calls)}{f' ({waiting} open)' if waiting else ''}",
            _last(session),
        )
    return shown


def _first(content: dict[str, object]) -> dict[str, object]:
    parts = content.get("parts")
    return parts[0] if isinstance(parts, list) and parts else {}


def _last(session: FakeSession) -> str:
    """The last words, of either."""
    texts = [str(_first(content).get("text", "")) for content in session.history]
    return harmless(next((text for text in reversed(texts) if text), ""))[:40]
