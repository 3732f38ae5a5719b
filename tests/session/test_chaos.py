"""A conversation whose line is cut at random moments: no call runs twice, none is left untold, no text is
lost."""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

import livetools
from livetools import (
    ReconnectPolicy,
    Session,
    Stalled,
    ToolCancelled,
    ToolContext,
    ToolFinished,
    ToolLost,
    ToolStarted,
)
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio

QUICK = ReconnectPolicy(initial=0.005, maximum=0.02, budget=10_000)
CLOSES = [(1001, ""), (1008, "The operation was aborted."), (1011, "Internal error encountered.")]


@dataclass
class Storm:
    """One seed's weather: what the server does to the line, and what the tools and the session were seen to
    do."""

    seed: int
    chance: random.Random = field(init=False)
    runs: Counter[str] = field(default_factory=Counter)
    told: dict[type, set[str]] = field(default_factory=dict)
    heard: set[int] = field(default_factory=set)
    stalls: list[Stalled] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def tools(self) -> list[Any]:
        async def fast(n: int, context: ToolContext) -> str:
            """Fast."""
            self.runs[context.call.id] += 1
            return f"fast {n}"

        async def slow(n: int, context: ToolContext) -> str:
            """Slow."""
            self.runs[context.call.id] += 1
            await anyio.sleep(self.chance.random() * 0.03)
            return f"slow {n}"

        def block(n: int, context: ToolContext) -> str:
            """Blocks its thread."""
            self.runs[context.call.id] += 1
            time.sleep(0.005)
            return f"block {n}"

        async def fail(n: int, context: ToolContext) -> None:
            """Fails."""
            self.runs[context.call.id] += 1
            raise ValueError(n)

        return [fast, slow, block, fail]

    async def strike(self, turn: Turn) -> None:
        """Perhaps cut the line, or announce it."""
        match self.chance.randrange(40):
            case 0:
                await turn.drop()
            case 1:
                await turn.close(*self.chance.choice(CLOSES))
            case 2:
                await turn.go_away(self.chance.choice([0.05, 0.5, 2.0]))

    async def model(self, turn: Turn) -> None:
        if not turn.text.isdigit():  # a late result; the conversation may end while it is spoken of
            return await turn.say("noted")
        n = int(turn.text)
        self.heard.add(n)
        await self.strike(turn)
        for _ in range(self.chance.randrange(3)):
            call = await turn.start_call(self.chance.choice(["fast", "slow", "block", "fail"]), n=n)
            await self.strike(turn)
            await turn.answer(call)
            await self.strike(turn)
        await turn.say(f"heard {n}")
        return await self.strike(turn)

    async def listen(self, session: Session) -> None:
        async for event in session:
            if isinstance(event, ToolStarted | ToolFinished | ToolLost | ToolCancelled):
                self.told.setdefault(type(event), set()).add(event.call.id)
            elif isinstance(event, Stalled):
                self.stalls.append(event)

    async def rage(self, turns: int) -> None:
        """The conversation; every ``ask`` returns, interrupted or not."""
        async with FakeLiveServer(self.model, seed=self.seed) as server:
            async with livetools.connect(
                "gemini-3.8-live", tools=self.tools(), reconnect=QUICK, **server.options
            ) as session:
                async with anyio.create_task_group() as group:
                    group.start_soon(self.listen, session)
                    for n in range(turns):
                        await session.ask(str(n), timeout=30)
                    while session.stats()["calls"]:
                        await anyio.sleep(0.01)
                    await session.aclose()

    def judge(self, turns: int) -> None:
        started = self.told.get(ToolStarted, set())
        ended = self.told.get(ToolFinished, set()) | self.told.get(ToolCancelled, set())
        assert not [id for id, count in self.runs.items() if count > 1], f"run twice, seed {self.seed}"
        assert not started - ended, f"untold, seed {self.seed}"
        assert set(range(turns)) <= self.heard, f"lost text, seed {self.seed}"
        assert not self.stalls, f"seed {self.seed}"


@pytest.fixture(autouse=True)
def without_the_failures_that_are_meant(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "livetools.calls")


async def endure(seed: int, turns: int) -> None:
    storm = Storm(seed)
    await storm.rage(turns)
    storm.judge(turns)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_storm_is_weathered(anyio_backend: str, seed: int) -> None:
    await endure(seed, turns=12)


@pytest.mark.parametrize("seed", range(20, 24))
async def test_a_storm_is_weathered_on_both_loops(seed: int) -> None:
    await endure(seed, turns=12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 2000))
async def test_a_thousand_storms_are_weathered(seed: int) -> None:
    await endure(seed, turns=200)
