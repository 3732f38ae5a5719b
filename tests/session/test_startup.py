"""What is decided before a session, and what may be changed while it runs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest
from support.waiting import everybody_waits

import livetools
from livetools import HandleUpdate, LocalProtocolError, ReconnectPolicy, SessionClosed
from livetools.session.handle_store import MemoryHandleStore
from livetools.testing import FakeLiveServer
from livetools.testing.memory import MemoryTransport
from livetools.transport.contract import Transport

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


def one() -> int:
    """One."""
    return 1


def two() -> int:
    """Two."""
    return 2


async def test_other_tools_are_told_in_the_session_where_the_model_takes_it(opened: Opened) -> None:
    async with opened([one]) as line:
        await line.session.update(instructions="Be brief.", tools=[two])
        update = (await line.receive("contextUpdate"))["contextUpdate"]
        assert [f["name"] for f in update["tools"]["tools"][0]["functionDeclarations"]] == ["two"]
        assert update["systemInstruction"]["parts"][0]["text"] == "Be brief."
        line.call({"name": "two", "id": "c1", "args": {}}, {"name": "one", "id": "c2", "args": {}})
        answers = {r["id"]: r["response"] for r in await line.responses(2)}
    assert answers["c1"] == {"output": 2}
    assert "available: two" in answers["c2"]["error"]


async def test_elsewhere_another_connection_brings_them(opened: Opened) -> None:
    async with opened([one], model="gemini-2.5-flash-native-audio-latest") as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        await line.until(HandleUpdate)
        with anyio.fail_after(30):
            await line.session.update(tools=[two])
        assert line.transport.dials == 2


@pytest.mark.parametrize("reconnect", [False, ReconnectPolicy(budget=0)])
async def test_where_neither_is_possible_it_is_refused(
    opened: Opened, reconnect: bool | ReconnectPolicy
) -> None:
    async with opened([one], model="gemini-2.5-flash-native-audio-latest", reconnect=reconnect) as line:
        with pytest.raises(LocalProtocolError, match="reconnect is off"):
            await line.session.update(tools=[two])


async def test_a_store_gives_the_handle_and_gets_the_newest(opened: Opened) -> None:
    store = MemoryHandleStore()
    async with opened(handle_store=store) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        await line.until(HandleUpdate)
    assert store.handle == "h1"
    async with opened(handle_store=store, reconnect=False) as line:
        assert line.session.handle == "h1"
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h2", "resumable": True}})
        await line.until(HandleUpdate)
    assert store.handle == "h2"
    async with opened(handle_store=store, handle="mine") as line:
        assert line.session.handle == "mine"


async def test_a_session_that_is_being_opened_takes_nothing_and_cannot_be_entered_again() -> None:
    transport = MemoryTransport()
    session = livetools.connect("gemini-3.8-live", transport=transport, base_url="ws://localhost")
    async with anyio.create_task_group() as group:
        group.start_soon(session.__aenter__)
        server = await transport.accept()
        await server.receive()
        for verb in (
            partial(session.send_text, "a"),
            partial(session.send_audio, b"\0\0"),
            partial(session.ask, "b"),
            partial(session.wait_until_settled, 1),
            session.interrupt,
            session.park,
        ):
            with pytest.raises(LocalProtocolError, match="not open"):
                await verb()
        with pytest.raises(LocalProtocolError, match="not open"):
            session.stats()
        with pytest.raises(LocalProtocolError, match="entered once"):
            await session.__aenter__()
        assert not session.transcript.contents
        group.cancel_scope.cancel()


async def test_a_call_of_an_earlier_process_finds_the_session_open_in_its_first_step(opened: Opened) -> None:
    class Conversation(MemoryHandleStore):
        async def left(self) -> list[livetools.Call]:
            return [livetools.Call("c1", "look", {})]

        def follow(self, session: object) -> None:
            pass

    seen: list[object] = []

    async def look(context: livetools.ToolContext) -> None:
        """Look."""
        seen.append(context.session.pending)

    store = Conversation()
    store.handle = "h1"
    async with opened([look], handle_store=store) as line:
        await line.quiet()
        assert seen == [["the call look (c1)"]]


class Hanging:
    """A dialer that never dials."""

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        await anyio.sleep_forever()
        yield  # type: ignore[misc]


@pytest.mark.parametrize("dialer", [Hanging, MemoryTransport])
async def test_a_session_that_is_closed_while_it_is_being_opened_is_over(dialer: Callable[[], Any]) -> None:
    session = livetools.connect("gemini-3.8-live", transport=dialer(), base_url="ws://localhost")
    entered = anyio.Event()

    async def enter() -> None:
        async with session:
            entered.set()
            with pytest.raises(SessionClosed):
                await session.send_text("a")

    async with anyio.create_task_group() as group:
        group.start_soon(enter)
        await everybody_waits()
        await session.aclose()
        await entered.wait()


class Slow(MemoryHandleStore):
    """A store that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go_on = anyio.Event(), anyio.Event()

    async def load(self) -> str | None:
        self.asked.set()
        await self.go_on.wait()
        return None


@pytest.mark.parametrize("verb", ["aclose", "__aenter__"])
async def test_a_session_whose_store_is_asked_can_be_closed_and_not_be_entered_again(verb: str) -> None:
    store, transport = Slow(), MemoryTransport()
    options = {"transport": transport, "base_url": "ws://localhost", "handle_store": store}
    session = livetools.connect("gemini-3.8-live", **options)
    async with anyio.create_task_group() as group:

        async def enter() -> None:
            with pytest.raises(SessionClosed):
                await session.__aenter__()

        group.start_soon(enter if verb == "aclose" else session.__aenter__)
        await store.asked.wait()
        if verb == "aclose":
            await session.aclose()
            store.go_on.set()
        else:
            with pytest.raises(LocalProtocolError, match="entered once"):
                await session.__aenter__()
            group.cancel_scope.cancel()
    assert transport.dials == 0


async def test_a_store_that_wants_to_end_the_program_ends_no_session(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    class Exits(MemoryHandleStore):
        async def save(self, handle: str) -> None:
            raise SystemExit(1)

    async with opened(handle_store=Exits()) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "mine", "resumable": True}})
        await everybody_waits()
        await line.session.send_text("a")
    assert "the session handle was not saved: SystemExit" in caplog.text


async def test_what_the_plan_warns_of_is_logged_when_the_session_opens(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "livetools.session"):
        async with opened(model="some-model"):
            pass
    assert "unknown model 'some-model'" in caplog.text
    assert "connect(profile=ModelProfile(...)) tells what it does not" in caplog.text


async def test_latency_is_in_the_stats(opened: Opened) -> None:
    async with opened() as line:
        stats = line.session.stats()["latency"]
    assert {name: times["count"] for name, times in stats.items()} == dict.fromkeys(
        ("first_output", "last_output", "call"), 0
    )


PAST = [
    {"role": "user", "parts": [{"text": "Weather in Oslo?"}]},
    {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "weather", "args": {"city": "Oslo"}}}]},
    {
        "role": "user",
        "parts": [{"functionResponse": {"id": "c", "name": "weather", "response": {"output": 12}}}],
    },
    {"role": "model", "parts": [{"text": "It is 12 degrees."}]},
]


@pytest.mark.parametrize(
    "model", ["gemini-2.5-flash-native-audio-latest", "gemini-3.1-flash-live-preview", "gemini-3.8-live"]
)
async def test_a_history_with_calls_is_told_as_the_model_takes_it(model: str) -> None:
    async with FakeLiveServer() as server:
        async with livetools.connect(model, history=PAST, **server.options) as session:
            await session.ask("Thank you.", timeout=30)
            kept = session.transcript.contents[:4]
        sent = next(
            f.message["clientContent"]["turns"] for f in server.frames if "clientContent" in f.message
        )
    assert kept == PAST  # what happened is not changed by what the model can be told of it
    assert ("functionCall" in str(sent)) == (model == "gemini-3.8-live")
    assert sent[0] == PAST[0]
    assert sent[-1]["role"] == ("user" if "2.5" in model else "model")  # as 2.5 wants it (pipecat#4355)


async def test_pictures_of_a_history_are_told_without_its_calls() -> None:
    picture = {
        "role": "user",
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "This."}],
    }
    async with FakeLiveServer() as server:
        model = "gemini-3.1-flash-live-preview"
        async with livetools.connect(model, history=[picture, *PAST[1:]], **server.options) as session:
            await session.ask("Thank you.", timeout=30)
        sent = next(
            f.message["clientContent"]["turns"] for f in server.frames if "clientContent" in f.message
        )
    assert sent == [picture, PAST[3]]
