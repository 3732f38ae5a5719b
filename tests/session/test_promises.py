"""What the whole promises, over a real socket, on both loops."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal

import anyio
import pytest

import livetools
from livetools import ToolCancelled, ToolContext, ToolError, ToolFinished
from livetools.setup.model_profiles import find
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio


async def sleeps(n: int) -> int:
    """Takes a little while."""
    await anyio.sleep(0.02)
    return n


def blocks(n: int) -> int:
    """Blocks its thread."""
    time.sleep(0.02)
    return n


async def raises(n: int) -> int:
    """Breaks."""
    raise RuntimeError(f"a secret of {n}")


async def refuses(n: int) -> int:
    """Says no."""
    raise ToolError(f"not {n}")


async def huge(n: int) -> str:
    """Returns a lot."""
    return "x" * 300_000


async def waits(n: int, context: ToolContext[None]) -> int:
    """Waits until it is taken back."""
    await anyio.sleep(60)
    return n


KINDS = [sleeps, blocks, raises, refuses, huge, waits]


async def test_no_handler_stops_the_reader_fifty_calls_of_every_kind_while_audio_flows() -> None:
    server = FakeLiveServer()
    asked = [(KINDS[n % len(KINDS)].__name__, {"n": n}) for n in range(50)]

    @server.model
    async def model(turn: Turn) -> None:
        ids = [await turn.start_call(name, **args) for name, args in asked]
        await turn.cancel(*[id for id, (name, _) in zip(ids, asked, strict=True) if name == "waits"])
        for id, (name, _) in zip(ids, asked, strict=True):
            if name != "waits":
                await turn.answer(id)
        await turn.say("All fifty.")

    events: list[Any] = []
    async with server:
        options: dict[str, Any] = server.options
        async with livetools.connect("gemini-3.8-live", tools=KINDS, **options) as session:
            async with anyio.create_task_group() as group:

                async def listen() -> None:
                    async for event in session:
                        events.append(event)

                async def speak() -> None:
                    while True:
                        await session.send_audio(bytes(640))
                        await anyio.sleep(0.005)

                group.start_soon(listen)
                group.start_soon(speak)
                with anyio.fail_after(30):
                    assert str(await session.ask("go")) == "All fifty."
                group.cancel_scope.cancel()
            assert session.stats()["calls"] == []
    finished = [e for e in events if isinstance(e, ToolFinished)]
    assert len(finished) == 50 - sum(name == "waits" for name, _ in asked)
    assert sum(isinstance(e, ToolCancelled) for e in events) == 50 - len(finished)
    assert not any("secret" in str(e.response) for e in finished)


@pytest.mark.parametrize("reply_format", ["tool_response", "client_content"])
async def test_a_follow_up_question_works_in_the_same_session_and_after_a_resumption(
    reply_format: Literal["tool_response", "client_content"],
) -> None:
    server = FakeLiveServer()

    @server.conversation
    async def script(user: Any) -> None:
        turn = await user.says()
        weather = await turn.call("weather", city="Oslo")
        await turn.say(f"It is {weather['output']}.")
        turn = await user.says()
        await turn.say("Take an umbrella.")
        await turn.drop()
        await user.reconnects(handle=True)
        turn = await user.says()
        weather = await turn.call("weather", city="Rome")
        await turn.say(f"There it is {weather['output']}.")

    def weather(city: str) -> str:
        """Weather in a city."""
        return {"Oslo": "rainy", "Rome": "sunny"}[city]

    async with server:
        options: dict[str, Any] = server.options
        async with livetools.connect(
            "gemini-2.5-flash-native-audio-latest",
            tools=[weather],
            reply_format=reply_format,
            reconnect=livetools.ReconnectPolicy(initial=0.01),
            **options,
        ) as session:
            assert str(await session.ask("Weather in Oslo?")) == "It is rainy."
            assert str(await session.ask("What should I take?")) == "Take an umbrella."
            with anyio.fail_after(30):
                assert str(await session.ask("And in Rome?")) == "There it is sunny."
            kinds = [sorted(part)[0] for c in session.transcript.contents for part in c["parts"]]
    assert kinds.count("functionCall") == kinds.count("functionResponse") == 2


@pytest.mark.parametrize("closes", [True, False])
async def test_an_empty_turn_that_closes_the_exchange_of_a_lost_call_is_not_the_answer_to_what_is_asked_next(
    closes: bool,
) -> None:
    """A resumed 3.8 sends one when it has the error, before it reads the question; a service that does not answers."""
    looked = anyio.Event()
    server = FakeLiveServer(profile=replace(find("gemini-3.8-live"), closes_lost=closes))

    @server.model
    async def model(turn: Turn) -> None:
        if turn.text == "look":
            await turn.start_call("look")
            await turn.drop()
        await turn.say(f"On {turn.text}.")

    async def look() -> str:
        """Look."""
        await looked.wait()
        return "seen"

    async with server:
        options: dict[str, Any] = server.options
        policy = livetools.ReconnectPolicy(initial=0.01)
        async with livetools.connect("gemini-3.8-live", tools=[look], reconnect=policy, **options) as session:
            with anyio.fail_after(30):
                await session.send_text("look")
                async for event in session:
                    if isinstance(event, livetools.Reconnected):
                        break
                assert str(await session.ask("what is next?")) == "On what is next?."
                looked.set()
    came = [str(f.message) for f in server.frames if f.direction == "server" and f.connection == 2]
    ends = [at for at, message in enumerate(came) if "turnComplete" in message]
    assert any("modelTurn" in message for message in came[: ends[0]]) is not closes
