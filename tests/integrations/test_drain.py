"""A process that is to end lets its conversations go first; each goes on in another one."""

from __future__ import annotations

import functools
import gc
import signal
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from httpx import ASGITransport, AsyncClient
from starlette.applications import Starlette
from starlette.routing import Mount
from support.asgi import Closed, browser
from support.waiting import everybody_waits, until_true

import livetools
from livetools.integrations.drain import Drain
from livetools.integrations.starlette import relay
from livetools.session.handle_store import MemoryHandleStore
from livetools.testing import FakeClock, FakeLiveServer, Turn
from livetools.transport.loop.wake import on_trio

pytestmark = pytest.mark.anyio

RESUME = ("livetools.v1", "livetools.resume")


class Stores:
    """The handles of all conversations, as processes share them."""

    def __init__(self) -> None:
        self.all: dict[str, MemoryHandleStore] = {}

    def __call__(self, token: str) -> MemoryHandleStore:
        return self.all.setdefault(token, MemoryHandleStore())


class Tool:
    """A tool that waits until it may go on, and counts its runs."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.began, self.go_on = anyio.Event(), anyio.Event()

    async def book(self, table: str) -> str:
        """Book a table."""
        self.runs[table] += 1
        self.began.set()
        await self.go_on.wait()
        return f"booked {table}"


@pytest.fixture
def tool() -> Tool:
    return Tool()


@pytest.fixture
async def server(tool: Tool) -> AsyncIterator[FakeLiveServer]:
    """A model that books what it is told to, and else says what it knows."""
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn: Turn) -> None:
            if turn.text.startswith("book "):
                await turn.say((await turn.call("book", table=turn.text.split()[1]))["output"])
            elif turn.text == "wait":
                tool.began.set()
                await tool.go_on.wait()
            else:
                parts = [part for content in turn.session.history for part in content["parts"]]
                await turn.say(" / ".join(part["text"] for part in parts if "text" in part))

        yield server


@pytest.mark.parametrize("within", [-1, "30", None])
def test_a_drain_knows_how_long_it_waits(within: Any) -> None:
    with pytest.raises(livetools.ConfigError, match="within"):
        Drain(within)


@pytest.fixture
def process(server: FakeLiveServer, tool: Tool) -> Callable[..., Any]:
    """A relay of its own, with the handles that all share."""
    stores = Stores()

    def make(**options: Any) -> Any:
        made: dict[str, Any] = {"tools": [tool.book], **server.options, **options.pop("agent", {})}
        agent = functools.partial(livetools.connect, "gemini-3.8-live", **made)
        return relay(agent, **{"stores": stores, "linger": 0.0, **options})

    return make


async def test_a_page_is_told_to_come_again_and_goes_on_in_another_process(
    process: Callable[..., Any], tool: Tool
) -> None:
    old, new = process(), process()
    async with browser(old) as page:
        token = (await page.until("ready"))["token"]
        page.send({"type": "text", "text": "book t4"})
        await tool.began.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(old.drain.drain)
            await everybody_waits()
            page.send({"type": "text", "text": "and this"})  # not taken here: a page sends it again
            await everybody_waits()
            tool.go_on.set()
            said = [message async for message in messages(page)]
        assert [m["text"] for m in said if m["type"] == "user_text"] == ["book t4"]
        page.leave()
        assert [m["type"] for m in said if m["type"] in ("ToolFinished", "ended")] == ["ToolFinished"]
        assert said[-1] == {"type": "closed", "code": 1012}
    async with browser(new, subprotocols=RESUME) as page:
        page.send({"type": "resume", "token": token, "after": said[-2]["seq"]})
        ready = await page.until("ready")
        assert (ready["resumed"], ready["token"]) == (True, token)
        page.send({"type": "text", "text": "and this"})
        known = await words(page)
    assert [word for word in ("book t4", "booked t4", "and this") if word not in known] == []
    assert tool.runs == {"t4": 1}


async def messages(page: Any) -> AsyncIterator[dict[str, Any]]:
    """What the page is sent that has a number, and how it is closed."""
    while True:
        try:
            message = await page.receive()
        except Closed as closed:
            yield {"type": "closed", "code": closed.code}
            return
        if not isinstance(message, bytes) and "seq" in message:
            yield message


async def words(page: Any) -> str:
    """What the model says in this turn."""
    said = ""
    while (message := await page.until("OutputTranscript", "TurnComplete"))["type"] != "TurnComplete":
        said += message["text"]
    return said


async def test_texts_that_were_taken_before_are_sent_and_answered_first(process: Callable[..., Any]) -> None:
    old = process()
    async with browser(old) as page:
        await page.until("ready")
        for number in range(5):
            page.send({"type": "text", "text": f"word {number}"})
        for _ in range(5):
            await page.until("user_text")
        async with anyio.create_task_group() as group:
            group.start_soon(old.drain.drain)
            told = [message async for message in messages(page)]
    said = "".join(m["text"] for m in told if m["type"] == "OutputTranscript")
    assert "word 4" in said


@pytest.mark.virtual_time
async def test_a_page_that_comes_while_its_session_still_stands_waits_for_it(
    process: Callable[..., Any], tool: Tool
) -> None:
    old, new = process(linger=30.0), process()
    async with browser(old) as first:
        token = (await first.until("ready"))["token"]
        first.send({"type": "text", "text": "book t4"})
        await tool.began.wait()
        first.leave()
        async with anyio.create_task_group() as group:
            group.start_soon(old.drain.drain)
            async with browser(new, subprotocols=RESUME) as page:
                page.send({"type": "resume", "token": token, "after": 0})
                await anyio.sleep(0.3)
                tool.go_on.set()
                assert (await page.until("ready"))["resumed"]
                page.send({"type": "text", "text": "what is booked?"})
                assert "booked t4" in await words(page)
                page.send({"type": "end"})


class SlowStore(MemoryHandleStore):
    """Another process saves its last handle when this one has already read the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.early: list[str | None] = []  # what is read first, instead

    async def load(self) -> str | None:
        return self.early.pop(0) if self.early else await super().load()


async def saved_late(store: SlowStore, old: Any, tool: Tool) -> str:
    """A page books, and its process lets it go. Whoever asks next reads the handle from before that: the token."""
    async with browser(old) as page:
        token = str((await page.until("ready"))["token"])
        while store.handle is None:
            await anyio.lowlevel.checkpoint()
        before = store.handle
        tool.go_on.set()
        page.send({"type": "text", "text": "book t4"})
        await page.until("TurnComplete")
        await old.drain.drain()
    store.early = [before, before]
    return token


async def test_a_session_that_was_resumed_before_the_last_handle_was_saved_is_resumed_again(
    process: Callable[..., Any], tool: Tool, server: FakeLiveServer
) -> None:
    store = SlowStore()
    old, new = (process(stores=lambda token: store, max_sessions=1) for _ in range(2))
    token = await saved_late(store, old, tool)
    async with browser(new, subprotocols=RESUME) as page:
        page.send({"type": "resume", "token": token, "after": 0})
        assert (await page.until("ready"))["resumed"]
        page.send({"type": "text", "text": "what is booked?"})
        assert "booked t4" in await words(page)
        async with browser(new) as another:  # the page has one place, and not two
            assert (await another.closed()).code == 1013
        page.send({"type": "end"})


async def test_a_store_that_does_not_take_the_last_handle_back_leaves_no_session_open(
    process: Callable[..., Any], tool: Tool, server: FakeLiveServer
) -> None:
    class Failing(SlowStore):
        full = False

        async def save(self, handle: str) -> None:
            if self.full:
                raise OSError("disk full")
            await super().save(handle)

    store = Failing()
    old, new = (process(stores=lambda token: store, max_sessions=1) for _ in range(2))
    token = await saved_late(store, old, tool)
    store.full = True
    async with browser(new, subprotocols=RESUME) as page:
        page.send({"type": "resume", "token": token, "after": 0})
        assert (await page.closed()).code == 1011
    assert [session for session in server.sessions if session.connection is not None] == []
    assert not new._open
    async with browser(new) as page:  # its place is free
        await page.until("ready")
        page.send({"type": "end"})


async def test_what_a_page_has_missed_is_let_go_when_it_is_too_late(
    process: Callable[..., Any], tool: Tool
) -> None:
    """Its session was parked while it was away: what it has missed is kept as long as it may come back."""
    clock = FakeClock()
    app = process(linger=30.0, clock=clock)
    async with browser(app) as page:
        token = (await page.until("ready"))["token"]
        page.send({"type": "text", "text": "book t4"})
        await page.until("ToolStarted")
        [kept] = [weakref.ref(conversation) for conversation in app._open.values()]
        page.leave()
        await everybody_waits()
        async with anyio.create_task_group() as group:
            group.start_soon(app.drain.drain)
            await everybody_waits()
            tool.go_on.set()
        clock.advance(29.9)
        await everybody_waits()
        assert app._open
        clock.advance(0.1)
        with anyio.fail_after(30):
            while app._open and not on_trio():  # there the next page lets it go
                await anyio.lowlevel.checkpoint()
    async with browser(app, subprotocols=RESUME) as late:
        late.send({"type": "resume", "token": token, "after": 0})
        assert (await late.closed()).code == 1013
    assert not app._open
    with anyio.fail_after(30):
        while kept() is not None:
            gc.collect()
            await anyio.lowlevel.checkpoint()


async def test_a_page_that_was_away_is_sent_what_it_missed_as_long_as_it_may_come(
    process: Callable[..., Any], tool: Tool
) -> None:
    old, new = process(linger=30.0), process()
    async with browser(old) as page:
        token = (await page.until("ready"))["token"]
        page.send({"type": "text", "text": "book t4"})
        seen = (await page.until("ToolStarted"))["seq"]
        page.leave()
        async with anyio.create_task_group() as group:
            group.start_soon(old.drain.drain)
            await everybody_waits()
            tool.go_on.set()
        resume = {"type": "resume", "token": token, "after": seen}
        async with browser(old, subprotocols=RESUME) as again:
            again.send(resume)
            assert (await again.until("ready"))["resumed"]
            missed = [message async for message in messages(again)]
        assert missed[-1] == {"type": "closed", "code": 1012}
        assert [m["seq"] for m in missed[:-1]] == list(range(seen + 1, seen + len(missed)))
        assert [m["type"] for m in missed if m["type"].startswith("Tool")] == ["ToolFinished"]
        async with browser(old, subprotocols=RESUME) as late:
            late.send(resume)
            assert (await late.closed()).code == 1013
    async with browser(new, subprotocols=RESUME) as page:
        page.send(resume)
        assert (await page.until("ready"))["resumed"]
        page.send({"type": "text", "text": "what is booked?"})
        assert "booked t4" in await words(page)
    assert tool.runs == {"t4": 1}


async def test_a_page_may_still_end_its_session(process: Callable[..., Any], tool: Tool) -> None:
    app = process()
    async with browser(app) as page:
        await page.until("ready")
        page.send({"type": "text", "text": "wait"})
        await tool.began.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(app.drain.drain)
            await everybody_waits()
            page.send({"type": "end"})
            assert (await page.closed()).code == 1000
    tool.go_on.set()


async def test_a_process_that_drains_is_not_ready_and_sends_pages_elsewhere(
    process: Callable[..., Any],
) -> None:
    app = process(drain_token="s3cret")
    web = Starlette(routes=[Mount("/live", app)])
    async with AsyncClient(transport=ASGITransport(web), base_url="http://test") as client:
        assert (await client.get("/live/ready")).json() == {"state": "ready", "held": 0}
        async with browser(app) as page:
            await page.until("ready")
            for header in ({}, {"authorization": "Bearer wrong"}):
                assert (await client.post("/live/drain", headers=header)).status_code == 401
            right = {"authorization": "Bearer s3cret"}
            assert (await client.post("/live/drain", headers=right)).json() == {"ended": 1}
            assert (await page.closed()).code == 1012
        answer = await client.get("/live/ready")
        assert (answer.status_code, answer.json()["state"]) == (503, "draining")
    async with browser(app) as page:
        assert (await page.closed()).code == 1013


async def test_without_a_token_there_is_no_path_to_drain(process: Callable[..., Any]) -> None:
    app = process()
    web = Starlette(routes=[Mount("/live", app)])
    async with AsyncClient(transport=ASGITransport(web), base_url="http://test") as client:
        assert (await client.post("/live/drain")).status_code == 405
    assert not app.drain.began


async def test_sessions_that_have_no_handles_are_ended(
    process: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    app = process(stores=None, agent={"reconnect": False})
    async with browser(app) as page:
        await page.until("ready")
        assert await app.drain.drain() == 1
        assert (await page.closed()).code == 1000
    assert "cannot continue elsewhere" in caplog.text


class Held:
    """A conversation that ends when it may."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.may_end, self.over = anyio.Event(), anyio.Event()

    async def hold(self, drain: Drain) -> None:
        with drain.holds(self):
            await self.may_end.wait()
        self.over.set()

    async def park(self, within: float) -> None:
        self.asked.append(within)
        if within == 0:
            self.may_end.set()
        await self.over.wait()


@pytest.fixture
def stopped() -> Iterator[list[int]]:
    """The signals that the server's own handler was given."""
    given: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: given.append(number))
    yield given
    signal.signal(signal.SIGTERM, before)


async def test_sigterm_drains_before_the_server_hears_of_it(stopped: list[int]) -> None:
    drain, held = Drain(within=7), Held()
    async with anyio.create_task_group() as group:
        group.start_soon(held.hold, drain)
        async with drain.lifespan():
            signal.raise_signal(signal.SIGTERM)
            await until_true(lambda: held.asked)
            assert (drain.began, held.asked, stopped) == (True, [7], [])
            held.may_end.set()
            await until_true(lambda: stopped)
    assert stopped == [signal.SIGTERM]


async def test_a_second_sigterm_does_not_wait(stopped: list[int]) -> None:
    drain, held = Drain(), Held()
    async with anyio.create_task_group() as group:
        group.start_soon(held.hold, drain)
        with anyio.fail_after(30):
            async with drain.lifespan():
                for number in range(2):
                    signal.raise_signal(signal.SIGTERM)
                    while len(held.asked) <= number and not stopped:
                        await anyio.sleep(0.001)
    assert stopped == [signal.SIGTERM]
    assert held.asked[-1] == 0


async def test_a_server_that_stops_by_itself_drains_as_well(stopped: list[int]) -> None:
    drain, held = Drain(), Held()
    async with anyio.create_task_group() as group:
        group.start_soon(held.hold, drain)
        await everybody_waits()
        held.may_end.set()
        async with drain.lifespan():
            pass
        assert held.over.is_set()
    signal.raise_signal(signal.SIGTERM)  # the handler is the server's again
    assert stopped == [signal.SIGTERM]
