"""A turn without a user, and who gives up waiting for it."""

from __future__ import annotations

import anyio
import pytest
from support.waiting import until_true

from livetools import OutputTranscript, TurnComplete, connect
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


async def words(session) -> list[str]:
    """What is said in the next two turns."""
    said = [""]
    async for event in session:
        if isinstance(event, OutputTranscript):
            said[-1] += event.text
        elif isinstance(event, TurnComplete):
            if len(said) == 2:
                break
            said.append("")
    return said


async def test_who_gives_up_waiting_leaves_no_half_turn_behind():
    go_on = anyio.Event()

    async def model(turn):
        await turn.say(f"{turn.text} ")
        await go_on.wait()

    async with FakeLiveServer(model) as server:
        async with connect("gemini-3.8-live", **server.options) as session:
            await session.send_text("One.")
            await until_true(lambda: server.sessions[0].so_far.text)
            with anyio.move_on_after(0.05) as waiting:
                await server.sessions[0].speak("By the way.")
            assert waiting.cancelled_caught
            go_on.set()
            assert [text.strip() for text in await words(session)] == ["One.", "By the way."]


async def test_a_script_speaks_unasked_too():
    async with FakeLiveServer() as server:

        @server.conversation
        async def script(user):
            turn = await user.says("hello")
            await turn.say("Good day.")
            await user.session.speak("Your taxi is here.")
            await (await user.says()).say("Bye.")

        async with connect("gemini-3.8-live", **server.options) as session:
            await session.send_text("hello")
            assert await words(session) == ["Good day.", "Your taxi is here."]
            assert str(await session.ask("thanks")) == "Bye."
