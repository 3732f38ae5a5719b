"""``livetools web``: the page where an agent is developed, by keyboard and by microphone."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livetools.errors import LiveToolsError, LocalProtocolError, SessionClosed

from .agent import Choices, opener, sessions
from .endpoint import Endpoint, service_or_fake
from .options import BASE_URL, CONFIG, INSTRUCTIONS, LANGUAGE, MODEL, PORT, TARGET, THINKING, VOICE
from .reload import edits, loaded, update
from .waiting import explained, refuse

if TYPE_CHECKING:
    from .door import Door
    from .page import Page

LOOPBACK = "127.0.0.1"


def web(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str | None, MODEL] = None,
    instructions: Annotated[str | None, INSTRUCTIONS] = None,
    voice: Annotated[str | None, VOICE] = None,
    language: Annotated[str | None, LANGUAGE] = None,
    config: Annotated[Path | None, CONFIG] = None,
    thinking: Annotated[str | None, THINKING] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
    port: Annotated[int, PORT] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines in, with a token.")
    ] = LOOPBACK,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name that a tunnel gives this page. Repeat it for more.", show_default=False),
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Take the edited file each time a Python file is saved.")
    ] = False,
) -> None:
    """Serve a web page to type or talk to an agent, with every call on a timeline.

    Only this machine can reach it, unless --host or --allow-host says otherwise; then the address has a token. Only
    the page itself may open a session. Each tab has its own session, which survives a reload. Ctrl-C stops it.
    """
    import uvicorn

    from livetools.integrations.relay.limits import MAX_MESSAGE

    from .door import Door
    from .page import About, page_app

    if reload and target is None:
        refuse("--reload: there is no file to follow; name it, as in livetools web agent.py --reload")
    choices = Choices(model, instructions, voice, language, thinking, config)
    door = Door.to(host, allow_host or (), secrets.token_urlsafe(16))
    with service_or_fake(fake, base_url, pace=1.0) as endpoint, explained(f"{host}:{port}"):
        session = sessions(target, choices, endpoint.options, transcribe=True)
        follow = partial(_follow, target, choices, endpoint) if reload and target is not None else None
        app = page_app(session, About(endpoint.fake, target, choices), door=door, follow=follow)
        with _listening(host, port) as listener:
            if endpoint.notice:
                typer.echo(endpoint.notice)
            for line in addresses(door, host, listener.getsockname()[1], allow_host or ()):
                typer.echo(line)
            server = uvicorn.Server(
                uvicorn.Config(
                    app,
                    log_level="warning",
                    ws="websockets-sansio",
                    ws_max_size=MAX_MESSAGE,
                    timeout_graceful_shutdown=1,
                )
            )
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    socket.getaddrinfo(host, port)  # a host that there is not is told as such
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def addresses(door: Door, host: str, port: int, names: Iterable[str]) -> list[str]:
    """What to open, on this machine, on others, and through a tunnel."""
    everywhere = host in ("0.0.0.0", "::")
    lines = [f"open {door.url(LOOPBACK if everywhere else host, port).removesuffix('/')}"]
    if everywhere and (own := own_address()) is not None:
        lines.append(
            f"from another machine: {door.url(own, port)} (browsers give a microphone to https only)"
        )
    query = door.url("", port).partition("/?")[2]
    return lines + [f"through the tunnel: https://{name}/?{query}" for name in names]


def own_address() -> str | None:
    """This machine's address in its network; ``None`` if it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("10.255.255.255", 1))
        return str(probe.getsockname()[0])
    return None


async def _follow(target: str, choices: Choices, endpoint: Endpoint, page: Page) -> None:
    """Update the page's sessions, open and future ones, from each saved file."""
    async for names in edits(target):
        try:
            found = await loaded(target)
            page.take(opener(found, target, choices, endpoint.options, transcribe=True))
            for session in page.sessions:
                with contextlib.suppress(
                    SessionClosed, LocalProtocolError
                ):  # it is over, and only remembered
                    await update(found, session)
            typer.echo(f"{names}: reloaded")
        except LiveToolsError as error:
            typer.echo(f"{names}: {error}", err=True)
