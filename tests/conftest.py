"""What every test may use."""

from __future__ import annotations

import pytest
from support.browser import chromium, spoken  # noqa: F401  # fixtures


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every ``anyio`` test runs on both event loops."""
    return str(request.param)
