"""In which message and in which order answers go out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.driver import plan
from support.world import responses

from livetools.events import Call
from livetools.protocol.calls.call_states import Move, Record
from livetools.protocol.calls.calls import Calls
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.calls.responses import FINAL_KINDS, Response, response_to
from livetools.protocol.messages.incoming import FunctionCall
from livetools.setup.plan_fields import CallPolicy


class Desk:
    """A dispatcher whose answers are read message by message."""

    def __init__(self, policy: CallPolicy | None = None, **fields: Any) -> None:
        self.calls = Calls(plan(policy or CallPolicy("tool"), **fields), lambda e: None, lambda a: None)

    def offer(self, *ids: str | None, name: str = "tool") -> Desk:
        self.calls.receive_calls(1, [FunctionCall(id, name, {}) for id in ids], 0.0)
        return self

    def settle(self, *runs: int, scheduling: str | None = None) -> Desk:
        for run in runs:
            self.calls.settled(run, Outcome({"output": run}, scheduling=scheduling), 0.0)
        return self

    def messages(self) -> list[list[Mapping[str, Any]]]:
        replies = self.calls.replies.take()
        for answer in (answer for reply in replies for answer in (reply, *reply.rest)):
            if answer.kind == "answer":
                self.calls.ledger.move(answer.record, Move.WRITE)
        return [responses(json.loads(reply.make() or b"{}")) for reply in replies]

    def ids(self) -> list[list[object]]:
        return [[r.get("id") for r in message] for message in self.messages()]


def record(named: bool) -> Record:
    made = Record(1, Call("c1", "f"), CallPolicy("f"), 1, 0.0)
    made.named = named
    return made


def test_a_response_says_no_more_than_it_must() -> None:
    assert response_to("answer", record(named=False), Outcome({})).body == {"name": "f", "response": {}}


def test_scheduling_and_the_rest_stand_beside_the_response() -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    answer = response_to("answer", record(named=True), Outcome({"output": 1}, parts=(part,)), "SILENT", False)
    assert answer.body == {
        "id": "c1",
        "name": "f",
        "response": {"output": 1},
        "scheduling": "SILENT",
        "willContinue": False,
        "parts": [part],
    }


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_each_goes_out_when_it_is_ready(order: tuple[int, ...]) -> None:
    desk = Desk().offer("1", "2", "3").settle(*order)
    assert desk.ids() == [[str(run)] for run in order]


@pytest.mark.parametrize("fields", [{"reply_batching": "batch"}, {"reply_format": "client_content"}])
@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_a_batch_goes_out_whole_in_the_order_of_its_calls(
    order: tuple[int, ...], fields: dict[str, Any]
) -> None:
    desk = Desk(**fields).offer("1", "2", "3").settle(*order[:2])
    assert desk.ids() == []
    assert desk.settle(order[2]).ids() == [["1", "2", "3"]]


def test_a_cancelled_member_holds_its_batch_up_no_longer() -> None:
    desk = Desk(reply_batching="batch").offer("1", "2").settle(1)
    desk.calls.cancel(["2"], 0.0)
    assert desk.ids() == [["1"]]


def test_a_member_that_is_cancelled_after_its_batch_was_complete_is_left_out() -> None:
    desk = Desk(reply_batching="batch").offer("1", "2").settle(1, 2)
    desk.calls.cancel(["1"], 0.0)
    assert desk.ids() == [["2"]]


def test_a_batch_of_which_all_were_cancelled_sends_nothing() -> None:
    desk = Desk(reply_batching="batch").offer("1", "2").settle(1)
    desk.calls.cancel(["1", "2"], 0.0)
    assert desk.ids() == []


@pytest.mark.parametrize("fields", [{"reply_batching": "batch"}, {"reply_format": "client_content"}])
def test_a_background_call_holds_its_batch_up_no_longer_than_until_it_is_acknowledged(
    fields: dict[str, Any],
) -> None:
    """Whatever was ready before: a refusal, or the answer of a call that is asked again on another connection."""
    calls = Calls(
        plan(CallPolicy("tool"), CallPolicy("later", background=True), **fields),
        lambda e: None,
        lambda a: None,
    )
    desk = Desk()
    desk.calls = calls
    calls.receive_calls(1, [FunctionCall("1", "no such tool", {}), FunctionCall("2", "later", {})], 0.0)
    assert sorted(desk.ids()) == [["1"], ["2"]]
    asked = [FunctionCall("3", "tool", {}), FunctionCall("4", "later", {})]
    calls.receive_calls(1, asked, 0.0)
    unread = [answer for reply in desk.settle(3).calls.replies.take() for answer in (reply, *reply.rest)]
    calls.lose(0.0, unread)
    calls.receive_calls(2, asked, 0.0)
    assert sorted(desk.ids()) == [["3"], ["4"]]


def test_batches_do_not_wait_for_each_other() -> None:
    desk = Desk(reply_batching="batch").offer("1", "2").offer("3").settle(3)
    assert desk.ids() == [["3"]]


@given(order=st.permutations([1, 2, 3, 4, 5]))
@settings(derandomize=True, max_examples=30, deadline=None)
def test_calls_without_an_id_are_answered_in_their_order_though_they_end_in_another(order: list[int]) -> None:
    desk = Desk().offer(None, None, None, None, None)
    heard: list[Any] = []
    for run in order:
        heard += [r["response"]["output"] for message in desk.settle(run).messages() for r in message]
    assert heard == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("fields", [{"reply_batching": "batch"}, {"reply_format": "client_content"}])
@given(order=st.permutations([1, 2, 3, 4, 5, 6]))
@settings(derandomize=True, max_examples=30, deadline=None)
def test_so_are_those_of_messages_that_are_answered_together(
    order: list[int], fields: dict[str, Any]
) -> None:
    desk = Desk(**fields).offer(None, "2").offer(None).offer(None, "5", None)
    heard: list[Any] = []
    for run in order:
        heard += [r["response"]["output"] for message in desk.settle(run).messages() for r in message]
    assert sorted(heard) == [1, 2, 3, 4, 5, 6]
    assert [run for run in heard if run not in (2, 5)] == [1, 3, 4, 6]


def test_a_call_with_an_id_lends_its_place_to_none_without_in_its_message() -> None:
    desk = Desk(reply_batching="batch").offer("1").settle(1)
    desk.calls.lose(0.0, [answer for reply in taken(desk) for answer in (reply, *reply.rest)])
    for asked in [None], ["1", None]:
        desk.calls.receive_calls(2, [FunctionCall(id, "tool", {}) for id in asked], 0.0)
    desk.settle(3, 2)
    assert [[r["response"]["output"] for r in message] for message in desk.messages()] == [[2], [1, 3]]


def test_calls_with_an_id_do_not_wait_for_those_without() -> None:
    desk = Desk().offer(None, "2").settle(2)
    assert desk.ids() == [["2"]]


def test_what_waited_for_a_link_that_is_lost_is_not_written_on_the_next_one() -> None:
    desk = Desk().offer("1", None).settle(1, 2)
    desk.calls.lose(0.0, ())
    assert desk.messages() == []


def test_a_part_goes_out_before_the_last_word_and_not_after_it() -> None:
    desk = Desk(CallPolicy("tool", streams=True)).offer("1")
    desk.calls.progress(1, "x", 0.0, Outcome({"output": "x"}))
    desk.settle(1)
    desk.calls.progress(1, "y", 0.0, Outcome({"output": "y"}))
    told = [(r["response"], r["willContinue"]) for message in desk.messages() for r in message]
    assert told == [({"output": "x"}, True), ({"output": 1}, False)]


def test_a_cancellation_takes_back_what_was_not_written_yet() -> None:
    desk = Desk(CallPolicy("tool", streams=True)).offer("1", "2")
    for run in (1, 2):
        desk.calls.progress(run, "x", 0.0, Outcome({"output": run}))
    desk.calls.cancel(["1"], 0.0)
    assert desk.ids() == [["2"]]


@pytest.mark.parametrize(
    ("takes", "its_own", "sent"),
    [(True, None, "WHEN_IDLE"), (True, "SILENT", "SILENT"), (False, "SILENT", "WHEN_IDLE")],
)
def test_a_result_says_its_own_scheduling_only_where_the_model_takes_one(
    takes: bool, its_own: str | None, sent: str
) -> None:
    policy = CallPolicy("tool", scheduling="WHEN_IDLE", takes_scheduling=takes)
    [[response]] = Desk(policy).offer("1").settle(1, scheduling=its_own).messages()
    assert response["scheduling"] == sent
    assert "scheduling" not in response["response"]


def test_a_message_says_for_which_calls_it_is_and_whether_they_are_answered_with_it() -> None:
    desk = Desk(CallPolicy("tool", streams=True)).offer("1")
    desk.calls.progress(1, "x", 0.0, Outcome({"output": "x"}))
    desk.settle(1)
    answers = [answer for reply in desk.calls.replies.take() for answer in (reply, *reply.rest)]
    assert [(a.kind, a.run, a.kind in FINAL_KINDS) for a in answers] == [
        ("yield", 1, False),
        ("answer", 1, True),
    ]


def taken(desk: Desk) -> Sequence[Response]:
    """What a writer took, and has not written yet."""
    return desk.calls.replies.take()


def written(replies: Sequence[Response]) -> list[list[object]]:
    made = [reply.make() for reply in replies]
    return [[r.get("id") for r in responses(json.loads(frame))] for frame in made if frame is not None]


@pytest.mark.parametrize("fields", [{}, {"reply_batching": "batch"}, {"reply_format": "client_content"}])
def test_a_cancellation_takes_back_what_its_writer_has_not_come_to(fields: dict[str, Any]) -> None:
    desk = Desk(**fields).offer("1", "2", "3").settle(1, 2, 3)
    waiting = taken(desk)
    desk.calls.cancel(["2"], 0.0)
    assert [id for message in written(waiting) for id in message] == ["1", "3"]


def test_where_all_of_a_message_is_taken_back_nothing_is_written() -> None:
    desk = Desk(reply_batching="batch").offer("1", "2").settle(1, 2)
    waiting = taken(desk)
    desk.calls.cancel(["1", "2"], 0.0)
    assert [reply.make() for reply in waiting] == [None]


def test_parts_and_acknowledgements_that_wait_are_taken_back_too() -> None:
    streaming = Desk(CallPolicy("tool", streams=True)).offer("1")
    streaming.calls.progress(1, "x", 0.0, Outcome({"output": "x"}))
    background = Desk(CallPolicy("tool", behavior="NON_BLOCKING", background=True)).offer("1")
    for desk in (streaming, background):
        waiting = taken(desk)
        assert len(waiting) == 1
        desk.calls.cancel(["1"], 0.0)
        assert written(waiting) == []


def test_what_is_written_already_is_not_changed_by_a_cancellation() -> None:
    desk = Desk().offer("1").settle(1)
    [reply] = taken(desk)
    first = reply.make()
    desk.calls.cancel(["1"], 0.0)
    assert reply.make() == first
