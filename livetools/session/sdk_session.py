"""The part of google-genai's live session (3.x) that ``attach`` uses."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from pydantic_core import from_json

from livetools.protocol.configuration import plain

from .transport import Gone

log = logging.getLogger("livetools.session")


class SDKSession(Protocol):
    """The part of google-genai's ``AsyncSession`` (3.x) that is used."""

    def receive(self) -> AsyncIterator[Any]: ...
    async def send_tool_response(self, *, function_responses: Any) -> None: ...
    async def send_client_content(self, *, turns: Any, turn_complete: bool) -> None: ...
    async def send_realtime_input(self, *, text: str) -> None: ...


class SDKTransport:
    """Writes through the SDK's session; its user reads."""

    def __init__(self, session: SDKSession) -> None:
        self._session = session

    async def send(self, frame: bytes) -> None:
        """A frame that was taken is sent, even if the caller is cancelled. Of a connection that is gone the SDK tells
        the reader."""
        try:
            with anyio.CancelScope(shield=True):
                await self._send(from_json(frame))
        except Exception as error:
            log.warning("what the model is owed could not be sent (%s)", type(error).__name__)
            raise Gone from None

    async def _send(self, message: dict[str, Any]) -> None:
        match message:
            case {"toolResponse": response}:
                await self._session.send_tool_response(function_responses=response["functionResponses"])
            case {"realtimeInput": {"text": text}}:
                await self._session.send_realtime_input(text=text)
            case {"clientContent": content}:
                turns, complete = content["turns"], content["turnComplete"]
                await self._session.send_client_content(turns=turns, turn_complete=complete)


@dataclass(frozen=True, slots=True)
class AskedCall:
    id: str | None
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    partial_args: Sequence[Any] = ()
    will_continue: bool = False


def calls_of(message: Any) -> Sequence[AskedCall]:
    """The calls of a message, on either of its two channels."""
    tool_call, content = getattr(message, "tool_call", None), getattr(message, "server_content", None)
    calls = list(getattr(tool_call, "function_calls", None) or ())
    if content is not None:
        parts = getattr(getattr(content, "model_turn", None), "parts", None) or ()
        calls += [part.function_call for part in parts if part.function_call]
    if not calls:
        return ()
    return [AskedCall(c.id, c.name or "", dict(c.args or {}), *_pieces(c)) for c in calls]


def _pieces(call: Any) -> tuple[Sequence[Any], bool]:  # older SDKs know no calls in pieces
    pieces = getattr(call, "partial_args", None)
    return [plain(piece) for piece in pieces] if pieces else (), bool(getattr(call, "will_continue", False))
