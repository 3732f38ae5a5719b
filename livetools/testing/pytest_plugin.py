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

import functools
import inspect
import traceback
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .server import FakeLiveServer

_SERVER = pytest.StashKey["FakeLiveServer"]()


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
    if inspect.iscoroutinefunction(node.obj) and not _used_by_others(request):
        node.obj = _inside(node.obj, server)
        yield server
        return
    server.start()
    node.obj = _checked(node.obj, server)
    try:
        yield server
    finally:
        server.stop(check=False)


def _used_by_others(request: pytest.FixtureRequest) -> bool:
    """Whether another fixture of this test needs the server before the test's own coroutine runs."""
    definitions = getattr(request.node, "_fixtureinfo").name2fixturedefs  # noqa: B009 - pytest has no public name for it
    return any("live_server" in each[-1].argnames for each in definitions.values() if each)


def _inside(function: Callable[..., Any], server: FakeLiveServer) -> Callable[..., Any]:
    @functools.wraps(function)
    async def test(*args: Any, **kwargs: Any) -> None:  # a test's own arguments
        async with server:
            await function(*args, **kwargs)

    return test


def _checked(function: Callable[..., Any], server: FakeLiveServer) -> Callable[..., Any]:
    """The test, and then the server's own verdict, so that it is the test that fails and not its teardown."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def test(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            try:
                await function(*args, **kwargs)
            except Exception as error:
                server.check(error)
                raise
            server.check()

        return test

    @functools.wraps(function)
    def sync_test(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        try:
            function(*args, **kwargs)
        except Exception as error:
            server.check(error)
            raise
        server.check()

    return sync_test


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
    from .log import FRAMES

    return FRAMES in report.longreprtext
