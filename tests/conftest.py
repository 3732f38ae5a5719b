"""What every test may use."""

from __future__ import annotations

import pytest
from support.browser import chromium, spoken  # noqa: F401  # fixtures


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every ``anyio`` test runs on both event loops."""
    return str(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's name is the same in every process: the workers of a parallel run compare them."""
    moving = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if moving:
        raise pytest.UsageError(f"an address stands in the name of {moving[0]}: give its parameters ids")
