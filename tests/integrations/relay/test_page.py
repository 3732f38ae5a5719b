"""One websocket of a page: what is read from it, what is written to it, how it is closed."""

from __future__ import annotations

import anyio
import pytest
from starlette.websockets import WebSocket
from support.asgi import browser
from support.waiting import everybody_waits, until_true

from livetools.integrations.relay.event_log import EventLog
from livetools.integrations.relay.limits import HEARTBEAT, MAX_NOTICES
from livetools.integrations.relay.page import REPLACED_BY_PAGE, TOO_SLOW, Page
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio


class App:
    """An app that hands its page to the test, and stays until the test lets it go."""

    def __init__(self, write_timeout: float = 5.0) -> None:
        self.page: Page
        self.log = EventLog()
        self.done = anyio.Event()
        self.write_timeout = write_timeout

    async def __call__(self, scope, receive, send) -> None:
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        self.page = Page(websocket, self.write_timeout)
        await self.done.wait()


async def test_notices_go_before_the_log_and_the_close_behind_both():
    app = App()
    async with browser(app) as tab:
        app.log.add('{"type": "event"}')
        app.log.add_media(b"speech")
        app.page.refuse("busy", "later")
        app.page.close(1000, "enough")
        app.page.close(1011, "the first reason holds")
        await app.page.write(app.log, 0)
        assert (await tab.receive())["type"] == "error"
        assert (await tab.receive())["type"] == "event"
        assert await tab.receive() == b"speech"
        closed = await tab.closed()
        assert (closed.code, closed.reason) == (1000, "enough")
        app.done.set()


async def test_what_another_page_goes_on_with_is_not_written_here():
    app = App()
    async with browser(app) as tab:
        app.log.add('{"type": "event"}')
        app.page.close(REPLACED_BY_PAGE, "another page")
        await app.page.write(app.log, 0)
        with pytest.raises(Exception, match="4409"):
            await tab.receive()
        app.done.set()


async def test_a_page_that_does_not_read_is_closed_after_its_time(caplog):
    app = App(write_timeout=0.05)
    async with browser(app) as tab:
        tab.reads = anyio.Event()
        app.log.add('{"type": "event"}')
        async with anyio.create_task_group() as group:
            group.start_soon(app.page.write, app.log, 0)
            await until_true(lambda: "did not read" in caplog.text)  # it gives up writing, and writes why
            tab.reads.set()
        assert (await tab.closed()).code == TOO_SLOW
        app.done.set()


async def test_who_sends_rubbish_and_does_not_read_is_not_listened_to():
    app = App()
    async with browser(app) as tab:
        for _ in range(MAX_NOTICES + 5):
            tab.send(bytes(2**20 + 1))
        tab.send("at last")
        with anyio.move_on_after(0.05) as waiting:
            await app.page.receive()
        assert waiting.cancelled_caught
        async with anyio.create_task_group() as group:
            group.start_soon(app.page.write, app.log, 0)
            assert await app.page.receive() == "at last"
            group.cancel_scope.cancel()
        app.done.set()


async def test_a_reason_fits_into_a_close_frame():
    app = App()
    async with browser(app) as tab:
        app.page.close(1011, "ä" * 200)
        await app.page.write(app.log, 0)
        closed = await tab.closed()
        assert closed.reason == "ä" * 61
        app.done.set()


@pytest.mark.parametrize("code", [1000, 1001, 1006, 1012])
async def test_the_end_of_a_page_is_none_and_a_stop_of_the_server_is_told_apart(code):
    app = App()
    async with browser(app) as tab:
        tab.leave(code)
        assert await app.page.receive() is None
        assert app.page.server_stops == (code == 1012)
        app.done.set()


async def test_a_page_that_is_sent_nothing_else_hears_that_the_connection_lives():
    app, clock = App(), FakeClock()

    async def half_an_interval() -> None:
        await everybody_waits()
        clock.advance(HEARTBEAT / 2)

    async with browser(app) as tab, anyio.create_task_group() as group:
        group.start_soon(app.page.beat, clock)
        group.start_soon(app.page.write, app.log, 0)
        await half_an_interval()
        assert await tab.receive() == {"type": "alive"}
        app.log.add('{"type": "event"}')
        app.page.wake()
        assert (await tab.receive())["type"] == "event"
        await half_an_interval()
        await half_an_interval()
        assert await tab.receive() == {"type": "alive"}
        group.cancel_scope.cancel()
        app.done.set()
