"""``livetools web``: talk to a model in a browser, by keyboard and by microphone.

Each page has a session of its own. A page sends text, or binary frames of 16-bit mono PCM at 16 kHz; it gets
binary frames of PCM at 24 kHz, and JSON: ``{"kind": ..., "text": ...}``.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import anyio
import typer

from livetools.protocol import events
from livetools.protocol.errors import LiveToolsError
from livetools.protocol.events import Event
from livetools.session.session import Session

from .agent import Choices, sessions
from .endpoint import service_or_fake
from .options import BASE_URL, CONFIG, INSTRUCTIONS, LANGUAGE, MODEL, PORT, TARGET, THINKING, VOICE
from .view import called, duration, result, told
from .waiting import explained

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

PAGE = Path(__file__).with_name("page.html")


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
    """Serve a page to talk to a model: typed or spoken, with every call shown.

    Only this machine reaches it, and only the page itself may open a session. Ctrl-C stops it.
    """
    import uvicorn

    choices = Choices(model, instructions, voice, language, thinking, config)
    with service_or_fake(fake, base_url) as endpoint, explained(f"port {port}"):
        session = sessions(target, choices, endpoint.options, transcribe=True)
        with socket.create_server(("127.0.0.1", port)) as listener:
            if endpoint.notice:
                typer.echo(endpoint.notice)
            typer.echo(f"open http://127.0.0.1:{listener.getsockname()[1]}")
            server = uvicorn.Server(
                uvicorn.Config(
                    app(session), log_level="warning", ws="websockets-sansio", timeout_graceful_shutdown=1
                )
            )
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])


def app(session: Callable[[], Session]) -> Starlette:
    """The page, and a websocket that opens a session a client."""
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse
    from starlette.routing import Route, WebSocketRoute

    async def page(request: Request) -> Response:
        return HTMLResponse(PAGE.read_text(encoding="utf-8"))

    async def converse(browser: WebSocket) -> None:
        if is_own(browser.headers.get("origin", ""), browser.headers.get("host", "")):
            await browser.accept()
            await Guest(browser).converse(session())
        else:
            await browser.close(1008, "only the page itself may open a session")

    return Starlette(routes=[Route("/", page), WebSocketRoute("/session", converse)])


def is_own(origin: str, host: str) -> bool:
    """Whether a websocket comes from our page: other sites in the same browser could use the tools, too."""
    place = urlsplit(origin)
    return place.netloc == host and place.hostname in ("127.0.0.1", "localhost")


class Guest:
    """One page and its session."""

    def __init__(self, browser: WebSocket) -> None:
        self.browser = browser

    async def converse(self, session: Session) -> None:
        """Until the page is closed, or the session has ended; then the page is told why."""
        from starlette.websockets import WebSocketDisconnect

        reason = ""
        try:
            async with session:
                reason = await self._both_ways(session)
        except LiveToolsError as error:
            reason = str(error)
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # the page was closed first
            await self.browser.close(1000, reason.encode()[:120].decode(errors="ignore"))

    async def _both_ways(self, session: Session) -> str:
        """Listen and speak; whichever ends first ends the other. Why the session ended, if it did."""
        reasons: list[str] = []

        async def alone(way: Callable[[Session], Awaitable[None]]) -> None:
            from starlette.websockets import WebSocketDisconnect

            try:
                await way(session)
            except LiveToolsError as error:
                reasons.append(str(error))
            except WebSocketDisconnect:
                pass
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(alone, self._listen)
            group.start_soon(alone, self._speak)
        return "".join(reasons[:1])

    async def _listen(self, session: Session) -> None:
        async for event in session:
            if isinstance(event, events.AudioChunk):
                await self.browser.send_bytes(event.data)
            elif shown := shown_as(event):
                await self.browser.send_json({"kind": shown[0], "text": shown[1]})

    async def _speak(self, session: Session) -> None:
        while True:
            message = await self.browser.receive()
            if message["type"] == "websocket.disconnect":
                return
            if message.get("bytes") is not None:
                await session.send_audio(message["bytes"])
            elif message.get("text"):
                await session.send_text(message["text"])


def shown_as(event: Event) -> tuple[str, str] | None:
    """The kind and the text of an event on the page; ``None`` for what it does not show."""
    match event:
        case events.TextChunk(text) | events.OutputTranscript(text):
            return "model", text
        case events.InputTranscript(text, interim=False):
            return "user", text
        case events.ToolStarted(call):
            return "call", f"→ {called(call)}"
        case events.ToolFinished(call, response, _, elapsed):
            return "call", f"← {call.name}: {result(response)}  ({duration(elapsed)})"
        case events.Interrupted():
            return "interrupted", ""
    text = told(event)
    return ("note", text) if text else None
