"""What a tool may know of the call it serves."""

from __future__ import annotations

import pytest

from livetools.events import Call
from livetools.tools import ToolContext

CALL = Call("c1", "book", {"table": 4})


def test_a_context_gives_the_call_the_dependencies_and_the_session() -> None:
    context = ToolContext(call=CALL, deps="the kitchen")
    assert (context.call, context.deps, context.session) == (CALL, "the kitchen", None)


def test_a_cancelled_call_stays_cancelled() -> None:
    context = ToolContext(call=CALL, deps=None)
    assert not context.cancelled
    context.mark_cancelled()
    context.mark_cancelled()
    assert context.cancelled


@pytest.mark.anyio
async def test_progress_goes_to_whoever_runs_the_tool() -> None:
    told: list[object] = []

    async def report(value: object) -> None:
        told.append(value)

    await ToolContext(call=CALL, report=report).progress({"done": 0.5})
    await ToolContext(call=CALL).progress("to nobody")
    assert told == [{"done": 0.5}]


def test_its_repr_holds_no_arguments() -> None:
    assert repr(ToolContext(call=CALL, deps="s3cret")) == "ToolContext('book', id='c1', cancelled=False)"
