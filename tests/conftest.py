"""What every test may use."""

from __future__ import annotations

import pytest
from support.browser import chromium, spoken  # noqa: F401  # fixtures


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every ``anyio`` test runs on both event loops."""
    return str(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module's browser tests come last: while the browser is there, no other event loop runs in its thread.

    A test's name is the same in every process: the workers of a parallel run compare them. A slow test has minutes.
    """
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(1800))
    modules = {item.path: place for place, item in reversed(list(enumerate(items)))}
    items.sort(key=lambda item: (modules[item.path], "chromium" in getattr(item, "fixturenames", ())))
    moving = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if moving:
        raise pytest.UsageError(f"an address stands in the name of {moving[0]}: give its parameters ids")
