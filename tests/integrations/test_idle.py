"""Nobody speaks: the model asks once, and then the conversation ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from livetools import (
    AudioChunk,
    Call,
    Event,
    InputTranscript,
    ToolFinished,
    ToolStarted,
    VoiceActivity,
    connect,
)
from livetools.integrations.idle import ASK, Idle
from livetools.session.memory import MemoryServer, MemoryTransport
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio

SECOND = AudioChunk(b"\0" * 48_000)


class Conversation:
    """A session on a clock that the test moves, and who watches it."""

    def __init__(self, idle: Idle, clock: FakeClock, server: MemoryServer) -> None:
        self.idle, self.clock, self.server = idle, clock, server
        self.over = anyio.Event()
        self.asked = 0

    async def run(self) -> None:
        await self.idle.run()
        self.over.set()

    async def listen(self) -> None:
        while True:
            frame = await self.server.receive()
            if "clientContent" in frame:
                assert frame["clientContent"]["turns"][0]["parts"] == [{"text": ASK}]
                self.asked += 1
                self.server.send({"serverContent": {"turnComplete": True}})

    async def later(self, seconds: float, *events: Event) -> None:
        """Time passes, a tenth of a second at a time; then this happens."""
        for _ in range(round(seconds * 10)):
            self.clock.advance(0.1)
            await anyio.wait_all_tasks_blocked()
        for event in events:
            self.idle.tap(event)


@pytest.fixture
async def call() -> AsyncIterator[Conversation]:
    clock = FakeClock()
    transport = MemoryTransport()
    session = connect(
        "gemini-2.5-flash-native-audio-latest",
        transport=transport,
        clock=clock,
        base_url="ws://localhost:1",
        tools=[],
    )
    opened: list[MemoryServer] = []

    async def answer() -> None:
        opened.append(await transport.accept())
        await opened[0].receive()
        opened[0].send({"setupComplete": {}})

    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        async with session:
            conversation = Conversation(Idle(session, 10.0, clock=clock), clock, opened[0])
            group.start_soon(conversation.listen)
            group.start_soon(conversation.run)
            await anyio.wait_all_tasks_blocked()
            yield conversation
            group.cancel_scope.cancel()


async def test_it_asks_once_and_then_ends(call: Conversation) -> None:
    await call.later(9.9)
    assert call.asked == 0
    await call.later(0.2)
    assert call.asked == 1
    await call.later(9.8)
    assert not call.over.is_set()
    await call.later(0.3)
    assert call.over.is_set()
    assert call.asked == 1


async def test_whoever_answers_is_asked_again_the_next_time(call: Conversation) -> None:
    await call.later(15.0, InputTranscript("Yes"))
    assert call.asked == 1
    await call.later(9.0)
    assert not call.over.is_set()
    await call.later(4.0)
    assert call.asked == 2
    assert not call.over.is_set()


@pytest.mark.parametrize("event", [VoiceActivity("start"), InputTranscript("Hm")], ids=["voice", "words"])
async def test_a_user_who_speaks_is_no_silence(call: Conversation, event: Event) -> None:
    for _ in range(3):
        await call.later(8.0, event)
    assert call.asked == 0


async def test_silence_begins_when_the_sound_has_been_heard(call: Conversation) -> None:
    await call.later(1.0, *[SECOND] * 20)  # faster than it plays
    await call.later(29.0)
    assert call.asked == 0
    await call.later(1.2)
    assert call.asked == 1


async def test_a_call_that_is_open_is_no_silence(call: Conversation) -> None:
    tool = Call("1", "book")
    await call.later(5.0, ToolStarted(tool))
    await call.later(30.0, ToolFinished(tool, {}, None, 30.0))
    assert call.asked == 0
    await call.later(10.2)
    assert call.asked == 1


async def test_blank_transcripts_are_nobodys_voice(call: Conversation) -> None:
    await call.later(9.0, InputTranscript(" "))
    await call.later(1.2)
    assert call.asked == 1
