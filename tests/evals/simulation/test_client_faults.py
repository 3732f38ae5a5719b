"""The line that can be cut, on the in-memory transport."""

from __future__ import annotations

import pytest

from livetools.evals.simulation.client_faults import Cuttable
from livetools.testing.memory import MemoryTransport
from livetools.transport.contract import Gone

pytestmark = pytest.mark.anyio


async def test_a_line_that_is_cut_breaks_without_a_close_frame():
    line = Cuttable().around(MemoryTransport())
    async with line.dial("ws://localhost", {}) as transport:
        await transport.send(b"{}")
        await line.cut()
        with pytest.raises(Gone) as gone:
            await transport.receive()
        assert (gone.value.code, gone.value.by_us) == (1006, False)
        with pytest.raises(Gone, match="1006"):
            await transport.send(b"{}")


async def test_a_line_that_was_not_cut_ends_as_it_does():
    line = Cuttable().around(MemoryTransport())
    await line.cut()  # nothing stands yet
    async with line.dial("ws://localhost", {}) as transport:
        await transport.aclose()
        with pytest.raises(Gone) as gone:
            await transport.receive()
        assert gone.value.by_us
