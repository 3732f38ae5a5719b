"""Run several tasks until the first one ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio


async def race(*ways: Callable[[], Awaitable[object]]) -> None:
    """Run them at once until one returns or raises; the others are cancelled. Its error is raised bare."""
    errors: list[Exception] = []

    async def run(way: Callable[[], Awaitable[object]]) -> None:
        try:
            await way()
        except Exception as error:
            errors.append(error)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for way in ways:
            group.start_soon(run, way)
    if errors:
        raise errors[0]
