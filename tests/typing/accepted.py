"""What a type checker accepts: each line is a program that somebody writes. Read by type checkers, not run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

from google.genai import types
from google.genai.live import AsyncSession

import livetools


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return city


async def slow() -> None:
    """Takes its time."""


DECLARATION: dict[str, Any] = {"name": "f", "description": "F."}
SET = livetools.Toolset([get_weather])

livetools.connect("m", tools=[get_weather, slow, livetools.Tool(get_weather), SET, DECLARATION])
livetools.connect("m", tools=(get_weather,))
livetools.connect("m", tools=SET)
livetools.connect("m", tools=[SET, [get_weather, slow]])
livetools.connect("m", tools=[SET.filter(lambda t: t.name == "get_weather"), (slow, DECLARATION)])
livetools.Agent("You are billing.", tools=[get_weather, SET, DECLARATION])
livetools.Agent({"parts": [{"text": "You are billing."}]}, tools=SET)
livetools.Toolset(get_weather, livetools.Tool(slow), DECLARATION)
declared: dict[str, Any] = livetools.declare([get_weather])
config: types.LiveConnectConfig = livetools.declare([get_weather, SET], into=types.LiveConnectConfig())
livetools.declare([get_weather], into=types.LiveConnectConfigDict(response_modalities=[types.Modality.AUDIO]))
livetools.connect("m", tools=[{"type": "function", "function": {"name": "f"}}])
livetools.connect("m", tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name="f")])])
livetools.connect("m", tools=[types.FunctionDeclaration(name="f")])
livetools.connect("m", tools=[partial(get_weather, "Oslo")])
livetools.connect("m", config={"response_modalities": ["AUDIO"], "tools": [{"google_search": {}}]})
livetools.connect("m", config=types.LiveConnectConfig(response_modalities=[types.Modality.AUDIO]))
livetools.connect("m", config=types.LiveConnectConfigDict(response_modalities=[types.Modality.AUDIO]))
livetools.connect("m", history=[{"role": "user", "parts": [{"text": "hi"}]}])
livetools.connect("m", history=[types.Content(role="user", parts=[types.Part(text="hi")])])
livetools.connect("m", instructions="Be brief.")
livetools.connect("m", instructions=types.Content(parts=[types.Part(text="Be brief.")]))
livetools.connect("m", instructions={"parts": [{"text": "Be brief."}]})


async def session(session: livetools.Session) -> None:
    """The verbs."""
    await session.update(livetools.Agent("You are billing.", [get_weather], name="billing"))
    await session.update("Be brief.", tools=[get_weather])
    livetools.connect("m", history=session.transcript)
    first: dict[str, Any] = session.transcript[0]
    print(first)


async def attached(session: AsyncSession) -> None:
    """Messages of the SDK's, whose calls are answered."""
    async with livetools.attach(session, [get_weather, SET], model="m") as live:
        async for message in live:
            print(message)


class Guard(livetools.Hooks):
    """May cut the model off."""

    async def on_output(
        self, transcript: livetools.OutputTranscript, session: livetools.Session | None = None
    ) -> None:
        """What the model says."""
        if session is not None:
            await session.interrupt()


livetools.connect("m", hooks=[Guard()])


@dataclass(frozen=True)
class Traced(livetools.Call):
    """A call with a field of its own."""

    span: str = ""


def values(event: livetools.Event) -> int:
    """Events and options are frozen dataclasses: matched by place, replaced, taken apart, extended."""
    traced = Traced("1", "f", {"a": 1}, span="s")
    chunk: livetools.TextChunk = replace(livetools.TextChunk("a"), text=traced.span)
    described: dict[str, Any] = asdict(chunk)
    names = [each.name for each in fields(livetools.ReconnectPolicy)]
    livetools.ReconnectPolicy(3, 0.5, jitter=0)
    livetools.ModelProfile(family="of our own", input_block=True)
    livetools.ToolResult("done", scheduling="silent")
    match event:
        case livetools.AudioChunk(pcm, rate):
            return len(pcm) + rate
        case livetools.ToolFinished(call, response, None):
            return len(call.name) + len(response)
        case livetools.TurnComplete(reason=str(reason)):
            return len(reason)
        case _:
            return len(names) + len(described) + len(traced.args)
