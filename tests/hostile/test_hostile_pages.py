"""Whatever a page sends, the relay answers it or closes that websocket, and raises nothing."""

from __future__ import annotations

import functools
import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asgi import browser

import livetools
from livetools.integrations.relay.limits import MAX_AUDIO, MAX_MESSAGE
from livetools.integrations.starlette import relay
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

TYPES = [
    "text", "video", "audio_end", "activity_start", "activity_end", "interrupt", "approve", "refuse", "respond",
    "resume", "ping", "ready", "__class__", "",
]  # fmt: skip
FIELDS = ["text", "data", "id", "reason", "value", "error", "token", "after", "ref", "type"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["call-1", "/9j/"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
COMMANDS = st.builds(
    lambda kind, fields: json.dumps({**fields, "type": kind}),
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4),
)
MESSAGES = COMMANDS | st.text(max_size=30) | st.binary(max_size=30) | JSON.map(json.dumps)


def agent_of(server: FakeLiveServer) -> Any:
    @livetools.tool(approval=True)
    def erase(disk: str) -> str:
        """Erase a disk."""
        raise AssertionError("nobody has approved it")

    return functools.partial(livetools.connect, "gemini-3.8-live", tools=[erase], **server.options)


@settings(max_examples=25, deadline=None)
@given(messages=st.lists(MESSAGES, max_size=8))
def test_whatever_a_page_sends_is_answered_and_the_conversation_goes_on(messages: list[str | bytes]) -> None:
    async def converse() -> None:
        async with FakeLiveServer() as server:
            app = relay(agent_of(server), linger=0)
            async with browser(app) as page:
                await page.until("ready")
                for message in messages:
                    page.send(message)
                page.send({"type": "interrupt"})
                page.send({"type": "text", "text": "still here"})
                while (await page.until("user_text"))["text"] != "still here":
                    pass
                page.send({"type": "end"})
                assert (await page.closed()).code == 1000

    anyio.run(converse)


@pytest.fixture
async def server():
    async with FakeLiveServer() as server:
        yield server


@pytest.mark.parametrize(
    "message",
    [
        "[" * 100_000,
        '{"type": "respond", "id": "x", "value": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"type": "text", "text": "' + "x" * MAX_MESSAGE + '"}',
        bytes(MAX_AUDIO + 2),
        b"\x00",
        '{"type": "video", "data": "' + "A" * 3_000_000 + '"}',
        '{"type": "approve", "id": "' + "x" * 1_000_000 + '"}',
        '{"type": "text", "text": "\\ud800"}',
        '{"type": "resume", "token": "x"}',
    ],
    ids=[
        "deep",
        "deep value",
        "long",
        "loud",
        "half a sample",
        "picture",
        "long id",
        "surrogate",
        "late resume",
    ],
)
async def test_a_message_that_cannot_be_taken_is_told_in_few_words(server, message):
    async with browser(relay(agent_of(server), linger=0)) as page:
        await page.until("ready")
        page.send(message)
        refused = await page.until("error")
        assert len(json.dumps(refused)) < 1000
        page.send({"type": "end"})
        await page.closed()


async def test_a_page_that_approves_before_it_is_asked_approves_nothing(server):
    @server.model
    async def model(turn):
        answer = await turn.call("erase", disk="sda")
        await turn.say(str(answer))

    async with browser(relay(agent_of(server), linger=0)) as page:
        await page.until("ready")
        for id in ("call-1", "c1", "", "*"):
            page.send({"type": "approve", "id": id})
        page.send({"type": "text", "text": "erase it"})
        asked = await page.until("ApprovalRequested")
        page.send({"type": "refuse", "id": asked["call"]["id"], "reason": "no"})
        assert "no" in (await page.until("ToolFinished"))["response"]["error"]
        page.send({"type": "end"})
        await page.closed()
