"""``livetools web``: the page where an agent is developed, by keyboard and by microphone."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Annotated

import typer

from .agent import Choices, sessions
from .endpoint import service_or_fake
from .options import BASE_URL, CONFIG, INSTRUCTIONS, LANGUAGE, MODEL, PORT, TARGET, THINKING, VOICE
from .waiting import explained


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
) -> None:
    """Serve a web page to type or talk to an agent, with every call on a timeline.

    Only this machine can reach it, and only the page itself may open a session. Each tab has its own session, which
    survives a reload. Ctrl-C stops it.
    """
    import uvicorn

    from livetools.integrations.relay.limits import MAX_MESSAGE

    from .page import About, page_app

    choices = Choices(model, instructions, voice, language, thinking, config)
    with service_or_fake(fake, base_url) as endpoint, explained(f"port {port}"):
        session = sessions(target, choices, endpoint.options, transcribe=True)
        with socket.create_server(("127.0.0.1", port)) as listener:
            if endpoint.notice:
                typer.echo(endpoint.notice)
            typer.echo(f"open http://127.0.0.1:{listener.getsockname()[1]}")
            server = uvicorn.Server(
                uvicorn.Config(
                    page_app(session, About(endpoint.fake, target, choices)),
                    log_level="warning",
                    ws="websockets-sansio",
                    ws_max_size=MAX_MESSAGE,
                    timeout_graceful_shutdown=1,
                )
            )
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
