"""``livetools serve``: the fake Live server on a port, with a table of its connections and calls."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import anyio
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from livetools.cli.agents.common_options import PORT, not_empty
from livetools.cli.process.errors_and_signals import explained, refuse, until_stopped, usable
from livetools.cli.terminal.printing import harmless
from livetools.setup.model_profiles import families, find
from livetools.testing.pretend import Pretend

if TYPE_CHECKING:
    from livetools.testing import FakeLiveServer, FakeSession
    from livetools.testing.net.urls import Address

_KEPT = 1000  # frames, calls and remarks that a server which runs for days remembers
_SHOWN = 20  # sessions in the table, the newest


T = TypeVar("T")


def serve(
    port: Annotated[int, PORT] = 8765,
    host: Annotated[str, typer.Option(help="The address to listen on.", callback=not_empty)] = "127.0.0.1",
    tls: Annotated[
        bool,
        typer.Option(
            "--tls", help="Serve wss:// with a self-made certificate; google-genai's client needs it."
        ),
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(help="Behave as this model, even if the client asks for another.", show_default=False),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(help="A YAML file of rules for the model: when, call, args, say.", show_default=False),
    ] = None,
    rest: Annotated[
        bool, typer.Option("--rest", help="Print how to call generateContent, which is on the same port.")
    ] = False,
    log: Annotated[bool, typer.Option("--log", help="Print every frame.")] = False,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="Misbehave: drop=0.01, flapping=3 … Repeat it for more faults.", show_default=False
        ),
    ] = None,
    pace: Annotated[
        float,
        typer.Option(
            help="How long a turn's end waits, as a share of the length of its audio: 1 like the service, 0 not at all."
        ),
    ] = 1.0,
    strict: Annotated[bool, typer.Option(help="Refuse what the service refuses.")] = True,
) -> None:
    """Serve a fake Live API with a pretend model, to try programs without a key.

    Set the variables that it prints, and start your program. Without rules the model picks a function by the words
    of the question. Ctrl-C stops it.
    """
    from livetools.testing import FakeLiveServer, Rules
    from livetools.testing.settings.fault_switches import Faults

    if not (math.isfinite(pace) and pace >= 0):
        refuse(f"--pace: {pace} is not a factor, such as 1 or 0.5")
    with usable("--fault"):
        faults = Faults.parse(fault or ())
    with usable("--profile"):
        _known(profile)
    with usable("--rules"):
        model = Pretend() if rules is None else Rules.load(rules)
    with explained(f"{host}:{port}"):
        server = FakeLiveServer(model, profile=profile, strict=strict, tls=tls, host=host, port=port)
        server.authority = authority_place()
        server.faults, server.hold, server.service.log.limit = faults, pace, _KEPT
        server.start()
    console = Console(highlight=False, soft_wrap=True)
    lines = announcement(server, f"serving a pretend model on {server.url}")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _watch(server, console, [*lines, curl(server)] if rest else lines, log)
    finally:
        server.stop(check=False)
    console.print("stopped")


def _known(profile: str | None) -> None:
    """Raise ``ValueError`` for a profile of an unknown model family: no model behaves like that."""
    if profile is not None and not find(profile).known:
        raise ValueError(f"no model family has the name {profile!r}; there are {', '.join(families())}")


def authority_place() -> Path:
    """The folder of the commands' certificate authority. A client that trusts it once trusts it the next time, too."""
    cache = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or _home() / ".cache"
    return Path(cache) / "livetools"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # neither HOME nor an entry of the user says where it is
        return Path(tempfile.gettempdir())


def announcement(server: Address, what: str) -> list[str]:
    """The announcement: what the server does, what a program needs to reach it, and who else can."""
    lines = [what, f"export GOOGLE_GEMINI_BASE_URL={server.http_url}"]
    trust = f"export SSL_CERT_FILE={server.ca_file}"
    lines.append(trust if server.ca_file else "# google-genai's own client speaks wss:// only: --tls")
    if server.public:
        elsewhere = f" at {server.public_url}" if server.public_url else ""
        lines.append(
            f"! other machines can connect to it{elsewhere}; --host 127.0.0.1 allows this machine alone"
        )
    return lines


def curl(server: FakeLiveServer) -> str:
    """A command that asks ``generateContent``."""
    trust = f"--cacert {server.ca_file} " if server.ca_file else ""
    body = """{"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}"""
    return f"curl {trust}-d '{body}' {server.http_url}/v1beta/models/gemini-3.8-flash:generateContent"


def _watch(server: FakeLiveServer, console: Console, lines: list[str], log: bool) -> None:
    """The announcement; then remarks as they come, the frames if ``log`` asks for them, on a terminal else a table."""

    def begin() -> None:
        for line in lines:
            console.print(line, markup=False)

    follower = _Follower(server, console, frames=log)
    living = Live(get_renderable=lambda: table(server), console=console, refresh_per_second=4)
    with living if console.is_terminal and not log else contextlib.nullcontext():
        anyio.run(until_stopped, begin, follower.tick)


class _Follower:
    """Prints what came since the last time: the server's remarks, and the frames if they are wanted."""

    def __init__(self, server: FakeLiveServer, console: Console, *, frames: bool) -> None:
        self.server, self.console, self.frames = server, console, frames

    def tick(self) -> None:
        frames = [*map(str, _taken(self.server.frames))] if self.frames else []
        for line in (*frames, *(f"! {note}" for note in _taken(self.server.log))):
            self.console.print(harmless(line), markup=False)


def _taken(entries: list[T]) -> list[T]:
    """Remove and return the entries of a list, while another thread may append to it."""
    taken = [*entries]
    del entries[: len(taken)]
    return taken


def table(server: FakeLiveServer) -> Table:
    """The newest sessions: their model, their line, their turns and their calls."""
    shown = Table(
        "session",
        "model",
        "line",
        "turns",
        "calls",
        "last",
        title=f"{server.url}: {len(server.sessions)} session{'s' * (len(server.sessions) != 1)}",
    )
    for session in server.sessions[-_SHOWN:]:
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
    """The last words of the conversation, the user's or the model's."""
    texts = [str(_first(content).get("text", "")) for content in session.history]
    return harmless(next((text for text in reversed(texts) if text), ""))[:40]
