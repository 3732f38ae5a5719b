"""The writer: who writes, and what a line that has ended does not take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from support.waiting import everybody_waits

from livetools import (
    Call,
    HandleUpdate,
    Reconnected,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
    TurnComplete,
)
from livetools.protocol.calls.call_states import CallState, Record
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.calls.responses import response_to
from livetools.protocol.input.resend import OutFrame, Write
from livetools.session.running.writer import Writer
from livetools.setup.plan_fields import CallPolicy
from livetools.testing import memory

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]


async def test_what_came_before_the_end_is_read_though_a_send_met_the_end_first(
    opened: Callable[..., Any],
) -> None:
    async def tool() -> str:
        """A tool."""
        return "done"

    async with opened([tool]) as line:
        line.call({"name": "tool", "id": "c1"})
        line.server.send(HANDLE)
        line.server.close(1011, "Internal error")
        await line.session.end_audio()
        for kind in (ToolStarted, HandleUpdate, ToolLost):
            await line.until(kind)
        assert line.session.handle == "h1"


HANDLE = {"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}}


async def reconnected(line: Any) -> list[str]:
    """The texts that go out on the next connection, up to the first after these."""
    await line.until(Reconnected)
    await line.session.send_text("last")
    texts: list[str] = []
    while "last" not in texts:
        frame = await line.servers[-1].receive()
        texts += [part["text"] for turn in frame["clientContent"]["turns"] for part in turn["parts"]]
    return texts


@pytest.mark.parametrize("received", [True, False])
async def test_whether_a_text_behind_a_turn_was_received_is_asked(
    opened: Callable[..., Any], received: bool
) -> None:
    """Audio may begin a turn of its own, and then only the other end knows whether the text was read."""
    async with opened() as line:
        line.server.send(HANDLE)
        await line.session.send_audio(bytes(640))
        await line.session.send_text("text")
        await line.server.receive()
        if received:
            await line.server.receive()
        line.says("to what was said")
        await line.until(TurnComplete)
        line.server.drop()
        assert await reconnected(line) == (["last"] if received else ["text", "last"])


async def test_a_transport_that_cannot_be_asked_is_believed(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(memory._Client, "ask")
    async with opened() as line:
        line.server.send(HANDLE)
        await line.session.send_audio(bytes(640))
        await line.session.send_text("text")
        line.says("to what was said")
        await line.until(TurnComplete)
        line.server.drop()
        assert await reconnected(line) == ["last"]


@pytest.mark.parametrize("received", [True, False])
async def test_whether_a_text_was_received_whose_sender_was_cancelled_is_asked(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, received: bool
) -> None:
    send = memory._Client.send

    async def cut_short(self: Any, frame: bytes) -> None:
        await send(self, frame)
        scope.cancel()
        await anyio.lowlevel.checkpoint()
        raise AssertionError("never here")

    async with opened() as line:
        line.server.send(HANDLE)
        await line.session.send_audio(bytes(640))
        await line.server.receive()
        with monkeypatch.context() as patch, anyio.CancelScope() as scope:
            patch.setattr(memory._Client, "send", cut_short)
            await line.session.send_text("text")
        if received:
            await line.server.receive()
        line.says("to what was said")
        await line.until(TurnComplete)
        line.server.drop()
        assert await reconnected(line) == (["last"] if received else ["text", "last"])


@pytest.mark.parametrize("options", [{}, {"reply_batching": "batch"}, {"reply_format": "client_content"}])
async def test_an_answer_that_is_taken_back_while_it_waits_for_the_socket_is_not_written(
    opened: Callable[..., Any], options: dict[str, str]
) -> None:
    def tool(n: int) -> int:
        """A tool."""
        return n

    async with opened([tool], model="gemini-live-2.5-flash-preview", **options) as line:
        line.server.stall()
        for n in (1, 2, 3):
            line.call({"name": "tool", "id": f"c{n}", "args": {"n": n}})
            await line.until(ToolFinished)
        line.server.send({"toolCallCancellation": {"ids": ["c2"]}})
        await line.until(ToolCancelled)
        line.server.stall(False)
        await line.session.send_text("go on")
        answered: list[str] = []
        while "go on" not in str(frame := await line.server.receive()):
            answered += [id for id in ("c1", "c2", "c3") if f"'{id}'" in str(frame)]
        assert answered == ["c1", "c3"]


async def test_what_went_before_an_answer_that_was_taken_back_is_believed(opened: Callable[..., Any]) -> None:
    """The last frame of a batch carries the ping: where it is not written, nobody can be asked."""
    async with opened() as line:
        write = Write()
        write.ask()
        record = Record(1, Call("c1", "f"), CallPolicy("f"), 1, 0.0)
        taken_back = response_to("answer", record, Outcome({}))
        record.state, taken_back.last_of = CallState.VOID, write
        await line.session._driver._send(taken_back)
        assert write.handed
        text = OutFrame("text")
        text.write = write
        assert text.output(0)


async def test_what_the_machine_had_while_a_task_wrote_that_was_cancelled_is_written() -> None:
    written: list[bytes] = []
    had = [OutFrame("text", b"second", link=1)]

    class Slow:
        async def send(self, frame: bytes) -> None:
            written.append(frame)
            if frame == b"first":
                await anyio.sleep_forever()

    class Slowly(Writer):
        def step(self) -> None:
            if not self._writing:
                self.write(had.copy())
                had.clear()

    async def write() -> None:
        with scope:
            await writer.flush()

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as group:
        writer = Slowly({1: Slow()}, group)
        writer.write([OutFrame("text", b"first", link=1)])
        group.start_soon(write)
        await everybody_waits()
        scope.cancel()
    assert written == [b"first", b"second"]
