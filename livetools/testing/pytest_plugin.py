"""The pytest plugin: the ``live_server`` fixture.

::

    async def test_the_weather_is_spoken(live_server):
        @live_server.model
        async def model(turn):
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']}.")

        assert "12 °C" in str(await my_app.answer("Weather in Oslo?"))

The environment is set for the test (``GOOGLE_GEMINI_BASE_URL``, ``GEMINI_API_KEY``, ``SSL_CERT_FILE``), so
that an unmodified program meets the fake. An async test (anyio's plugin, pytest-asyncio, pytest-trio) has
the server in its own loop; a sync one, and one with other fixtures that use ``live_server``, has it in a
thread. A test that leaves a call unanswered fails, with the frames of both directions; so does every
failure's report show them.

pytest loads this module in every project that has livetools installed: it imports nothing before it is used.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import traceback
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .server import FakeLiveServer

_SERVER = pytest.StashKey["FakeLiveServer"]()
_IN_THREAD = pytest.StashKey[bool]()


@pytest.fixture
def live_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLiveServer]:
    """A :class:`~livetools.testing.FakeLiveServer` over TLS, with the environment pointing at it."""
    from .server import FakeLiveServer

    server = FakeLiveServer(tls=True)
    node = request.node
    node.stash[_SERVER] = server
    for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.http_url)
    monkeypatch.setenv("GEMINI_API_KEY", "fake-key")
    monkeypatch.setenv("SSL_CERT_FILE", str(server.ca_file))
    if inspect.iscoroutinefunction(node.obj):
        node.obj = _async_test(node, server)
    else:
        _start(node)
        node.obj = _sync_test(node.obj, server)
    try:
        yield server
    finally:
        server.stop(check=False)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    """Start the server for a fixture that uses it: that runs before the loop of an async test does."""
    if "live_server" in fixturedef.argnames:
        _start(request.node)


def _start(node: pytest.Item) -> None:
    """Run the server of this test in a thread, unless it does already, or the test has none."""
    server = node.stash.get(_SERVER, None)
    if server is not None and not node.stash.get(_IN_THREAD, False):
        server.start()
        node.stash[_IN_THREAD] = True


def _async_test(node: Any, server: FakeLiveServer) -> Callable[..., Any]:
    """The test with the server in its own loop, or, where a fixture has started that in a thread, with its verdict."""
    function = node.obj

    @functools.wraps(function)
    async def test(*args: Any, **kwargs: Any) -> None:  # a test's own arguments
        __tracebackhide__ = True
        if not node.stash.get(_IN_THREAD, False):
            async with server:
                await function(*args, **kwargs)
        else:
            with _judged(server):
                await function(*args, **kwargs)

    return test


def _sync_test(function: Callable[..., Any], server: FakeLiveServer) -> Callable[..., Any]:
    @functools.wraps(function)
    def test(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        with _judged(server):
            function(*args, **kwargs)

    return test


@contextlib.contextmanager
def _judged(server: FakeLiveServer) -> Iterator[None]:
    """The test, and then the server's own verdict, so that it is the test that fails and not its teardown."""
    __tracebackhide__ = True
    try:
        yield
    except Exception as error:
        server.check(error)
        raise
    server.check()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    server = item.stash.get(_SERVER, None)
    if report.failed and server is not None and server.frames and not _shown(report):
        report.sections.append(("live server", server.service.log.transcript()))
        for failure in server.service.log.errors:
            report.sections.append((failure.who, "".join(traceback.format_exception(failure.error))))
    return report


def _shown(report: pytest.TestReport) -> bool:
    """Whether the failure's own text has the frames, and what raised, already."""
    from .server_log import FRAMES

    return FRAMES in report.longreprtext
