"""The part of google-genai's live session (3.x) that ``attach`` uses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextvars import copy_context
from typing import Any, Protocol

import anyio
from anyio.abc import TaskStatus
from pydantic_core import from_json

from livetools.protocol.configuration import plain
from livetools.protocol.frames import FunctionCall

from .eager import EagerCoroutine
from .wake import make_wake, this_task

log = logging.getLogger("livetools.session")


class SDKSession(Protocol):
    """The part of google-genai's ``AsyncSession`` (3.x) that is used."""

    def receive(self) -> AsyncIterator[Any]: ...
    def send_tool_response(self, *, function_responses: Any) -> Coroutine[Any, Any, None]: ...
    def send_client_content(self, *, turns: Any, turn_complete: bool) -> Coroutine[Any, Any, None]: ...
    def send_realtime_input(self, *, text: str) -> Coroutine[Any, Any, None]: ...


class SDKTransport:
    """Writes through the SDK's session; its user reads. One frame at a time, in the name of the task that runs
    :meth:`run`: most are sent before they have to wait, and that task goes on with the others.

    A frame that was taken is sent, whoever is cancelled. Of a connection that is gone the SDK tells the reader.
    """

    def __init__(self, session: SDKSession) -> None:
        self._session = session
        self._context = copy_context()
        self._task: asyncio.Task[Any] | None = None  # that runs
        self._sending: EagerCoroutine | None = None  # the frame that waits
        self._news, self._sent = make_wake(), make_wake()

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Go on with what has to wait."""
        self._task = this_task()
        task_status.started()
        while True:
            try:
                while self._sending is None:
                    await self._news.wait()
            except BaseException:
                if self._sending is None:
                    raise
            with anyio.CancelScope(shield=True):
                await self._go_on(self._sending)

    @property
    def writable(self) -> bool:
        """See :class:`~.transport.Putting`."""
        return self._sending is None

    def put(self, frame: bytes) -> bool:
        """See :class:`~.transport.Putting`."""
        assert self._task is not None
        sending = EagerCoroutine(self._call(from_json(frame)), self._context)
        if not sending.begin(self._task):
            self._sending = sending
            self._news.set()
        return True

    async def send(self, frame: bytes) -> None:
        """See :class:`~.transport.Sending`."""
        with anyio.CancelScope(shield=True):
            await self._idle()
            self.put(frame)
            await self._idle()

    async def _idle(self) -> None:
        while self._sending is not None:
            await self._sent.wait()

    async def _go_on(self, sending: EagerCoroutine) -> None:
        try:
            await sending
        except Exception as error:
            log.warning("what the model is owed could not be sent (%s)", type(error).__name__)
        finally:
            self._sending = None
            self._sent.set()

    def _call(self, message: dict[str, Any]) -> Coroutine[Any, Any, None]:
        if (answers := message.get("toolResponse")) is not None:
            return self._session.send_tool_response(function_responses=answers["functionResponses"])
        if (realtime := message.get("realtimeInput")) is not None:
            return self._session.send_realtime_input(text=realtime["text"])
        content = message["clientContent"]
        return self._session.send_client_content(
            turns=content["turns"], turn_complete=content["turnComplete"]
        )


def calls_of(message: Any) -> Sequence[FunctionCall]:
    """The calls of a message, on either of its two channels."""
    calls: list[Any] = []
    if (tool_call := getattr(message, "tool_call", None)) is not None:
        calls += tool_call.function_calls or ()
    if (content := getattr(message, "server_content", None)) is not None and content.model_turn is not None:
        calls += (part.function_call for part in content.model_turn.parts or () if part.function_call)
    return [
        FunctionCall(c.id, c.name or "", dict(c.args or {}), _pieces(c.partial_args), bool(c.will_continue))
        for c in calls
    ]


def _pieces(pieces: Sequence[Any] | None) -> list[Any]:
    return [plain(piece) for piece in pieces] if pieces else []
