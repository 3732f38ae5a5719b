"""What the hooks around a call decide. A check that fails lets nothing pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from livetools import (
    ApprovalRequested,
    Call,
    Hooks,
    Tool,
    ToolCancelled,
    ToolContext,
    ToolError,
    ToolFinished,
    ToolResult,
    tool,
)
from livetools.tools.results.outcomes import error_outcome

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]

BOUND: ContextVar[str] = ContextVar("bound", default="nothing")


class Till:
    """Remembers what was paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.undone: list[tuple[object, object]] = []

    def pay(self, amount: int) -> str:
        """Pay an amount."""
        self.paid.append(amount)
        return f"card 4111, paid {amount}"

    def refund(self, call: Call, result: object) -> None:
        self.undone.append((call.args["amount"], result))


def guard(**methods: Callable[..., object]) -> Hooks:
    made: Hooks = type("Guard", (Hooks,), methods)()
    return made


async def answer(line: Any, name: str = "pay", id: str = "c1", **args: object) -> Any:
    line.call({"name": name, "id": id, "args": args})
    return (await line.responses(1))[0]["response"]


REFUSED = "pay was refused: its check failed"


def exits(self: Hooks, call: Call) -> None:
    raise SystemExit(1)


async def times_out(self: Hooks, call: Call) -> None:
    with anyio.fail_after(0.001):
        await anyio.sleep_forever()


def crashes(self: Hooks, call: Call) -> None:
    raise PermissionError("the policy server is down: pw=hunter2")


async def cancels_itself(self: Hooks, call: Call) -> None:
    raise asyncio.CancelledError


async def finds_two_faults(self: Hooks, call: Call) -> None:
    raise ExceptionGroup(
        "checks", [ToolError("over the limit"), ExceptionGroup("more", [ToolError("no card")])]
    )


async def finds_a_fault_and_crashes(self: Hooks, call: Call) -> None:
    raise ExceptionGroup("checks", [KeyError("hunter2"), ToolError("over the limit")])


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (crashes, REFUSED),
        (exits, REFUSED),
        (times_out, REFUSED),
        (finds_two_faults, "over the limit; no card"),
        (finds_a_fault_and_crashes, "over the limit"),
        (lambda self, call: False, REFUSED),
        (lambda self, call: True, REFUSED),
        (lambda self, call: [("amount", 1)], REFUSED),
        (lambda self: None, REFUSED),
    ],
)
async def test_a_call_whose_check_fails_is_refused_and_does_not_run(
    opened: Opened, caplog: pytest.LogCaptureFixture, before: Callable[..., object], words: str
) -> None:
    till = Till()
    async with opened([till.pay], hooks=[guard(before=before)]) as line:
        assert await answer(line, amount=5) == {"error": words}
        assert await answer(line, "pay", "c2", amount=5) == {"error": words}
    assert till.paid == []
    assert ("Guard.before" in caplog.text) is (words == REFUSED)
    assert "hunter2" not in caplog.text


def runs_out(self: object, call: Call) -> object:
    return next(iter([]))


async def runs_out_later(self: object, call: Call) -> object:
    return next(iter([]))


@pytest.mark.parametrize("before", [runs_out, runs_out_later])
async def test_a_check_that_raises_what_a_coroutine_cannot_is_logged_with_its_own_line(
    opened: Opened, caplog: pytest.LogCaptureFixture, before: Callable[..., object]
) -> None:
    till = Till()
    async with opened([till.pay], hooks=[guard(before=before)]) as line:
        assert await answer(line, amount=5) == {"error": REFUSED}
    assert f"StopIteration at {__file__}" in caplog.text
    assert f"in {before.__name__}" in caplog.text


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_check_that_raises_a_cancellation_of_its_own_refuses_the_call(opened: Opened) -> None:
    till = Till()
    async with opened([till.pay], hooks=[guard(before=cancels_itself)]) as line:
        assert await answer(line, amount=5) == {"error": REFUSED}
    assert till.paid == []


async def test_arguments_that_a_check_returns_take_the_place_of_the_models_for_everybody(
    opened: Opened,
) -> None:
    seen: list[object] = []

    class Lower(Hooks):
        async def before(self, call: Call) -> Mapping[str, Any]:
            return {**call.args, "amount": call.args["amount"] - 1}

        def after(self, call: Call, response: Mapping[str, Any]) -> None:
            seen.append(call.args["amount"])

    def pay(amount: int, context: ToolContext) -> int:
        """Pay an amount."""
        seen.append(context.call.args["amount"])
        return amount

    async with opened([pay], hooks=[Lower(), Lower()]) as line:
        assert await answer(line, amount=5) == {"output": 3}
        finished = await line.until(ToolFinished)
    assert seen == [3, 3, 3]
    assert finished.call.args == {"amount": 3}


@pytest.mark.parametrize("returned", [False, True])
async def test_what_a_check_of_a_large_result_makes_of_it_is_what_the_model_gets(
    opened: Opened, returned: bool
) -> None:
    class Hide(Hooks):
        def after(self, call: Call, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
            rows = response["output"]
            if returned:
                return {"output": [{**row, "card": "hidden"} for row in rows]}
            for row in rows:
                row["card"] = "hidden"
            return None

    def customers() -> list[dict[str, Any]]:
        """All customers."""
        return [{"id": n, "card": "4111"} for n in range(1000)]

    async with opened([customers], hooks=[Hide()]) as line:
        hidden = {"output": [{"id": n, "card": "hidden"} for n in range(1000)]}
        assert await answer(line, "customers") == hidden
        assert (await line.until(ToolFinished)).response == hidden


async def test_arguments_that_a_check_returns_are_validated(opened: Opened) -> None:
    till = Till()
    async with opened([till.pay], hooks=[guard(before=lambda self, call: {"amount": "much"})]) as line:
        assert "amount should be a whole number" in (await answer(line, amount=5))["error"]
    assert till.paid == []


async def test_a_person_approves_what_the_check_has_made_of_the_arguments_and_it_is_what_runs_and_is_undone(
    opened: Opened,
) -> None:
    till, asked = Till(), []
    entered = anyio.Event()

    def halve(self: Hooks, call: Call) -> Mapping[str, Any]:
        asked.append(call.args["amount"])
        return {"amount": call.args["amount"] // 2}

    async def pay(amount: int) -> None:
        """Pay an amount."""
        till.paid.append(amount)
        entered.set()
        await anyio.sleep_forever()

    made = tool(approval=lambda args: args["amount"] > 10, undo=till.refund)(pay)
    async with opened([made], hooks=[guard(before=halve)]) as line:
        line.call({"name": "pay", "id": "c1", "args": {"amount": 100}})
        waiting = await line.until(ApprovalRequested)
        assert waiting.call.args == {"amount": 50}
        await line.session.approve(waiting.call)
        await entered.wait()
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
    assert asked == [100]
    assert till.paid == [50]
    assert till.undone == [(50, None)]


@pytest.mark.parametrize("approval", [True, lambda args: False])
async def test_a_call_that_a_check_refuses_is_shown_to_nobody(opened: Opened, approval: Any) -> None:
    till, told = Till(), []

    class Guard(Hooks):
        def before(self, call: Call) -> None:
            raise ToolError("over the limit")

        def on_error(self, call: Call, error: Exception) -> None:
            told.append(str(error))

    @tool(approval=approval)
    def pay(amount: int) -> str:
        """Pay an amount."""
        return till.pay(amount)

    async with opened([pay], hooks=[Guard()]) as line:
        assert await answer(line, amount=5) == {"error": "over the limit"}
        await line.quiet()
        assert (await line.until(ToolFinished)).error is not None
    assert told == ["over the limit"]
    assert till.paid == []


async def test_a_person_who_approves_while_the_check_still_runs_does_not_take_its_place(
    opened: Opened,
) -> None:
    till, asked = Till(), anyio.Event()

    async def before(self: Hooks, call: Call) -> None:
        if not asked.is_set():
            asked.set()
            await anyio.sleep_forever()
        raise ToolError("over the limit")

    @tool(approval=True)
    def pay(amount: int) -> str:
        """Pay an amount."""
        return till.pay(amount)

    async with opened([pay], hooks=[guard(before=before)]) as line:
        line.call({"name": "pay", "id": "c1", "args": {"amount": 5}})
        await asked.wait()
        await line.session.approve(Call("c1", "pay", {"amount": 5}))
        assert (await line.responses(1))[0]["response"] == {"error": "over the limit"}
    assert till.paid == []


@pytest.mark.parametrize("asks", [True, False])
async def test_on_allowed_is_called_when_the_tools_own_rule_lets_a_call_run_and_no_person_is_asked(
    opened: Opened, asks: bool
) -> None:
    allowed: list[Call] = []

    class Log(Hooks):
        def before(self, call: Call) -> Mapping[str, Any]:
            return {"amount": 7}

        async def on_allowed(self, call: Call) -> None:
            allowed.append(call)

    @tool(approval=lambda args: asks)
    def pay(amount: int) -> str:
        """Pay an amount."""
        return f"paid {amount}"

    async with opened([pay], hooks=[Log()]) as line:
        line.call({"name": "pay", "id": "c1", "args": {"amount": 5}})
        if asks:
            await line.session.approve((await line.until(ApprovalRequested)).call)
        assert (await line.responses(1))[0]["response"] == {"output": "paid 7"}
        await line.quiet()
    assert allowed == ([] if asks else [Call("c1", "pay", {"amount": 7})])


@pytest.mark.parametrize("how", ["refused", "cancelled"])
async def test_hooks_are_told_of_a_call_that_they_let_pass_and_that_never_ran(
    opened: Opened, how: str
) -> None:
    told: list[str] = []

    class Log(Hooks):
        def before(self, call: Call) -> None:
            told.append("before")

        def on_error(self, call: Call, error: Exception) -> None:
            told.append(f"on_error {error}")

        def on_cancel(self, call: Call) -> None:
            told.append("on_cancel")

    @tool(approval=True)
    def pay(amount: int) -> str:
        """Pay an amount."""
        return "paid"

    async with opened([pay], hooks=[Log()]) as line:
        line.call({"name": "pay", "id": "c1", "args": {"amount": 5}})
        waiting = await line.until(ApprovalRequested)
        if how == "refused":
            await line.session.refuse(waiting.call, "no")
        else:
            line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
            await line.until(ToolCancelled)
        await line.quiet()
    ended = "on_error the call was not approved: no" if how == "refused" else "on_cancel"
    assert told == ["before", ended]


@pytest.mark.parametrize("approval", [False, True])
async def test_a_tool_sees_the_context_variables_that_a_check_has_set_and_the_next_call_does_not(
    opened: Opened, approval: bool
) -> None:
    def before(self: Hooks, call: Call) -> None:
        if call.args.get("n") == 1:
            BOUND.set("bound")

    @tool(approval=approval)
    async def look(n: int) -> str:
        """Look."""
        return BOUND.get()

    async def ask(line: Any, n: int) -> Any:
        line.call({"name": "look", "id": f"c{n}", "args": {"n": n}})
        if approval:
            await line.session.approve((await line.until(ApprovalRequested)).call)
        return (await line.responses(1))[0]["response"]["output"]

    async with opened([look], hooks=[guard(before=before)]) as line:
        assert [await ask(line, 1), await ask(line, 2)] == ["bound", "nothing"]


async def test_a_result_whose_check_fails_is_withheld_and_the_call_not_undone(opened: Opened) -> None:
    till, told = Till(), []

    def after(self: Hooks, call: Call, response: Mapping[str, Any]) -> None:
        raise RuntimeError("the audit is down")

    class Log(Hooks):
        def after(self, call: Call, response: Mapping[str, Any]) -> None:
            told.append("after")

        def on_error(self, call: Call, error: Exception) -> None:
            told.append("on_error")

    @tool(undo=till.refund)
    def pay(amount: int) -> str:
        """Pay an amount."""
        return till.pay(amount)

    async with opened([pay], hooks=[Log(), guard(after=after), Log()]) as line:
        response = await answer(line, amount=5)
        assert isinstance((await line.until(ToolFinished)).error, ToolError)
    assert response == {"error": "pay has run, and its result is withheld: the check of its result failed"}
    assert told == ["after", "on_error"]
    assert till.paid == [5]
    assert till.undone == []


async def test_what_after_returns_takes_the_place_of_the_response_and_the_media_stay(opened: Opened) -> None:
    def mask(self: Hooks, call: Call, response: Mapping[str, Any]) -> object:
        return str(response["output"]).replace("4111", "****")

    async def stamp(self: Hooks, call: Call, response: Mapping[str, Any]) -> object:
        return {**response, "at": "noon"}

    def pay(amount: int) -> ToolResult:
        """Pay an amount."""
        return ToolResult(f"card 4111, paid {amount}", parts=[(b"\x89PNG", "image/png")], ends_session=True)

    async with opened([pay], hooks=[guard(after=mask), guard(after=stamp)]) as line:
        line.call({"name": "pay", "id": "c1", "args": {"amount": 5}})
        (sent,) = await line.responses(1)
    assert sent["response"] == {"output": "card ****, paid 5", "at": "noon"}
    assert len(sent["parts"]) == 1


async def test_the_texts_of_tool_errors_in_a_group_are_told_and_of_others_nothing(opened: Opened) -> None:
    async def book(faults: list[str]) -> None:
        """Book a table."""
        errors = [KeyError(f) if f.startswith("key") else ToolError(f) for f in faults]
        raise ExceptionGroup(
            "faults", [errors[0], ExceptionGroup("more", errors[1:])] if errors[1:] else errors
        )

    def approve(args: Mapping[str, Any]) -> bool:
        raise ExceptionGroup("checks", [ToolError("closed"), ToolError("full")])

    @tool(approval=approve)
    def pay() -> None:
        """Pay."""

    async def told(line: Any, id: str, faults: Iterable[str]) -> Any:
        return (await answer(line, "book", id, faults=list(faults)))["error"]

    async with opened([book, pay]) as line:
        assert await told(line, "c1", ["2 seats are free"]) == "2 seats are free"
        assert await told(line, "c2", ["a", "key", "b"]) == "a; b"
        assert await told(line, "c3", ["key hunter2"]) == "book failed"
        assert await answer(line, "pay", "c4") == {"error": "the call was not approved: closed; full"}


@pytest.mark.parametrize("approval", [False, True])
async def test_past_its_retries_a_tool_tells_the_model_to_stop_trying(opened: Opened, approval: bool) -> None:
    @tool(retries=1, approval=approval and (lambda args: False))
    def book(day: int) -> str:
        """Book a table."""
        if day > 7:
            raise ToolError("there is no such day.")
        return "booked"

    stop = "Stop trying: do not call book again for this"
    async with opened([book]) as line:
        assert await answer(line, "book", "c1", day=8) == {"error": "there is no such day."}
        assert (await answer(line, "book", "c2", day="x"))["error"].endswith(stop)
        assert await answer(line, "book", "c3", day=9) == {"error": f"there is no such day. {stop}"}
        assert await answer(line, "book", "c4", day=1) == {"output": "booked"}
        assert await answer(line, "book", "c5", day=8) == {"error": "there is no such day."}


async def test_an_error_without_a_retry_says_so_at_once(opened: Opened) -> None:
    def close() -> None:
        """Close."""
        raise ToolError("the bank is closed", retry=False)

    told = {"error": "the bank is closed. Stop trying: do not call close again for this"}
    async with opened([close]) as line:
        assert await answer(line, "close", "c1") == told
    assert await Tool(close).call({}) == told
    group = ExceptionGroup("two", [ToolError("a"), ToolError("b", retry=False)])
    assert str(error_outcome(group, "f").response["error"]).startswith("a; b. Stop trying")
