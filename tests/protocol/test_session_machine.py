"""The machine, without a socket: what a session does, input by input."""

from __future__ import annotations

import json
import math
import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.driver import GEMINI, Driver, plan

from livetools.errors import (
    AuthenticationError,
    ConcurrencyError,
    ConnectFailed,
    LimitReached,
    LocalProtocolError,
    ServerError,
    SetupTimeout,
)
from livetools.events import (
    Event,
    GoAway,
    HandedOff,
    InputDropped,
    OutputTranscript,
    Reconnected,
    Stalled,
    TextChunk,
    ToolFinished,
    ToolLost,
    TurnComplete,
    UnknownMessage,
)
from livetools.protocol.calls.driver_actions import Action, Close, Dial, Outcome, RunTool
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input.input_queue import OUTSIDE
from livetools.protocol.input.resend import OutFrame
from livetools.protocol.messages import outgoing
from livetools.protocol.session_machine import Machine
from livetools.protocol.transcript.transcript import Transcript
from livetools.protocol.turns.expected_turns import QUIET_SETTLES
from livetools.setup.plan import make_plan
from livetools.setup.plan_fields import CallPolicy, Plan

ECHO = CallPolicy("echo")
SLOW = CallPolicy("slow", timeout=5.0)
ASYNC = CallPolicy("later", behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
PATIENT = ReconnectPolicy(attempts=3, initial=0.25)


def test_the_rooms_of_a_machine_print_nothing_of_what_they_hold() -> None:
    hidden = "of-the-users"
    known = replace(plan(ECHO), handle=hidden, setup={"model": "m", "systemInstruction": hidden})
    d = Driver(known).live()
    d.machine.send_text(hidden, d.now)
    rooms = {name: repr(room) for name, room in vars(d.machine).items() if room is not known}
    assert [name for name, shown in rooms.items() if hidden in shown] == []


def test_a_call_is_run_and_answered_once() -> None:
    d = Driver(plan(ECHO)).live().call(("c1", "echo"))
    assert d.started == ["c1"]
    d.settle("c1", 5)
    assert d.answers() == [("c1", {"output": 5})]
    assert d.names == ["SessionStarted", "ToolStarted", "ToolFinished"]


def test_the_same_id_on_one_link_is_a_duplicate() -> None:
    d = Driver(plan(ECHO)).live().call(("c1", "echo"), ("c1", "echo")).call(("c1", "echo"))
    part = {"functionCall": {"id": "c1", "name": "echo", "args": {}}}
    d.server({"serverContent": {"modelTurn": {"parts": [part]}}})
    d.settle("c1").call(("c1", "echo"))
    assert d.started == ["c1"]
    assert len(d.answers()) == 1


def test_an_unknown_name_is_answered_with_the_real_ones_near_misses_first() -> None:
    d = Driver(plan(SLOW, ECHO)).live().call(("c1", "ehco"))
    [(id, response)] = d.answers()
    assert id == "c1"
    assert "echo, slow" in response["error"]


def test_a_batch_goes_out_in_the_order_of_its_calls_without_the_cancelled_one() -> None:
    d = Driver(plan(ECHO, reply_batching="batch")).live().call(("a", "echo"), ("b", "echo"), ("c", "echo"))
    d.settle("c", 3).settle("a", 1)
    assert d.answers() == []
    d.server({"toolCallCancellation": {"ids": ["b"]}})
    assert d.answers() == [("a", {"output": 1}), ("c", {"output": 3})]
    assert len(d.sent("toolResponse")) == 1


def test_as_client_content_the_parts_equal_the_calls_in_one_turn() -> None:
    d = Driver(plan(ECHO, reply_format="client_content")).live().call(("a", "echo"), ("b", "nope"))
    d.settle("a")
    [content] = d.sent("clientContent")
    assert content["turnComplete"] is True
    assert [p["functionResponse"]["id"] for p in content["turns"][0]["parts"]] == ["a", "b"]


def test_calls_without_an_id_are_answered_without_one_in_order_for_their_name() -> None:
    d = Driver(plan(ECHO)).live().call((None, "echo"), (None, "echo"))
    d.settle("unnamed-2", "second")
    assert d.answers() == []
    d.settle("unnamed-1", "first")
    assert d.answers() == [(None, {"output": "first"}), (None, {"output": "second"})]


def test_a_servers_id_that_looks_like_one_of_ours_is_still_answered() -> None:
    d = Driver(plan(ECHO)).live().call((None, "echo")).call(("unnamed-1", "echo"))
    assert len(d.started) == 2


def test_a_cancelled_call_stops_and_is_not_answered() -> None:
    d = (
        Driver(plan(ECHO))
        .live()
        .call(("c1", "echo"))
        .server({"toolCallCancellation": {"ids": ["c1", "zzz"]}})
    )
    assert d.stopped == ["c1"]
    d.settle("c1")
    assert d.answers() == []
    assert "ToolCancelled" in d.names
    assert "ToolFinished" not in d.names


def test_interrupted_alone_cancels_nothing() -> None:
    d = Driver(plan(ECHO)).live().call(("c1", "echo")).server({"serverContent": {"interrupted": True}})
    assert d.stopped == []
    assert d.settle("c1").answers() == [("c1", {"output": "ok"})]


def test_undo_is_asked_for_once_when_the_handler_has_ended() -> None:
    d = Driver(plan(CallPolicy("book", undo=True))).live().call(("c1", "book"))
    d.server({"toolCallCancellation": {"ids": ["c1"]}})
    assert "Undo" not in [type(a).__name__ for a in d.actions]
    d.settle("c1", "table 7")
    undone = [a for a in d.actions if type(a).__name__ == "Undo"]
    assert [u.result for u in undone] == ["table 7"]


def test_a_cancellation_that_crosses_the_answer_undoes_what_was_done() -> None:
    d = Driver(plan(CallPolicy("book", undo=True))).live().call(("c1", "book")).settle("c1", "table 7")
    d.server({"toolCallCancellation": {"ids": ["c1"]}})
    assert [a.result for a in d.actions if type(a).__name__ == "Undo"] == ["table 7"]


def test_a_tool_that_ignores_its_time_is_answered_on_time() -> None:
    d = Driver(plan(SLOW)).live().call(("c1", "slow")).later(4.9)
    assert d.answers() == []
    d.later(0.2)
    assert d.answers() == [("c1", {"error": "timed out after 5 s"})]
    assert d.stopped == ["c1"]
    d.settle("c1")
    assert len(d.answers()) == 1


def test_limits_hold_a_call_back_and_a_free_slot_lets_it_run() -> None:
    d = Driver(plan(CallPolicy("one", concurrency=1), ECHO)).live()
    d.call(("a", "one"), ("b", "one"), ("c", "echo"))
    assert d.started == ["a", "c"]
    d.settle("a")
    assert d.started == ["a", "c", "b"]


def test_a_session_limit_bounds_all_tools() -> None:
    d = Driver(plan(SLOW, ECHO, max_concurrency=1)).live().call(("a", "slow"), ("b", "echo"))
    assert d.started == ["a"]
    assert d.settle("a").started == ["a", "b"]


def test_a_queued_call_that_is_cancelled_never_runs() -> None:
    d = Driver(plan(CallPolicy("one", concurrency=1))).live().call(("a", "one"), ("b", "one"))
    d.server({"toolCallCancellation": {"ids": ["b"]}}).settle("a")
    assert d.started == ["a"]


def test_identical_calls_share_a_run_where_that_was_asked_for() -> None:
    d = Driver(plan(CallPolicy("book", join=True))).live()
    d.call(("a", "book", {"n": 1}), ("b", "book", {"n": 1}), ("c", "book", {"n": 2}))
    assert d.started == ["a", "c"]
    d.settle("a", "done")
    assert dict(d.answers()) == {"a": {"output": "done"}, "b": {"output": "done"}}


def test_a_shared_run_goes_on_when_only_its_first_caller_is_cancelled() -> None:
    d = Driver(plan(CallPolicy("book", join=True))).live().call(("a", "book"), ("b", "book"))
    d.server({"toolCallCancellation": {"ids": ["a"]}})
    assert d.stopped == []
    assert d.settle("a", "done").answers() == [("b", {"output": "done"})]


def test_approval_waits_and_a_refusal_is_an_answer() -> None:
    d = Driver(plan(CallPolicy("pay", approval=True, approval_timeout=9))).live()
    d.call(("a", "pay"), ("b", "pay"), ("c", "pay"))
    for run in (1, 2, 3):
        d.machine.judge(run, True, d.now)
    d.drain()
    assert d.names.count("ApprovalRequested") == 3
    assert d.started == []
    assert d.machine.judge(d.machine.run_of("a") or 0, None, d.now)
    assert d.machine.judge(d.machine.run_of("b") or 0, "too dear", d.now)
    d.drain().later(9.5)
    assert d.started == ["a"]
    told = dict(d.answers())
    assert "too dear" in told["b"]["error"]
    assert "within 9 s" in told["c"]["error"]
    assert not d.machine.judge(1, None, d.now)


def test_the_time_of_a_tool_begins_after_its_approval() -> None:
    d = Driver(plan(CallPolicy("pay", approval=True, timeout=5))).live().call(("a", "pay")).later(30)
    d.machine.judge(1, None, d.now)
    d.drain().later(4)
    assert d.answers() == []
    assert "timed out" in d.later(2).answers()[0][1]["error"]


def test_a_background_call_is_answered_at_once_and_delivered_later_as_text() -> None:
    d = Driver(plan(CallPolicy("job", background=True))).live()
    d.machine.send_text("start", d.now)
    d.drain().call(("c1", "job", {"n": 1}))
    [(id, response)] = d.answers()
    assert id == "c1"
    assert "under way" in response["output"]
    d.say("It runs.").turn_complete().settle("c1", "42 rows")
    assert len(d.answers()) == 1
    assert d.texts() == ["start"], "in a pause, not into the conversation"
    assert "42 rows" in d.later(2.0).texts()[-1]


def test_a_result_that_goes_as_text_does_not_cut_the_model_off() -> None:
    d = Driver(plan(CallPolicy("job", background=True))).live().call(("c1", "job")).say("I am ")
    d.settle("c1", "42 rows")
    assert d.texts() == []
    assert d.later(4.0).texts() == []
    assert "42 rows" in d.turn_complete().texts()[0]


def test_a_late_result_waits_for_the_answer_to_a_text_that_waited_with_it() -> None:
    d = Driver(plan(ECHO), PATIENT).live().call(("c1", "echo")).drop(1006).settle("c1", "seven")
    exchange = asked(d)
    d.later(0.3).establish()
    assert d.texts() == ["?"]
    d.say("yes").turn_complete()
    assert exchange.done
    assert "seven" in d.texts()[1]


def test_generators_stream_and_close() -> None:
    policy = CallPolicy("ticks", streams=True, behavior="NON_BLOCKING", takes_scheduling=True, ends_turn=True)
    d = Driver(plan(policy)).live().call(("c1", "ticks"))
    for n in range(2):
        d.machine.progress(1, n, d.now, Outcome({"output": n}))
        d.drain()
    d.machine.settled(1, Outcome({}), d.now)
    d.drain()
    told = [(r["willContinue"], r["response"], r.get("scheduling")) for r in d.responses()]
    assert told == [(True, {"output": 0}, None), (True, {"output": 1}, None), (False, {}, "SILENT")]


def test_media_that_the_model_does_not_read_is_left_out_and_the_answer_says_so() -> None:
    d = (
        Driver(plan(CallPolicy("shot"), media=frozenset({"image/png"})))
        .live()
        .call(("a", "shot"), ("b", "shot"))
    )
    d.settle("a", parts=({"inlineData": {"mimeType": "application/pdf"}},))
    d.settle("b", parts=({"inlineData": {"mimeType": "image/png", "data": "AA=="}},))
    answers = d.responses()
    assert "parts" not in answers[0]
    assert "application/pdf" in answers[0]["response"]["note"]
    assert answers[1]["parts"][0]["inlineData"]["mimeType"] == "image/png"


def test_allowed_and_max_calls_are_told_to_the_model() -> None:
    d = Driver(plan(ECHO, SLOW, allowed=frozenset({"echo"}), max_calls=2)).live()
    d.call(("a", "slow"), ("b", "echo"), ("c", "echo"))
    assert d.started == ["b"]
    told = dict(d.answers())
    assert "may not be called" in told["a"]["error"]
    assert "allows 2" in told["c"]["error"]


@pytest.mark.parametrize("batching", ["each", "batch"])
@pytest.mark.parametrize("name", ["echo", "no_such_function"])
def test_a_model_that_calls_on_past_max_calls_is_told_ten_times_and_then_the_session_ends(
    batching: str, name: str
) -> None:
    d = Driver(plan(ECHO, max_calls=2, reply_batching=batching)).live().call(("a", "echo"), ("b", "echo"))
    d.settle("a").settle("b")
    for n in range(10):
        assert not d.machine.closed
        d.call((f"c{n}", name))
    assert ["error" in response for _, response in d.answers()] == [False] * 2 + [True] * 10
    d.later(0)
    assert d.started == ["a", "b"]
    [error] = d.ended
    assert isinstance(error, LimitReached)
    assert (error.limit, error.retryable, error.code, error.phase) == ("max_calls", False, 1000, "tool")
    assert "max_calls=2" in str(error)


def test_calls_of_one_message_past_max_calls_are_answered_before_the_session_ends() -> None:
    d = Driver(plan(ECHO, max_calls=0)).live().call(*((f"c{n}", "echo") for n in range(25)))
    assert len(d.answers()) == 25
    assert isinstance(d.later(0).ended[0], LimitReached)


def test_a_session_past_its_limit_stays_open_until_the_last_error_was_handed_to_the_socket() -> None:
    d = Driver(plan(ECHO, max_calls=0)).live()
    asked = [{"id": f"c{n}", "name": "echo", "args": {}} for n in range(10)]
    message = json.dumps({"toolCall": {"functionCalls": asked}})
    d.machine.receive(d.machine.connection.current, message, d.now)
    frames = d.machine.frames()  # the writer has them, and waits for the socket
    d.machine.tick(d.now)
    assert not d.machine.closed
    assert frames[-1].last_of is not None
    frames[-1].last_of.handed = True
    assert isinstance(d.later(0).ended[0], LimitReached)


def test_a_line_that_is_lost_does_not_keep_a_session_past_its_limit() -> None:
    d = Driver(plan(ECHO, max_calls=1), reconnect=PATIENT).live().call(("a", "echo"))
    for n in range(9):
        d.call((f"c{n}", "echo"))
    d.drop().later(1).establish().call(("d", "echo"))
    assert isinstance(d.later(0).ended[0], LimitReached)


def test_what_stays_below_the_limit_goes_on() -> None:
    d = Driver(plan(ECHO, max_calls=1)).live().call(("a", "echo")).settle("a")
    for _ in range(5):  # the same call, asked again
        d.call(*((f"c{n}", "echo") for n in range(9)))
    d.later(5)
    assert not d.machine.closed
    assert len(d.answers()) == 10


# Losses


def test_an_answer_that_was_received_is_given_again_where_an_older_handle_asks_for_it() -> None:
    silent = CallPolicy("note", behavior="NON_BLOCKING", scheduling="SILENT")
    d = Driver(plan(silent), reconnect=PATIENT).live()
    d.server({"sessionResumptionUpdate": {"resumable": True, "newHandle": "from before"}})
    d.call(("c", "note")).settle("c")  # its pong comes, and no word on it
    d.drop().later(1).establish().call(("c", "note"))
    assert d.answers() == [("c", {"output": "ok"})] * 2
    assert d.started == ["c"]


def refused(d: Driver) -> Driver:
    """Nobody listens at the next dial."""
    d.later(1)
    error = ConnectFailed("nobody listens on example.com")
    d.machine.disconnected(d.dialled[-1], Close(error=error), d.now)
    return d.drain()


def test_an_error_after_a_loss_says_how_the_line_was_lost_and_how_often_it_was_dialled() -> None:
    d = Driver(plan(ECHO), reconnect=PATIENT).live().drop(1011, "Internal error.")
    for _ in range(3):
        refused(d)
    [error] = d.ended
    assert str(error) == (
        "nobody listens on example.com. The connection was lost before (closed with 1011: Internal error);"
        " attempts to restore it: 3"
    )


def test_an_error_that_ends_the_attempts_early_says_so_too() -> None:
    d = Driver(plan(ECHO), reconnect=PATIENT).live().drop()
    refused(d).later(1)
    d.machine.opened(d.dialled[-1], d.now)
    d.drain().drop(1007, "API key not valid. Please pass a valid API key.")
    [error] = d.ended
    assert isinstance(error, AuthenticationError)
    assert "(closed with 1006: the line broke); attempts to restore it: 2" in str(error)


def test_a_session_that_never_stood_has_no_such_history() -> None:
    d = Driver(plan(ECHO), reconnect=PATIENT)
    d.machine.connect(d.now)
    refused(d.drain())
    assert [str(error) for error in d.ended] == ["nobody listens on example.com"]


def test_only_a_connection_on_which_the_session_stood_is_lost() -> None:
    d = Driver(plan(ECHO), reconnect=PATIENT).live().call(("c1", "echo"), ("c2", "echo"))
    d.drop(1006)
    assert d.machine.stats()["losses"] == 1
    assert d.machine.stats()["last_loss"]["calls"] == ["echo (c1)", "echo (c2)"]
    refused(d).later(1).establish()
    assert d.machine.stats()["losses"] == 1
    d.drop(1001, "going away")
    assert d.machine.stats()["losses"] == 2
    assert d.machine.stats()["last_loss"] == {
        "code": 1001,
        "how": "closed with 1001: going away",
        "calls": [],
    }


# Input


def test_the_input_block_drops_audio_while_a_blocking_call_is_open_and_tells_how_much() -> None:
    d = Driver(plan(ECHO, input_block=True)).live().call(("c1", "echo"))
    assert not d.machine.send_media(b"{}", "audio", d.now)
    assert not d.machine.send_media(b"{}", "audio", d.now)
    d.settle("c1").later(0)
    assert [e.count for e in d.events if isinstance(e, InputDropped)] == [2]
    assert d.machine.send_media(b'{"a":1}', "audio", d.now)
    assert d.drain().frames[-1][1] == {"a": 1}


def test_text_waits_while_input_is_blocked_and_is_sent_after_the_answer() -> None:
    d = Driver(plan(ECHO, input_block=True)).live().call(("c1", "echo"))
    receipt = d.machine.send_text("and tomorrow?", d.now)
    assert not d.drain().texts()
    assert not receipt.done
    d.settle("c1")
    kinds = [next(iter(f)) for _, f in d.frames]
    assert kinds == ["setup", "toolResponse", "clientContent"]
    assert receipt.done


def by_hand(**fields: Any) -> Plan:
    """A plan in which the user marks speech."""
    config = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}
    return replace(plan(ECHO, **fields), setup={"model": GEMINI, **config})


def test_an_open_activity_may_end_while_input_is_blocked_but_none_begins() -> None:
    d = Driver(by_hand(input_block=True)).live()
    d.machine.activity(True, d.now)
    assert d.machine.send_media(b'{"realtimeInput": {"audio": 1}}', "audio", d.now)
    d.drain().call(("c1", "echo"))
    d.machine.activity(False, d.now)
    d.machine.activity(True, d.now)
    assert not d.machine.send_media(b'{"realtimeInput": {"audio": 2}}', "audio", d.now)
    d.machine.activity(False, d.now)
    d.drain()
    assert d.sent("realtimeInput") == [{"activityStart": {}}, {"audio": 1}, {"activityEnd": {}}]


def test_activities_belong_to_manual_detection_and_the_end_of_the_audio_to_automatic_detection() -> None:
    d = Driver(plan(ECHO)).live()
    with pytest.raises(LocalProtocolError, match="automatic_activity_detection"):
        d.machine.activity(True, d.now)
    d.machine.end_audio(d.now)
    d.drain()
    assert d.sent("realtimeInput") == [{"audioStreamEnd": True}]
    d = Driver(by_hand()).live()
    with pytest.raises(LocalProtocolError, match="Leave the activity"):
        d.machine.end_audio(d.now)
    assert not d.machine.send_media(b"{}", "audio", d.now)
    d.drain().later(0)
    assert [(e.count, e.reason) for e in d.events if isinstance(e, InputDropped)] == [(1, OUTSIDE)]
    assert d.sent("realtimeInput") == []


@pytest.mark.parametrize(
    ("model", "detection", "seconds"),
    [
        ("gemini-3.8-live", {}, 1.0),
        ("gemini-3.8-live", {"silence_duration_ms": 2000}, 2.5),
        ("gemini-3.1-flash-live-preview", {}, 0.0),
    ],
)
def test_silence_follows_the_end_of_the_audio_where_silence_alone_ends_a_turn(
    model: str, detection: dict[str, int], seconds: float
) -> None:
    config = {"realtime_input_config": {"automatic_activity_detection": detection}}
    d = Driver(make_plan(model, config=config)).live()
    d.machine.end_audio(d.now)
    d.drain()
    assert d.sent("realtimeInput") == [{"audioStreamEnd": True}], "nothing was said before it"
    d.machine.send_media(b'{"realtimeInput": {"audio": 1}}', "audio", d.now)
    d.machine.end_audio(d.now, 24000)
    d.drain()
    sound, end, *silence = d.sent("realtimeInput")[1:]
    assert (sound, end) == ({"audio": 1}, {"audioStreamEnd": True})
    pcm = [b64decode(each["audio"]["data"]) for each in silence]
    assert {each["audio"]["mimeType"] for each in silence} <= {"audio/pcm;rate=24000"}
    assert b"".join(pcm) == bytes(round(2 * 24000 * seconds))
    assert all(len(piece) <= 2 * 24000 * 0.1 for piece in pcm)


def test_an_activity_inside_an_activity_and_a_question_in_one_are_refused() -> None:
    d = Driver(by_hand()).live()
    d.machine.activity(True, d.now)
    with pytest.raises(LocalProtocolError, match="inside an activity"):
        d.machine.activity(True, d.now)
    with pytest.raises(LocalProtocolError, match="send_text"):
        d.machine.ask("what?", d.now)
    d.machine.activity(False, d.now)
    d.machine.ask("what?", d.now)


def test_a_question_behind_an_answered_activity_is_answered_at_its_own_turn() -> None:
    """Where the user marks speech, its end is a prompt: no turn begins without one, and nothing is in doubt."""
    d = Driver(by_hand()).live()
    d.machine.activity(True, d.now)
    d.machine.send_media(b'{"realtimeInput": {"audio": 1}}', "audio", d.now)
    d.machine.activity(False, d.now)
    d.drain().say("to what was ")
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().say("said").turn_complete()
    assert not exchange.events
    d.say("to the question").turn_complete()
    assert exchange.done
    assert [e.text for e in exchange.events if isinstance(e, OutputTranscript)] == ["to the question"]


@pytest.mark.parametrize("heard", [True, False])
def test_what_was_heard_until_the_microphone_went_off_may_be_answered_before_a_question(heard: bool) -> None:
    d = Driver(plan(ECHO)).live()
    d.machine.send_media(b'{"realtimeInput": {"audio": 1}}', "audio", d.now)
    d.machine.end_audio(d.now)
    d.drain()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain()
    if heard:
        d.say("to what was said").turn_complete()
        assert not exchange.done
    d.say("to the question").turn_complete().later(0 if heard else QUIET_SETTLES)
    assert exchange.done
    assert [e.text for e in exchange.events if isinstance(e, OutputTranscript)] == ["to the question"]


def test_a_microphone_that_goes_off_without_a_word_holds_nothing_up() -> None:
    d = Driver(plan(ECHO)).live()
    d.machine.end_audio(d.now)
    assert d.drain().machine.turns.idle
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().say("to the question").turn_complete()
    assert exchange.done


def test_a_late_result_waits_for_the_end_of_an_activity() -> None:
    d = Driver(replace(by_hand(), policies={"job": CallPolicy("job", background=True)})).live()
    d.call(("c1", "job"))
    d.server({"serverContent": {"turnComplete": True}})
    d.machine.activity(True, d.now)
    d.settle("c1").later(30)
    assert not d.texts()
    d.machine.activity(False, d.now)
    assert len(d.drain().texts()) == 1


def test_content_in_the_middle_is_refused_where_the_service_would_close_for_it() -> None:
    d = Driver(plan(text_channel="realtime", content_mid_session="refused")).live()
    d.machine.send_content([{"role": "user", "parts": [{"text": "before"}]}], False, d.now)
    d.machine.send_text("hi", d.now)
    d.drain()
    assert d.sent("realtimeInput") == [{"text": "hi"}]
    with pytest.raises(LocalProtocolError, match="only before the first turn"):
        d.machine.send_content([], True, d.now)


@pytest.mark.parametrize("then", ["it speaks", "it has spoken", "the connection is lost"])
def test_nor_is_it_sent_where_sound_has_prompted_the_first_turn(then: str) -> None:
    d = Driver(plan(text_channel="realtime", content_mid_session="refused"), ReconnectPolicy()).live()
    d.machine.send_media(outgoing.audio(bytes(640)), "audio", d.now)
    d.drain().say("I hear you.")
    if then != "it speaks":
        d.turn_complete()
    if then == "the connection is lost":
        d.drop().later(1).establish()
    with pytest.raises(LocalProtocolError, match="only before the first turn"):
        d.machine.send_content([], True, d.now)


def test_interrupt_silences_the_rest_of_the_turn_at_once() -> None:
    d = Driver(plan()).live()
    exchange, _ = d.machine.ask("hi", d.now)
    d.drain().say("A long ")
    d.machine.interrupt(d.now)
    d.drain().say("story").server({"serverContent": {"interrupted": True}}).turn_complete()
    assert exchange.done
    assert exchange.interrupted
    assert d.names.count("OutputTranscript") == 1
    assert d.names.count("Interrupted") == 1
    assert d.say("next").names.count("OutputTranscript") == 2


# Exchanges


def asked(d: Driver) -> object:
    exchange, _ = d.machine.ask("?", d.now)
    d.drain()
    return exchange


def test_an_exchange_with_a_blocking_call_ends_at_the_one_turn_complete() -> None:
    d = Driver(plan(ECHO)).live()
    exchange = asked(d)
    d.call(("c1", "echo")).settle("c1")
    assert not exchange.done
    d.say("so").turn_complete()
    assert exchange.done
    assert "OutputTranscript" in [type(e).__name__ for e in exchange.events]


@pytest.mark.parametrize("answer_first", [False, True])
def test_an_exchange_with_an_async_call_waits_for_its_spoken_turn(answer_first: bool) -> None:
    d = Driver(plan(ASYNC)).live()
    exchange = asked(d)
    d.call(("c1", "later"))
    if answer_first:
        d.settle("c1").turn_complete()
    else:
        d.turn_complete().settle("c1")
    assert not exchange.done
    d.say("it is 5")
    assert not exchange.done
    d.turn_complete()
    assert exchange.done


def test_an_async_answer_spoken_of_in_the_same_turn_ends_after_a_short_while() -> None:
    d = Driver(plan(ASYNC)).live()
    exchange = asked(d)
    d.call(("c1", "later")).settle("c1").say("it is 5").turn_complete()
    assert not exchange.done
    d.later(2.1)
    assert exchange.done
    assert "Stalled" not in d.names


def test_a_silent_answer_is_owed_no_turn() -> None:
    d = Driver(plan(ASYNC)).live()
    exchange = asked(d)
    d.call(("c1", "later")).say("noted").turn_complete()
    assert not exchange.done
    d.settle("c1", scheduling="SILENT")
    assert exchange.done


def test_with_status_a_turn_ends_at_idle_wherever_it_stands() -> None:
    d = Driver(plan(ASYNC, idle_signal=True)).live()
    exchange = asked(d)
    d.say("One moment.").turn_complete(interactionStatus="IN_PROGRESS")
    d.call(("c1", "later")).settle("c1").say("x").turn_complete(interactionStatus="IN_PROGRESS")
    assert not exchange.done
    d.server({"interactionStatus": "IDLE"})
    assert exchange.done
    assert d.events[-1] == TurnComplete(None, "IDLE")


def test_with_status_an_idle_that_crosses_the_answer_is_not_the_word_on_it() -> None:
    d = Driver(plan(ASYNC, idle_signal=True)).live()
    exchange = asked(d)
    d.call(("c1", "later")).settle("c1").turn_complete(interactionStatus="IDLE")
    assert not exchange.done
    d.say("it is 5").turn_complete(interactionStatus="IDLE")
    assert exchange.done
    exchange = asked(d)
    d.call(("c2", "later")).settle("c2").turn_complete(interactionStatus="IDLE").later(2.1)
    assert exchange.done, "nothing was to be said"


def test_an_interrupted_exchange_returns_at_the_end_of_its_turn() -> None:
    d = Driver(plan(ECHO)).live()
    exchange = asked(d)
    d.say("half").call(("c1", "echo")).server({"serverContent": {"interrupted": True}}).turn_complete()
    assert exchange.done
    assert exchange.interrupted


def test_an_answer_that_cuts_in_does_not_count_as_an_interruption() -> None:
    d = Driver(plan(ASYNC)).live()
    exchange = asked(d)
    d.call(("c1", "later")).say("It is running").settle("c1", scheduling="INTERRUPT")
    d.server({"serverContent": {"interrupted": True}}).turn_complete()
    assert not exchange.done
    d.say("5").turn_complete()
    assert exchange.done
    assert not exchange.interrupted


def test_what_an_earlier_turn_says_is_not_part_of_the_exchange() -> None:
    d = Driver(plan()).live()
    d.machine.send_text("first", d.now)
    d.drain().say("one")
    exchange = asked(d)
    d.say("and a half").turn_complete().say("two").turn_complete()
    assert exchange.done
    assert [e.text for e in exchange.events if hasattr(e, "text")] == ["two"]


def test_an_exchange_waits_for_every_turn_that_is_due_before_it() -> None:
    d = Driver(plan()).live()
    for text in ("one", "two"):
        d.machine.send_text(text, d.now)
        d.drain()
    exchange = asked(d)
    d.say("to one").turn_complete().say("to two").turn_complete()
    assert not exchange.done
    d.say("to three").turn_complete()
    assert exchange.done
    assert [e.text for e in exchange.events if hasattr(e, "text")] == ["to three"]


def test_an_exchange_waits_for_the_end_of_a_turn_that_no_text_began() -> None:
    d = Driver(plan()).live().say("to what you said aloud")
    exchange = asked(d)
    d.turn_complete()
    assert not exchange.done
    d.say("to the text").turn_complete()
    assert exchange.done
    assert [e.text for e in exchange.events if hasattr(e, "text")] == ["to the text"]


def test_a_text_behind_an_answer_has_a_turn_of_its_own() -> None:
    d = Driver(plan(ECHO), PATIENT).live().call(("c1", "echo")).settle("c1")
    for text in ("one", "two"):
        d.machine.send_text(text, d.now)
        d.drain()
    d.say("on the result").turn_complete().say("to one").turn_complete().drop(1006)
    d.later(0.3).establish()
    assert d.texts() == ["one", "two", "two"]


def test_a_turn_that_never_came_takes_no_answer_away_from_the_next_exchange() -> None:
    d = Driver(plan(stall_timeout=3)).live()
    d.machine.send_text("nobody answers this", d.now)
    d.drain().later(60)
    assert d.names.count("Stalled") == 1
    exchange = asked(d)
    d.say("yes").turn_complete()
    assert exchange.done
    assert [e.text for e in exchange.events if hasattr(e, "text")] == ["yes"]


def test_two_exchanges_at_once_are_an_error() -> None:
    d = Driver(plan()).live()
    asked(d)
    with pytest.raises(ConcurrencyError):
        d.machine.ask("?", d.now)


def test_silence_where_an_answer_is_due_is_a_stall_and_ends_the_exchange() -> None:
    d = Driver(plan(stall_timeout=3)).live()
    exchange = asked(d)
    d.say("half").later(2.9)
    assert "Stalled" not in d.names
    d.later(0.2)
    assert [e.waiting_for for e in d.events if isinstance(e, Stalled)] == ["the end of the model's turn"]
    assert exchange.done
    assert (
        "Stalled" not in [type(e).__name__ for e in d.later(60).events[-1:]] or d.names.count("Stalled") == 1
    )


def test_nothing_stalls_while_a_blocking_call_is_open_or_nothing_is_due() -> None:
    d = Driver(plan(CallPolicy("echo", timeout=None), stall_timeout=3)).live()
    d.later(60)
    d.machine.send_text("x", d.now)
    d.drain().call(("c1", "echo")).later(60)
    assert "Stalled" not in d.names


def test_audio_that_would_still_be_playing_is_no_silence() -> None:
    d = Driver(plan(stall_timeout=3)).live()
    d.machine.send_text("x", d.now)
    import base64

    pcm = base64.b64encode(bytes(24000 * 2 * 10)).decode()
    part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": pcm}}
    d.drain().server({"serverContent": {"modelTurn": {"parts": [part]}}}).later(12.5)
    assert "Stalled" not in d.names
    assert "Stalled" in d.later(1).names


# The line


def test_a_session_that_cannot_be_opened_is_not_retried() -> None:
    d = Driver(plan(), PATIENT)
    d.machine.connect(0)
    d.drain().drop(1006)
    assert len(d.dialled) == 1
    assert len(d.ended) == 1


def test_a_setup_that_never_completes_is_a_timeout() -> None:
    d = Driver(plan(setup_timeout=2), PATIENT)
    d.machine.connect(0)
    d.drain()
    d.machine.opened(1, 0.5)
    d.drain().later(2.1)
    assert isinstance(d.ended[0], SetupTimeout)
    assert d.hung_up == [1]


def test_a_bad_key_is_an_error_of_its_class() -> None:
    d = Driver(plan(), PATIENT)
    d.machine.connect(0)
    d.drain()
    d.machine.opened(1, 0)
    d.drain().drop(1007, "API key not valid. Please pass a valid API key.")
    assert isinstance(d.ended[0], AuthenticationError)


def test_a_drop_is_resumed_with_the_last_resumable_handle() -> None:
    d = Driver(plan(), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.server({"sessionResumptionUpdate": {}})
    d.drop(1006).later(0.3).establish()
    assert d.sent("setup")[-1]["sessionResumption"] == {"handle": "h1"}
    assert [e for e in d.events if isinstance(e, Reconnected)] == [Reconnected(True)]


def test_an_unknown_handle_gives_a_fresh_session_seeded_again() -> None:
    seed = [{"role": "user", "parts": [{"text": "we spoke"}]}]
    d = Driver(plan(), PATIENT, seed).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.drop(1006).later(0.3)
    d.machine.opened(d.dialled[-1], d.now)
    d.drain().drop(1008, "BidiGenerateContent session not found").later(0.1).establish()
    assert "handle" not in d.sent("setup")[-1].get("sessionResumption", {})
    assert d.events[-1] == Reconnected(False)
    assert d.sent("clientContent") == [{"turns": seed, "turnComplete": False}]


def test_a_text_that_is_sent_again_is_not_in_the_seed_as_well() -> None:
    seed = [
        {"role": role, "parts": [{"text": text}]}
        for role, text in (("user", "?"), ("model", "!"), ("user", "?"))
    ]
    d = Driver(plan(), PATIENT, seed).live()
    asked(d)
    d.drop(1006).later(0.3).establish()
    assert d.sent("clientContent")[1:] == [
        {"turns": seed[:2], "turnComplete": False},
        {"turns": seed[2:], "turnComplete": True},
    ]


def test_attempts_are_counted_and_the_end_is_an_error() -> None:
    d = Driver(plan(), PATIENT).live().drop(1011)
    for _ in range(3):
        d.later(3).drop(1011)
    assert len(d.dialled) == 4
    [error] = d.ended
    assert isinstance(error, ServerError)
    assert str(error).endswith("attempts to restore it: 3")


def test_a_flapping_server_is_left_after_a_handful_of_dials() -> None:
    d = Driver(plan(), ReconnectPolicy(initial=0.25)).live()
    while not d.ended and d.now < 3:
        d.drop(1011).later(0.01)
        while not d.ended and d.machine.connection.state.name == "WAITING" and d.now < 3:
            d.later(0.01)
        if d.now < 3:
            d.establish()
    assert len(d.dialled) < 8


def test_a_clean_close_ends_the_session_but_not_with_an_open_call() -> None:
    assert Driver(plan(), PATIENT).live().drop(1000).ended == [None]
    d = Driver(plan(ECHO), PATIENT).live().call(("c1", "echo")).drop(1000)
    assert d.ended == []
    assert "Reconnecting" in d.names


MANUAL = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}


@pytest.mark.parametrize("state", ["in the background", "lost", "lost, and its result is due"])
def test_nor_while_the_result_of_a_call_is_to_follow_as_text(state: str) -> None:
    d = Driver(plan(replace(ECHO, background=state == "in the background"), setup=MANUAL), PATIENT).live()
    d.call(("c1", "echo"))
    if state != "in the background":
        d.drop(1006).later(1).establish()
    if state == "lost, and its result is due":
        d.machine.activity(True, d.now)  # it waits for a quiet moment
        d.settle("c1")
    d.drop(1000)
    assert d.ended == []
    if state != "lost, and its result is due":
        d.later(1).establish().settle("c1")
    else:
        d.machine.activity(False, d.now)
        d.later(1).establish()
    assert len(d.later(30).texts()) == 1


def test_go_away_moves_in_a_quiet_moment_and_shows_the_handle_only_when_the_old_socket_is_closed() -> None:
    d = Driver(plan(ECHO), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}}).call(("c1", "echo"))
    d.server({"goAway": {"timeLeft": "50s"}})
    assert GoAway(50.0) in d.events
    d.later(5)
    assert d.dialled == [1]
    d.settle("c1").later(1)
    assert d.dialled == [1], "the reply that the answer owes is awaited"
    d.say("done").turn_complete()
    assert d.dialled == [1], "and the handle that follows it"
    d.server({"sessionResumptionUpdate": {"newHandle": "h2", "resumable": True}})
    assert d.dialled == [1, 2]
    d.machine.opened(2, d.now)
    d.drain()
    assert d.hung_up == [1]
    assert len(d.sent("setup")) == 1
    d.machine.disconnected(1, Close(1000, "", by_us=True), d.now)
    d.drain()
    assert d.sent("setup")[-1]["sessionResumption"] == {"handle": "h2"}
    d.server({"setupComplete": {}}, 2)
    assert d.events[-1] == Reconnected(True)
    assert "ToolLost" not in d.names


def test_go_away_is_a_deadline_even_with_a_call_open() -> None:
    d = Driver(plan(SLOW), PATIENT).live().call(("c1", "slow")).server({"goAway": {"timeLeft": "1.5s"}})
    assert d.later(1.1).dialled == [1]
    assert d.later(0.2).dialled == [1, 2]


@pytest.mark.parametrize("notice", [{}, {"timeLeft": "garbage"}])
def test_a_go_away_without_a_time_counts_as_five_seconds(notice: dict[str, str]) -> None:
    d = Driver(plan(CallPolicy("slow", timeout=None)), PATIENT).live().call(("c1", "slow"))
    d.server({"goAway": notice})
    assert d.later(3.9).dialled == [1]
    assert d.later(0.2).dialled == [1, 2]


def test_a_move_whose_dial_fails_is_tried_again_while_there_is_time() -> None:
    d = Driver(plan(), PATIENT).live().server({"goAway": {"timeLeft": "50s"}})
    assert d.dialled == [1, 2]
    d.drop(1006, link=2).later(2)
    assert d.dialled == [1, 2, 3]
    assert d.ended == []


def test_a_lost_call_runs_on_and_is_answered_with_an_error_then_delivered_once_as_text() -> None:
    d = Driver(plan(CallPolicy("slow", timeout=None), answers_lost=True), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.call(("c1", "slow")).drop(1006)
    assert [e.delivery for e in d.events if isinstance(e, ToolLost)] == ["text"]
    d.later(0.3).establish()
    [(id, response)] = d.answers()
    assert id == "c1"
    assert "error" in response
    d.settle("c1", "slept")
    assert len(d.texts()) == 1
    assert "slept" in d.texts()[0]
    assert d.stopped == []
    assert sum(isinstance(e, ToolFinished) for e in d.events) == 1


def test_a_lost_result_may_be_dropped_instead() -> None:
    d = (
        Driver(plan(CallPolicy("slow", timeout=None), lost_results="drop"), PATIENT)
        .live()
        .call(("c1", "slow"))
    )
    d.drop(1006).later(0.3).establish().settle("c1")
    assert d.texts() == []
    assert [e.delivery for e in d.events if isinstance(e, ToolLost)] == ["dropped"]


def test_an_ask_outlasts_a_call_to_a_function_that_does_not_exist() -> None:
    d = Driver(plan(ECHO, undeclared=CallPolicy("", ends_turn=True))).live()
    exchange, _ = d.machine.ask("go", d.now)
    d.drain().call(("c1", "nobody")).turn_complete()
    assert not exchange.done
    d.say("I cannot.").turn_complete()
    assert exchange.done


def test_a_resumed_model_is_told_whether_a_lost_result_follows() -> None:
    plain, task = CallPolicy("slow", timeout=None), CallPolicy("task", timeout=None, background=True)
    for lost_results, told in (("deliver", ["text", "text"]), ("drop", ["dropped", "text"])):
        d = Driver(plan(plain, task, lost_results=lost_results, answers_lost=True), PATIENT).live()
        d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        d.call(("c1", "slow"), ("c2", "task")).drop(1006).later(0.3).establish()
        assert [e.delivery for e in d.events if isinstance(e, ToolLost)] == told
        follows = ["follows as a message" in str(response.get("error")) for _, response in d.answers()[-2:]]
        assert follows == [delivery == "text" for delivery in told]
        d.settle("c1").turn_complete().settle("c2").turn_complete().later(2.0)
        assert sum(text.count("[Result of") for text in d.texts()) == told.count("text")


def test_an_id_asked_again_on_a_later_link_is_answered_from_memory() -> None:
    d = Driver(plan(ECHO), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.call(("c1", "echo")).settle("c1", 7).say("x").turn_complete().drop(1006).later(0.3).establish()
    d.call(("c1", "echo"))
    assert d.started == ["c1"]
    assert d.answers() == [("c1", {"output": 7}), ("c1", {"output": 7})]


def test_a_running_call_asked_again_on_a_later_link_is_answered_there_when_it_ends() -> None:
    d = Driver(plan(ECHO), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.call(("c1", "echo")).drop(1006).later(0.3).establish().call(("c1", "echo")).settle("c1", 7)
    assert d.started == ["c1"]
    assert [link for link, f in d.frames if "toolResponse" in f] == [2]
    assert d.texts() == []


def test_a_fresh_session_may_use_an_id_again() -> None:
    d = Driver(plan(ECHO), PATIENT).live().call(("c1", "echo")).settle("c1").say("x").turn_complete()
    d.drop(1006).later(0.3).establish().call(("c1", "echo"))
    assert d.started == ["c1", "c1"]


def test_an_answer_that_a_dead_socket_may_have_swallowed_is_delivered() -> None:
    d = Driver(plan(ECHO), PATIENT).live().call(("c1", "echo")).settle("c1", "seven").drop(1006)
    d.later(0.3).establish()
    assert "seven" in d.texts()[0]


def test_text_that_a_dead_socket_may_have_swallowed_is_sent_again_and_the_exchange_goes_on() -> None:
    d = Driver(plan(), PATIENT).live()
    exchange = asked(d)
    d.drop(1006).later(0.3).establish()
    assert d.texts() == ["?", "?"]
    assert not exchange.done
    d.say("yes").turn_complete()
    assert exchange.done
    assert not exchange.interrupted


def test_a_question_that_was_sent_again_and_gets_an_empty_turn_ends_as_interrupted() -> None:
    d = Driver(plan(), PATIENT).live()
    exchange = asked(d)
    d.drop(1006).later(0.3).establish()  # with a call that nobody has read
    d.turn_complete()
    assert exchange.done
    assert exchange.interrupted


def test_an_exchange_goes_on_though_an_earlier_one_that_nobody_answered_is_sent_again_with_it() -> None:
    d = Driver(plan(stall_timeout=3), PATIENT).live()
    assert asked(d.later(0)) is not asked(d.later(4))
    exchange = d.machine.turns.exchange
    assert exchange is not None
    d.drop(1006).later(0.3).establish()
    assert not exchange.done
    d.turn_complete().say("yes").turn_complete()
    assert exchange.done
    assert not exchange.interrupted


def test_the_end_of_an_earlier_turn_does_not_prove_that_a_later_text_was_read() -> None:
    d = Driver(plan(), PATIENT).live()
    for text in ("one", "two", "three"):
        d.machine.send_text(text, d.now)
        d.drain()
    d.say("to one").turn_complete().say("to two").turn_complete().drop(1006)
    d.later(0.3).establish()
    assert d.texts() == ["one", "two", "three", "three"]


def test_what_is_still_being_written_has_been_read_by_nobody() -> None:
    d = Driver(plan(ECHO), PATIENT).live().call(("c1", "echo"))
    (start,) = [a for a in d.actions if isinstance(a, RunTool)]
    d.machine.settled(start.run, Outcome({"output": "seven"}), d.now)
    receipt = d.machine.send_text("one", d.now)
    taken = d.machine.frames()  # and their writer waits for a full socket
    assert len(taken) == 2
    d.machine.receive(1, '{"serverContent": {"outputTranscription": {"text": "before that"}}}', d.now)
    d.turn_complete().say("still before that").drop(1006)
    assert not receipt.done
    d.later(0.3).establish()
    assert "ToolLost" in d.names
    assert d.texts()[0] == "one"
    assert "seven" in d.later(60).texts()[1]
    assert receipt.done


def test_a_text_that_was_answered_is_not_sent_again() -> None:
    d = Driver(plan(), PATIENT).live()
    d.machine.send_text("one", d.now)
    d.drain().turn_complete().drop(1006)
    d.later(0.3).establish()
    assert d.texts() == ["one"]


def test_an_interruption_of_a_dead_socket_is_not_repeated_on_the_next() -> None:
    d = Driver(plan(), PATIENT).live()
    d.machine.send_text("one", d.now)
    d.drain().machine.interrupt(d.now)
    d.drain()
    assert len(d.sent("clientContent")) == 2
    d.drop(1006).later(0.3).establish()
    assert d.sent("clientContent")[2:] == d.sent("clientContent")[:1]


def test_a_text_that_ends_every_connection_is_given_up_and_told() -> None:
    d = Driver(plan(), ReconnectPolicy(attempts=3, initial=0.1)).live()
    exchange = asked(d)
    for _ in range(5):
        d.drop(1011).later(9).establish()
    assert exchange.done
    assert exchange.interrupted
    assert d.texts() == ["?"] * 5
    assert [e for e in d.events if isinstance(e, InputDropped)] == [
        InputDropped(1, "the service closed every connection on which it was sent")
    ]


def test_late_results_that_end_every_connection_are_given_up_and_told_of_each_call() -> None:
    d = Driver(plan(ECHO, CallPolicy("task", background=True)), PATIENT).live()
    d.call(("c1", ECHO.name), ("c2", "task")).turn_complete().drop(1006).settle("c1").settle("c2")
    d.later(0.3).establish().later(2.0)
    assert len(d.texts()) == 1
    for _ in range(4):
        d.drop(1006).later(9).establish().later(2.0)
    assert [(e.call.id, e.delivery) for e in d.events if isinstance(e, ToolLost)] == [("c1", "text")]
    d.drop(1006).later(9).establish().later(60)
    told = [(e.call.id, e.delivery) for e in d.events if isinstance(e, ToolLost)]
    assert told[1:] == [("c1", "dropped"), ("c2", "dropped")]
    assert len(d.texts()) == 5


def test_a_generation_that_the_dead_socket_was_in_the_middle_of_ends_as_interrupted() -> None:
    d = Driver(plan(), PATIENT).live()
    exchange = asked(d)
    d.say("half").drop(1006)
    assert exchange.done
    assert exchange.interrupted
    assert d.names[-2:] == ["Interrupted", "TurnComplete"]
    d.later(0.3).establish()
    assert d.texts() == ["?"]


def test_text_sent_while_the_line_is_away_waits_for_it() -> None:
    d = Driver(plan(), PATIENT).live().drop(1006)
    receipt = d.machine.send_text("still there?", d.now)
    assert not receipt.done
    d.drain().later(0.3).establish()
    assert receipt.done
    assert d.texts() == ["still there?"]


def test_text_fails_with_the_sessions_error_when_nothing_can_be_sent_any_more() -> None:
    d = Driver(plan(), ReconnectPolicy(attempts=1)).live().drop(1011)
    receipt = d.machine.send_text("still there?", d.now)
    d.drain().later(1).drop(1011)
    assert isinstance(receipt.error, ServerError)
    assert isinstance(d.machine.send_text("late", d.now).error, ServerError)


def test_the_newest_media_is_kept_while_the_line_is_away() -> None:
    d = Driver(plan(), PATIENT).live().drop(1006)
    frame = b'{"a":"' + b"x" * 1_000_000 + b'"}'
    for _ in range(5):
        d.machine.send_media(frame, "audio", d.now)
    d.drain()
    assert d.machine.input.backlog <= 2 * 1024 * 1024
    d.later(0.3).establish().later(0)
    assert sum("a" in f for _, f in d.frames) == 2
    assert [e.count for e in d.events if isinstance(e, InputDropped)] == [3]


def test_transparent_resumption_sends_again_what_was_not_taken_in() -> None:
    d = Driver(plan(transparent=True), PATIENT).live()
    for text in ("one", "two", "three"):
        d.machine.send_text(text, d.now)
        d.drain().say("ok").turn_complete()
    d.server(
        {
            "sessionResumptionUpdate": {
                "newHandle": "h",
                "resumable": True,
                "lastConsumedClientMessageIndex": "2",
            }
        }
    )
    d.drop(1006).later(0.3).establish()
    assert d.texts() == ["one", "two", "three", "three"]


def test_a_message_from_a_replaced_link_is_a_no_op() -> None:
    d = Driver(plan(ECHO), PATIENT).live().drop(1006).later(0.3).establish()
    d.server({"toolCall": {"functionCalls": [{"id": "c1", "name": "echo"}]}}, link=1)
    assert d.started == []


def test_a_message_from_a_link_that_has_ended_starts_nothing() -> None:
    d = Driver(plan(ECHO), PATIENT).live().drop(1006).call(("c1", "echo"))
    assert d.started == []
    assert "ToolStarted" not in d.later(0.3).establish().names


def test_garbage_does_not_prove_that_a_text_was_read() -> None:
    d = Driver(plan(), PATIENT).live()
    d.machine.send_text("one", d.now)
    d.drain().server(b"\x00 no JSON").drop(1006).later(0.3).establish()
    assert d.texts() == ["one", "one"]


def test_whatever_is_unknown_is_an_event() -> None:
    d = Driver(plan()).live().server({"brandNewThing": {"x": 1}}).server("{ not json").server({})
    assert sum(isinstance(e, UnknownMessage) for e in d.events) == 2


def test_close_stops_what_runs_and_owes_nothing() -> None:
    d = Driver(plan(ECHO)).live().call(("c1", "echo"))
    d.machine.close(d.now)
    d.drain()
    assert d.stopped == ["c1"]
    assert d.hung_up == [1]
    assert d.ended == [None]
    d.settle("c1")
    assert d.answers() == []
    assert d.machine.wake_at() == math.inf
    assert d.machine.stats()["calls"] == []


def test_a_result_may_end_the_session_after_the_last_words() -> None:
    d = Driver(plan(ECHO)).live().call(("c1", "echo")).settle("c1", ends_session=True)
    assert d.ended == []
    d.say("Goodbye.").turn_complete()
    assert d.ended == [None]


def test_a_planned_move_takes_new_tools_where_the_model_has_no_update() -> None:
    d = Driver(plan(ECHO), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    receipt = d.machine.update(plan(SLOW), None, d.now)
    d.drain()
    d.machine.opened(2, d.now)
    d.drain().drop(1000, link=1)
    assert not receipt.done
    d.server({"setupComplete": {}}, 2)
    assert receipt.done
    assert d.call(("c1", "slow")).started == ["c1"]


def test_new_tools_that_come_after_the_setup_had_gone_out_take_another_connection() -> None:
    d = Driver(plan(ECHO), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    d.drop().later(1)
    d.machine.opened(2, d.now)
    d.drain()
    receipt = d.machine.update(plan(SLOW), None, d.now)
    d.server({"setupComplete": {}}, 2)
    assert not receipt.done
    assert d.dialled == [1, 2, 3]
    d.machine.opened(3, d.now)
    d.drain().drop(1000, link=2).server({"setupComplete": {}}, 3)
    assert receipt.done


def test_text_of_the_model_is_told_before_its_calls_and_the_turns_end_after_them() -> None:
    d = (
        Driver(plan(ECHO))
        .live()
        .server(
            {
                "serverContent": {"modelTurn": {"parts": [{"text": "Let me see."}]}, "turnComplete": True},
                "toolCall": {"functionCalls": [{"id": "c1", "name": "echo"}]},
            }
        )
    )
    assert d.names[1:] == ["TextChunk", "ToolStarted", "TurnComplete"]
    assert d.events[1] == TextChunk("Let me see.")


def test_a_turn_that_was_cut_off_and_never_ended_mutes_nothing_after_a_stall() -> None:
    d = Driver(plan(stall_timeout=3.0)).live()
    d.machine.send_text("one", d.now)
    d.drain().machine.interrupt(d.now)
    d.drain().later(4)
    exchange, _ = d.machine.ask("two", d.now)
    d.drain().say("to two").turn_complete()
    assert "OutputTranscript" in [type(event).__name__ for event in exchange.events]


def test_a_call_that_is_asked_again_before_its_result_went_as_text_is_answered_only() -> None:
    d = (
        Driver(plan(ASYNC), PATIENT)
        .live()
        .server({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}})
    )
    d.call(("a", "later")).drop(1006).settle("a")
    d.later(0.3)
    d.machine.opened(d.dialled[-1], d.now)
    d.drain()
    both = {"setupComplete": {}, "toolCall": {"functionCalls": [{"id": "a", "name": "later", "args": {}}]}}
    d.server(both, d.dialled[-1]).later(30)
    assert [id for id, _ in d.answers()] == ["a"]
    assert d.texts() == []


def test_an_index_belongs_to_the_handle_beside_it() -> None:
    d = Driver(plan(transparent=True), PATIENT).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}})
    d.machine.send_text("one", d.now)
    d.drain().server({"sessionResumptionUpdate": {"lastConsumedClientMessageIndex": "1"}})
    d.drop(1006).later(0.3).establish()
    assert d.texts() == ["one", "one"]


def test_an_update_that_takes_another_connection_fails_when_no_dial_is_left() -> None:
    d = Driver(plan(), ReconnectPolicy(budget=0)).live()
    with pytest.raises(LocalProtocolError, match="reconnect is off"):
        d.machine.update(plan(SLOW), None, d.now)


def waiting(d: Driver) -> None:
    d.drop()


def dialling(d: Driver) -> None:
    d.drop().later(1)


def set_up(d: Driver) -> None:
    dialling(d)
    d.machine.opened(2, d.now)
    d.drain()


def leaving(d: Driver) -> None:
    d.call(("c1", "echo")).server({"goAway": {"timeLeft": "50s"}})


def moving(d: Driver) -> None:
    d.server({"goAway": {"timeLeft": "50s"}}).later(1)


def forced(d: Driver) -> None:
    d.call(("c1", "echo")).server({"goAway": {"timeLeft": "50s"}}).later(41)


def swapping(d: Driver) -> None:
    moving(d)
    d.machine.opened(2, d.now)
    d.drain()


ONE_DIAL, ONE_ATTEMPT = ReconnectPolicy(budget=1), ReconnectPolicy(attempts=1)


@pytest.mark.parametrize(
    ("moment", "policy"),
    [
        (moment, policy)
        for moment in (waiting, dialling, leaving, moving, forced, swapping)
        for policy in (ONE_DIAL, ONE_ATTEMPT)
    ]
    + [(set_up, ONE_ATTEMPT)],
    ids=lambda value: getattr(value, "__name__", "a dial" if value is ONE_DIAL else "an attempt"),
)
def test_the_last_dial_brings_a_change_whose_setup_is_still_to_be_sent(
    moment: Callable[[Driver], None], policy: ReconnectPolicy
) -> None:
    d = Driver(plan(ECHO), policy).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    moment(d)
    receipt = d.machine.update(plan(SLOW), None, d.now)
    d.drain()
    for link in (2, 3):
        if not receipt.done:
            d.later(41 if moment is leaving else 1)
            d.machine.opened(link, d.now)
            d.drain().drop(1000, link=link - 1).server({"setupComplete": {}}, link)
    assert receipt.done
    assert receipt.error is None
    assert d.call(("c9", "slow")).started[-1] == "c9"


def test_a_change_is_refused_once_the_last_setup_is_out() -> None:
    d = Driver(plan(ECHO), ONE_DIAL).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    set_up(d)
    receipt = d.machine.update(plan(SLOW), None, d.now)
    d.drain().server({"setupComplete": {}}, 2)
    assert isinstance(receipt.error, LocalProtocolError)
    assert "budget" in str(receipt.error)
    with pytest.raises(LocalProtocolError, match="budget"):
        d.machine.update(plan(SLOW), None, d.now)
    assert d.machine.next_plan.policies.keys() == {"echo"}


def test_a_change_that_the_last_setup_carries_is_made_though_the_one_behind_it_is_not() -> None:
    d = Driver(plan(ECHO), ReconnectPolicy(budget=1)).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    dialling(d)
    first = d.machine.update(plan(SLOW), None, d.now, HandedOff("slow"))
    d.machine.opened(2, d.now)
    d.drain()
    second = d.machine.update(plan(ECHO, SLOW), None, d.now)
    d.drain().server({"setupComplete": {}}, 2)
    assert first.done
    assert first.error is None
    assert "HandedOff" in d.names
    assert isinstance(second.error, LocalProtocolError)
    assert d.machine.next_plan.policies.keys() == {"slow"}


def test_after_a_tick_it_asks_to_be_woken_later_though_attempts_follow_at_once() -> None:
    d = (
        Driver(plan(), ReconnectPolicy(attempts=5, initial=0.0))
        .live()
        .server({"goAway": {"timeLeft": "50s"}})
    )
    for _ in range(4):
        d.later(60)  # asserts it
        d.drop(1006, link=d.dialled[-1])
    d.later(60)


def test_a_run_that_several_calls_share_is_stopped_at_the_end() -> None:
    d = Driver(plan(CallPolicy("echo", join=True))).live().call(("a", "echo"), ("b", "echo"))
    assert d.started == ["a"]
    d.machine.close(d.now)
    assert d.drain().stopped == ["a"]


# What an input comes to


def drained(machine: Machine) -> tuple[list[Action], list[OutFrame], list[Event]]:
    """What follows from an input, in the order in which the shell drains it."""
    actions = list(machine.actions)
    machine.actions.clear()
    return actions, machine.frames(), machine.events()


def test_after_an_input_the_driver_is_given_everything_at_once_and_then_nothing() -> None:
    machine = Machine(plan(ECHO, stall_timeout=9.0), transcript=Transcript())
    machine.connect(0.0)
    assert drained(machine) == ([Dial(1)], [], [])
    assert machine.wake_at() == 10.0
    assert drained(machine) == ([], [], [])
    machine.opened(1, 1.0)
    drained(machine)
    machine.receive(1, '{"setupComplete": {}}', 2.0)
    drained(machine)
    machine.send_text("hi", 3.0)
    _, frames, _ = drained(machine)
    assert [frame.link for frame in frames] == [1]
    assert machine.wake_at() == 12.0
    machine.receive(1, '{"toolCall": {"functionCalls": [{"id": "c1", "name": "echo"}]}}', 4.0)
    actions, frames, events = drained(machine)
    assert [type(event).__name__ for event in events] == ["ToolStarted"]
    assert [type(action).__name__ for action in actions] == ["RunTool"]
    assert frames == []
    assert drained(machine) == ([], [], [])


def test_an_input_that_changes_nothing_comes_to_nothing() -> None:
    d = Driver(plan()).live()
    d.machine.receive(1, "{}", d.now)
    assert drained(d.machine) == ([], [], [])


def test_whoever_asked_is_woken_though_nothing_else_follows() -> None:
    d = Driver(plan(stall_timeout=9.0)).live()
    exchange, _ = d.machine.ask("?", d.now)
    woken: list[bool] = []
    exchange.notify = lambda: woken.append(True)
    d.drain()
    woken.clear()
    d.machine.receive(1, '{"serverContent": {"outputTranscription": {"text": "hm"}}}', d.now)
    drained(d.machine)
    assert woken == [True]


def test_moves_wait_longer_each_time_where_a_goaway_follows_every_setup() -> None:
    d = Driver(plan(), ReconnectPolicy(attempts=8, initial=1.0, maximum=8.0, jitter=0.0)).live()
    waited = []
    for _ in range(6):
        began, dials = d.now, len(d.dialled)
        d.server({"goAway": {"timeLeft": "0s"}}).server({"goAway": {"timeLeft": "0s"}})
        while len(d.dialled) == dials:
            d.later(0.25)
        waited.append(d.now - began)
        d.machine.opened(d.dialled[-1], d.now)
        d.drain().drop(1000, link=d.dialled[-2]).drain()
        d.server({"setupComplete": {}}, link=d.dialled[-1])
    assert waited == [pytest.approx(n, abs=0.3) for n in (0, 1, 2, 4, 8, 8)]


def test_a_turn_that_ends_proves_a_connection_and_its_goaway_is_obeyed_at_once() -> None:
    d = Driver(plan(), ReconnectPolicy(attempts=8, initial=5.0, jitter=0.0)).live()
    for _ in range(3):
        dials = len(d.dialled)
        d.server({"serverContent": {"turnComplete": True}}).later(1)
        d.server({"goAway": {"timeLeft": "0s"}}).later(0.25)
        assert len(d.dialled) == dials + 1
        d.machine.opened(d.dialled[-1], d.now)
        d.drain().drop(1000, link=d.dialled[-2]).drain()
        d.server({"setupComplete": {}}, link=d.dialled[-1])


def test_an_answer_inside_an_exchange_costs_the_same_among_ten_thousand_calls() -> None:
    def cost(among: int) -> float:
        best = math.inf
        for _ in range(3):
            d = Driver(plan(CallPolicy("f"), max_concurrency=64)).live()
            d.machine.ask("?", d.now)
            d.drain().call(*((f"w{n}", "f") for n in range(among)))
            d.actions.clear()
            started = time.process_time()
            for run in range(1, 100):
                d.machine.settled(run, Outcome({"output": 1}), d.now)
                d.machine.events()
                for frame in d.machine.frames():
                    frame.make()
                d.machine.wake_at()
            best = min(best, time.process_time() - started)
        return best

    assert cost(10_000) < 4 * cost(200)


def test_a_word_before_a_move_costs_the_same_among_ten_thousand_calls() -> None:
    def cost(among: int) -> float:
        best = math.inf
        for _ in range(3):
            d = Driver(plan(CallPolicy("f")), reconnect=ReconnectPolicy()).live()
            d.call(*((f"w{n}", "f") for n in range(among))).server({"goAway": {"timeLeft": "50s"}})
            started = time.process_time()
            for _ in range(100):
                d.server({"serverContent": {"outputTranscription": {"text": "a"}}})
                d.machine.wake_at()
            best = min(best, time.process_time() - started)
        return best

    assert cost(10_000) < 4 * cost(200)
