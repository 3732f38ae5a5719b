"""What becomes of handlers at the end of a session: they are told, given a moment, and undone, once each."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from support.waiting import running_time

import livetools
from livetools import Call, ConcurrencyError, Hooks, LiveToolsError, Tool, ToolContext, tool
from livetools.session.running import leaving

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]
ENDS = ("leaving", "aclose", "the server's close")


class Undos:
    """Keeps what was undone, with which result and with whose dependencies."""

    def __init__(self) -> None:
        self.all: list[tuple[str, object]] = []
        self.deps: list[object] = []

    def __call__(self, call: Call, result: object, context: ToolContext[object]) -> None:
        self.all.append((call.id, result))
        self.deps.append(context.deps)


def call(name: str, id: str = "c1", **args: object) -> dict[str, Any]:
    return {"name": name, "id": id, "args": args}


async def started(event: threading.Event) -> None:
    with anyio.fail_after(30):
        while not event.is_set():
            await anyio.sleep(0.001)


async def play(opened: Opened, made: Tool, began: threading.Event, how: str, **options: Any) -> None:
    """Open a session, have the tool called, and end the session while it runs."""
    with contextlib.suppress(LiveToolsError):
        async with opened([made], reconnect=False, **options) as line:
            line.call(call(made.name))
            await started(began)
            if how == "aclose":
                await line.session.aclose()
            elif how != "leaving":
                line.server.close(1008, "no")
                async for _ in line.session:
                    pass


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("kind", ["sync", "generator", "executor", "async", "async_generator"])
async def test_whatever_had_started_is_undone_once_however_the_session_ends(
    opened: Opened, kind: str, how: str
) -> None:
    began, undos = threading.Event(), Undos()

    def wait(context: ToolContext[Any]) -> None:
        began.set()
        while not context.cancelled:
            time.sleep(0.001)

    def sync(context: ToolContext) -> str:
        wait(context)
        return "table 4"

    def generator(context: ToolContext) -> Iterator[str]:
        wait(context)
        yield "table 4"

    async def coroutine() -> str:
        began.set()
        await anyio.sleep_forever()
        return "table 4"

    async def async_generator() -> AsyncIterator[str]:
        began.set()
        await anyio.sleep_forever()
        yield "table 4"

    kinds = {"sync": sync, "executor": sync, "generator": generator, "async": coroutine}
    with ThreadPoolExecutor(1) as pool:
        executor = pool if kind == "executor" else None
        handler = kinds.get(kind, async_generator)
        made = Tool(handler, name="book", undo=undos, executor=executor)
        await play(opened, made, began, how, deps="the house")
    assert [id for id, _ in undos.all] == ["c1"]
    assert undos.deps == ["the house"]
    if kind in ("sync", "executor"):
        assert undos.all == [("c1", "table 4")], "it was told, and had its moment"


@pytest.mark.parametrize("how", ENDS)
async def test_a_thread_that_runs_on_is_undone_without_its_result_and_named(
    opened: Opened, how: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("livetools.session.running.leaving.HANDLERS_END", 0.5)
    began, release, undos = threading.Event(), threading.Event(), Undos()

    def book() -> str:
        began.set()
        release.wait()
        return "late"

    try:
        await play(opened, Tool(book, undo=undos), began, how)
        assert undos.all == [("c1", None)]
        assert "book: it still runs 0.5 s after the session has ended" in caplog.text
    finally:
        release.set()
    await anyio.sleep(0.02)
    assert len(undos.all) == 1, "its late end changes nothing"


async def test_threads_that_block_do_not_keep_an_undo_from_running(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livetools.session.running.leaving.HANDLERS_END", 1.0)
    monkeypatch.setattr("livetools.session.handlers.threads.DaemonThreads.__init__.__defaults__", (64,))
    release, undos = threading.Event(), Undos()
    entered: list[int] = []

    @tool(undo=undos)
    def book() -> None:
        entered.append(1)
        release.wait()

    try:
        async with opened([book], max_concurrency=None) as line:
            line.call(*(call("book", f"c{n}") for n in range(100)))
            with anyio.fail_after(30):
                while len(entered) < 64:
                    await anyio.sleep(0.001)
        assert len(undos.all) == 64, "what no thread had taken up is not undone"
        assert {result for _, result in undos.all} == {None}
    finally:
        release.set()


async def test_a_thread_with_nothing_to_undo_holds_up_nobody(opened: Opened) -> None:
    began, release = threading.Event(), threading.Event()

    def blocks() -> None:
        began.set()
        release.wait()

    try:
        with running_time() as passed:
            await play(opened, Tool(blocks), began, "leaving")
        assert passed.seconds < 1.5
    finally:
        release.set()


async def test_a_call_that_was_taken_back_before_the_end_is_undone_once_in_all(opened: Opened) -> None:
    began, undos = threading.Event(), Undos()

    @tool(undo=undos)
    def book(context: ToolContext) -> str:
        began.set()
        while not context.cancelled:
            time.sleep(0.001)
        time.sleep(0.05)
        return "table 4"

    async with opened([book]) as line:
        line.call(call("book"))
        await started(began)
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(livetools.ToolCancelled)
    assert undos.all == [("c1", "table 4")]


async def test_arguments_that_do_not_fit_leave_nothing_to_undo(opened: Opened) -> None:
    undos = Undos()

    @tool(undo=undos)
    def book(table: int) -> None:
        """Books."""

    async with opened([book]) as line:
        line.call(call("book", table="none"))
        await line.responses(1)
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(livetools.ToolCancelled)
    assert undos.all == []


# What swallows every cancellation


async def swallow(began: threading.Event, wait: Callable[[], Any]) -> None:
    """Never ends, whatever it is told."""
    began.set()
    while True:
        with contextlib.suppress(BaseException):
            await wait()


async def in_a_timeout() -> None:
    with anyio.move_on_after(60):
        await anyio.sleep(0.001)


async def in_a_group() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0.001)


WAITS = {"a sleep": lambda: anyio.sleep(0.001), "a timeout": in_a_timeout, "a group": in_a_group}
PLACES = ("handler", "uncancellable", "approval", "undo", "before", "on_cancel", "on_input")


def stubborn(place: str, began: threading.Event, wait: Callable[[], Any]) -> tuple[Tool, Hooks]:
    """A tool and hooks, of which one never ends."""

    async def never(*args: object) -> None:
        await swallow(began, wait)

    async def book() -> str:
        """Book."""
        if place in ("handler", "uncancellable"):
            await never()
        if place in ("undo", "on_cancel"):
            began.set()
            await anyio.sleep_forever()
        return "booked"

    async def hook(self: Hooks, *args: object) -> None:
        await never()

    its_hook = {place: hook} if place in ("before", "on_cancel", "on_input") else {}
    hooks = type("Stubborn", (Hooks,), its_hook)()
    options: dict[str, Any] = {place: never} if place in ("approval", "undo") else {}
    if place == "uncancellable":
        options["cancellable"] = False
    return Tool(book, **options), hooks


@pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(
    ("anyio_backend", "wait"),  # trio cannot go on without a nursery that is open
    [(loop, wait) for loop in ("asyncio", "trio") for wait in WAITS if (loop, wait) != ("trio", "a group")],
)
@pytest.mark.parametrize("place", PLACES)
async def test_what_swallows_every_cancellation_does_not_keep_a_session_from_being_left(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, place: str, wait: str
) -> None:
    for name in ("HANDLERS_END", "CANCELLED_END"):
        monkeypatch.setattr(leaving, name, 0.05)
    began = threading.Event()
    made, hooks = stubborn(place, began, WAITS[wait])
    with anyio.fail_after(30):
        async with opened([made], hooks=[hooks]) as line:
            line.server.send({"serverContent": {"inputTranscription": {"text": "Book!"}}})
            line.call(call("book"))
            await started(began)


@pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # on trio the end cannot be cut short
@pytest.mark.parametrize("place", ["on_input", "undo", "on_cancel"])
async def test_nor_if_the_end_is_cut_short_and_it_begins_only_then(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """As by Ctrl-C, which cancels the task that leaves."""
    monkeypatch.setattr("livetools.session.running.leaving.CANCELLED_END", 0.5)
    began, leaving = threading.Event(), anyio.Event()

    async def never(*args: object) -> None:
        await swallow(began, WAITS["a sleep"])

    async def book() -> None:
        """Book: what is cancelled takes a while to end."""
        began.set()
        with contextlib.suppress(BaseException):
            await anyio.sleep_forever()
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            with contextlib.suppress(BaseException):
                await anyio.sleep(0.001)

    async def hook(self: Hooks, *args: object) -> None:
        await never()

    hooks = type("Stubborn", (Hooks,), {} if place == "undo" else {place: hook})()

    async def leave() -> None:
        async with opened([Tool(book, undo=never if place == "undo" else None)], hooks=[hooks]) as line:
            line.server.send({"serverContent": {"inputTranscription": {"text": "Book!"}}})
            line.call(call("book"))
            await line.quiet()
            await started(began)
            leaving.set()

    async with asyncio.timeout(5):
        task = asyncio.ensure_future(leave())
        await leaving.wait()
        await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()


@pytest.mark.parametrize("verb", ["__aexit__", "park"])
@pytest.mark.parametrize("place", ["undo", "on_cancel", "on_error", "on_input"])
async def test_what_the_end_of_a_session_waits_for_does_not_wait_for_that_end(
    opened: Opened, place: str, verb: str
) -> None:
    done: list[str] = []

    async def end(*args: object) -> None:
        try:
            await (line.session.park() if verb == "park" else line.session.__aexit__(None, None, None))
            done.append("left")
        except ConcurrencyError:
            done.append("refused")

    async def hook(self: Hooks, *args: object) -> None:
        await end()

    async def book() -> None:
        """Book."""
        await anyio.sleep_forever()

    hooks = type("Leaving", (Hooks,), {} if place == "undo" else {place: hook})()
    made = Tool(book, undo=end if place == "undo" else None, timeout=0.01 if place == "on_error" else 60)
    with anyio.fail_after(30):
        async with opened([made], hooks=[hooks]) as line:
            line.server.send({"serverContent": {"inputTranscription": {"text": "Book!"}}})
            line.call(call("book"))
            await line.quiet()
            if place in ("undo", "on_cancel"):
                line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
            while not done:
                await anyio.sleep(0.001)
    assert done == ["refused" if verb == "park" else "left"]
