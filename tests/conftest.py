"""What every test may use."""

from __future__ import annotations

import functools
import inspect

import anyio
import hypothesis
import pytest
from support.browser import chromium, spoken  # noqa: F401  # fixtures

#: On a busy machine an example takes as long as it takes.
hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every ``anyio`` test runs on both event loops."""
    return str(request.param)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """An ``anyio`` test that hangs is cancelled in its loop, shortly before ``pytest-timeout`` would interrupt it.

    On trio an interrupted thread waits for a loop that nobody ends any more, and the whole run hangs.
    """
    function = pyfuncitem.obj
    if pyfuncitem.get_closest_marker("anyio") is None or not inspect.iscoroutinefunction(function):
        return
    marker = pyfuncitem.get_closest_marker("timeout")
    limit = float(marker.args[0] if marker is not None else pyfuncitem.config.getini("timeout"))

    @functools.wraps(function)
    async def within(*args: object, **kwargs: object) -> None:
        with anyio.fail_after(0.9 * limit):
            await function(*args, **kwargs)

    pyfuncitem.obj = within


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
