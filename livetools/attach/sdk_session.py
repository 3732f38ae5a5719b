"""The part of google-genai's live session (3.x) that ``attach`` uses."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, Protocol

from msgspec import json

from livetools.log import get_logger
from livetools.protocol.messages.incoming import FunctionCall
from livetools.transport.contract import Gone

log = get_logger("livetools.session")

#: The fields of a message's content that show that the model is at work. ``interrupted`` alone does not.
AT_WORK = ("model_turn", "output_transcription", "generation_complete", "turn_complete")


class SDKSession(Protocol):
    """The part of google-genai's ``AsyncSession`` (3.x) that is used."""

    def receive(self) -> AsyncIterator[Any]: ...
    def send_tool_response(self, *, function_responses: Any) -> Coroutine[Any, Any, None]: ...
    def send_client_content(self, *, turns: Any, turn_complete: bool) -> Coroutine[Any, Any, None]: ...
    def send_realtime_input(self, *, text: str) -> Coroutine[Any, Any, None]: ...


class SDKTransport:
    """Writes through the SDK's session, one message at a time; its user reads.

    A task of ours calls :meth:`send`, which no scope of the user's reaches: a message that was begun is sent to its
    end, unless it takes too long after :meth:`leave`. What the SDK raises is logged; the reader learns that a
    connection is lost.
    """

    def __init__(self, session: SDKSession) -> None:
        self._session = session
        self._ends: float | None = None  # when what is being sent is cut off, by the time of the loop
        self._sending: asyncio.Timeout | None = None

    def leave(self, seconds: float) -> None:
        """What waits is given so long, and is then cut off; nothing is sent after that."""
        self._ends = asyncio.get_running_loop().time() + seconds
        # What is being cut off already has no other end.
        if self._sending is not None and not self._sending.expired():
            self._sending.reschedule(self._ends)

    async def send(self, frame: bytes) -> None:
        """See :class:`~.contract.Sending`."""
        if self._ends is not None and asyncio.get_running_loop().time() >= self._ends:
            raise Gone
        self._sending = limit = asyncio.timeout_at(self._ends)
        try:
            async with limit:
                await self._say(json.decode(frame))
        except (Exception, asyncio.CancelledError) as error:  # the SDK may have cancelled itself
            if limit.expired():
                log.warning("what the model is owed was not sent: the SDK's session did not take it in time")
            else:
                log.warning("what the model is owed could not be sent (%s)", type(error).__name__)
        finally:
            self._sending = None

    def _say(self, message: dict[str, Any]) -> Coroutine[Any, Any, None]:
        """Say it with the SDK's method for this kind of message, which encodes it again.

        The SDK gets what the bytes hold, not the objects from before: these may hold text that JSON cannot carry.
        """
        if (answers := message.get("toolResponse")) is not None:
            return self._session.send_tool_response(function_responses=answers["functionResponses"])
        if (realtime := message.get("realtimeInput")) is not None:
            return self._session.send_realtime_input(text=realtime["text"])
        said = message["clientContent"]
        return self._session.send_client_content(turns=said["turns"], turn_complete=said["turnComplete"])


def calls_of(message: Any) -> Sequence[FunctionCall]:
    """The calls of a message, on either of its two channels."""
    calls: list[Any] = []
    if (tool_call := getattr(message, "tool_call", None)) is not None:
        calls += tool_call.function_calls or ()
    if (content := getattr(message, "server_content", None)) is not None and content.model_turn is not None:
        calls += (part.function_call for part in content.model_turn.parts or () if part.function_call)
    return [_call(call) for call in calls]


def speaks(message: Any) -> bool:
    """Whether the model says something, or has ended a turn: it has read by then what it was sent."""
    content = getattr(message, "server_content", None)
    return any(getattr(content, field, None) for field in AT_WORK)


def _call(call: Any) -> FunctionCall:
    pieces = [piece.model_dump(by_alias=True, exclude_none=True) for piece in call.partial_args or ()]
    return FunctionCall(call.id, call.name or "", dict(call.args or {}), pieces, bool(call.will_continue))


def close_code(error: BaseException) -> int | None:
    """The code with which the connection was closed, if the SDK says that with this error.

    It raises an ``APIError`` also for an unknown message, with HTTP's code or none: then nothing was closed.
    """
    errors = sys.modules.get("google.genai.errors")  # code that raises one has imported it
    if errors is None or not isinstance(error, errors.APIError):
        return None
    return error.code if isinstance(error.code, int) and error.code >= 1000 else None
