"""Who must agree to a call, and what they are shown: its arguments, validated."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

from livetools import (
    ApprovalRequested,
    Call,
    ConcurrencyError,
    SessionStarted,
    Tool,
    ToolContext,
    ToolError,
    ToolFinished,
    ToolStarted,
    tool,
)
from livetools.session.running.leaving import HANDLERS_END

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]
DECLARED = {"name": "book", "description": "Books.", "parameters": {"type": "object", "properties": {}}}


def call(name: str = "book", id: str = "c1", **args: object) -> dict[str, Any]:
    return {"name": name, "id": id, "args": args}


@pytest.mark.parametrize("how", ["person", "callable"])
async def test_arguments_that_do_not_fit_are_answered_and_nobody_is_asked(opened: Opened, how: str) -> None:
    asked: list[object] = []
    hooked: list[str] = []

    class Hook:
        def before(self, call: object) -> None:
            hooked.append("before")

        def on_error(self, call: object, error: Exception) -> None:
            hooked.append(type(error).__name__)

    @tool(approval=True if how == "person" else lambda args: asked.append(args))
    def book(number: int) -> str:
        """Books."""
        asked.append(number)
        return "done"

    async with opened([book], hooks=[Hook()]) as line:
        line.call(call(number="abc"), call(id="c2"), call(id="c3", number=1, more=2))
        answers = {r["id"]: r["response"]["error"] for r in await line.responses(3)}
        await line.quiet()
        assert line.session.stats()["calls"] == []
    assert "number should be a whole number" in answers["c1"]
    assert "number is missing" in answers["c2"]
    assert "more is not known" in answers["c3"]
    assert asked == []
    assert sorted(hooked) == ["InvalidArguments"] * 3 + ["before"] * 3


async def test_a_person_is_asked_for_what_fits(opened: Opened) -> None:
    @tool(approval=True)
    def book(number: int) -> int:
        """Books."""
        return number

    async with opened([book]) as line:
        line.call(call(number=4))
        wanted = await line.until(ApprovalRequested)
        await line.session.approve(wanted.call)
        assert [r["response"] for r in await line.responses(1)] == [{"output": 4}]


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_an_approval_reads_validated_arguments_and_the_context(opened: Opened, kind: str) -> None:
    seen: list[object] = []

    def small(args: Mapping[str, Any], context: ToolContext[int]) -> bool:
        seen.append((dict(args), context.deps, context.call.args, context.session is not None))
        return len(args["guests"]) > context.deps

    async def later(args: Mapping[str, Any], context: ToolContext[int]) -> bool:
        return small(args, context)

    @tool(approval=small if kind == "sync" else later)
    def book(day: datetime.date, house: ToolContext[int], table: int = 4, *guests: str, **notes: str) -> str:
        """Books."""
        return f"{day:%d.%m.} {table}"

    async with opened([book], deps=2) as line:
        raw = {"day": "2026-01-31", "guests": ["Ada"], "wish": "window"}
        line.call(call(**raw))
        assert [r["response"] for r in await line.responses(1)] == [{"output": "31.01. 4"}]
    valid = {"day": datetime.date(2026, 1, 31), "table": 4, "guests": ["Ada"], "wish": "window"}
    assert seen == [(valid, 2, raw, True)]


async def test_a_validator_that_raises_something_else_ends_the_call_and_tells_nothing_of_it(
    opened: Opened,
) -> None:
    from typing import Annotated

    from pydantic import AfterValidator

    def check(value: int) -> int:
        raise RuntimeError("the password is hunter2")

    @tool(approval=True)
    def book(number: Annotated[int, AfterValidator(check)]) -> None:
        """Books."""

    async with opened([book]) as line:
        line.call(call(number=4))
        assert [r["response"] for r in await line.responses(1)] == [{"error": "book failed"}]


async def test_an_approval_that_refuses_says_why(opened: Opened) -> None:
    def never(args: object) -> bool:
        raise ToolError("the house is full")

    async with opened([Tool(DECLARED, handler=lambda: 1, approval=never)]) as line:
        line.call(call())
        [answer] = await line.responses(1)
        assert answer["response"] == {"error": "the call was not approved: the house is full"}


@pytest.mark.parametrize("how", ["person", "callable"])
async def test_a_tool_that_is_only_declared_may_want_an_approval(opened: Opened, how: str) -> None:
    async with opened([Tool(DECLARED, approval=True if how == "person" else lambda args: False)]) as line:
        line.call(call())
        if how == "person":
            wanted = await line.until(ApprovalRequested)
            await line.session.approve(wanted.call)
        with anyio.fail_after(30):
            while [c["waiting_for"] for c in line.session.stats()["calls"]] != ["session.respond"]:
                await anyio.sleep(0.001)


@pytest.mark.parametrize("read", [True, False])
async def test_where_nobody_reads_events_the_log_says_what_a_call_waits_for(
    opened: Opened, caplog: pytest.LogCaptureFixture, read: bool
) -> None:
    book = Tool(DECLARED, handler=lambda: "done", approval=True, approval_timeout=45.0)
    async with opened([book]) as line:
        if read:
            await line.until(SessionStarted)
        line.call(call())
        await line.quiet()
        waiting = await line.until(ApprovalRequested)
        await line.session.refuse(waiting.call)
    warnings = [record.getMessage() for record in caplog.records if "approval" in record.getMessage()]
    told = (
        "book waits up to 45 s for an approval, and nobody reads the session's events: approve it in a loop"
    )
    assert [warning.startswith(told) for warning in warnings] == ([] if read else [True])


@pytest.mark.parametrize("end", ["the server's cancellation", "refused", "approved", "its time", "leaving"])
async def test_an_approval_that_is_of_no_account_any_more_is_cancelled(opened: Opened, end: str) -> None:
    asked, told, gone = anyio.Event(), anyio.Event(), anyio.Event()

    async def ask_by_mail(args: Mapping[str, Any]) -> bool:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            gone.set()
        return True

    @tool(approval=ask_by_mail, approval_timeout=0.05 if end == "its time" else 60.0)
    def book() -> str:
        """Books."""
        told.set()
        return "done"

    with anyio.fail_after(30):
        async with opened([book]) as line:
            line.call(call())
            await asked.wait()
            if end == "the server's cancellation":
                line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
            elif end == "refused":
                await line.session.refuse(Call("c1", "book", {}), "no")
            elif end == "approved":
                await line.session.approve(Call("c1", "book", {}))
                assert [r["response"] for r in await line.responses(1)] == [{"output": "done"}]
            if end != "leaving":
                await gone.wait()
            left = anyio.current_time()
    assert gone.is_set()
    assert anyio.current_time() - left < HANDLERS_END
    assert told.is_set() == (end == "approved")


async def test_a_call_may_be_approved_as_soon_as_it_is_known(opened: Opened) -> None:
    """Before the task that asks has begun, perhaps: trio starts tasks in no order, so this is tried many times."""

    @tool(approval=True)
    def book() -> str:
        """Books."""
        return "done"

    async with opened([book]) as line:
        for n in range(20):
            line.call(call(id=f"c{n}"))
            started = await line.until(ToolStarted)
            await line.session.approve(started.call)
            assert (await line.until(ToolFinished)).response == {"output": "done"}


async def test_leaving_does_not_wait_for_an_approval_in_a_thread(opened: Opened) -> None:
    asked, answer = threading.Event(), threading.Event()

    def ask_at_the_door(args: Mapping[str, Any]) -> bool:
        asked.set()
        return answer.wait(30)

    @tool(approval=ask_at_the_door)
    def book() -> str:
        """Books."""
        return "done"

    try:
        async with opened([book]) as line:
            line.call(call())
            assert await anyio.to_thread.run_sync(asked.wait, 3)
            left = anyio.current_time()
        assert anyio.current_time() - left < HANDLERS_END
    finally:
        answer.set()


@pytest.mark.parametrize("behavior", ["blocking", "non_blocking"])
async def test_an_approval_may_use_the_session_and_does_not_wait_for_the_answer_to_its_own_call(
    opened: Opened, behavior: str
) -> None:
    refused: list[Exception] = []

    async def approval(args: Mapping[str, Any]) -> bool:
        await line.session.send_text("May I?")
        await line.session.update(instructions="Be careful.")
        for waits in ([lambda: line.session.ask("May I?")] if behavior == "blocking" else []) + [
            line.session.park
        ]:
            try:
                await waits()
            except ConcurrencyError as error:
                refused.append(error)
        return False

    async def book() -> str:
        """Books."""
        return "booked"

    offered = Tool(book, approval=approval, behavior=behavior)
    async with opened([offered], model="gemini-2.5-flash-native-audio-latest") as line:
        line.call(call())
        assert (await line.responses(1))[0]["response"] == {"output": "booked"}
    assert len(refused) == (2 if behavior == "blocking" else 1)
