"""A browser's end of an ASGI websocket, without a socket: on asyncio and on trio."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

App = Callable[..., Awaitable[None]]


class Closed(Exception):
    """The app has closed the websocket."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


class Browser:
    """What a page does with its websocket. ``read`` false: it takes nothing that is sent to it."""

    def __init__(self) -> None:
        self.to_app, self._app_receives = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        self._app_sends, self.from_app = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        self.reads = anyio.Event()
        self.reads.set()
        self.subprotocol: str | None = None
        self.gone = False

    async def app_receive(self) -> dict[str, Any]:
        return await self._app_receives.receive()

    async def app_send(self, message: dict[str, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        await self.reads.wait()
        if self.gone:
            raise OSError("the client is gone")
        self._app_sends.send_nowait(message)

    def send(self, message: object) -> None:
        """A JSON message, a text as it is, or sound."""
        if isinstance(message, bytes):
            self.to_app.send_nowait({"type": "websocket.receive", "bytes": message})
        else:
            text = message if isinstance(message, str) else json.dumps(message)
            self.to_app.send_nowait({"type": "websocket.receive", "text": text})

    def leave(self, code: int = 1001) -> None:
        """The page is closed."""
        self.gone = True
        self.to_app.send_nowait({"type": "websocket.disconnect", "code": code})

    async def receive(self) -> Any:
        """The next message: a dict, or bytes of sound. Raises :class:`Closed`."""
        with anyio.fail_after(30):
            message = await self.from_app.receive()
        if message["type"] == "websocket.close":
            raise Closed(message.get("code", 1000), message.get("reason") or "")
        assert message["type"] == "websocket.send"
        return json.loads(message["text"]) if message.get("text") is not None else message["bytes"]

    async def until(self, *types: str) -> dict[str, Any]:
        """The next message of one of these types; what comes before is passed over."""
        while True:
            message = await self.receive()
            if not isinstance(message, bytes) and message["type"] in types:
                return dict(message)

    async def closed(self) -> Closed:
        """How the app closes the websocket; what comes before is passed over."""
        while True:
            try:
                await self.receive()
            except Closed as closed:
                return closed

    def close(self) -> None:
        for stream in (self.to_app, self._app_receives, self._app_sends, self.from_app):
            stream.close()


@asynccontextmanager
async def browser(
    app: App,
    *,
    headers: dict[str, str] | None = None,
    subprotocols: Sequence[str] = (),
    scheme: str = "ws",
    server: tuple[str, int] = ("127.0.0.1", 8000),
) -> AsyncIterator[Browser]:
    """A page whose websocket was accepted; raises :class:`Closed` where it was refused. It leaves at the end."""
    page = Browser()
    given = {"host": "127.0.0.1:8000", **(headers or {})}
    scope = {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "scheme": scheme,
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 40000),
        "server": server,
        "subprotocols": list(subprotocols),
        "state": {},
    }
    raised: BaseException | None = None
    try:
        async with anyio.create_task_group() as group:
            page.to_app.send_nowait({"type": "websocket.connect"})
            group.start_soon(app, scope, page.app_receive, page.app_send)
            try:
                with anyio.fail_after(30):
                    first = await page.from_app.receive()
                if first["type"] == "websocket.close":
                    raise Closed(first.get("code", 1000), first.get("reason") or "")
                page.subprotocol = first.get("subprotocol")
                yield page
            except Exception as error:  # raised bare, outside the group
                raised = error
                group.cancel_scope.cancel()
            finally:
                page.reads.set()
                if not page.gone:
                    page.leave()
    finally:
        page.close()
    if raised is not None:
        raise raised
