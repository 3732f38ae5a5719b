"""Every call is run, stopped, reported: whatever a handler does."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextvars import Context, ContextVar
from typing import Any

import anyio
import pytest
from support import first_steps

from livetools import (
    ApprovalRequested,
    Call,
    Hooks,
    Tool,
    ToolCancelled,
    ToolContext,
    ToolError,
    ToolFinished,
    tool,
)
from livetools.protocol.calls.driver_actions import Outcome, RunTool
from livetools.session.handlers.run_tool import ToolRunner
from livetools.session.handlers.tasks import Tasks
from livetools.transport.loop.wake import on_trio

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


def call(name: str, id: str = "c1", **args: object) -> dict[str, Any]:
    return {"name": name, "id": id, "args": args}


async def answer(line: Any, *calls: dict[str, Any]) -> Any:
    """What one call is answered."""
    line.call(*calls)
    (response,) = await line.responses(1)
    return response["response"]


async def begun_and_taken_back(line: Any, name: str) -> None:
    """A call whose handler waits when the service cancels it."""
    line.call(call(name))
    await line.quiet()
    line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
    await line.until(ToolCancelled)
    await line.quiet()


async def test_sync_and_async_functions_answer_side_by_side(opened: Opened) -> None:
    where: dict[str, threading.Thread] = {}

    def sync(n: int) -> int:
        where["sync"] = threading.current_thread()
        return n + 1

    async def slow(n: int) -> int:
        where["async"] = threading.current_thread()
        await anyio.lowlevel.checkpoint()
        return n + 2

    async with opened([sync, slow]) as line:
        line.call(call("sync", "a", n=1), call("slow", "b", n=1))
        answers = {r["id"]: r["response"] for r in await line.responses(2)}
    assert answers == {"a": {"output": 2}, "b": {"output": 3}}
    assert where["async"] is threading.main_thread()
    assert where["sync"].daemon


async def test_no_handler_stops_the_reader_whatever_it_does(opened: Opened) -> None:
    release = threading.Event()

    async def sleeps() -> str:
        await anyio.sleep(0.01)
        return "slept"

    def blocks() -> str:
        release.wait()
        return "unblocked"

    async def raises() -> None:
        raise RuntimeError("secret")

    def exits() -> None:
        sys.exit(3)

    async def waits() -> None:
        await anyio.sleep_forever()

    def huge() -> str:
        return "x" * 500_000

    kinds = ["sleeps", "blocks", "raises", "waits", "huge"]
    tools = [sleeps, blocks, raises, waits, huge, exits]
    audio = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA"}}
    async with opened(tools) as line:
        line.call(*(call(kinds[n % 5], f"c{n}") for n in range(50)), call("exits", "c50"))
        for _ in range(20):
            line.server.send({"serverContent": {"modelTurn": {"parts": [audio]}}})
            await line.session.send_audio(b"\0" * 320)
        answered = {r["id"]: r["response"] for r in await line.responses(31)}
        assert sorted(answered) == sorted(
            f"c{n}" for n in range(51) if kinds[n % 5] not in ("blocks", "waits") or n == 50
        )
        assert len(line.session.stats()["calls"]) == 20
        assert "secret" not in str(answered)
        line.server.send({"toolCallCancellation": {"ids": [f"c{n}" for n in range(3, 50, 5)]}})
        release.set()
        rest = await line.responses(10)
        assert {r["response"]["output"] for r in rest} == {"unblocked"}
        await line.quiet()
        assert line.session.stats()["handlers"] == 0


async def test_a_cancelled_async_tool_is_cancelled_and_undone_once(opened: Opened) -> None:
    steps: list[object] = []

    async def undo(cancelled: Call, result: object) -> None:
        steps.append(("undo", cancelled.id, result))

    @tool(undo=undo)
    async def book() -> None:
        """Books."""
        steps.append("begun")
        try:
            await anyio.sleep_forever()
        finally:
            steps.append("cleaned up")

    async with opened([book]) as line:
        await begun_and_taken_back(line, "book")
    assert steps == ["begun", "cleaned up", ("undo", "c1", None)]


async def test_a_cancelled_tool_may_wait_for_its_rollback_in_a_shield(opened: Opened) -> None:
    steps: list[str] = []

    async def book() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                steps.append("rolled back")

    async with opened([book]) as line:
        await begun_and_taken_back(line, "book")
        assert steps == ["rolled back"]


@pytest.mark.parametrize("taken_back", [True, False])
async def test_a_clean_up_that_fails_in_a_group_of_the_handlers_ends_its_call_alone(
    opened: Opened, caplog: pytest.LogCaptureFixture, taken_back: bool
) -> None:
    async def child() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise LookupError

    async def book() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(child)
            await anyio.sleep_forever()

    async def quick() -> str:
        return "quick"

    async with opened([book, quick]) as line:
        if taken_back:
            await begun_and_taken_back(line, "book")
            assert line.session.stats()["handlers"] == 0
            assert await answer(line, call("quick", "c2")) == {"output": "quick"}
            assert "book (c1): ExceptionGroup" in caplog.text
        else:
            line.call(call("book"))
            await line.quiet()


async def test_a_call_is_taken_back_in_the_same_turn_of_the_loop_in_which_its_handler_has_begun_to_wait(
    opened: Opened,
) -> None:
    steps: list[str] = []

    async def child() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            steps.append("child ended")

    async def book(wait: bool = False) -> str:
        """Books."""
        if wait:
            steps.append("begun")
            async with anyio.create_task_group() as group:
                group.start_soon(child)
        return "booked"

    async with opened([book]) as line:
        assert await answer(line, call("book", "c0")) == {"output": "booked"}
        line.call(call("book", wait=True))
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
        await line.quiet()
        assert steps in (["begun", "child ended"], ["begun"], [])  # its child may not have come round
        assert line.session.stats()["handlers"] == 0
        assert await answer(line, call("book", "c2")) == {"output": "booked"}


@pytest.mark.parametrize("concurrency", [1, 2, 64])
async def test_a_handler_that_is_done_at_once_while_the_socket_is_full_holds_up_no_answer_and_not_the_end(
    opened: Opened, concurrency: int
) -> None:
    """Its own first step ends, and the report of it waits for the socket: a worker must go on with that."""

    async def waits() -> str:
        await anyio.lowlevel.checkpoint()
        return "waited"

    async def quick() -> str:
        return "quick"

    async with opened([waits, quick], max_concurrency=concurrency) as line:
        assert await answer(line, call("waits", "w")) == {"output": "waited"}  # now a worker waits
        await line.quiet()
        line.server.stall()
        for message in range(3):
            line.call(*(call("quick", f"q{message}{n}") for n in range(4)))
        await line.quiet()
        line.server.stall(False)
        answers = {r["id"]: r["response"] for r in await line.responses(12)}
        assert len(answers) == 12
        assert all(a == {"output": "quick"} for a in answers.values())
        line.server.stall()  # and so at the end
        line.call(*(call("quick", f"r{n}") for n in range(4)))
        await line.quiet()
        with anyio.fail_after(30):
            line.server.drop()
            await line.session.aclose()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("ends", ["returns", "raises"])
@pytest.mark.parametrize("first", ["at once", "after a wait"])
@pytest.mark.parametrize("cancels", ["itself", "itself, and takes it back", "soon", "when a worker waits"])
async def test_a_handler_that_leaves_a_cancellation_to_its_task_ends_neither_the_session_nor_another_call(
    opened: Opened, anyio_backend: str, ends: str, first: str, cancels: str
) -> None:
    """Of a task of its own nobody would notice: it has ended."""

    async def careless() -> str:
        if first == "after a wait":
            await anyio.lowlevel.checkpoint()
        task = asyncio.current_task()
        assert task is not None
        if cancels == "soon":
            asyncio.get_running_loop().call_soon(task.cancel)
        elif cancels == "when a worker waits":
            asyncio.get_running_loop().call_later(0.01, task.cancel)
        else:
            task.cancel()
        if cancels == "itself, and takes it back":
            task.uncancel()
        if ends == "raises":
            raise ToolError("careless")
        return "careless"

    async def waits() -> str:
        await anyio.lowlevel.checkpoint()
        return "waited"

    expected = {"error": "careless"} if ends == "raises" else {"output": "careless"}
    async with opened([careless, waits]) as line:
        line.call(call("waits", "a"), call("waits", "b"))  # now two workers wait
        await line.responses(2)
        await line.quiet()
        line.call(call("careless", "c"), call("careless", "d"))
        assert [r["response"] for r in await line.responses(2)] == [expected] * 2
        await anyio.sleep(0.02)  # real time, of the loop's own timer
        line.call(call("waits", "e"), call("waits", "f"))
        assert [r["response"] for r in await line.responses(2)] == [{"output": "waited"}] * 2
        assert line.session.stats()["handlers"] == 0


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("kind", first_steps.KINDS)
async def test_what_a_first_step_cancels_ends_as_in_a_task_of_its_own_and_touches_no_other_call(
    opened: Opened, anyio_backend: str, kind: first_steps.Kind
) -> None:
    seen: list[object] = []

    async def careless() -> object:
        return await first_steps.noted(kind, seen)

    async def waits() -> str:
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        return "waited"

    async with opened([careless, waits]) as line:
        line.call(call("careless", "b"), call("waits", "c"))
        answers = {r["id"]: r["response"] for r in await line.responses(2)}
        assert seen == [await first_steps.alone(kind)]
        assert answers["c"] == {"output": "waited"}
        await line.quiet()
        line.call(call("waits", "d"), call("waits", "e"))
        assert [r["response"] for r in await line.responses(2)] == [{"output": "waited"}] * 2
        assert line.session.stats()["handlers"] == 0


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_handler_that_cancels_the_task_of_one_that_has_ended_harms_no_call(
    opened: Opened, anyio_backend: str
) -> None:
    """As tools do that let only their newest call go on: ``if not last.done(): last.cancel()``."""
    tasks: dict[str, asyncio.Task[Any] | None] = {}

    async def keeps(key: str) -> str:
        tasks[key] = asyncio.current_task()
        await anyio.lowlevel.checkpoint()
        return key

    async def cancels() -> str:
        for task in tasks.values():
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        return "cancelled"

    async with opened([keeps, cancels]) as line:
        line.call(*(call("keeps", key, key=key) for key in "abc"))
        await line.responses(3)
        await line.quiet()
        line.call(call("cancels", "d"), *(call("keeps", key, key=key) for key in "efg"))
        answers = {r["id"]: r["response"]["output"] for r in await line.responses(4)}
        assert answers == {"d": "cancelled", "e": "e", "f": "f", "g": "g"}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("where", ["approval", "undo"])
async def test_what_is_asked_or_undone_may_leave_a_cancellation_too(
    opened: Opened, anyio_backend: str, where: str
) -> None:
    async def careless(*_: object) -> bool:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return False

    async def book() -> str:
        await anyio.sleep(0 if where == "approval" else 60)
        return "booked"

    async def plain() -> str:
        return "plain"

    options: Any = {where: careless}
    async with opened([tool(book, **options), plain]) as line:
        line.call(call("book", "a"))
        await line.quiet()
        if where == "undo":
            line.server.send({"toolCallCancellation": {"ids": ["a"]}})
            await line.quiet()
        else:
            assert [r["response"] for r in await line.responses(1)] == [{"output": "booked"}]
        assert await answer(line, call("plain", "b")) == {"output": "plain"}


class Reports:
    """Whom handlers report to, and a starter whose tasks do not come round by themselves."""

    def __init__(self) -> None:
        self.started: list[Coroutine[Any, Any, None]] = []
        self.outcomes: list[Outcome] = []

    def start(self, coroutine: Coroutine[Any, Any, None], context: Context) -> None:
        self.started.append(coroutine)

    def settled(self, run: int, outcome: Outcome) -> bool:
        self.outcomes.append(outcome)
        return False

    def reason(self, run: int) -> Exception | None:
        return None


@pytest.mark.parametrize("in_a_thread", [False, True])
async def test_a_handler_that_was_stopped_before_its_turn_does_not_begin(in_a_thread: bool) -> None:
    begun: list[str] = []

    class Note(Hooks):
        def before(self, call: Call) -> None:
            begun.append("hook")

    async def book() -> None:
        begun.append("task")

    def book_in_a_thread() -> None:
        begun.append("thread")

    booked = Tool(book_in_a_thread if in_a_thread else book)
    reports: Any = Reports()
    tasks = Tasks(reports, ToolRunner(reports, hooks=[Note()]))
    tasks.start(RunTool(1, Call("c1", booked.name, {}), booked))
    tasks.stop(1)
    for started in reports.started:  # the handler, and then what its hooks are told
        await started
    tasks.close()
    assert begun == []
    (outcome,) = reports.outcomes
    assert not outcome.began
    assert outcome.response == {"error": "cancelled"}


async def test_a_cancelled_sync_tool_sees_it_in_its_context_and_is_undone_with_its_result(
    opened: Opened,
) -> None:
    undone: list[object] = []
    begun = threading.Event()

    @tool(undo=lambda call, result: undone.append(result))
    def book(context: ToolContext) -> str:
        """Books."""
        begun.set()
        while not context.cancelled:
            pass
        return "booked table 4"

    async with opened([book]) as line:
        line.call(call("book"))
        while not begun.is_set():
            await anyio.sleep(0.001)
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        with anyio.fail_after(30):
            while not undone:
                await anyio.sleep(0.001)
    assert undone == ["booked table 4"]


async def test_what_cannot_be_cancelled_runs_to_its_end_unanswered(opened: Opened) -> None:
    ended: list[str] = []
    release = anyio.Event()

    @tool(cancellable=False)
    async def pay() -> str:
        """Pays."""
        await release.wait()
        ended.append("paid")
        return "paid"

    async with opened([pay]) as line:
        line.call(call("pay"))
        await line.quiet()
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
        release.set()
        await line.quiet()
        await line.session.send_text("anything else?")
        assert "clientContent" in await line.receive()
    assert ended == ["paid"]


async def test_a_generator_is_answered_yield_by_yield_on_a_model_that_takes_it(opened: Opened) -> None:
    async def ticks() -> Any:
        """Ticks."""
        for n in range(2):
            yield n

    def tocks() -> Iterator[int]:
        """Tocks, in a thread."""
        yield from range(2)

    async with opened([ticks, tocks]) as line:
        for name in ("ticks", "tocks"):
            line.call(call(name, name))
            responses = await line.responses(3)
            assert [r["willContinue"] for r in responses] == [True, True, False]
            assert [r["response"] for r in responses[:2]] == [{"output": 0}, {"output": 1}]


async def test_a_generator_is_gathered_on_a_model_that_does_not(opened: Opened) -> None:
    def tocks() -> Iterator[int]:
        """Tocks."""
        yield from range(3)

    async with opened([tocks], model="gemini-3.1-flash-live-preview") as line:
        assert await answer(line, call("tocks")) == {"output": [0, 1, 2]}


async def test_what_a_generator_has_yielded_before_it_raises_is_answered_with_the_error(
    opened: Opened,
) -> None:
    def tocks() -> Iterator[int]:
        """Tocks."""
        yield from range(3)
        raise ToolError("the clock has stopped")

    async def nothing() -> AsyncIterator[int]:
        """Nothing."""
        raise ToolError("no clock")
        yield 1

    async with opened([tocks, nothing], model="gemini-3.1-flash-live-preview") as line:
        assert await answer(line, call("tocks")) == {"output": [0, 1, 2], "error": "the clock has stopped"}
        assert isinstance((await line.until(ToolFinished)).error, ToolError)
        assert await answer(line, call("nothing", "c2")) == {"error": "no clock"}


@pytest.mark.parametrize("model", ["gemini-3.8-live", "gemini-3.1-flash-live-preview"])
async def test_what_a_generator_yields_to_be_awaited_is_awaited(opened: Opened, model: str) -> None:
    async def double(n: int) -> int:
        return 2 * n

    @tool
    async def count() -> Any:
        yield double(1)

    @tool
    def count_too() -> Iterator[object]:
        yield double(1)

    async with opened([count, count_too], model=model) as line:
        for name in ("count", "count_too"):
            line.call(call(name, name))
            first, *_ = await line.responses(2 if "3.8" in model else 1)
            assert first["response"] == {"output": 2 if "3.8" in model else [2]}
    assert await Tool(count).call({}) == await Tool(count_too).call({}) == {"output": [2]}


async def test_a_cancelled_generator_runs_its_clean_up(opened: Opened) -> None:
    closed = threading.Event()

    def tocks() -> Iterator[int]:
        """Tocks for ever."""
        try:
            while True:
                yield 1
        finally:
            closed.set()

    async with opened([tocks]) as line:
        line.call(call("tocks"))
        await line.responses(2)
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
        with anyio.fail_after(30):
            while not closed.is_set():
                await anyio.sleep(0.001)


async def test_a_context_variable_set_by_one_call_is_not_seen_by_the_next(opened: Opened) -> None:
    word: ContextVar[str] = ContextVar("word", default="of the opener")

    async def read_and_write(text: str) -> str:
        before = word.get()
        word.set(text)
        return before

    async with opened([read_and_write]) as line:
        answers = [await answer(line, call("read_and_write", f"c{n}", text=str(n))) for n in range(3)]
    assert answers == [{"output": "of the opener"}] * 3


async def test_tools_see_the_context_variables_of_the_opener_in_threads_too(opened: Opened) -> None:
    word: ContextVar[str] = ContextVar("word")

    def read() -> str:
        return word.get()

    word.set("opener")
    async with opened([read]) as line:
        word.set("later")
        assert await answer(line, call("read")) == {"output": "opener"}


async def test_a_task_that_a_tool_waits_for_and_that_was_cancelled_is_an_ordinary_failure(
    opened: Opened,
) -> None:
    async def gives_up() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anyio.sleep(1)
        raise RuntimeError

    async def strays() -> None:
        import asyncio

        with contextlib.suppress(RuntimeError):
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            future.cancel()
            await future

    async with opened([gives_up, strays]) as line:
        line.call(call("gives_up", "a"), call("strays", "b"))
        answers = {r["id"]: r["response"] for r in await line.responses(2)}
        assert answers["a"] == {"error": "gives_up failed"}
        assert line.session.stats()["calls"] == []


@pytest.mark.parametrize(
    ("verdict", "asked", "response"), [(False, False, {"output": 1}), (True, True, None)]
)
async def test_an_approval_predicate_decides_who_is_asked(
    opened: Opened, verdict: bool, asked: bool, response: object
) -> None:
    @tool(approval=lambda args: verdict)
    def pay(amount: int) -> int:
        """Pays."""
        return amount

    async with opened([pay]) as line:
        line.call(call("pay", amount=1))
        if asked:
            await line.session.approve((await line.until(ApprovalRequested)).call)
        assert [r["response"] for r in await line.responses(1)] == [{"output": 1}]


async def test_an_approval_that_raises_refuses_with_the_words_of_a_tool_error(opened: Opened) -> None:
    async def approval(args: dict[str, Any]) -> bool:
        raise ToolError(f"{args['amount']} is too much")

    @tool(approval=approval)
    def pay(amount: int) -> int:
        """Pays."""
        return amount

    async with opened([pay]) as line:
        answered = await answer(line, call("pay", amount=100))
    assert "100 is too much" in answered["error"]


async def test_a_declared_tool_is_answered_by_respond(opened: Opened) -> None:
    declaration = {
        "name": "look_up",
        "description": "Looks up.",
        "parameters": {"type": "object", "properties": {}},
    }
    from livetools import LocalProtocolError, ToolStarted

    async with opened([declaration]) as line:
        line.call(call("look_up"))
        started = await line.until(ToolStarted)
        await line.session.respond(started.call, {"found": 3})
        (response,) = await line.responses(1)
        assert response["response"] == {"output": {"found": 3}}
        await line.until(ToolFinished)
        with pytest.raises(LocalProtocolError, match="not open"):
            await line.session.respond(started.call, "again")


async def test_a_call_that_has_a_handler_is_not_answered_by_respond(opened: Opened) -> None:
    from livetools import LocalProtocolError, ToolStarted

    async def waits() -> None:
        """Waits."""
        await anyio.sleep_forever()

    async with opened([waits]) as line:
        line.call(call("waits"))
        started = await line.until(ToolStarted)
        with pytest.raises(LocalProtocolError, match="waits has a handler"):
            await line.session.respond(started.call, "in its place")


async def test_hooks_are_told_in_their_order_and_before_may_refuse(opened: Opened) -> None:
    told: list[str] = []

    class Hook:
        async def before(self, call: Call) -> None:
            told.append(f"before {call.id}")
            if call.args:
                raise ToolError("no arguments today")

        def after(self, call: Call, response: dict[str, Any]) -> None:
            told.append(f"after {call.id} {response['output']}")

        def on_error(self, call: Call, error: Exception) -> None:
            told.append(f"on_error {call.id} {error}")
            raise ValueError("a hook that fails loses no call")

        def on_cancel(self, call: Call) -> None:
            told.append(f"on_cancel {call.id}")

    async def waits(n: int = 0) -> str:
        """Waits."""
        if n == 0 and told[-1] == "before c3":
            await anyio.sleep_forever()
        return "done"

    async with opened([waits], hooks=[Hook()]) as line:
        assert await answer(line, call("waits", "c1")) == {"output": "done"}
        assert await answer(line, call("waits", "c2", n=1)) == {"error": "no arguments today"}
        line.call(call("waits", "c3"))
        await line.quiet()
        line.server.send({"toolCallCancellation": {"ids": ["c3"]}})
        await line.until(ToolCancelled)
        await line.quiet()
    assert told == [
        "before c1", "after c1 done", "before c2", "on_error c2 no arguments today", "before c3", "on_cancel c3",
    ]  # fmt: skip


async def test_a_hook_that_waits_is_waited_for_before_those_behind_it_though_some_fail(
    opened: Opened,
) -> None:
    told: list[str] = []

    class Sync:
        def __init__(self, name: str) -> None:
            self.name = name

        def before(self, call: Call) -> None:
            told.append(self.name)

        def on_error(self, call: Call, error: Exception) -> None:
            told.append(f"{self.name} on_error")
            raise ValueError("a hook that fails loses no call")

    class Waits(Sync):
        async def before(self, call: Call) -> None:  # type: ignore[override]
            await anyio.lowlevel.checkpoint()
            super().before(call)

    async def tool() -> str:
        """Works."""
        told.append("tool")
        raise ToolError("no table")

    async with opened([tool], hooks=[Sync("a"), Waits("b"), Sync("c"), Waits("d")]) as line:
        assert await answer(line, call("tool", "c1")) == {"error": "no table"}
    assert told == ["a", "b", "c", "d", "tool", *(f"{name} on_error" for name in "abcd")]


async def test_hooks_are_told_once_of_a_thread_that_ends_after_its_call_was_taken_back(
    opened: Opened,
) -> None:
    told: list[str] = []
    go = threading.Event()

    class Hook:
        def after(self, call: Call, response: dict[str, Any]) -> None:
            told.append("after")

        def on_cancel(self, call: Call) -> None:
            told.append("on_cancel")

    def blocks() -> str:
        """Blocks."""
        go.wait(10)
        return "done"

    async with opened([blocks], hooks=[Hook()]) as line:
        line.call(call("blocks", "c1"))
        await line.quiet()
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
        go.set()
        while not told:
            await anyio.sleep(0.001)
        await line.quiet()
    assert told == ["on_cancel"]


async def test_progress_of_a_tool_is_an_event_and_no_result(opened: Opened) -> None:
    from livetools import ToolProgress

    async def work(context: ToolContext) -> str:
        """Works."""
        await context.progress({"percent": 50})
        return "done"

    async with opened([work], model="gemini-2.5-flash-native-audio-latest") as line:
        line.call(call("work"))
        assert (await line.until(ToolProgress)).value == {"percent": 50}
        assert [r["response"] for r in await line.responses(1)] == [{"output": "done"}]


async def test_a_tool_may_use_the_session_and_the_dependencies(opened: Opened) -> None:
    async def work(context: ToolContext[str]) -> str:
        """Works."""
        await context.session.send_audio(b"\0\0")  # type: ignore[union-attr]  # inside a session there is one
        return context.deps

    async with opened([work], deps="database") as line:
        line.call(call("work"))
        assert "audio" in (await line.receive("realtimeInput"))["realtimeInput"]
        assert [r["response"] for r in await line.responses(1)] == [{"output": "database"}]


async def test_a_tool_may_end_the_session(opened: Opened) -> None:
    async def hang_up(context: ToolContext) -> None:
        """Hangs up."""
        await context.session.aclose()  # type: ignore[union-attr]

    async with opened([hang_up]) as line:
        line.call(call("hang_up"))
        with anyio.fail_after(30):
            assert [e async for e in line.session]


def test_a_thread_that_blocks_for_ever_keeps_neither_the_session_nor_the_process() -> None:
    program = """
import threading, anyio, livetools
from livetools.testing import FakeLiveServer

def block():
    threading.Event().wait()

async def main():
    async with FakeLiveServer() as server:
        @server.model
        async def model(turn):
            await turn.start_call("block")
        async with livetools.connect("gemini-3.8-live", tools=[block], **server.options) as session:
            await session.send_text("go")
            async for event in session:
                if isinstance(event, livetools.ToolStarted):
                    break
            print("left", flush=True)

try:
    anyio.run(main)
except BaseException as error:   # the call was never answered, as the fake server says
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith("left")


@pytest.mark.parametrize("model", ["gemini-3.8-live", "gemini-3.1-flash-live-preview"])
async def test_background_calls_that_block_take_neither_a_slot_nor_a_thread_from_others(
    opened: Opened, model: str
) -> None:
    release = threading.Event()

    @tool(behavior="background")
    def waits() -> None:
        """Waits."""
        release.wait()

    @tool(timeout=5.0)
    def quick() -> str:
        """Answers."""
        return "at once"

    try:
        async with opened([waits, quick], model=model) as line:
            line.call(*(call("waits", f"w{n}") for n in range(100)))
            if model != "gemini-3.8-live":
                await line.responses(100)  # each is told at once that it is under way
            line.call(*(call("quick", f"q{n}") for n in range(64)))
            answers = await line.responses(64)
            release.set()
        assert {answer["response"]["output"] for answer in answers} == {"at once"}
    finally:
        release.set()


async def of_an_attribute(context: ToolContext) -> object:
    """Takes an attribute of the dependencies."""
    return context.deps.kitchen


def of_an_item(context: ToolContext) -> object:
    """Takes an item of the dependencies."""
    return context.deps["kitchen"]


async def of_another_none(context: ToolContext) -> object:
    """Takes an attribute of a ``None`` of its own."""
    table: Any = None
    return table.kitchen


DEPS_MISSING = "context.deps is None, pass connect(deps=...)"


@pytest.mark.parametrize(
    ("reads", "deps", "told"),
    [
        (of_an_attribute, None, True),
        (of_an_item, None, True),
        (of_another_none, None, False),
        (of_an_attribute, object(), False),
        (of_an_item, {}, False),
    ],
)
async def test_a_tool_that_misses_its_deps_is_told_how_to_give_them(
    opened: Opened, caplog: pytest.LogCaptureFixture, reads: Callable[..., Any], deps: object, told: bool
) -> None:
    async with opened([reads], deps=deps) as line:
        assert "error" in await answer(line, call(reads.__name__))
        await line.quiet()
    assert f"{reads.__name__} (c1): " in caplog.text
    assert (DEPS_MISSING in caplog.text) is told


def tasks() -> int:
    """How many there are in this loop."""
    if not on_trio():
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living


async def test_waves_of_calls_are_answered_and_leave_no_task_behind(
    opened: Opened,
) -> None:
    async def at_once(n: int) -> int:
        return n

    async def in_turns(n: int) -> int:
        for _ in range(n % 4):
            await anyio.lowlevel.checkpoint()
        return n

    async def takes_its_cancellation_back(n: int) -> int:
        if not on_trio() and (task := asyncio.current_task()) is not None:
            task.cancel()
            if n % 2:
                task.uncancel()
        return n

    kinds = ["at_once", "in_turns", "at_once", "takes_its_cancellation_back"]
    async with opened([at_once, in_turns, takes_its_cancellation_back], max_concurrency=None) as line:
        before = tasks()
        for wave, size in enumerate([1, 65, 200, 64, 66, 3, 130]):
            line.call(*(call(kinds[n % 4], f"c{wave}-{n}", n=n) for n in range(size)))
            assert sorted(r["id"] for r in await line.responses(size)) == sorted(
                f"c{wave}-{n}" for n in range(size)
            )
            await line.quiet()
            assert line.session.stats()["handlers"] == 0
            assert tasks() == before
