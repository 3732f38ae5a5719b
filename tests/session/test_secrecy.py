"""No secret in the variables of a traceback's frames, over every way that connect() and dialling can fail."""

from __future__ import annotations

import logging
import socket
import ssl
import traceback
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import livetools
from livetools import LiveToolsError, WebSocket, connect, tool
from livetools.setup.secrecy import Sealed, Secrets, place
from livetools.transport.credentials import Keyed

pytestmark = pytest.mark.anyio

MODEL = "gemini-3.8-live"
KEY = "AIza" + "canary" * 5
Opened = Callable[..., Any]


def call(name: str, id: str) -> dict[str, Any]:
    return {"name": name, "id": id, "args": {}}


def shown(error: BaseException) -> str:
    """Everything that a traceback with variables would print, and what hides behind it, from ours on."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next  # the test's own frame holds the key
    told = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is not None:
            one = traceback.TracebackException.from_exception(cause, capture_locals=True)
            told += one.format()
            waiting += [cause.__cause__, cause.__context__]
    return "".join(told)


class Client:
    """Not google-genai's, and its repr is careless."""

    def __repr__(self) -> str:
        return f"Client({KEY})"


WRONG: list[dict[str, Any]] = [
    {"reconnect": "x"},
    {"base_url": "ws://example.invalid"},
    {"config": {"nonsense": 1}},
    {"config": {"temperature": "hot"}},
    {"config": {"http_options": {"headers": {"Authorization": KEY, "bad name": KEY}}}},
    {"config": {"http_options": {"headers": {"Authorization": f"{KEY}\n"}}}},
    {"config": {"http_options": {"headers": {"Authorization": KEY}}}, "tools": [5]},
    {"config": {"http_options": {"headers": {"Authorization": KEY}}}, "handle_store": 5},
    {"base_url": f"wss://user:{KEY}@example.invalid"},
    {"base_url": f"wss://example.invalid?key={KEY}"},
    {"base_url": f"{KEY} is not a URL"},
    {"api_key": f"{KEY} {KEY}"},
    {"api_key": [KEY]},
    {"client": Client()},
    {"client": Client(), "api_key": None},
    {"credentials": Client()},
    {"credentials": Client(), "api_key": None},
    {"tools": [lambda x: x]},
    {"tool_timeout": -1},
    {"model": "no such/../model"},
    {"history": 5},
    {"instructions": 5},
    {"profile": 5},
    {"transport": 5},
    {"vertexai": True, "project": "no project!"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: "+".join(wrong))
def test_no_error_of_connect_shows_a_secret(wrong: dict[str, Any]) -> None:
    with pytest.raises(LiveToolsError) as caught:
        connect(**{"model": MODEL, "api_key": KEY, **wrong})
    assert KEY not in shown(caught.value)
    assert KEY not in str(caught.value)


def test_what_was_being_handled_when_connect_failed_keeps_its_variables() -> None:
    def outer() -> None:
        mine = "mine"
        raise KeyError(mine)

    try:
        outer()
    except KeyError:
        with pytest.raises(LiveToolsError) as caught:
            connect(MODEL, api_key=KEY, reconnect="x")  # type: ignore[arg-type]
    assert caught.value.__context__ is not None
    assert "mine = 'mine'" in shown(caught.value.__context__)


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def refused() -> str:
    return f"ws://127.0.0.1:{unused_port()}"


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "ws://127.0.0.1:{port}"},
        {"base_url": "wss://127.0.0.1:{port}"},
        {"base_url": "wss://nowhere.invalid"},
        {"base_url": "wss://nowhere.invalid", "transport": WebSocket(proxy=f"http://user:{KEY}@127.0.0.1:1")},
        {
            "base_url": "wss://nowhere.invalid",
            "transport": WebSocket(proxy=f"socks5://user:{KEY}@127.0.0.1:1"),
        },
        {"base_url": "ws://127.0.0.1:{port}", "transport": WebSocket(headers={"Authorization": KEY})},
        {"base_url": "ws://127.0.0.1:{port}", "transport": WebSocket(headers={"a b": KEY})},
        {"base_url": "wss://127.0.0.1:{port}", "transport": WebSocket(ssl=ssl.create_default_context())},
    ],
    ids=["refused", "tls refused", "no name", "proxy", "socks", "headers", "odd headers", "ssl"],
)
async def test_no_error_of_dialling_shows_a_secret(options: dict[str, Any]) -> None:
    options = {**options, "base_url": options["base_url"].format(port=unused_port())}
    session = connect(MODEL, api_key=KEY, reconnect=False, setup_timeout=30, **options)
    with pytest.raises(LiveToolsError) as caught:
        await session.__aenter__()
    assert KEY not in shown(caught.value)


async def test_no_error_of_the_transport_itself_shows_a_header() -> None:
    dialled = WebSocket(headers={"Authorization": KEY}).dial(await refused(), {"x-goog-api-key": KEY})
    with pytest.raises(LiveToolsError) as caught:
        await dialled.__aenter__()
    assert KEY not in shown(caught.value)


async def test_what_the_body_of_a_dial_raises_does_not_show_its_headers() -> None:
    async with livetools.testing.FakeLiveServer() as server:
        dialled = WebSocket().dial(server.url, {"x-goog-api-key": KEY})
        await dialled.__aenter__()
        error: BaseException = ZeroDivisionError()
        try:
            raise error
        except ZeroDivisionError:
            assert not await dialled.__aexit__(type(error), error, error.__traceback__)
    assert KEY not in shown(error)


@pytest.mark.parametrize("fails", [lambda: 1 / 0, lambda: f"{KEY} {KEY}", lambda: 5])
async def test_no_error_of_a_key_that_is_asked_for_shows_it(fails: Any) -> None:
    session = connect(MODEL, api_key=fails, base_url="ws://127.0.0.1:1", reconnect=False)
    with pytest.raises(LiveToolsError) as caught:
        await session.__aenter__()
    assert KEY not in shown(caught.value)


def test_no_repr_shows_a_key() -> None:
    assert KEY not in repr((Keyed(KEY), Secrets(api_key=KEY)))


def test_places_stay_and_variables_go() -> None:
    def inner() -> None:
        secret = KEY
        raise ValueError(len(secret))

    with pytest.raises(ValueError, match="34") as caught:
        with Sealed():
            inner()
    assert KEY not in shown(caught.value)
    assert ", in inner" in "".join(traceback.format_tb(caught.value.__traceback__))


# Rule 19: what a default log holds


async def test_the_words_of_what_callables_raise_are_in_no_log(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> Any:
        raise ValueError(f"rejected {KEY}")

    class Careless(livetools.Hooks):
        after = on_error = fails

    @tool
    def plain() -> None:
        """Fails."""
        fails()

    @tool(approval=fails)
    def asked() -> str:
        """Never runs."""
        return "ran"

    @tool(undo=lambda call, result: fails())
    async def undone() -> None:
        """Is cancelled."""
        await anyio.sleep_forever()

    with caplog.at_level(logging.INFO):
        async with opened([plain, asked, undone], hooks=[Careless()]) as line:
            line.call(call("plain", "c1"), call("asked", "c2"))
            await line.responses(2)
            line.call(call("undone", "c3"))
            await line.quiet()
    text = caplog.text
    assert KEY not in text
    for said in (
        "plain (c1): ValueError at",
        "hook Careless.on_error failed: ValueError at",
        "approval of asked failed",
    ):
        assert said in text
    assert "undo of undone (c3) failed: ValueError at" in text
    assert "s (message hidden; see ToolFinished.error, or set LIVETOOLS_LOG=frames)" in text


async def test_they_are_logged_where_the_environment_asks_for_frames(
    opened: Opened, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        """Fails."""
        raise ValueError("rejected 42")

    monkeypatch.setenv("LIVETOOLS_LOG", "frames")
    async with opened([fails]) as line:
        line.call(call("fails", "c1"))
        await line.responses(1)
        await line.quiet()
    assert "rejected 42" in caplog.text
    assert "its text" not in caplog.text


def test_an_error_that_was_never_raised_has_a_place_too() -> None:
    assert place(ValueError("words")) == "ValueError"


async def test_opening_may_be_cancelled_at_any_step_of_its_dial() -> None:
    """On trio the cancellation of the dial leads to that of whoever opens, whose frames go on."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for steps in range(12):
            opening = connect(MODEL, api_key=KEY, base_url=f"ws://127.0.0.1:{silent.getsockname()[1]}")
            async with anyio.create_task_group() as group:
                group.start_soon(opening.__aenter__)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
