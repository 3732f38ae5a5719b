"""The part of google-genai's live session (3.x) that ``attach`` uses."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.abc import TaskStatus
from pydantic_core import from_json

from livetools.log import get_logger
from livetools.protocol.calls.replies import AnswerFrame
from livetools.protocol.input.outbox import Frame
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.frames import FunctionCall
from livetools.protocol.messages.outgoing import JSONObject, answers_turn
from livetools.session.handlers.eager import EagerCoroutine
from livetools.session.handlers.handlers import is_of_the_user
from livetools.session.running.writer import Writer, WriterOwner
from livetools.setup.configuration import plain
from livetools.transport.contract import Gone
from livetools.transport.loop.wake import make_wake, this_task, was_cancelled

log = get_logger("livetools.session")


class SDKSession(Protocol):
    """The part of google-genai's ``AsyncSession`` (3.x) that is used."""

    def receive(self) -> AsyncIterator[Any]: ...
    def send_tool_response(self, *, function_responses: Any) -> Coroutine[Any, Any, None]: ...
    def send_client_content(self, *, turns: Any, turn_complete: bool) -> Coroutine[Any, Any, None]: ...
    def send_realtime_input(self, *, text: str) -> Coroutine[Any, Any, None]: ...


class SDKTransport:
    """Writes through the SDK's session; its user reads. One message at a time, in the name of the task that runs
    :meth:`run`: most are sent before they have to wait, and that task continues with the others.

    A message that was accepted is sent, even if its sender is cancelled; after :meth:`leave` it may be cut off. What
    the SDK raises is logged; the reader learns that a connection is lost. ``as_content``: answers are a turn of
    the user's.
    """

    def __init__(self, session: SDKSession, as_content: bool = False) -> None:
        self._session, self._as_content = session, as_content
        self._context = copy_context()
        self._task: asyncio.Task[Any] | None = None  # that runs
        self._sending: EagerCoroutine | None = None  # what waits
        self._cancelled = 0  # how often somebody had cancelled the task when that began
        self._shield = anyio.CancelScope(shield=True)  # around it, once the task continues with it
        self._ends: float | None = None  # when it is cut off, by the time of the loop
        self._over = False
        self._news, self._sent = make_wake(), make_wake()

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Send the messages that had to wait."""
        self._task = this_task()
        task_status.started()
        try:
            while not self._over:
                sending = await self._next()
                with anyio.CancelScope(shield=True) as self._shield:
                    self._bound()
                    await self._go_on(sending)
        finally:
            self._over = True
            self._rest()

    def leave(self, seconds: float) -> None:
        """What waits is given so long, and is then cut off; nothing is sent after that."""
        self._ends = anyio.current_time() + seconds
        self._bound()

    @property
    def writable(self) -> bool:
        """See :class:`~.transport.Putting`."""
        return self._sending is None

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
        task = self._task
        if task is None or self._over:
            return False
        try:
            sending = EagerCoroutine(send(**what), self._context)
        except Exception as error:
            _failed(error)
            return True
        if not sending.begin(task):
            self._sending, self._cancelled = sending, task.cancelling()
            self._news.set()
        return True

    async def _idle(self) -> None:
        while self._sending is not None:
            await self._sent.wait()

    async def _next(self) -> EagerCoroutine:
        """What waits, once something does."""
        while (sending := self._sending) is None:
            try:
                await self._news.wait()
            except asyncio.CancelledError as error:
                self._interrupted(error)
        return sending

    def _interrupted(self, error: asyncio.CancelledError) -> None:
        """The task was cancelled before it came to what waits, or nothing does."""
        stray = is_of_the_user(error)
        if self._sending is None:
            if not stray or was_cancelled(self._task):
                raise error
        elif stray:
            self._sending.cancel(error)  # by what was taken itself, whose time was up; it outlives the group

    async def _go_on(self, sending: EagerCoroutine) -> None:
        try:
            await sending
        except asyncio.CancelledError as error:
            if self._shield.cancel_called:
                self._over = True
                log.warning("what the model is owed was not sent: the SDK's session did not take it in time")
                raise
            if self._task is not None and self._task.cancelling() > self._cancelled:
                raise
            _failed(error)
        except Exception as error:
            _failed(error)
        finally:
            self._rest()

    def _rest(self) -> None:
        self._sending = None
        self._sent.set()

    def _bound(self) -> None:
        if self._ends is not None:
            self._shield.deadline = self._ends


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
            reply.write.handed = True
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
