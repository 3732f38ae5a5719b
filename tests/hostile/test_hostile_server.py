"""A server that means no good: the session stays, or ends with an error that says so; nothing hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from livetools import tool

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


@pytest.mark.parametrize("named", [True, False])
async def test_a_message_of_two_thousand_calls_is_answered_though_they_end_in_reverse(
    opened: Opened, named: bool
) -> None:
    gates = [anyio.Event() for _ in range(2000)]

    @tool
    async def wait(n: int) -> int:
        await gates[n].wait()
        return n

    def one(n: int) -> dict[str, Any]:
        return {"name": "wait", "args": {"n": n}, **({"id": f"c{n}"} if named else {})}

    async with opened([wait]) as line:
        line.server.send({"toolCall": {"functionCalls": [one(n) for n in range(2000)]}})
        await anyio.wait_all_tasks_blocked()
        for gate in reversed(gates):
            gate.set()
            await anyio.lowlevel.checkpoint()
        answers = [answer["response"]["output"] for answer in await line.answers(2000)]
    assert answers == (list(reversed(range(2000))) if named else list(range(2000)))
