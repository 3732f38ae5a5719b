"""A tool that would wait for the model while the model waits for it is told so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from livetools import ConcurrencyError, Reconnected, ReconnectPolicy, Tool

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

Opened = Callable[..., Any]
MODEL = "gemini-2.5-flash-native-audio-latest"
AT_ONCE = ReconnectPolicy(initial=0.01, jitter=0.0)


def greet() -> str:
    """Greet."""
    return "hello"


class Asker:
    """A tool that asks the model a question when it is told to."""

    def __init__(self, verb: str = "ask") -> None:
        self.verb, self.go_on, self.runs = verb, anyio.Event(), 0
        self.line: Any = None

    async def job(self, n: int = 0) -> str:
        """Work beside the conversation."""
        self.runs += 1
        if self.runs > 1:
            return "again"
        await self.go_on.wait()
        session = self.line.session
        try:
            if self.verb == "ask":
                return str(await session.ask("what now?"))
            return "".join([word async for word in session.stream("what now?")])
        except ConcurrencyError as error:
            return f"refused: {error}"


async def lose(line: Any) -> None:
    """The connection is lost and another one stands, which is ``line.server`` from here on."""
    line.server.close(1011, "Internal error")
    await line.until(Reconnected)
    line.servers.reverse()


def answer(response: dict[str, Any]) -> str:
    return str(response["response"]["output"])


@pytest.mark.parametrize("verb", ["ask", "stream"])
@pytest.mark.parametrize("asked_first", [True, False])
async def test_a_question_is_refused_where_a_blocking_call_waits_for_the_slot_of_the_tool_that_asks(
    opened: Opened, verb: str, asked_first: bool
) -> None:
    asker = Asker(verb)
    tools = [Tool(asker.job, behavior="non_blocking"), Tool(greet, behavior="blocking")]
    async with opened(tools, model=MODEL, max_concurrency=1) as line:
        asker.line = line
        line.call({"name": "job", "id": "c1", "args": {}})
        await line.quiet()
        if asked_first:
            asker.go_on.set()
            await line.receive("clientContent")
        line.call({"name": "greet", "id": "c2", "args": {}})
        await line.quiet()
        asker.go_on.set()
        first, second = await line.responses(2)
    assert "job" in answer(first)
    assert "the call greet (c2), which needs the slot" in answer(first)
    assert answer(second) == "hello"


async def test_a_question_waits_for_a_call_that_gets_the_slot_of_somebody_else(opened: Opened) -> None:
    asker, other_ends = Asker(), anyio.Event()

    async def other() -> str:
        """Work beside the conversation too."""
        await other_ends.wait()
        return "over"

    tools = [
        Tool(asker.job, behavior="non_blocking"),
        Tool(other, behavior="non_blocking"),
        Tool(greet, behavior="blocking"),
    ]
    async with opened(tools, model=MODEL, max_concurrency=2) as line:
        asker.line = line
        line.call({"name": "job", "id": "c1", "args": {}}, {"name": "other", "id": "c2", "args": {}})
        line.server.send({"serverContent": {"turnComplete": True}})
        asker.go_on.set()
        await line.receive("clientContent")
        line.call({"name": "greet", "id": "c3", "args": {}})
        await line.quiet()
        other_ends.set()
        assert [answer(one) for one in await line.responses(2)] == ["over", "hello"]
        line.says("It is done. ")
        line.says("Both are.")
        assert answer((await line.responses(1))[0]).startswith("It is done.")


@pytest.mark.parametrize(
    ("options", "connect_options", "again"),
    [
        ({}, {"max_concurrency": 1}, {"n": 1}),
        ({"concurrency": 1}, {}, {"n": 1}),
        ({"duplicates": "join"}, {}, {}),
    ],
    ids=["the slot of the session", "the slot of the tool", "the run of the tool"],
)
async def test_a_question_whose_answer_needs_the_end_of_the_tool_that_asks_is_refused(
    opened: Opened, options: dict[str, Any], connect_options: dict[str, Any], again: dict[str, Any]
) -> None:
    """The answer calls the very tool that waits for it: not BLOCKING, and yet an exchange waits for its calls."""
    asker = Asker()
    async with opened(
        [Tool(asker.job, behavior="non_blocking", **options)], model=MODEL, **connect_options
    ) as line:
        asker.line = line
        line.call({"name": "job", "id": "c1", "args": {}})
        line.server.send({"serverContent": {"turnComplete": True}})
        asker.go_on.set()
        await line.receive("clientContent")
        line.call({"name": "job", "id": "c2", "args": again})
        first, second = await line.responses(2)
    assert [first["id"], second["id"]] == ["c1", "c2"]
    assert answer(first).startswith("refused: asked inside the tool job")


async def test_a_question_is_refused_when_the_call_that_asks_it_is_made_again_on_another_connection(
    opened: Opened,
) -> None:
    asker = Asker()
    async with opened([Tool(asker.job, behavior="non_blocking")], model=MODEL, reconnect=AT_ONCE) as line:
        asker.line = line
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        line.call({"name": "job", "id": "c1", "args": {}})
        await line.quiet()
        await lose(line)
        asker.go_on.set()
        await line.receive("clientContent")
        line.call({"name": "job", "id": "c1", "args": {}})
        said = await line.responses(1)
    assert "job" in answer(said[0])


@pytest.mark.parametrize("verb", ["ask", "send_text", "generate_reply"])
async def test_the_tool_of_a_lost_call_does_not_wait_for_a_call_that_waits_for_the_slot_of_that_tool(
    opened: Opened, verb: str
) -> None:
    """It holds the ``concurrency`` of its tool, though the session does not count it any more."""
    went_on = anyio.Event()
    go_on = anyio.Event()

    async def job(n: int) -> str:
        """Work."""
        if n:
            return "second"
        await go_on.wait()
        with contextlib.suppress(ConcurrencyError):
            await getattr(line.session, verb)("hi")
        went_on.set()
        return "first"

    async with opened(
        [Tool(job, behavior="blocking", concurrency=1)], model=MODEL, reconnect=AT_ONCE
    ) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        line.call({"name": "job", "id": "c1", "args": {"n": 0}})
        await line.quiet()
        await lose(line)
        line.call({"name": "job", "id": "c2", "args": {"n": 1}})
        await line.quiet()
        go_on.set()
        with anyio.fail_after(30):
            await went_on.wait()
        assert answer((await line.responses(1))[0]) == "second"


@pytest.mark.parametrize("verb", ["ask", "stream"])
@pytest.mark.parametrize("needs", ["the tool that asks", "its slot"])
async def test_a_question_is_refused_where_an_answer_waits_in_its_batch_for_the_tool_that_asks(
    opened: Opened, verb: str, needs: str
) -> None:
    """The model waits for a call that is done, and whose answer goes out together with another one's."""
    asker = Asker(verb)
    tools = [Tool(asker.job, behavior="non_blocking"), Tool(greet, behavior="non_blocking")]
    slots = 1 if needs == "its slot" else None
    async with opened(tools, model=MODEL, reply_batching="batch", max_concurrency=slots) as line:
        asker.line = line
        mate = {"name": "unknown to us, and so taken for BLOCKING", "id": "c2", "args": {}}
        if slots:
            line.call({"name": "job", "id": "c1", "args": {}})
            await line.quiet()
            line.call(mate, {"name": "greet", "id": "c3", "args": {}})
        else:
            line.call({"name": "job", "id": "c1", "args": {}}, mate)
        await line.quiet()
        asker.go_on.set()
        with anyio.fail_after(30):
            said = {one["id"]: one for one in await line.responses(3 if slots else 2)}
    assert answer(said["c1"]).startswith("refused: asked inside the tool job")
