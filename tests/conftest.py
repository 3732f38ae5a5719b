"""What every test may use."""

from __future__ import annotations

import functools
import gc
import inspect
import os
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import anyio
import hypothesis
import pytest
from support.browser import chromium, close_browser, spoken  # noqa: F401  # fixtures

#: On a busy machine an example takes as long as it takes.
hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")

T = TypeVar("T")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Iterator[str | tuple[str, dict[str, Any]]]:
    """Every ``anyio`` test runs on both event loops; one that is marked ``virtual_time`` does not wait in them."""
    if request.node.get_closest_marker("virtual_time") is None:
        yield request.param
        return
    from support import virtual  # it needs a session, which most tests do not

    with virtual.backend(request.param) as backend:
        yield backend


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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, T, T]:
    """The collector does not look at what is imported and collected, neither meanwhile nor later: it is all kept.

    Ten thousand tests and the modules that they import are two million objects. A collector that walks them again and
    again takes a quarter of the time of the collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """What ``-n auto`` means: half as many processes again as there are processors.

    A third of the time a process waits: for a browser, for a program that it has started, for sound that is played.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist reads it
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + max(1, processors // 2)


def in_browser(item: pytest.Item) -> bool:
    return "chromium" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if not in_browser(item):
        close_browser()


def pytest_sessionfinish() -> None:
    close_browser()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come one after another: while the browser is there, no other event loop runs in its thread.

    They and the type checkers come first, or a parallel run ends with one process for which the others wait. A test's
    name is the same in every process: the workers of a parallel run compare them. A slow test has minutes.
    """
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(1800))
    modules = {item.path: place for place, item in reversed(list(enumerate(items)))}
    items.sort(key=lambda item: (item.path.parent.name != "typing", not in_browser(item), modules[item.path]))
    moving = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if moving:
        raise pytest.UsageError(f"an address stands in the name of {moving[0]}: give its parameters ids")
