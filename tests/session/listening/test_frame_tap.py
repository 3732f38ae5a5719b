"""Reading along with a session."""

from __future__ import annotations

import json

import pytest

from livetools import Reconnected, ReconnectPolicy, SessionClosed, connect
from livetools.session.listening.frame_tap import tap
from livetools.testing import FakeLiveServer

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]


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


@pytest.mark.parametrize(
    "error", [RuntimeError("the pen is empty"), SystemExit(1)], ids=["an error", "an exit"]
)
@pytest.mark.parametrize("fails", ["client", "server", "closed"])
async def test_one_that_raises_is_logged_once_and_costs_the_session_nothing(fails, error, caplog):
    class Failing(Listener):
        def frame(self, direction, connection, data):
            super().frame(direction, connection, data)
            if direction == fails:
                raise error

        def closed(self, connection, code, reason, by_us):
            super().closed(connection, code, reason, by_us)
            if fails == "closed":
                raise error

    failing, other = Failing(), Listener()

    async def model(turn):
        await turn.drop() if turn.text == "drop" else await turn.say("Yes.")

    async with FakeLiveServer(model) as server:
        options = {**server.options, "reconnect": ReconnectPolicy(initial=0.01)}
        session = tap(tap(connect("gemini-3.1-flash-live-preview", **options), failing), other)
        async with session:
            assert str(await session.ask("hello")) == "Yes."
            await session.send_text("drop")
            async for event in session:
                if isinstance(event, Reconnected):
                    break
            assert str(await session.ask("hello")) == "Yes."
    assert len([record for record in caplog.records if "Failing" in record.getMessage()]) == 1
    assert other.told[-1][0] == "us"
    assert len(other.told) > len(failing.told)
