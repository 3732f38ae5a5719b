"""What is written through google-genai's session, whose socket may be full."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from support import virtual
from support.waiting import everybody_waits

from livetools.attach.sdk_session import SDKTransport, calls_of, close_code
from livetools.protocol.messages.incoming import FunctionCall
from livetools.transport.contract import Gone

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # google-genai runs on no other


class Full:
    """A session of google-genai's, whose socket takes a frame when it is told to."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.gate = anyio.Event()
        self.error: BaseException | None = None
        self.patience: float | None = 5.0

    async def _send(self, what: Any) -> None:
        async with asyncio.timeout(self.patience):
            if not self.gate.is_set():  # anyio's wait lets others run in any case
                await self.gate.wait()
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


async def test_what_is_handed_over_is_said_with_the_method_for_it() -> None:
    session = Full()
    session.gate.set()
    transport = SDKTransport(session)
    answers: list[Any] = [{"id": "c1", "name": "f", "response": {"output": 1}}]
    await transport.send(json.dumps({"toolResponse": {"functionResponses": answers}}).encode())
    await transport.send(json.dumps({"clientContent": {"turns": [], "turnComplete": True}}).encode())
    await transport.send(text(1))
    assert session.sent == [answers, ([], True), "1"]


class Secret(Exception):
    """Of the SDK's, or of what it stands on."""


@pytest.mark.parametrize("error", [Secret("secret"), asyncio.CancelledError("secret")])
@pytest.mark.parametrize("when", ["at once", "after a wait"])
async def test_what_cannot_be_sent_is_logged_and_holds_nothing_up(
    when: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """A future of the SDK's that somebody has cancelled is not our own cancellation."""
    session = Full()
    session.error = error
    if when == "at once":
        session.gate.set()
    asyncio.get_running_loop().call_soon(session.gate.set)
    transport = SDKTransport(session)
    await transport.send(text(1))
    session.error = None
    for number in (2, 3):  # at once, and after a wait
        await transport.send(text(number))
        session.gate = anyio.Event()
        asyncio.get_running_loop().call_soon(session.gate.set)
    assert session.sent == ["2", "3"]
    assert f"could not be sent ({type(error).__name__})" in caplog.text
    assert "secret" not in caplog.text


async def test_a_send_whose_own_time_is_up_before_it_is_gone_on_with_is_told_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Hasty(Full):
        async def _send(self, what: Any) -> None:
            async with asyncio.timeout(0):
                await super()._send(what)

    await SDKTransport(Hasty()).send(text(1))
    assert "could not be sent (TimeoutError)" in caplog.text


async def test_a_session_whose_sends_are_not_what_they_should_be_holds_nothing_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Plain(Full):
        def send_realtime_input(self, *, text: str) -> None:  # type: ignore[override]
            self.sent.append(text)

    session = Plain()
    await SDKTransport(session).send(text(1))
    assert session.sent == ["1"]
    assert "could not be sent (TypeError)" in caplog.text


def test_a_send_that_does_not_return_is_cut_off_some_time_after_leaving_and_nothing_is_sent_then() -> None:
    async def main() -> None:
        session = Full()
        session.patience = None
        transport = SDKTransport(session)
        async with anyio.create_task_group() as group:
            group.start_soon(transport.send, text(1))
            await everybody_waits()
            began = anyio.current_time()
            transport.leave(5.0)
        assert anyio.current_time() - began == pytest.approx(5.0)
        with pytest.raises(Gone):
            await transport.send(text(2))
        assert session.sent == []

    virtual.run("asyncio", main)


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


@pytest.mark.parametrize(("code", "closed"), [(1000, 1000), (1008, 1008), (429, None), (None, None)])
def test_only_a_close_code_of_a_websocket_ends_the_connection(code: int | None, closed: int | None) -> None:
    from google.genai.errors import APIError

    assert close_code(APIError(code, {})) == closed  # type: ignore[arg-type]  # the SDK passes on what it got
    assert close_code(ValueError("a message that it could not parse")) is None


async def test_leaving_again_while_what_is_sent_is_being_cut_off_changes_nothing() -> None:
    class Slow(Full):
        """It takes a while to end what was cancelled."""

        async def _send(self, what: Any) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ending.set()
                await go_on.wait()

    ending, go_on = asyncio.Event(), asyncio.Event()
    transport = SDKTransport(session := Slow())
    async with anyio.create_task_group() as group:
        group.start_soon(transport.send, text(1))
        await everybody_waits()
        transport.leave(0.0)
        await ending.wait()
        transport.leave(5.0)
        go_on.set()
    assert session.sent == []
