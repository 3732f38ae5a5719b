"""What is written through google-genai's session, whose socket may be full."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from livetools.protocol.frames import FunctionCall
from livetools.session.sdk_session import SDKTransport, calls_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # google-genai runs on no other


class Full:
    """A session of google-genai's, whose socket takes a frame when it is told to. ``tasks``: who has sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.tasks: set[object] = set()
        self.gate = anyio.Event()
        self.error: Exception | None = None

    async def _send(self, what: Any) -> None:
        self.tasks.add(asyncio.current_task())
        async with asyncio.timeout(5):
            if not self.gate.is_set():  # anyio's wait lets others run in any case
                await self.gate.wait()
        self.tasks.add(asyncio.current_task())
        if self.error is not None:
            raise self.error
        self.sent.append(what)

    async def send_tool_response(self, *, function_responses: Any) -> None:
        await self._send(function_responses)

    async def send_realtime_input(self, *, text: str) -> None:
        await self._send(text)

    async def send_client_content(self, *, turns: Any, turn_complete: bool) -> None:
        await self._send((turns, turn_complete))

    def receive(self) -> AsyncIterator[Any]:
        raise NotImplementedError


def text(number: int) -> bytes:
    return json.dumps({"realtimeInput": {"text": str(number)}}).encode()


@asynccontextmanager
async def running(session: Full) -> AsyncIterator[SDKTransport]:
    transport = SDKTransport(session)
    async with anyio.create_task_group() as group:
        await group.start(transport.run)
        yield transport
        group.cancel_scope.cancel()


async def test_a_frame_that_need_not_wait_is_sent_at_once() -> None:
    session = Full()
    session.gate.set()
    async with running(session) as transport:
        answers = [{"id": "c1", "name": "f", "response": {"output": 1}}]
        for frame in (
            {"toolResponse": {"functionResponses": answers}},
            {"clientContent": {"turns": [], "turnComplete": True}},
        ):
            assert transport.writable
            assert transport.put(json.dumps(frame).encode())
    assert session.sent == [answers, ([], True)]


async def test_frames_keep_their_order_and_all_are_sent_by_one_task_that_is_not_the_users() -> None:
    session = Full()
    async with running(session) as transport:
        transport.put(text(1))
        assert not transport.writable
        async with anyio.create_task_group() as group:
            group.start_soon(transport.send, text(2))
            await anyio.wait_all_tasks_blocked()
            assert session.sent == []
            session.gate.set()
        assert transport.writable
        transport.put(text(3))
    assert session.sent == ["1", "2", "3"]
    assert len(session.tasks) == 1
    assert asyncio.current_task() not in session.tasks


async def test_what_was_taken_is_sent_though_whoever_waits_and_the_group_are_cancelled() -> None:
    session = Full()

    async def opens() -> None:
        await anyio.wait_all_tasks_blocked()
        session.gate.set()

    async with anyio.create_task_group() as outside:
        async with running(session) as transport:
            with anyio.CancelScope() as scope:
                transport.put(text(1))
                scope.cancel()
                outside.start_soon(opens)
                await transport.send(text(2))
            transport.put(text(3))
            session.gate = anyio.Event()
            transport.put(text(4))
            outside.start_soon(opens)  # while the group ends
    assert session.sent == ["1", "2", "3", "4"]


@pytest.mark.parametrize("waits", [False, True])
async def test_what_cannot_be_sent_is_logged_and_holds_nothing_up(
    waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    session = Full()
    session.error = ConnectionError("secret")
    if not waits:
        session.gate.set()
    async with running(session) as transport:
        transport.put(text(1))
        session.gate.set()
        await anyio.wait_all_tasks_blocked()
        assert transport.writable
    assert "could not be sent (ConnectionError)" in caplog.text
    assert "secret" not in caplog.text


def asked(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(
        **{"id": "c1", "args": None, "partial_args": None, "will_continue": None, **fields}
    )


def message(in_turn: Iterable[Any] = (), **fields: Any) -> SimpleNamespace:
    parts = [SimpleNamespace(function_call=call) for call in in_turn]
    content = SimpleNamespace(model_turn=SimpleNamespace(parts=parts))
    return SimpleNamespace(server_content=content, **fields)


def test_calls_are_read_from_both_channels_as_far_as_they_are_told() -> None:
    one, two = asked(name=None), asked(id=None, name="g", args={"a": 1}, will_continue=True)
    told = message([None, two], tool_call=SimpleNamespace(function_calls=[one]))
    assert calls_of(told) == [
        FunctionCall("c1", "", {}, [], False),
        FunctionCall(None, "g", {"a": 1}, [], True),
    ]


def test_a_message_without_calls_has_none() -> None:
    for empty in (
        SimpleNamespace(),
        SimpleNamespace(tool_call=None, server_content=None),
        SimpleNamespace(tool_call=SimpleNamespace(function_calls=None), server_content=None),
        message([None], tool_call=None),
    ):
        assert calls_of(empty) == []
