"""Apps that take phone calls, for tests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

import livetools
from livetools.testing import FakeLiveServer


def app_of(
    server: FakeLiveServer, take: Callable[..., Any], *, tools: Sequence[Any] = (), **options: Any
) -> Starlette:
    """An app with a bridge at ``/call``, whose agent talks to ``server``."""
    agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=tools, **server.options)

    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await take(websocket, agent, **options)

    return Starlette(routes=[WebSocketRoute("/call", call)])
