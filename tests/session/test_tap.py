"""Reading along with a session."""

from __future__ import annotations

import json

import pytest

from livetools import Reconnected, ReconnectPolicy, SessionClosed, connect
from livetools.session.tap import tap
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


class Listener:
    def __init__(self) -> None:
        self.told: list[tuple[str, int, str]] = []

    def frame(self, direction, connection, data):
        self.told.append((direction, connection, next(iter(json.loads(data)), "")))

    def closed(self, connection, code, reason, by_us):
        self.told.append(("us" if by_us else "them", connection, f"{code} {reason}".strip()))


async def test_every_frame_is_told_in_order_with_the_end_of_its_connection():
    listener = Listener()

    async def model(turn):
        await turn.drop() if turn.text == "drop" else await turn.say("Yes.")

    async with FakeLiveServer(model) as server:
        options = {**server.options, "reconnect": ReconnectPolicy(initial=0.01)}
        async with tap(connect("gemini-3.1-flash-live-preview", **options), listener) as session:
            await session.ask("hello")
            await session.send_text("drop")
            async for event in session:
                if isinstance(event, Reconnected):
                    break
    first = [told for told in listener.told if told[1] == 1]
    assert first[0] == ("client", 1, "setup")
    assert first[1] == ("server", 1, "setupComplete")
    assert first.index(("client", 1, "realtimeInput")) < first.index(("server", 1, "serverContent"))
    assert first[-1] == ("them", 1, "1006")
    assert listener.told[len(first)] == ("client", 2, "setup")
    assert listener.told[-1][:2] == ("us", 2)


async def test_the_reason_of_a_refusal_is_told():
    listener = Listener()
    async with FakeLiveServer(api_keys=["right"]) as server:
        with pytest.raises(SessionClosed):
            async with tap(connect("gemini-3.8-live", base_url=server.url, api_key="wrong"), listener):
                pass
    direction, connection, end = listener.told[-1]
    assert (direction, connection) == ("them", 1)
    assert end.startswith(("1008", "1007"))
