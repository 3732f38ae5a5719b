"""``session.park()``: a conversation leaves one process and goes on in another."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from support.waiting import cancelled_once_it_waits, everybody_waits

import livetools
from livetools import Agent, ConcurrencyError, ConfigError, LocalProtocolError, SessionClosed, ToolContext
from livetools.session.handle_store import MemoryHandleStore
from livetools.testing import FakeClock, FakeLiveServer, Turn

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

Opened = Callable[..., Any]
MODEL = "gemini-3.8-live"


async def remembering(turn: Turn) -> None:
    """Says what it knows of the conversation: every user turn that it has read."""
    said = [part["text"] for content in turn.session.history for part in content["parts"] if "text" in part]
    await turn.say(" / ".join(said) or "nothing")


async def listing(turn: Turn) -> None:
    """Says what the user has said, and nothing of its own answers."""
    said = [c["parts"][0]["text"] for c in turn.session.history if c["role"] == "user"]
    await turn.say(" / ".join(said))


def connect(server: FakeLiveServer, handle: str | None = None, **options: Any) -> livetools.Session:
    return livetools.connect(MODEL, handle=handle, **{**server.options, **options})


async def test_a_conversation_goes_on_from_the_handle_in_another_session() -> None:
    async with FakeLiveServer(remembering) as server:
        async with connect(server) as one:
            await one.ask("first")
            handle = await one.park()
            with pytest.raises(SessionClosed):
                await one.send_text("too late")
        async with connect(server, handle) as two:
            assert "first" in str(await two.ask("second"))


async def test_when_it_returns_the_socket_is_closed_and_the_store_has_the_handle() -> None:
    store = MemoryHandleStore()
    async with FakeLiveServer(remembering) as server, connect(server, handle_store=store) as one:
        await one.ask("first")
        assert await one.park() == store.handle
        async with connect(server, handle_store=store) as two:  # a resume is refused while the other stands
            assert "first" in str(await two.ask("second"))


@pytest.mark.parametrize("answered", [False, True], ids=["before the call is answered", "after it"])
async def test_a_call_that_is_open_is_run_once_and_its_result_is_known_elsewhere(answered: bool) -> None:
    runs: Counter[str] = Counter()
    started, go_on = anyio.Event(), anyio.Event()

    async def book(table: int) -> str:
        """Book a table."""
        runs["book"] += 1
        started.set()
        await go_on.wait()
        return f"table {table}"

    async def model(turn: Turn) -> None:
        if turn.text == "book":
            booked = await turn.call("book", table=4)
            await turn.say(booked["output"])
        else:
            await remembering(turn)

    async with FakeLiveServer(model) as server:
        async with connect(server, tools=[book]) as one:
            await one.send_text("book")
            await started.wait()
            handles: list[str | None] = []

            async def park() -> None:
                handles.append(await one.park())

            async with anyio.create_task_group() as group:
                group.start_soon(park)
                await everybody_waits()
                assert not handles
                go_on.set()
        async with connect(server, handles[0], tools=[book]) as two:
            assert "table 4" in str(await two.ask("what is booked?"))
    assert runs == {"book": 1}


async def test_no_word_is_lost_though_texts_come_while_it_waits() -> None:
    async with FakeLiveServer(listing) as server:
        async with connect(server) as one:
            sent: list[str] = []
            parking = anyio.Event()

            async def talk() -> None:
                for number in range(20):
                    try:
                        await one.send_text(f"word {number}")
                    except SessionClosed:
                        return
                    sent.append(f"word {number}")
                    if number == 3:
                        parking.set()

            async with anyio.create_task_group() as group:
                group.start_soon(talk)
                await parking.wait()
                handle = await one.park()
        async with connect(server, handle) as two:
            known = str(await two.ask("what do you know?"))
    assert [word for word in sent if word not in known.split(" / ")] == []


async def test_a_line_that_breaks_meanwhile_loses_no_word_and_no_call() -> None:
    runs: Counter[str] = Counter()
    broken: set[str] = set()

    async def note(word: str) -> str:
        """Note a word."""
        runs[word] += 1
        return f"noted {word}"

    async def model(turn: Turn) -> None:
        if turn.text not in broken and turn.text.startswith(("note", "drop")):
            broken.add(turn.text)
            if turn.text == "note":
                await turn.start_call("note", word="this")
            await turn.drop()
        await remembering(turn)

    quick = livetools.ReconnectPolicy(initial=0.001, maximum=0.01)
    async with FakeLiveServer(model) as server:
        async with connect(server, tools=[note], reconnect=quick) as one:
            await one.ask("drop this")
            await one.send_text("note")
            handle = await one.park(10)
        async with connect(server, handle, tools=[note]) as two:
            known = str(await two.ask("what do you know?"))
    assert runs == {"this": 1}
    assert [word for word in ("drop this", "noted this") if word not in known] == []


def wave() -> str:
    """Wave."""
    return "waved"


def other() -> str:
    """Something else."""
    return "else"


@pytest.mark.parametrize(
    ("change", "stays"),
    [
        (None, None),
        (Agent("Be brief."), "instructions"),
        (Agent(tools=[other]), "tools"),
        (Agent("Be brief.", [other]), "instructions and tools"),
    ],
)
async def test_tools_that_were_updated_stay_behind_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture, change: Agent | None, stays: str | None
) -> None:
    async with FakeLiveServer(remembering) as server:
        async with connect(server, tools=[wave]) as one:
            if change is not None:
                await one.update(change)
            await one.ask("first")
            handle = await one.park()
        async with connect(server, handle, tools=[wave]) as two:
            assert "first" in str(await two.ask("second"))
            assert list(two.tools) == ["wave"]
    told = [record.getMessage() for record in caplog.records if "parked" in record.getMessage()]
    assert [text.partition(" that update()")[0] for text in told] == (
        (stays and [f"parked: the {stays}"]) or []
    )


async def test_at_the_bound_what_runs_is_stopped_and_named(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    clock, stopped = FakeClock(), anyio.Event()

    async def slow() -> str:
        """Take for ever."""
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return ""

    async with opened([slow], clock=clock) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        line.call({"name": "slow", "id": "c1"})
        await line.quiet()
        handles = []

        async def park() -> None:
            handles.append(await line.session.park(within=20))

        async with anyio.create_task_group() as group:
            group.start_soon(park)
            await line.quiet()
            clock.advance(19)
            await line.quiet()
            assert not stopped.is_set()
            clock.advance(1)
        assert stopped.is_set()
        assert handles == ["h1"]
        assert line.server.end is not None
        assert line.server.end.by_us
    [record] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert "slow (c1)" in record.getMessage()


async def test_cancelling_lets_the_session_go_on(opened: Opened) -> None:
    clock = FakeClock()
    async with opened(clock=clock) as line:
        await line.session.send_text("hello")
        async with cancelled_once_it_waits():
            await line.session.park(within=1)
        clock.advance(5)
        line.says("Hi.")
        await line.quiet()
        await line.session.send_text("still here")


async def test_what_ended_the_session_meanwhile_is_raised(opened: Opened) -> None:
    async with opened() as line:
        await line.session.send_text("hello")
        line.server.close(1007, "API key not valid. Please pass a valid API key.")
        with pytest.raises(livetools.AuthenticationError):
            await line.session.park()


async def test_without_handles_there_is_nothing_to_go_on_with(opened: Opened) -> None:
    async with opened(reconnect=False) as line:
        with pytest.raises(LocalProtocolError, match="asked for no handles"):
            await line.session.park()


@pytest.mark.parametrize("within", ["soon", float("nan"), True])
async def test_the_bound_is_a_number(opened: Opened, within: Any) -> None:
    async with opened() as line:
        with pytest.raises(ConfigError, match="within="):
            await line.session.park(within)


async def test_a_tool_cannot_park_the_session_that_waits_for_it(opened: Opened) -> None:
    raised: list[Exception] = []

    async def leave(context: ToolContext) -> str:
        """Leave."""
        try:
            await context.session.park()  # type: ignore[union-attr]
        except ConcurrencyError as error:
            raised.append(error)
        return "no"

    async with opened([leave]) as line:
        line.call({"name": "leave", "id": "c1"})
        await line.responses(1)
    assert len(raised) == 1
