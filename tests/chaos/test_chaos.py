"""Long conversations in which everything goes wrong (``support.chaos`` says what must hold). Failures name seeds."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from support.chaos import Chaos
from support.virtual import run

SEEDS = 20


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS, 1000 + SEEDS))
def test_a_thousand_conversations_more(seed: int) -> None:
    run(("asyncio", "trio")[seed % 2], Chaos(seed).run, seed=seed)
