"""A page with the client in a real browser, a relay, and a pretend model."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from support.browser import serving

import livetools
from livetools import tool
from livetools.integrations.starlette import relay
from livetools.testing import FakeLiveServer

POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"  # nothing inline, nothing from elsewhere
PAGE = (
    '<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/page.js"></script>'
)
SCRIPT = """
import { LiveClient, LiveError } from "/live/client.js";
window.LiveClient = LiveClient;
window.live = new LiveClient();
window.messages = [];
window.states = [];
live.on("message", (told) => messages.push(told));
live.on("state", ({ state }) => states.push(state));
window.until = (type, count = 1) => new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`no ${type}: ${messages.map(({ message }) => message.type)}`)), 30_000);
  const look = () => {
    const seen = messages.filter(({ message }) => message.type === type);
    if (seen.length >= count) resolve(seen[count - 1].message);
  };
  live.on("message", look);
  look();
});
"""


@tool(approval=True)
def delete_all(what: str) -> str:
    """Delete everything of a kind."""
    return f"no {what} left"


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


@pytest.fixture
def model() -> Iterator[FakeLiveServer]:
    """The pretend model, in a thread."""
    server = FakeLiveServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def site(model: FakeLiveServer) -> Callable[..., Any]:
    """From options of ``connect`` and ``relay`` to a context manager that gives the address of the page."""

    def make(linger: float = 10.0, **options: Any) -> Any:
        options = {"tools": [get_weather, delete_all], **options}
        agent = functools.partial(livetools.connect, "gemini-3.8-live", **options, **model.options)

        async def page(request: object) -> Response:
            return HTMLResponse(PAGE, headers={"content-security-policy": POLICY})

        async def script(request: object) -> Response:
            return Response(SCRIPT, media_type="text/javascript")

        routes = [
            Route("/", page),
            Route("/page.js", script),
            Mount("/live", relay(agent, linger=linger)),
        ]
        return serving(Starlette(routes=routes))

    return make


class Tab:
    """A page of the browser, and what it complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda line: self.complaints.append(line.text) if line.type in ("error", "warning") else None,
        )

    def run(self, script: str) -> Any:
        """The value of an expression, awaited; a script with ``return`` is the body of an async function."""
        if "return " in script or ";" in script:
            script = f"(async () => {{ {script} }})()"
        return self.page.evaluate(script)

    def wait(self, condition: str) -> None:
        """Until an expression is true. The policy of the page forbids playwright's own way, which is `eval`."""
        self.run(
            f"""return await new Promise((resolve, reject) => {{
              const look = () => ({condition}) ? resolve() : setTimeout(look, 5);
              setTimeout(() => reject(new Error({json.dumps("never: " + condition)})), 30_000);
              look();
            }});"""
        )

    def messages(self) -> list[dict[str, Any]]:
        """All that the relay has sent as JSON."""
        return json.loads(self.run("JSON.stringify(messages.map(({ message }) => message))"))


@pytest.fixture
def tab(chromium: Any) -> Iterator[Callable[[str], AbstractContextManager[Tab]]]:
    """Opens pages; each must end without an error in its console."""
    context = chromium.new_context()
    context.set_default_timeout(30_000)

    @contextmanager
    def open_tab(address: str) -> Iterator[Tab]:
        tab = Tab(context.new_page())
        tab.page.goto(f"http://{address}/")
        tab.wait("window.live !== undefined")
        yield tab
        tab.page.close()
        assert not tab.complaints

    yield open_tab
    context.close()
