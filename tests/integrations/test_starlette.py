"""The relay between a page and a session, from a page's side."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from support.asgi import Browser, browser

import livetools
from livetools import tool
from livetools.integrations.starlette import relay
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

RESUME = ("livetools.v1", "livetools.resume")


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


@tool(approval=True)
def delete_all(what: str) -> str:
    """Delete everything of a kind."""
    return f"no {what} left"


@pytest.fixture
async def server():
    """A fake model that asks for the weather."""
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            weather = await turn.call("get_weather", city=turn.text)
            await turn.say(f"It is {weather['output']}.", audio=b"\x01\x02" * 2400)

        yield server


def agent_of(server: FakeLiveServer, **options: Any) -> Callable[..., livetools.Session]:
    options = {"tools": [get_weather, delete_all], **options}
    return functools.partial(livetools.connect, "gemini-3.8-live", **options, **server.options)


def resumed(app: Any, token: str, after: int = 0, **options: Any) -> AbstractAsyncContextManager[Browser]:
    return _Resumed(app, token, after, options)


class _Resumed(AbstractAsyncContextManager[Browser]):
    def __init__(self, app: Any, token: str, after: int, options: dict[str, Any]) -> None:
        self._page = browser(app, subprotocols=RESUME, **options)
        self._first = {"type": "resume", "token": token, "after": after}

    async def __aenter__(self) -> Browser:
        page = await self._page.__aenter__()
        page.send(self._first)
        return page

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._page.__aexit__(*error)


async def test_a_typed_question_is_answered_by_a_tool_with_events_of_our_names(server):
    async with browser(relay(agent_of(server), linger=0), subprotocols=["livetools.v1"]) as page:
        assert page.subprotocol == "livetools.v1"
        ready = await page.receive()
        assert ready["model"] == "gemini-3.8-live"
        assert ready["tools"] == ["get_weather", "delete_all"]
        assert (ready["activity"], ready["input_rate"], ready["output_rate"]) == ("automatic", 16000, 24000)
        page.send({"type": "text", "text": "Oslo"})
        heard, events = b"", []
        while not events or events[-1]["type"] != "TurnComplete":
            message = await page.receive()
            if isinstance(message, bytes):
                heard += message
            else:
                events.append(message)
        page.send({"type": "end"})
        assert (await page.closed()).code == 1000
    assert heard == b"\x01\x02" * 2400
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    by_type = {event["type"]: event for event in events}
    assert by_type["user_text"]["text"] == "Oslo"
    assert by_type["ToolFinished"]["call"]["args"] == {"city": "Oslo"}
    assert by_type["ToolFinished"]["response"] == {"output": "12 °C, rain"}
    assert by_type["OutputTranscript"]["text"] == "It is 12 °C, rain."
    assert "HandleUpdate" not in by_type


@pytest.mark.parametrize(
    ("sent", "code", "word"),
    [
        ("no JSON", "bad_message", "JSON"),
        ("[" * 100_000, "bad_message", "JSON"),
        ({"type": "dance"}, "bad_message", "dance"),
        ({"text": "hi"}, "bad_message", "type"),
        ({"type": "text", "text": " "}, "bad_message", "text"),
        ('{"type": "text", "text": "\\ud800"}', "bad_message", "JSON"),
        ({"type": "text", "text": "x" * 70_000}, "bad_message", "65536"),
        ({"type": "text", "text": "x" * 5_000_000}, "too_large", "5,000,0"),
        ({"type": "video", "data": "bm8gcGljdHVyZQ=="}, "bad_message", "JPEG"),
        ({"type": "video", "data": "/9j/" + "A" * 3_000_000}, "too_large", "picture"),
        ({"type": "approve", "id": "call-1"}, "refused", "call-1"),
        ({"type": "activity_start"}, "refused", "audio_end"),
        ({"type": "activity_end"}, "refused", "no activity"),
        ({"type": "resume", "token": "x"}, "bad_message", "first message"),
        (b"odd", "bad_message", "16-bit"),
        (bytes(100 * 2**20), "too_large", "104,857,600"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str | dict) else None,
)
async def test_what_cannot_be_taken_is_told_and_the_conversation_goes_on(server, sent, code, word):
    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send(sent)
        error = await page.until("error")
        assert error["code"] == code
        assert word in error["message"]
        page.send({"type": "text", "text": "Oslo"})
        assert (await page.until("ToolFinished"))["response"] == {"output": "12 °C, rain"}


async def test_the_sound_of_a_page_reaches_the_model(server):
    heard = []

    @server.model
    async def model(turn):
        heard.append(turn.audio)
        await turn.say("I heard you.")

    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send(b"\x10\x20" * 1600)
        page.send({"type": "audio_end"})
        await page.until("TurnComplete")
    assert heard == [b"\x10\x20" * 1600]


@pytest.mark.parametrize(
    ("decision", "told"),
    [({"type": "approve"}, "no files left"), ({"type": "refuse", "reason": "not today"}, "not today")],
    ids=["approved", "refused"],
)
async def test_a_call_waits_for_the_page_to_decide(server, decision, told):
    @server.model
    async def model(turn):
        answer = await turn.call("delete_all", what="files")
        await turn.say(json.dumps(answer))

    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send({"type": "text", "text": "Delete my files"})
        call = (await page.until("ApprovalRequested"))["call"]
        assert call["args"] == {"what": "files"}
        page.send({**decision, "id": call["id"]})
        assert told in str((await page.until("ToolFinished"))["response"])
        await page.until("TurnComplete")


async def test_a_page_that_comes_back_goes_on_where_it_was(server):
    app = relay(agent_of(server), linger=60)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        first.send({"type": "text", "text": "Oslo"})
        last = (await first.until("TurnComplete"))["seq"]
        first.leave()
        async with resumed(app, token, last - 1) as page:
            ready = await page.receive()
            assert (ready["resumed"], ready["seq"], ready["missed"]) == (True, last, 0)
            assert (await page.receive())["type"] == "TurnComplete"
            page.send({"type": "text", "text": "Rome"})
            await page.until("ToolFinished")
            await page.until("TurnComplete")
            page.send({"type": "end"})
            await page.closed()
    assert len(server.sessions) == 1
