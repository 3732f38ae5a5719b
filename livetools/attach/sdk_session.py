"""The part of google-genai's live session (3.x) that ``attach`` uses."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextvars import copy_context
from functools import partial
from math import inf
from typing import Any, Protocol

import anyio
from pydantic_core import from_json

from livetools.log import get_logger
from livetools.protocol.calls.replies import AnswerFrame
from livetools.protocol.input.outbox import Frame
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.frames import FunctionCall
from livetools.protocol.messages.outgoing import JSONObject, answers_turn
from livetools.session.running.host import Starter
from livetools.session.running.writer import Writer, WriterOwner
from livetools.setup.configuration import plain
from livetools.transport.contract import Gone
from livetools.transport.loop.wake import make_wake

log = get_logger("livetools.session")


class SDKSession(Protocol):
    """The part of google-genai's ``AsyncSession`` (3.x) that is used."""

    def receive(self) -> AsyncIterator[Any]: ...
    def send_tool_response(self, *, function_responses: Any) -> Coroutine[Any, Any, None]: ...
    def send_client_content(self, *, turns: Any, turn_complete: bool) -> Coroutine[Any, Any, None]: ...
    def send_realtime_input(self, *, text: str) -> Coroutine[Any, Any, None]: ...


class SDKTransport:
    """Writes through the SDK's session; its user reads. One message at a time, each in a task of its own: most are sent
    before they have to wait.

    A message that was accepted is sent, even if its sender is cancelled; after :meth:`leave` it may be cut off. What
    the SDK raises is logged; the reader learns that a connection is lost. ``as_content``: answers are a turn of
    the user's.
    """

    def __init__(self, session: SDKSession, as_content: bool = False) -> None:
        self._session, self._as_content = session, as_content
        self._context = copy_context()
        self._starter: Starter | None = None  # until something is cut off
        self._sending = False
        self._shield: anyio.CancelScope | None = None  # around what is being sent
        self._ends = inf  # when that is cut off, by the time of the loop
        self._sent = make_wake()

    def open(self, starter: Starter) -> None:
        """Send from now on."""
        self._starter = starter

    def leave(self, seconds: float) -> None:
        """What waits is given so long, and is then cut off; nothing is sent after that."""
        self._ends = anyio.current_time() + seconds
        if self._shield is not None:
            self._shield.deadline = self._ends

    @property
    def writable(self) -> bool:
        """See :class:`~.transport.Putting`."""
        return not self._sending

    def put(self, frame: bytes) -> bool:
        """See :class:`~.transport.Putting`. A text: answers are objects, and go to :meth:`answer`."""
        message = from_json(frame)
        if (realtime := message.get("realtimeInput")) is not None:
            return self._begin(self._session.send_realtime_input, text=realtime["text"])
        content = message["clientContent"]
        return self._begin(
            self._session.send_client_content, turns=content["turns"], turn_complete=content["turnComplete"]
        )

    def answer(self, responses: list[JSONObject]) -> bool:
        """As :meth:`put`, for answers: the SDK encodes them itself."""
        if self._as_content:
            turns = [answers_turn(responses)]
            return self._begin(self._session.send_client_content, turns=turns, turn_complete=True)
        return self._begin(self._session.send_tool_response, function_responses=responses)

    async def send(self, frame: bytes) -> None:
        """See :class:`~.transport.Sending`."""
        await self.in_turn(partial(self.put, frame))

    async def in_turn(self, put: Callable[[], bool]) -> None:
        """``put`` once nothing waits in front, and return once what was put is sent. Raises :class:`Gone`."""
        with anyio.CancelScope(shield=True):
            await self._idle()
            if not put():
                raise Gone
            await self._idle()

    def _begin(self, send: Callable[..., Coroutine[Any, Any, None]], **what: Any) -> bool:
        if self._starter is None:
            return False
        try:
            sending = send(**what)
        except Exception as error:
            _failed(error)
        else:
            self._sending = True
            self._starter.start(partial(self._send, sending), self._context.copy())
        return True

    async def _send(self, sending: Coroutine[Any, Any, None]) -> None:
        try:
            with anyio.CancelScope(shield=True, deadline=self._ends) as self._shield:
                await sending
            if self._shield.cancelled_caught:
                self._starter = None  # nothing more is sent
                log.warning("what the model is owed was not sent: the SDK's session did not take it in time")
        except (Exception, asyncio.CancelledError) as error:  # it may cancel itself: its time was up
            _failed(error)
        finally:
            self._sending = False
            self._sent.set()

    async def _idle(self) -> None:
        while self._sending:
            await self._sent.wait()


def _failed(error: BaseException) -> None:
    log.warning("what the model is owed could not be sent (%s)", type(error).__name__)


class SDKWriter(Writer):
    """Writes answers as objects."""

    def __init__(self, owner: WriterOwner, transport: SDKTransport) -> None:
        super().__init__(owner)
        self._transport = transport

    def _put(self, frame: Frame) -> bool:
        if not isinstance(frame, AnswerFrame):
            return super()._put(frame)
        return self._transport.writable and self._answer(frame)

    async def _send(self, frame: Frame) -> None:
        if isinstance(frame, AnswerFrame):
            await self._transport.in_turn(partial(self._answer, frame))
        else:
            await super()._send(frame)

    def _answer(self, reply: AnswerFrame) -> bool:
        """Always true: of an answer that cannot be sent nobody needs to know."""
        bodies = _lawful(reply.bodies())
        if bodies:
            if self.log is not None:
                self.log.sent(reply.link, reply.make() or b"")
            self._transport.answer(bodies)
        if reply.write is not None:
            reply.write.hand_over()
        return True


def _lawful(bodies: list[JSONObject]) -> list[JSONObject]:
    """Answers that JSON can carry: the model may have named a call with what no UTF-8 can."""
    if all(f"{body['name']}{body.get('id', '')}".isascii() for body in bodies):
        return bodies
    lawful: list[JSONObject] = from_json(outgoing.encode(bodies))
    return lawful


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


def close_code(error: BaseException) -> int | None:
    """The code with which the connection was closed, if the SDK says that with this error.

    It raises an ``APIError`` also for an unknown message, with HTTP's code or none: then nothing was closed.
    """
    errors = sys.modules.get("google.genai.errors")  # code that raises one has imported it
    if errors is None or not isinstance(error, errors.APIError):
        return None
    return error.code if isinstance(error.code, int) and error.code >= 1000 else None
