"""What the end of a socket leads to, and when a planned move begins."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from support.driver import Driver, plan

from livetools.errors import (
    AuthenticationError,
    ConnectFailed,
    InvalidRequest,
    ModelNotFound,
    QuotaExceeded,
    RemoteProtocolError,
    ServerError,
    SessionClosed,
    SetupRejected,
    SetupTimeout,
)
from livetools.events import Reconnected, Reconnecting
from livetools.protocol.calls.driver_actions import Close, Dial
from livetools.protocol.connection.dials_and_moves import CLOSING, LATEST, UNSAID, Connection, Snapshot
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.plan_fields import CallPolicy

POLICY = ReconnectPolicy(attempts=3, initial=0.25, jitter=0.0)
NOT_FOUND = (1008, "BidiGenerateContent session not found")


def dialling(**fields: Any) -> Driver:
    d = Driver(plan(CallPolicy("tool"), **fields), POLICY)
    d.machine.connect(d.now)
    return d.drain()


def in_setup(**fields: Any) -> Driver:
    d = dialling(**fields)
    d.machine.opened(1, d.now)
    return d.drain()


def live(**fields: Any) -> Driver:
    d = Driver(plan(CallPolicy("tool"), **fields), POLICY).live()
    return d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})


@pytest.mark.parametrize(
    ("close", "error"),
    [
        (Close(1007, "API key not valid. Please pass a valid API key."), AuthenticationError),
        (Close(1008, "models/x is not found for API version v1beta"), ModelNotFound),
        (Close(1011, "You exceeded your current quota, please check your plan"), QuotaExceeded),
        (Close(1007, "Request contains an invalid argument."), InvalidRequest),
        (Close(1008, "something new"), SetupRejected),
        (Close(1011, "Internal error encountered."), ServerError),
        (Close(1006), SessionClosed),
        (Close(1000), SessionClosed),
    ],
    ids=lambda value: getattr(value, "reason", None) or getattr(value, "__name__", "1006"),
)
def test_a_setup_that_is_refused_is_the_error_of_its_reason_and_not_tried_again(
    close: Close, error: type[Exception]
) -> None:
    d = in_setup()
    d.machine.disconnected(1, close, d.now)
    d.drain().later(60)
    assert [type(e) for e in d.ended] == [error]
    assert d.dialled == [1]


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (OSError("refused"), ConnectFailed),
        (RemoteProtocolError("no websocket"), RemoteProtocolError),
        (SetupRejected("HTTP 400"), SetupRejected),
        (ServerError(503, "busy", "connect", True), ServerError),
    ],
)
def test_a_socket_that_never_was_says_so_in_its_own_words(raised: Exception, error: type[Exception]) -> None:
    d = dialling()
    d.machine.disconnected(1, Close(error=raised), d.now)
    d.drain()
    assert [type(e) for e in d.ended] == [error]
    assert str(raised) in str(d.ended[0])


@pytest.mark.parametrize(
    ("raised", "again"),
    [
        (OSError("refused"), True),
        (ServerError(503, "busy", "connect", True), True),
        (AuthenticationError(401, "expired", "connect", False), False),
        (RemoteProtocolError("no websocket"), False),
    ],
)
def test_a_dial_that_fails_later_is_tried_again_unless_it_would_fail_again(
    raised: Exception, again: bool
) -> None:
    d = live().drop().later(0.3)
    d.machine.disconnected(2, Close(error=raised), d.now)
    d.drain().later(5)
    assert (d.dialled == [1, 2, 3]) is again
    assert bool(d.ended) is not again


@pytest.mark.parametrize("opens", [True, False])
def test_one_deadline_covers_everything_from_the_dial_to_setup_complete(opens: bool) -> None:
    d = dialling(setup_timeout=4.0).later(3.0)
    if opens:
        d.machine.opened(1, d.now)
        d.drain()
    d.later(0.9)
    assert d.ended == []
    d.later(0.2)
    assert [type(e) for e in d.ended] == [SetupTimeout]
    assert "no session within 4 s" in str(d.ended[0])


def test_a_retry_is_told_with_its_attempt_its_delay_and_its_cause() -> None:
    d = live().drop(1011, "Internal error encountered.")
    [told] = [e for e in d.events if isinstance(e, Reconnecting)]
    assert (told.attempt, told.delay) == (1, 0.25)
    assert "1011" in told.cause


def test_a_close_that_is_worth_one_more_dial_is_not_given_two() -> None:
    d = live().drop(3003, "who knows").later(0.3).establish()
    assert d.ended == []
    d.drop(3003, "who knows")
    assert len(d.ended) == 1
    assert d.ended[0] is not None


@pytest.mark.parametrize("phase", ["tool", "turn", "idle"])
def test_the_error_says_what_was_going_on(phase: str) -> None:
    d = Driver(plan(CallPolicy("tool"))).live()
    if phase == "tool":
        d.call(("c1", "tool"))
    elif phase == "turn":
        d.say("half")
    d.drop(1006)
    [error] = d.ended
    assert isinstance(error, SessionClosed)
    assert error.phase == phase


def test_a_stale_handle_that_was_passed_in_gives_a_fresh_session_and_says_so() -> None:
    d = in_setup(handle="old")
    assert d.sent("setup")[-1]["sessionResumption"] == {"handle": "old"}
    d.drop(*NOT_FOUND).later(0).establish()
    assert "sessionResumption" not in d.sent("setup")[-1]
    assert Reconnected(False) in d.events
    assert d.ended == []


def test_without_leave_to_reconnect_a_drop_is_the_end() -> None:
    d = Driver(plan(CallPolicy("tool"))).live().drop(1006)
    assert d.dialled == [1]
    assert isinstance(d.ended[0], SessionClosed)


def test_a_clean_close_after_a_go_away_is_a_drop() -> None:
    d = live().call(("c1", "tool")).server({"goAway": {"timeLeft": "50s"}})
    d.settle("c1").say("done").drop(1000)
    assert d.ended == []
    assert d.later(0.3).dialled == [1, 2]


def test_a_go_away_without_leave_to_reconnect_is_told_and_changes_nothing() -> None:
    d = Driver(plan(CallPolicy("tool"))).live().server({"goAway": {"timeLeft": "5s"}}).later(60)
    assert "GoAway" in d.names
    assert d.dialled == [1]


def test_a_socket_that_opens_after_the_end_is_hung_up() -> None:
    d = dialling()
    d.machine.close(d.now)
    d.drain()
    d.machine.opened(1, d.now)
    d.drain()
    assert d.hung_up == [1]
    assert d.sent("setup") == []


def test_a_move_waits_for_the_handle_that_follows_a_turn_but_not_for_long() -> None:
    d = live()
    d.machine.send_text("?", d.now)
    d.drain().later(1).server({"goAway": {"timeLeft": "50s"}}).say("so").turn_complete()
    assert d.later(0.4).dialled == [1]
    assert d.later(0.2).dialled == [1, 2]


def test_a_move_waits_on_where_somebody_spoke_while_the_next_socket_was_opened() -> None:
    d = live().server({"goAway": {"timeLeft": "50s"}})
    assert d.dialled == [1, 2]
    d.machine.send_text("?", d.now)
    d.drain().machine.opened(2, d.now)
    d.drain()
    assert d.hung_up == [2]
    d.call(("c1", "tool")).settle("c1").say("so").turn_complete()
    assert d.later(0.6).dialled == [1, 2, 3]  # the next quiet moment
    assert "ToolLost" not in d.names


def test_a_move_that_can_wait_no_longer_waits_for_nobody() -> None:
    d = live().call(("c1", "tool")).server({"goAway": {"timeLeft": "50s"}}).later(41)
    assert d.dialled == [1, 2]
    d.machine.opened(2, d.now)
    d.drain()
    assert d.hung_up == [1]


def test_the_old_socket_has_a_second_to_close_then_the_handle_is_shown() -> None:
    d = live().server({"goAway": {"timeLeft": "50s"}})
    d.machine.opened(2, d.now)
    d.drain()
    assert d.hung_up == [1]
    assert len(d.later(0.9).sent("setup")) == 1
    assert d.later(0.2).sent("setup")[-1]["sessionResumption"] == {"handle": "h1"}


def test_when_the_next_socket_fails_while_the_old_one_closes_the_retry_waits_for_that() -> None:
    d = live().server({"goAway": {"timeLeft": "50s"}})
    d.machine.opened(2, d.now)
    d.drain().drop(1006, link=2)
    assert d.later(0.9).dialled == [1, 2]
    assert d.later(0.2).dialled == [1, 2, 3]


# When a planned move begins

BUSY = Snapshot("tool")


def standing(policy: ReconnectPolicy = POLICY) -> Connection:
    one = Connection(plan(), policy, lambda: 0.5)
    one.connect(0.0)
    one.opened(1, Snapshot(), 0.0)
    one.completed(0.0)
    return one


@pytest.mark.parametrize(
    ("time_left", "latest"), [(50.0, 50 * LATEST), (None, UNSAID * LATEST), (0.0, 0.0), (-3.0, 0.0)]
)
def test_a_move_waits_for_its_share_of_the_time_left(time_left: float | None, latest: float) -> None:
    one = standing()
    one.go_away(time_left, 100.0)
    assert one.wake_at(BUSY) == 100.0 + latest


def test_without_any_time_left_the_move_begins_at_once() -> None:
    d = Driver(plan(CallPolicy("slow")), POLICY).live().call(("c1", "slow"))
    d.server({"goAway": {"timeLeft": "0s"}})
    assert d.later(0).dialled == [1, 2]


def test_a_second_go_away_never_gives_more_time_than_the_first() -> None:
    one = standing()
    one.go_away(10.0, 0.0)
    one.go_away(50.0, 1.0)
    assert one.wake_at(BUSY) == 1 + LATEST * 9


def test_a_move_that_failed_is_tried_again_while_there_is_time() -> None:
    one = standing(ReconnectPolicy(initial=2.0, jitter=0.0))
    one.go_away(50.0, 0.0)
    assert one.planned_move(Snapshot(), 9.0) == [Dial(2)]
    one.gone(2, Close(), Snapshot(), 10.0)
    assert (one.wake_at(Snapshot()), one.wake_at(BUSY)) == (12.0, 10 + LATEST * 40)
    assert one.planned_move(Snapshot(), 12.0) == [Dial(3)]
    one.gone(3, Close(), Snapshot(), 49.5)
    assert one.wake_at(BUSY) == 49.5 + 4.0


def test_a_move_of_our_own_accord_waits_for_quiet_without_a_deadline() -> None:
    one = standing()
    one.go_away(inf, 0.0)
    assert one.wake_at(BUSY) == inf
    one.planned_move(Snapshot(), 1.0)
    one.gone(2, Close(), Snapshot(), 1.0)
    assert one.wake_at(BUSY) == inf


def test_without_a_dial_left_the_old_socket_is_used_to_its_end() -> None:
    d = Driver(plan(CallPolicy("tool")), ReconnectPolicy(attempts=0)).live().call(("c1", "tool"))
    d.server({"goAway": {"timeLeft": "5s"}}).later(60)
    assert (d.dialled, d.hung_up, d.ended) == ([1], [], [])
    assert d.settle("c1").sent("toolResponse")


def test_a_stale_handle_is_not_dialled_without_before_the_old_socket_may_be_closed() -> None:
    d = live().server({"goAway": {"timeLeft": "50s"}})
    d.machine.opened(2, d.now)
    d.drain().drop(*NOT_FOUND, link=2)
    [told] = [e for e in d.events if isinstance(e, Reconnecting)]
    assert told.delay == CLOSING
