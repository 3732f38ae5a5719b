"""A client of nobody's library: JSON over a bare websocket, on asyncio and on trio."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
import sniffio
from websockets.exceptions import ConnectionClosed

GEMINI = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
TEXT_MODEL = "models/gemini-live-2.5-flash-preview"


class RawClient:
    """Sends and receives JSON; every wait ends after five seconds."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket

    async def send(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            await self.socket.send(json.dumps(message))

    async def recv(self) -> dict[str, Any]:
        with anyio.fail_after(30):
            return json.loads(await self.socket.recv())

    async def until(self, kind: str) -> list[dict[str, Any]]:
        """The messages up to the first that holds ``kind`` at its top or in its ``serverContent``."""
        seen = []
        while True:
            seen.append(await self.recv())
            if kind in seen[-1] or kind in seen[-1].get("serverContent", {}):
                return seen

    async def closed(self) -> tuple[int, str]:
        """Read on until the server closes: its code and reason."""
        with anyio.fail_after(30):
            while True:
                try:
                    await self.socket.recv()
                except ConnectionClosed as error:
                    return (error.rcvd.code, error.rcvd.reason) if error.rcvd else (1006, "")

    async def say(self, text: str) -> None:
        turn = {"role": "user", "parts": [{"text": text}]}
        await self.send({"clientContent": {"turns": [turn], "turnComplete": True}})

    async def answer(self, call: dict[str, Any], **response: Any) -> None:
        reply = {"id": call["id"], "name": call["name"], "response": response}
        await self.send({"toolResponse": {"functionResponses": [reply]}})


@contextlib.asynccontextmanager
async def _dial(
    server: Any,
    model: str | None = TEXT_MODEL,
    path: str = GEMINI,
    headers: dict[str, str] | None = None,
    **setup: Any,
) -> AsyncIterator[RawClient]:
    """A connection whose setup is complete; with ``model`` None, one that has said nothing yet."""
    if sniffio.current_async_library() == "trio":
        from websockets.trio.client import connect
    else:
        from websockets.asyncio.client import connect
    url = server.url + path
    kwargs = {"ssl": server.ssl_context} if server.tls else {}
    # without a bound of the queue: websockets does not come back on trio from leaving while messages wait past it
    async with connect(url, additional_headers=headers, max_size=None, max_queue=None, **kwargs) as socket:
        client = RawClient(socket)
        if model is not None:
            if model == TEXT_MODEL:
                setup.setdefault("generationConfig", {"responseModalities": ["TEXT"]})
            await client.send({"setup": {"model": model, **setup}})
            assert "setupComplete" in await client.recv()
        yield client


@pytest.fixture
def dial():
    return _dial


def parts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts of the model's turn in these messages."""
    contents = [each.get("serverContent", {}).get("modelTurn", {}) for each in messages]
    return [part for content in contents for part in content.get("parts", [])]


@pytest.fixture
def text_of():
    return lambda messages: "".join(part.get("text", "") for part in parts(messages))
