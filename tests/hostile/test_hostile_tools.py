"""Tools that mean no good: each is answered, and the session goes on."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import anyio
import pytest
from support.waiting import everybody_waits, running_time

import livetools
from livetools import ToolContext, ToolError, ToolResult, tool
from livetools.tools.results.outcomes import encode

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


def refuse(*_: object) -> NoReturn:
    raise RuntimeError("not with me")


class Sour:
    """An object that answers nothing."""

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = refuse  # type: ignore[assignment]

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)


class Masked:
    @property
    def __class__(self) -> NoReturn:  # type: ignore[override]
        raise RuntimeError("no class")


class SourError(Exception):
    __str__ = __repr__ = refuse  # type: ignore[assignment]


class SourToolError(ToolError):
    __str__ = __repr__ = refuse  # type: ignore[assignment]


class SourBase(BaseException):
    __str__ = __repr__ = refuse  # type: ignore[assignment]


@dataclasses.dataclass
class Plain:
    x: int


class Endless(Sequence[int]):
    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, index: Any) -> Any:
        return index


def circle() -> dict[str, object]:
    made: dict[str, object] = {}
    made["self"] = made
    return made


def doubled() -> object:
    """Sixty lists, 2**60 values."""
    made: list[object] = []
    for _ in range(60):
        made = [made, made]
    return made


RESULTS: dict[str, Callable[[], object]] = {
    "nothing but errors": Sour,
    "no class": Masked,
    "errors deep inside": lambda: {"a": [Sour(), {2: Masked}]},
    "an error": lambda: SourToolError("x"),
    "a tool's result of errors": lambda: ToolResult(Sour()),
    "a circle": circle,
    "not a number": lambda: [float("nan"), float("-inf")],
    "half a character": lambda: {"\ud800": "x\udc00"},
    "bytes": lambda: b"\xff\x00",
    "a mixed set": lambda: {1, "a", None, (2, 3)},
    "no end": itertools.count,
    "a billion": Endless,
    "a range": lambda: range(10**12),
    "too deep": lambda: __import__("functools").reduce(lambda inner, _: [inner], range(50_000), 0),
    "too long a number": lambda: 10**6000,
    "a class": lambda: Plain,
    "an async generator": lambda: (i async for i in _none()),
    "lists that hold each other": doubled,
}


async def _none() -> Any:
    return
    yield


@pytest.mark.parametrize("kind", RESULTS)
async def test_whatever_a_tool_returns_is_put_into_words(opened: Opened, kind: str) -> None:
    @tool
    def sync() -> object:
        return RESULTS[kind]()

    @tool
    async def looped() -> object:
        return RESULTS[kind]()

    tools = [sync] if kind == "lists that hold each other" else [sync, looped]  # that one takes its time
    async with opened(tools) as line:
        for each in tools:
            assert await line.answer(each.__name__, each.__name__)
        assert "error" in await line.answer("unknown", "c3")


RAISED: dict[str, BaseException] = {
    "exit": SystemExit(3),
    "cancelled": asyncio.CancelledError(),
    "generator exit": GeneratorExit(),
    "stop": StopIteration(1),
    "a group": BaseExceptionGroup("x", [SystemExit(1)]),
    "no words": SourError(),
    "no words for the model": SourToolError("x"),
    "no words at all": SourBase(),
}


@pytest.mark.parametrize("kind", RAISED)
async def test_whatever_a_tool_raises_fails_that_call_alone(opened: Opened, kind: str) -> None:
    @tool
    def sync() -> None:
        raise RAISED[kind]

    @tool
    async def looped() -> None:
        raise RAISED[kind]

    async with opened([sync, looped]) as line:
        assert "error" in await line.answer("sync", "c1")
        assert "error" in await line.answer("looped", "c2")
        assert "error" in await line.answer("unknown", "c3")


@pytest.mark.parametrize("kind", RAISED)
async def test_whatever_hooks_approvals_and_undos_raise_harms_nothing(opened: Opened, kind: str) -> None:
    class Hooks:
        async def after(self, *_: object) -> None:
            raise RAISED[kind]

        def on_error(self, *_: object) -> None:
            raise RAISED[kind]

    def asked(args: object) -> bool:
        raise RAISED[kind]

    undone = anyio.Event()

    async def undo(*_: object) -> None:
        undone.set()
        raise RAISED[kind]

    started = anyio.Event()

    @tool(undo=undo)
    async def waits() -> None:
        started.set()
        await anyio.sleep_forever()

    @tool(approval=asked)
    async def careful() -> int:
        return 1

    @tool
    def plain() -> int:
        return 2

    async with opened([waits, careful, plain], hooks=[Hooks()]) as line:
        assert "error" in await line.answer("careful", "c1")
        line.call("waits", "c2")
        await started.wait()
        line.server.send({"toolCallCancellation": {"ids": ["c2"]}})
        await undone.wait()
        assert "plain has run, and its result is withheld" in (await line.answer("plain", "c3"))["error"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_cancels_its_own_task_fails_alone(opened: Opened) -> None:
    @tool
    async def hasty() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async with opened([hasty], tool_timeout=None) as line:
        assert await line.answer("hasty", "c1") == {"error": "hasty failed"}
        assert await line.answer("hasty", "c2") == {"error": "hasty failed"}


left = contextvars.ContextVar[object]("left", default=None)


async def test_a_context_variable_that_will_not_be_compared_does_not_leak(opened: Opened) -> None:
    left.set(Sour())
    seen: list[object] = []

    @tool
    async def sets() -> None:
        seen.append(left.get())
        left.set(Sour())

    async with opened([sets]) as line:
        await line.answer("sets", "c1")
        await line.answer("sets", "c2")
    assert seen[0] is seen[1]


@pytest.mark.parametrize("make", [Sour, Masked, lambda: Plain, Endless, doubled, circle])
async def test_progress_may_be_anything_and_reaches_whoever_listens(
    opened: Opened, make: Callable[[], object]
) -> None:
    value = make()

    @tool
    async def reports(context: ToolContext) -> int:
        await context.progress(value)
        return 1

    async with opened([reports]) as line:
        assert await line.answer("reports") == {"output": 1}
        told = [e async for e in _until_finished(line.session)]
        assert [e.value is value for e in told if isinstance(e, livetools.ToolProgress)] == [True]


async def _until_finished(session: livetools.Session) -> Any:
    async for event in session:
        yield event
        if isinstance(event, livetools.ToolFinished):
            return


def test_a_big_list_is_whole_and_what_has_no_end_has_one() -> None:
    assert len(encode(list(range(300_000)))["output"]) == 300_000

    def nested() -> Iterator[object]:
        while True:
            yield range(1000)

    assert sum(map(len, encode(nested())["output"])) <= 201_000


BLOCKED = "gemini-2.5-flash-native-audio-preview-12-2025"


@pytest.mark.parametrize("model", [BLOCKED, "gemini-3.1-flash-live-preview", "gemini-3.8-live"])
async def test_a_tool_that_sends_text_does_not_wait_for_its_own_answer(opened: Opened, model: str) -> None:
    @tool
    async def speaks(context: ToolContext) -> int:
        assert context.session is not None
        await context.session.send_text("by the way")
        return 1

    async with opened([speaks], model) as line:
        line.call("speaks")
        with anyio.fail_after(30):
            frames = [await line.server.receive(), await line.server.receive()]
    assert sum("toolResponse" in frame for frame in frames) == 1
    assert "by the way" in str(frames)


@pytest.mark.parametrize("model", [BLOCKED, "gemini-3.8-live"])
async def test_a_tool_that_asks_the_model_that_waits_for_it_is_told_so(opened: Opened, model: str) -> None:
    said: list[str] = []

    @tool
    async def asks(context: ToolContext[Any]) -> None:
        session: Any = context.session
        await session.update(instructions="be brief")
        for ask in (session.ask, lambda text: anext(session.stream(text))):
            with pytest.raises(livetools.ConcurrencyError) as told:
                await ask("why?")
            said.append(str(told.value))
        async with anyio.create_task_group() as group:  # a task that it starts waits no less

            async def inner() -> None:
                with pytest.raises(livetools.ConcurrencyError):
                    await session.ask("why?")

            group.start_soon(inner)

    async with opened([asks], model) as line:
        assert await line.answer("asks") == {"output": None}
        assert len(said) == 2
        assert "asks" in said[0]
        assert "why?" not in str(line.session.transcript.contents)


async def test_a_task_that_outlives_its_tool_may_ask(opened: Opened) -> None:
    answered = anyio.Event()
    replies: list[str] = []
    async with anyio.create_task_group() as group:

        @tool
        async def starts(context: ToolContext[Any]) -> None:
            async def later() -> None:
                await answered.wait()
                replies.append(str(await context.session.ask("and?")))

            group.start_soon(later)

        async with opened([starts]) as line:
            await line.answer("starts")
            line.server.send({"serverContent": {"turnComplete": True}})
            await everybody_waits()
            answered.set()
            await line.server.receive()
            line.server.send({"serverContent": {"outputTranscription": {"text": "so"}}})
            line.server.send({"serverContent": {"turnComplete": True}})
            await everybody_waits()
    assert replies == ["so"]


@pytest.mark.parametrize("verb", ["aclose", "__aexit__"])
async def test_a_tool_may_close_the_session_it_serves(opened: Opened, verb: str) -> None:
    @tool
    async def ends(context: ToolContext[Any]) -> None:
        await getattr(context.session, verb)(*(() if verb == "aclose" else (None, None, None)))

    with anyio.fail_after(30):
        async with opened([ends]) as line:
            line.call("ends")
            events = [event async for event in line.session]
    assert isinstance(events[-1], livetools.ToolStarted)


async def test_a_generator_that_ends_never_and_not_even_when_told_to_is_answered(opened: Opened) -> None:
    @tool(behavior="blocking")
    async def looped() -> Any:
        while True:
            try:
                yield 1
                await anyio.sleep(0.01)
            except BaseException:
                yield 2

    @tool(behavior="blocking")
    def sync() -> Any:
        while True:
            try:
                yield 1
            except BaseException:
                yield 2

    async with opened([looped, sync], BLOCKED, tool_timeout=0.1) as line:
        assert "timed out" in (await line.answer("looped", "c1"))["error"]
        assert "timed out" in (await line.answer("sync", "c2"))["error"]


async def test_five_hundred_sleepers_and_fifty_that_never_wake_share_the_threads(opened: Opened) -> None:
    held, begun = threading.Event(), threading.Semaphore(0)

    @tool
    def nap(n: int) -> int:
        return n

    @tool
    def stuck() -> None:
        begun.release()
        held.wait()

    with running_time() as passed:
        async with opened([nap, stuck]) as line:
            for n in range(500):
                line.call("nap", f"n{n}", n=n)
            assert {a["response"]["output"] for a in await line.answers(500)} == set(range(500))
            for n in range(50):
                line.call("stuck", f"s{n}")
            for _ in range(50):
                assert await anyio.to_thread.run_sync(begun.acquire, True, 20)
            stats = line.session.stats()
            assert (stats["threads"], stats["waiting_for_thread"]) == (50, 0)
            left = passed.seconds
        assert passed.seconds - left < 5
    held.set()
