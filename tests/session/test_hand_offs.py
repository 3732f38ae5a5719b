"""A conversation that goes on with another agent: by ``update``, or because a tool says so."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

import livetools
from livetools import (
    Agent,
    ConfigError,
    HandedOff,
    HandleUpdate,
    ReconnectPolicy,
    ToolFinished,
    ToolResult,
)
from livetools.testing import FakeLiveServer, Turn

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

Opened = Callable[..., Any]

LATEST, REALTIME, OLDER = (
    "gemini-3.8-live",
    "gemini-3.1-flash-live-preview",
    "gemini-2.5-flash-native-audio-latest",
)


def bill() -> str:
    """The bill."""
    return "12 €"


def greet() -> str:
    """Greet."""
    return "hello"


BILLING = Agent("You are billing.", [bill], name="billing")


def to_billing() -> ToolResult:
    """Hand over to billing."""
    return ToolResult("You are with billing.", handoff=BILLING)


def stepwise() -> Iterator[object]:
    """Hand over, and say more."""
    yield ToolResult("wait", handoff=BILLING)
    yield "there"


async def in_the_background() -> ToolResult:
    """Hand over, after some work."""
    return ToolResult("done", handoff=BILLING)


def nonsense() -> ToolResult:
    """Hand over to nobody."""
    return ToolResult("never", handoff=Agent(tools=[3], name="nobody"))


def declared(setup: dict[str, Any]) -> list[str]:
    """The functions that the model knows."""
    tools = setup.get("tools") or []
    return [f["name"] for entry in tools for f in entry.get("functionDeclarations", ())]


async def test_an_agent_is_told_in_the_session_ahead_of_the_answer_that_names_it(opened: Opened) -> None:
    async with opened([to_billing]) as line:
        line.call({"name": "to_billing", "id": "c1", "args": {}})
        first, second = await line.receive(), await line.receive()
        told = await line.until(HandedOff)
    update = first["contextUpdate"]
    assert update["systemInstruction"]["parts"][0]["text"] == "You are billing."
    assert [f["name"] for f in update["tools"]["tools"][0]["functionDeclarations"]] == ["bill"]
    assert second["toolResponse"]["functionResponses"][0]["response"] == {"output": "You are with billing."}
    assert told == HandedOff("billing")


@pytest.mark.parametrize("tool", [stepwise, livetools.Tool(in_the_background, behavior="background")])
async def test_a_generator_and_a_background_tool_hand_over_at_their_end(opened: Opened, tool: object) -> None:
    async with opened([tool]) as line:
        line.call({"name": getattr(tool, "name", "stepwise"), "id": "c1", "args": {}})
        assert (await line.until(HandedOff)).name == "billing"


async def test_update_takes_an_agent_and_what_it_leaves_out_stays(opened: Opened) -> None:
    config = {"tools": [{"google_search": {}}]}
    async with opened([greet], instructions="Be kind.", config=config) as line:
        await line.session.update(Agent(tools=[bill]))
        update = (await line.receive("contextUpdate"))["contextUpdate"]
        assert "systemInstruction" not in update
        assert update["tools"]["tools"][0] == {"googleSearch": {}}
        assert declared(update["tools"]) == ["bill"]
        assert await line.until(HandedOff) == HandedOff(None)
        assert list(line.session.tools) == ["bill"]
        with pytest.raises(ConfigError, match="its own tools"):
            await line.session.update(BILLING, tools=[greet])  # type: ignore[call-overload]


async def test_until_the_other_connection_stands_the_model_calls_what_it_knows(opened: Opened) -> None:
    async with opened([greet, to_billing], model=OLDER) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        await line.until(HandleUpdate)
        line.call({"name": "to_billing", "id": "c1", "args": {}})
        await line.responses(1)
        line.call({"name": "greet", "id": "c2", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "hello"}
        assert line.transport.dials == 1
        line.says("Here you are.")
        assert (await line.until(HandedOff)).name == "billing"
        assert line.transport.dials == 2


@pytest.mark.parametrize("behavior", ["blocking", "non_blocking"])
async def test_a_tool_that_changes_the_agent_does_not_wait_for_a_move_that_waits_for_its_own_answer(
    opened: Opened, behavior: str
) -> None:
    async def change(context: livetools.ToolContext) -> str:
        """Hand over to billing, from within."""
        await line.session.update(BILLING)
        return "asked for"

    tool = livetools.Tool(change, behavior=behavior)
    async with opened([tool], model=OLDER) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        await line.until(HandleUpdate)
        line.call({"name": "change", "id": "c1", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "asked for"}
        assert line.transport.dials == 1
        line.says("Billing will help you.")
        assert (await line.until(HandedOff)).name == "billing"
        assert line.transport.dials == 2


def of(whose: str, **options: Any) -> livetools.Tool:
    """A tool ``greet`` that says whose it is; each agent has one of this name."""

    async def greet() -> str:
        """Greet."""
        return f"the {whose} greets"

    return livetools.Tool(greet, **options)


def moving_to(*tools: livetools.Tool) -> Callable[[], ToolResult]:
    """A tool that hands over to an agent with these tools."""

    def hand_over() -> ToolResult:
        """Hand over."""
        return ToolResult("You are with the other.", handoff=Agent(tools=tools, name="other"))

    return hand_over


async def test_until_the_model_has_moved_a_name_that_both_agents_have_is_the_old_agents(
    opened: Opened,
) -> None:
    async with opened([of("old"), moving_to(of("new"))], model=OLDER) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        await line.until(HandleUpdate)
        line.call({"name": "hand_over", "id": "c1", "args": {}})
        await line.responses(1)
        line.call({"name": "greet", "id": "c2", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "the old greets"}
        line.says("Here you are.")
        await line.until(HandedOff)
        line.servers[-1].send({"toolCall": {"functionCalls": [{"name": "greet", "id": "c3", "args": {}}]}})
        assert (await line.until(ToolFinished)).response == {"output": "the new greets"}


async def test_a_call_is_approved_and_undone_by_the_tool_that_the_model_knew_when_it_called(
    opened: Opened,
) -> None:
    asked, undone = [], []
    options = {
        whose: {
            "approval": lambda args, whose=whose: asked.append(whose) or True,
            "undo": lambda call, result, whose=whose: undone.append((whose, result)),
        }
        for whose in ("old", "new")
    }
    old, new = (of(whose, **options[whose]) for whose in ("old", "new"))
    async with opened([old, moving_to(new)]) as line:
        line.call({"name": "greet", "id": "c1", "args": {}})
        waiting = await line.until(livetools.ApprovalRequested)
        line.call({"name": "hand_over", "id": "c2", "args": {}})
        await line.responses(1)
        await line.session.approve(waiting.call)
        assert (await line.responses(1))[0]["response"] == {"output": "the old greets"}
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(livetools.ToolCancelled)
        await line.quiet()
    assert asked == ["old"]
    assert undone == [("old", "the old greets")]


async def test_a_hand_off_that_cannot_be_planned_fails_its_call_and_nothing_else(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened([nonsense, greet]) as line:
        line.call({"name": "nonsense", "id": "c1", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"error": "nonsense failed"}
        finished = await line.until(ToolFinished)
        assert isinstance(finished.error, ConfigError)
        line.call({"name": "greet", "id": "c2", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "hello"}
    assert "the hand-off to nobody cannot be made: a value of type int is not a tool" in caplog.text


async def test_one_that_needs_another_connection_fails_where_there_will_be_none(opened: Opened) -> None:
    async with opened([to_billing], model=OLDER, reconnect=False) as line:
        line.call({"name": "to_billing", "id": "c1", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"error": "to_billing failed"}
        assert list(line.session.tools) == ["to_billing"]


async def test_a_hand_off_that_was_planned_and_not_made_is_logged(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "livetools.session"):
        async with opened([to_billing], model=OLDER) as line:
            line.call({"name": "to_billing", "id": "c1", "args": {}})
            await line.responses(1)
    assert "the hand-off to billing was not made" in caplog.text


async def test_a_call_that_was_taken_back_hands_nothing_over(opened: Opened) -> None:
    began, go = anyio.Event(), anyio.Event()

    async def slow() -> ToolResult:
        """Hand over, late."""
        began.set()
        with anyio.CancelScope(shield=True):
            await go.wait()
        return ToolResult("late", handoff=BILLING)

    async with opened([livetools.Tool(slow, cancellable=False)]) as line:
        line.call({"name": "slow", "id": "c1", "args": {}})
        await began.wait()
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(livetools.ToolCancelled)
        go.set()
        await line.quiet()
        assert list(line.session.tools) == ["slow"]


async def test_a_call_that_waits_for_its_approval_runs_after_the_hand_off(opened: Opened) -> None:
    careful = livetools.Tool(greet, approval=True)
    async with opened([to_billing, careful]) as line:
        line.call({"name": "greet", "id": "c1", "args": {}})
        asked = await line.until(livetools.ApprovalRequested)
        line.call({"name": "to_billing", "id": "c2", "args": {}})
        await line.responses(1)
        await line.session.approve(asked.call)
        assert (await line.responses(1))[0]["response"] == {"output": "hello"}


DROPS = ["never", "in the call", "behind the answer", "in the next turn"]


@pytest.mark.parametrize("where", DROPS)
@pytest.mark.parametrize("model", [LATEST, REALTIME, OLDER])
async def test_nothing_that_the_user_says_is_lost_around_a_hand_off(model: str, where: str) -> None:
    heard: list[str] = []
    setups: list[dict[str, Any]] = []
    dropped: list[str] = []
    server = FakeLiveServer()

    async def maybe_drop(turn: Turn, here: str) -> None:
        if here == where and not dropped:
            dropped.append(here)
            await turn.drop()

    @server.model
    async def pretend(turn: Turn) -> None:
        heard.append(turn.text)
        setups.append({**turn.setup})
        if turn.text == "two" and "to_billing" in declared(turn.setup):
            call = await turn.start_call("to_billing")
            await maybe_drop(turn, "in the call")
            await turn.answer(call)
            await maybe_drop(turn, "behind the answer")
        if turn.text == "three":
            await maybe_drop(turn, "in the next turn")
        await turn.say(f"I heard {turn.text}.")

    said = ["one", "two", "three", "four", "five"]
    events: list[Any] = []
    async with server:
        options = {"tools": [to_billing], "instructions": "You are the desk.", **server.options}
        policy = ReconnectPolicy(initial=0.01)
        async with livetools.connect(model, reconnect=policy, **options) as session:
            with anyio.fail_after(30):
                for text in said:
                    await session.ask(text)
                    if text == "four":
                        await _handed_off(session, events)
            contents = session.transcript.contents
    assert dropped == [where] or where == "never"
    assert [text for text in said if text not in heard] == []
    assert declared(setups[-1]) == ["bill"]
    assert setups[-1]["systemInstruction"]["parts"][0]["text"] == "You are billing."
    assert [event for event in events if isinstance(event, HandedOff)] == [HandedOff("billing")]
    told = [p["text"] for c in contents if c["role"] == "user" for p in c["parts"] if "text" in p]
    assert [text for text in told if text in said] == said


async def _handed_off(session: livetools.Session, events: list[Any]) -> None:
    async for event in session:
        events.append(event)
        if isinstance(event, HandedOff):
            return
