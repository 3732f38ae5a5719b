"""What is logged of a session's connection."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

import livetools
from livetools import ReconnectPolicy, tool
from livetools.events import (
    REPLACED,
    Call,
    GoAway,
    InputDropped,
    Reconnected,
    Reconnecting,
    Stalled,
    ToolLost,
    TurnComplete,
)
from livetools.protocol.calls.driver_actions import Close
from livetools.protocol.connection.dials_and_moves import Loss
from livetools.session.running.connection_log import ConnectionLog
from livetools.testing import FakeClock

Opened = Callable[..., Any]
QUICK = ReconnectPolicy(attempts=3, initial=0.01, maximum=0.01, jitter=0)
LOSS = Loss(Close(1011, "Internal error."), ("order (c1)",))


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[tuple[str, str]]]]:
    """``lines()``: the level and the text of each line of ``livetools.session`` so far."""
    with caplog.at_level(logging.DEBUG, "livetools"):
        yield lambda: [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "livetools.session"]


# -- what each event comes to


def test_each_kind_of_event_is_a_line_with_its_names_and_numbers(lines: Any) -> None:
    log, order, book = ConnectionLog(FakeClock()), Call("c1", "order", {"secret": 1}), Call("c2", "book")
    log.lost(LOSS)
    log.events(
        [
            Reconnecting(2, 0.5, "closed with 1011"),
            ToolLost(order, "text"),
            ToolLost(book, "dropped"),
            TurnComplete(REPLACED),
            TurnComplete("MAX_TOKENS"),
        ]
    )
    log.events([Reconnected(True), GoAway(7.0), InputDropped(3, "the connection is away")])
    log.events([Stalled("the model's answer", 20.0)])
    assert lines() == [
        ("WARNING", "the connection was lost: closed with 1011: Internal error; open calls: order (c1)"),
        ("INFO", "attempt 2 to connect again, in 0.50 s: closed with 1011"),
        ("WARNING", "the connection was replaced in the middle of a turn: the rest of it is lost"),
        (
            "WARNING",
            "lost with the connection: order (c1), whose result follows as text,"
            " book (c2), whose result is dropped",
        ),
        ("INFO", "connected again: the session is restored"),
        ("INFO", "goAway: the service ends this connection in 7.0 s; another one takes its place"),
        ("WARNING", "frames of input that were dropped: 3: the connection is away"),
        ("WARNING", "stalled: nothing came for 20.0 s; expected: the model's answer"),
    ]


def test_a_session_that_begins_anew_and_a_goaway_without_a_time_are_said_to_be_so(lines: Any) -> None:
    ConnectionLog(FakeClock()).events([Reconnected(False), GoAway(None)])
    assert [text for _, text in lines()] == [
        "connected again: the session is a new one, in which the model remembers nothing",
        "goAway: the service ends this connection soon; another one takes its place",
    ]


def test_of_each_kind_a_second_has_one_line_and_the_next_says_how_many_were_left_out(lines: Any) -> None:
    clock = FakeClock()
    log = ConnectionLog(clock)
    for _ in range(24):  # three seconds
        log.lost(LOSS)
        log.events([InputDropped(1, "a call is open"), Stalled("words", 1.0), Reconnected(True)])
        log.events([Reconnecting(1, 0.0, "1006")])
        clock.advance(0.125)
    texts = [text for _, text in lines()]
    assert len([text for text in texts if text.startswith("attempt")]) == 24  # each of them
    for kind in ("the connection was lost", "frames of input", "stalled", "connected again"):
        found = [text for text in texts if text.startswith(kind)]
        assert len(found) == 3
        assert [text.endswith("(left out since the last such line: 7)") for text in found] == [
            False, True, True
        ]  # fmt: skip


def test_the_words_of_a_server_stay_on_one_line(lines: Any) -> None:
    log, hostile = ConnectionLog(FakeClock()), "a\nWARNING fake\x1b[2J\u2028b"
    log.lost(Loss(Close(1011, hostile), (hostile,)))
    log.events([Reconnecting(1, 0.0, hostile), ToolLost(Call(hostile, hostile), "text")])
    assert len(lines()) == 3
    assert all(text.isprintable() for _, text in lines())


def test_a_key_in_the_reason_of_a_close_is_not_logged(lines: Any) -> None:
    key = "AIza" + "x" * 35
    ConnectionLog(FakeClock()).lost(Loss(Close(1008, f"bad key {key}")))
    assert key not in lines()[0][1]


# -- sessions


@tool
async def order(kind: str) -> str:
    """Orders."""
    await anyio.sleep(0.02)
    return "RESULT7"


def called(line: Any) -> None:
    line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    line.call({"name": "order", "id": "c1", "args": {"kind": "SECRET"}})


@pytest.mark.anyio
async def test_a_loss_is_logged_with_its_cause_and_what_follows_and_is_counted(
    opened: Opened, lines: Any
) -> None:
    async with opened([order], reconnect=QUICK) as line:
        assert (line.session.stats()["losses"], line.session.stats()["last_loss"]) == (0, None)
        called(line)
        await line.until(livetools.ToolStarted)
        line.server.close(1011, "Internal error encountered.")
        await line.until(livetools.Reconnected)
        stats = line.session.stats()
    assert stats["losses"] == 1
    how = "closed with 1011: Internal error encountered"
    assert stats["last_loss"] == {"code": 1011, "how": how, "calls": ["order (c1)"]}
    assert json.dumps(stats["last_loss"])
    (level, lost), *after = lines()
    assert (level, lost) == ("WARNING", f"the connection was lost: {how}; open calls: order (c1)")
    assert [text.partition(" ")[0] for _, text in after] == ["attempt", "lost", "connected"]
    assert "SECRET" not in str(lines())


@pytest.mark.anyio
async def test_a_planned_move_is_no_loss(opened: Opened, lines: Any) -> None:
    async with opened(reconnect=QUICK) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        line.server.send({"goAway": {"timeLeft": "10s"}})
        await line.until(livetools.Reconnected)
        stats = line.session.stats()
    assert (stats["losses"], stats["last_loss"]) == (0, None)
    assert [level for level, _ in lines()] == ["INFO", "INFO"]


@pytest.mark.anyio
async def test_a_session_that_is_closed_in_order_has_lost_nothing(opened: Opened, lines: Any) -> None:
    async with opened(reconnect=QUICK) as line:
        line.server.close(1000)
        assert [event async for event in line.session][1:] == []
        assert line.session.stats()["losses"] == 0
    async with opened(reconnect=QUICK):
        pass
    assert lines() == []


@pytest.mark.anyio
async def test_without_reconnect_a_loss_is_logged_too_and_the_error_is_as_it_was(
    opened: Opened, lines: Any
) -> None:
    async def body() -> None:
        async with opened(reconnect=False) as line:
            line.server.close(1011, "Internal error")
            await line.until(livetools.AudioChunk)

    with pytest.raises(livetools.ServerError) as caught:
        await body()
    assert "attempts" not in str(caught.value)
    assert [level for level, _ in lines()] == ["WARNING"]
