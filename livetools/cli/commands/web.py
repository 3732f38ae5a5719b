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

from livetools.cli.agents.common_options import (
    BASE_URL,
    CONFIG,
    INSTRUCTIONS,
    LANGUAGE,
    MODEL_OPTION,
    PORT,
    TARGET,
    THINKING,
    VOICE,
    not_empty,
)
from livetools.cli.agents.open_sessions import Choices, loaded_now, opener
from livetools.cli.agents.reload import edits, loaded, update
from livetools.cli.agents.service_or_fake import ServiceOrFake, service_or_fake
from livetools.cli.process.errors_and_signals import UsageError, explained, refuse
from livetools.errors import LiveToolsError, LocalProtocolError, SessionClosed

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from livetools.cli.agents.load_agent import Loaded
    from livetools.cli.agents.open_sessions import Opener
    from livetools.cli.page.access_control import Door
    from livetools.cli.page.asgi_app import PageApp
    from livetools.cli.page.chosen_settings import Vary
    from livetools.cli.page.session_routes import Replay

LOOPBACK = "127.0.0.1"


def web(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str | None, MODEL_OPTION] = None,
    instructions: Annotated[str | None, INSTRUCTIONS] = None,
    voice: Annotated[str | None, VOICE] = None,
    language: Annotated[str | None, LANGUAGE] = None,
    config: Annotated[Path | None, CONFIG] = None,
    thinking: Annotated[str | None, THINKING] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
    port: Annotated[int, PORT] = 8000,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; 0.0.0.0 lets other machines in, with a token.", callback=not_empty
        ),
    ] = LOOPBACK,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name that a tunnel gives this page. Repeat it for more.", show_default=False),
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Take the edited file each time a Python file is saved.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="Keep the sessions of the last day on disk.")
    ] = True,
    replay: Annotated[
        Path | None,
        typer.Option(help="A recording to show on the page; no key is needed.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Serve a web page to type or talk to an agent, with every call on a timeline.

    Only this machine can reach it, unless --host or --allow-host says otherwise; then the address has a token. Only
    the page itself may open a session. Each tab has its own session, which survives a reload. Ctrl-C stops it.

    The sessions of the last day are kept in a folder that only you may read, and can be reopened on the page.
    """
    from livetools.cli.page.access_control import Door
    from livetools.cli.page.asgi_app import About, page_app
    from livetools.cli.process.state_folder import state_folder
    from livetools.cli.recordings.session_files import SessionFiles

    if reload and target is None:
        refuse("--reload: there is no file to follow; name it, as in livetools web agent.py --reload")
    choices = Choices(model, instructions, voice, language, thinking, config)
    door = Door.to(host, allow_host or (), secrets.token_urlsafe(16))
    shown = None if replay is None else _recording(replay)
    with service_or_fake(fake, base_url, pace=1.0) as endpoint, explained(f"{host}:{port}"):
        found = loaded_now(target)
        follow = partial(_follow, target, choices, endpoint) if reload and target is not None else None
        app = page_app(
            opener(found, target, choices, endpoint.options, transcribe=True),
            About(endpoint.fake, target, choices, shown),
            door=door,
            follow=follow,
            vary=_vary(found, target, choices, endpoint),
            files=SessionFiles(state_folder() / "web-sessions") if history else None,
        )
        with _listening(host, port) as listener:
            if endpoint.notice:
                typer.echo(endpoint.notice)
            for line in addresses(door, host, listener.getsockname()[1], allow_host or ()):
                typer.echo(line)
            _serve(app, listener)


def _serve(app: Starlette, listener: socket.socket) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    from livetools.integrations.relay.limits import MAX_MESSAGE

    config = uvicorn.Config(
        app, log_level="warning", ws="websockets-sansio", ws_max_size=MAX_MESSAGE, timeout_graceful_shutdown=1
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    socket.getaddrinfo(host, port)  # fails in its own way if the host does not exist
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()  # every address, those of IPv4 too
    return socket.create_server((host, port), family=family, dualstack_ipv6=both)


def addresses(door: Door, host: str, port: int, names: Iterable[str]) -> list[str]:
    """What to open, on this machine, on others, and through a tunnel."""
    from livetools.testing.net.urls import own_address

    everywhere = host in ("0.0.0.0", "::")
    lines = [f"open {door.url(LOOPBACK if everywhere else host, port).removesuffix('/')}"]
    if everywhere and (own := own_address()) is not None:
        lines.append(
            f"from another machine: {door.url(own, port)} (browsers give a microphone to https only)"
        )
    query = door.url("", port).partition("/?")[2]
    return lines + [f"through the tunnel: https://{name}/?{query}" for name in names]


def _recording(file: Path) -> Replay:
    """The recording of ``--replay``. Raises ``UsageError`` if it cannot be read."""
    from livetools.cli.page.session_routes import Replay
    from livetools.testing import Recording

    try:
        return Replay(file.name, tuple(Recording.load(file).frames))
    except OSError as error:
        raise UsageError(f"--replay: {file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"--replay: {error}") from None


def _vary(found: Loaded, target: str | None, choices: Choices, endpoint: ServiceOrFake) -> Vary:
    """What opens sessions of the target with other choices."""

    def vary(changes: Choices) -> Opener:
        return opener(found, target, choices, endpoint.options, transcribe=True, changes=changes)

    return vary


async def _follow(target: str, choices: Choices, endpoint: ServiceOrFake, page: PageApp) -> None:
    """Update the page's sessions, open and future ones, from each saved file."""
    async for names in edits(target):
        try:
            found = await loaded(target)
            page.take(
                opener(found, target, choices, endpoint.options, transcribe=True),
                _vary(found, target, choices, endpoint),
            )
            for session, has_own in page.sessions:
                with contextlib.suppress(
                    SessionClosed, LocalProtocolError
                ):  # it is over, and only remembered
                    await update(found, session, instructions=has_own and choices.instructions is None)
            typer.echo(f"{names}: reloaded")
        except LiveToolsError as error:
            typer.echo(f"{names}: {error}", err=True)
