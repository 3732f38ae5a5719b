"""Reading, writing and time never wait for one another."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from support.virtual import block

import livetools
from livetools import ToolFinished, ToolTimeout, tool
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


def call(name: str, id: str) -> dict[str, Any]:
    return {"name": name, "id": id, "args": {}}


async def quick() -> str:
    """Quick."""
    return "done"


async def test_a_full_socket_stops_neither_the_reader_nor_the_tools(opened: Opened) -> None:
    async with opened([quick]) as line:
        line.server.stall()
        line.call(*(call("quick", f"c{n}") for n in range(3)))
        for _ in range(3):
            await line.until(ToolFinished)
        line.server.send({"serverContent": {"outputTranscription": {"text": "still heard"}}})
        await line.until(livetools.OutputTranscript)
        line.server.stall(full=False)
        assert sorted(r["id"] for r in await line.responses(3)) == ["c0", "c1", "c2"]


async def test_what_a_stuck_writer_leaves_is_written_by_somebody_else(opened: Opened) -> None:
    async with opened([quick]) as line:
        line.server.stall()
        async with anyio.create_task_group() as group:
            group.start_soon(line.session.send_text, "one")
            await line.quiet()
            line.call(call("quick", "c1"))
            await line.until(ToolFinished)
            group.cancel_scope.cancel()
            line.server.stall(full=False)
        assert "clientContent" in await line.receive()
        assert [r["id"] for r in await line.responses(1)] == ["c1"]


async def test_media_behind_a_full_socket_is_bounded_and_told(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        line.server.stall()
        group.start_soon(line.session.send_audio, b"\0" * 3200)
        await line.quiet()
        for _ in range(700):
            await line.session.send_audio(b"\0" * 3200)
        stats = line.session.stats()
        assert stats["input_dropped"] > 0
        assert stats["backlog"] <= 2 * 1024 * 1024
        line.server.stall(full=False)
        dropped = await line.until(livetools.InputDropped)
        assert dropped.reason == "the line is slow: more than 2 MiB of audio and video were waiting"


@pytest.mark.parametrize("first", [True, False])
async def test_a_picture_of_any_size_goes_out_on_an_open_line(opened: Opened, first: bool) -> None:
    photo = b"\xff\xd8\xff" + bytes(3_000_000)
    async with opened() as line:
        if not first:
            await line.session.send_audio(bytes(640))
            await line.receive()
        await line.session.send_video(photo)
        sent = (await line.receive())["realtimeInput"]["video"]["data"]
        assert base64.b64decode(sent) == photo
        await line.session.send_audio(bytes(32_000 * 60))
        assert len((await line.receive())["realtimeInput"]["audio"]["data"]) == 32_000 * 60 * 4 / 3
        assert line.session.stats()["input_dropped"] == 0


async def test_a_tool_is_answered_on_time_though_it_ignores_its_cancellation(opened: Opened) -> None:
    clock = FakeClock()
    stubborn = anyio.Event()

    @tool(timeout=30)
    async def ignores() -> str:
        """Ignores."""
        with anyio.CancelScope(shield=True):
            await stubborn.wait()
        return "late"

    async with opened([ignores], clock=clock) as line:
        line.call(call("ignores", "c1"))
        await line.quiet()
        clock.advance(29)
        await line.quiet()
        assert line.session.stats()["calls"]
        clock.advance(2)
        (response,) = await line.responses(1)
        assert "timed out after 30" in response["response"]["error"]
        finished = await line.until(ToolFinished)
        assert isinstance(finished.error, ToolTimeout)
        stubborn.set()


async def test_an_earlier_deadline_wakes_the_clock(opened: Opened) -> None:
    clock = FakeClock()

    @tool(timeout=5)
    async def waits() -> None:
        """Waits."""
        await anyio.sleep_forever()

    @tool(timeout=1)
    async def hurries() -> None:
        """Waits less."""
        await anyio.sleep_forever()

    async with opened([waits, hurries], clock=clock) as line:
        line.call(call("waits", "c1"))
        await line.quiet()
        line.call(call("hurries", "c2"))
        await line.quiet()
        clock.advance(2)
        assert [r["id"] for r in await line.responses(1)] == ["c2"]
        clock.advance(4)
        assert [r["id"] for r in await line.responses(1)] == ["c1"]


async def test_silence_where_something_is_due_is_told(opened: Opened) -> None:
    clock = FakeClock()
    async with opened(clock=clock, stall_timeout=20) as line:
        await line.session.send_text("hi")
        await line.quiet()
        clock.advance(21)
        stalled = await line.until(livetools.Stalled)
    assert stalled.seconds >= 20


async def test_frames_are_logged_readably_without_media_and_handles(
    opened: Opened,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LIVETOOLS_LOG", "frames")
    with caplog.at_level(logging.DEBUG, "livetools.frames"):
        async with opened() as line:
            await line.session.send_audio(b"\1" * 3000)
            update = {"sessionResumptionUpdate": {"newHandle": "secret-handle", "resumable": True}}
            line.server.send(json.dumps(update, indent=2))
            await line.until(livetools.HandleUpdate)
    printed = capsys.readouterr().err
    for text in (caplog.text, printed):
        assert "-> 1" in text
        assert "4000 characters" in text
        assert '"newHandle": "secr…"' in text
        assert "secret-handle" not in text


async def test_calls_are_logged_by_name_id_and_outcome_and_nothing_else(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(word: str) -> None:
        """Fails."""
        raise ValueError("oh")

    with caplog.at_level(logging.INFO, "livetools.calls"):
        async with opened([fails, quick]) as line:
            line.call({"name": "fails", "id": "c1", "args": {"word": "secret-argument"}}, call("quick", "c2"))
            await line.responses(2)
            await line.quiet()
    records = {record.call_id: record for record in caplog.records if hasattr(record, "call_id")}
    assert (records["c1"].tool, records["c1"].outcome) == ("fails", "ValueError")
    assert (records["c2"].outcome, records["c2"].duration >= 0) == ("done", True)
    assert "secret-argument" not in caplog.text
    assert f"ValueError at {__file__}, line " in caplog.text
    assert "oh" not in caplog.text
    assert "livetools/session" not in caplog.text


@pytest.mark.virtual_time
async def test_a_tool_that_ignores_its_cancellation_is_named_when_it_holds_up_the_end(
    opened: Opened, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livetools.session.running.leaving.HANDLERS_END", 0.02)
    monkeypatch.setattr(
        "livetools.session.running.leaving.LAST_WORDS", 5.0
    )  # far behind, on a slow machine too

    async def stubborn() -> None:
        """Stubborn."""
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1.0)

    async with opened([stubborn]) as line:
        line.call(call("stubborn", "c1"))
        await line.quiet()
    assert "stubborn: it still runs 0.02 s after the session has ended" in caplog.text


@pytest.mark.virtual_time
@pytest.mark.parametrize("model", ["gemini-3.1-flash-live-preview", "gemini-3.8-live"])
async def test_a_generator_that_never_waits_is_timed_out_and_others_run(opened: Opened, model: str) -> None:
    @tool(timeout=1.0)
    async def counts() -> Any:
        """Counts."""
        n = 0
        while True:
            yield n
            n += 1
            block(0.0002)

    async with opened([counts], model=model) as line, anyio.create_task_group() as group:
        line.call(call("counts", "c1"))
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await anyio.sleep(0.001)
                turns += 1

        group.start_soon(other)
        finished = await line.until(ToolFinished)
        group.cancel_scope.cancel()
    assert isinstance(finished.error, ToolTimeout)
    assert turns >= 2  # about two hundred on a quiet machine; none without a share of the loop


async def test_a_tool_that_only_reports_progress_is_timed_out(opened: Opened) -> None:
    @tool(timeout=0.2)
    async def reports(context: livetools.ToolContext) -> None:
        """Reports."""
        while True:
            await context.progress("on it")

    async with opened([reports]) as line:
        line.call(call("reports", "c1"))
        assert isinstance((await line.until(ToolFinished)).error, ToolTimeout)


SENDERS: dict[str, Callable[[livetools.Session], Any]] = {
    "send_text": lambda s: s.send_text("x"),
    "send_audio": lambda s: s.send_audio(bytes(2)),
    "end_audio": lambda s: s.end_audio(),
    "interrupt": lambda s: s.interrupt(),
}


@pytest.mark.parametrize("verb", SENDERS)
async def test_a_loop_that_only_sends_can_be_cancelled(opened: Opened, verb: str) -> None:
    async with opened() as line:
        with anyio.fail_after(30), anyio.move_on_after(0.05) as scope:
            while True:
                await SENDERS[verb](line.session)
        assert scope.cancelled_caught


async def test_a_hundred_thousand_frames_and_a_slow_user_leave_the_loop_to_others(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await anyio.lowlevel.checkpoint()
                turns += 1

        frame = b'{"serverContent": {"interrupted": true}}'
        group.start_soon(other)
        for _ in range(20_000):
            line.server.send(frame)
        before = turns
        line.says("the end")
        await line.until(livetools.TurnComplete)
        group.cancel_scope.cancel()
    assert turns - before > 20  # a few hundred; without a share of the loop a handful
