"""examples/background_task.py."""

from __future__ import annotations

import anyio
import pytest


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_work_and_the_session_share_a_house(example, no_key, capsys, backend):
    anyio.run(example("background_task").main, backend=backend)
    out = capsys.readouterr().out
    assert "set_target {'celsius': 21} → {'output': 'set'}" in out
    assert "going to 21.0" in out
