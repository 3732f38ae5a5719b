"""A timeout that lets the loop run once more where nothing ran until it had passed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from .alarm import GAP, REST

T = TypeVar("T")


async def in_time(run: Callable[[], Awaitable[T]], timeout: float | None) -> T:
    """What ``run()`` returns within ``timeout`` seconds (``None``: any number). Raises ``TimeoutError`` past them.

    If that is noticed late, because the process was stopped or the loop was blocked, ``run`` is called again for a
    moment: what it waits for may have come in time. So cancelling it must lose nothing.
    """
    with anyio.move_on_after(timeout) as scope:
        return await run()
    if anyio.current_time() > scope.deadline + GAP:
        with anyio.move_on_after(REST):
            return await run()
    raise TimeoutError
