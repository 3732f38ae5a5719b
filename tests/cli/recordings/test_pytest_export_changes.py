"""Eleven conversations as tests: each passes with the tools that it was held with, and fails after a change of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.imported import forgotten

from livetools import ApprovalRequested, OutputTranscript, Session, TurnComplete
from livetools.cli.recordings.frame_history import FrameHistory
from livetools.cli.recordings.pytest_export import Subject, as_test
from livetools.session.agents import open_agent
from livetools.session.listening.frame_tap import tap
from livetools.testing import FakeLiveServer

AGENT = '''
import asyncio, functools
import livetools
from livetools import ToolError, ToolResult, tool

def look_up(city: str) -> str:
    if city == "Atlantis":
        raise ToolError("there is no Atlantis")
    return f"{city}: rain"

def get_weather(city: str) -> str:
    """Current weather in a city."""
    return look_up(city)

async def get_forecast(city: str) -> dict:
    """Tomorrow's weather in a city."""
    await asyncio.sleep(0.02)
    return {"city": city, "days": [look_up(city)]}

@tool(approval=True)
def set_alarm(city: str) -> str:
    """Set an alarm for a city."""
    return f"alarm, {look_up(city)}"

@tool(behavior="non_blocking")
async def follow(city: str):
    """Follow the weather in a city."""
    for hour in (9, 10):
        yield f"{hour} h, {look_up(city)}"
    yield "no more"

@tool(behavior="non_blocking", scheduling="interrupt")
async def measure(city: str) -> str:
    """Measure the rain in a city."""
    await asyncio.sleep(0.05)
    return look_up(city)

@tool(behavior="background")
async def survey(city: str) -> str:
    """Ask people about the weather in a city."""
    await asyncio.sleep(0.05)
    return look_up(city)

def draw_map(city: str) -> ToolResult:
    """Draw a map of a city."""
    return ToolResult(look_up(city), parts=[b"\\x89PNG\\r\\n\\x1a\\n" + bytes(20)])

tools = [get_weather, get_forecast, set_alarm, follow, measure, survey, draw_map]
config = {"output_audio_transcription": {}, "input_audio_transcription": {}}
agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=tools, config=config)
older = functools.partial(livetools.connect, "gemini-3.1-flash-live-preview", tools=[survey], config=config)
'''

#: What somebody does to the tools → the edits of the agent's file.
CHANGES: dict[str, list[tuple[str, str]]] = {
    "they return something else": [('f"{city}: rain"', 'f"{city}: snow"')],
    "they raise": [('return f"{city}: rain"', 'raise RuntimeError("no data")')],
    "a parameter has another name": [("city", "town")],
}


def asks(*questions: str) -> Callable[..., Any]:
    """A conversation of questions, in which the model calls the function that a question names."""

    async def hold(session: Session, server: FakeLiveServer) -> None:
        @server.model
        async def model(turn):
            calls = re.findall(r"(\w+)\((\w+)\)", turn.text)
            answers = (
                await turn.calls(*((name, {"city": city}) for name, city in calls)) if calls else "Hello."
            )
            await turn.say(str(answers))

        for question in questions:
            await session.ask(question)

    return hold


async def approved(session: Session, server: FakeLiveServer) -> None:
    async def approve():
        async for event in session:
            if isinstance(event, ApprovalRequested):
                await session.approve(event.call)

    async with anyio.create_task_group() as group:
        group.start_soon(approve)
        await asks("set_alarm(Oslo)")(session, server)
        group.cancel_scope.cancel()


async def in_the_background(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        if "[Result of" not in turn.text and "survey" in turn.text:
            await turn.call("survey", city="Oslo")
        await turn.say("They say rain." if "rain" in turn.text else "Of course.")

    await session.ask("survey")
    async for event in session:
        if isinstance(event, OutputTranscript) and "rain" in event.text:
            break
    await session.wait_until_settled()
    await session.ask("thanks")


async def lost(session: Session, server: FakeLiveServer) -> None:
    await session.send_text("forecast")
    await session.wait_until_settled(timeout=20)
    await session.ask("thanks")


async def lost_script(user):
    turn = await user.says("forecast")
    await turn.start_call("get_forecast", city="Oslo")
    await turn.drop()
    await user.reconnects(handle=True)
    turn = await user.says()
    await turn.say("Rain, as it seems.")
    turn = await user.says("thanks")
    await turn.say("Of course.")


async def spoken(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        await turn.say(str(await turn.call("get_weather", city="Oslo")))

    server.transcriber = lambda pcm, rate: "How is the weather?"
    await session.send_audio(b"\x00\x40" * 8000)
    await session.end_audio()
    async for event in session:
        if isinstance(event, TurnComplete):
            break


CONVERSATIONS: dict[str, Callable[..., Any]] = {
    "one_question": asks("get_weather(Oslo)"),
    "two_calls_at_once": asks("get_weather(Oslo) and get_forecast(Bergen)"),
    "a_second_try": asks("get_weather(Atlantis)", "get_weather(Oslo)"),
    "small_talk_between": asks("hello", "get_forecast(Oslo)", "bye"),
    "a_picture": asks("draw_map(Oslo)"),
    "a_generator": asks("follow(Oslo)"),
    "not_waited_for": asks("measure(Oslo)"),
    "approved": approved,
    "in_the_background": in_the_background,
    "lost": lost,
    "spoken": spoken,
}


async def record(name: str, agent: object) -> FrameHistory:
    history = FrameHistory()
    async with FakeLiveServer() as server:
        if name == "lost":
            server.conversation(lost_script)
        async with tap(open_agent(agent, **server.options), history) as session:
            await CONVERSATIONS[name](session, server)
    return history


def outcomes(place: Path) -> dict[str, str]:
    """File of a test → what became of it."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        "/",
        str(place),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S*?test_(\w+)\.py::", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {name: verdict for verdict, name in found}


@pytest.fixture(autouse=True)
def _forgotten(tmp_path):
    with forgotten(tmp_path):
        yield


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_exported_test_of_each_conversation_fails_after_each_change_of_the_tools(tmp_path):
    file = tmp_path / "agent.py"
    file.write_text(AGENT, encoding="utf-8")
    scope: dict[str, object] = {"__name__": "agent"}
    exec(compile(AGENT, str(file), "exec"), scope)
    for name in CONVERSATIONS:
        agent = "older" if name == "in_the_background" else "agent"
        history = anyio.run(record, name, scope[agent])
        source = as_test(history.frames(), Subject(f"{file}:{agent}", asks_approval=name == "approved"))
        (tmp_path / f"test_{name}.py").write_text(source, encoding="utf-8")
    assert outcomes(tmp_path) == dict.fromkeys(CONVERSATIONS, "PASSED")
    for change, edits in CHANGES.items():
        changed = AGENT
        for before, after in edits:
            assert before in changed
            changed = changed.replace(before, after)
        file.write_text(changed, encoding="utf-8")
        assert outcomes(tmp_path) == dict.fromkeys(CONVERSATIONS, "FAILED"), change
