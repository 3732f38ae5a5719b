"""Long conversations in which everything goes wrong (``support.chaos`` says what must hold). Failures name seeds."""

from __future__ import annotations

import logging
import tracemalloc
from collections.abc import Iterator

import anyio
import pytest
from support.chaos import Chaos
from support.footprint import Footprint
from support.virtual import run

from livetools import Session
from livetools.protocol.calls import calls
from livetools.testing.model.fake_call import CallRegistry
from livetools.testing.settings.fault_switches import Faults

SEEDS = 2  # one a loop; the slow tests have the others

#: In virtual time nothing hangs for long, and a storm is all work: on a busy machine the roughest takes minutes.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Failing tools are logged; hundreds of them tell nobody anything."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_call_and_no_text_is_lost_however_the_line_breaks(seed: int) -> None:
    chaos = Chaos(seed)
    run(("asyncio", "trio")[seed % 2], chaos.run, seed=seed)
    assert sum(chaos.cuts.values()) > 10
    assert len(chaos.server.calls) > 100


@pytest.mark.parametrize("seed", range(3000, 3002))
def test_nothing_is_lost_while_one_agent_after_another_takes_over(seed: int) -> None:
    chaos = Chaos(seed, turns=100, hand_offs=0.1)
    run(("asyncio", "trio")[seed % 2], chaos.run, seed=seed)
    assert sum(chaos.cuts.values()) > 5
    assert len(chaos.updates) > 3
    assert len(chaos.announced) > len(chaos.updates)  # tools said so, too


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3002, 3210))
def test_nor_in_two_hundred_conversations_more(seed: int) -> None:
    run(("asyncio", "trio")[seed % 2], Chaos(seed, hand_offs=0.1).run, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS, 1000 + SEEDS))
def test_a_thousand_conversations_more(seed: int) -> None:
    run(("asyncio", "trio")[seed % 2], Chaos(seed).run, seed=seed)


#: What is on its way, and the events that the fake's calls are waited for by.
LOOPS = ("*/websockets/*", "*/asyncio/*", "*/anyio/*", "*/trio/*")


class Measured(Chaos):
    """A conversation whose book keeps nothing, so that what grows is the session's."""

    at: dict[str, Footprint]

    async def talk(self, session: Session, text: str) -> None:
        session.transcript.max_bytes = (
            16 * 1024
        )  # the history may grow up to its bound, and that is a mebibyte
        await super().talk(session, text)
        for kept in (self.events, self.sent, self.server.frames, self.server.calls):
            kept.clear()
        for crossing in self.line.crossings:
            crossing.log.clear()
            crossing.asked.clear()
        if text in self.at:
            faults, self.server.faults, self.calm = self.server.faults, Faults(), True
            await anyio.sleep(120.0)  # what runs and what is said comes to its end
            self.runs.clear()
            for each in self.server.sessions:  # all calls are over, and the fake need not remember them
                each.calls = CallRegistry()
            self.at[text] = Footprint(LOOPS)
            self.server.faults, self.calm = faults, False

    def check(self, session: Session) -> None:
        """All else the others check."""
        self.check_cancelled()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_storm_leaves_no_memory_behind(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "REMEMBERED", 16)  # so that the bound is met before the first look
    chaos = Measured(seed, turns=401)
    chaos.at = dict.fromkeys(("turn 200.", "turn 400."))
    tracemalloc.start()
    try:
        run(("asyncio", "trio")[seed % 2], chaos.run, seed=seed)
    finally:
        tracemalloc.stop()
    before, after = chaos.at.values()
    assert after.size - before.size < 256 * 1024
    assert after.tasks - before.tasks < 10
    assert after.files - before.files < 10
