"""The book of calls: which call an answer is for, and what it says."""

from __future__ import annotations

import pytest

from livetools.testing.model.fake_call import CallRegistry, FakeCall


def book(*calls):
    result = CallRegistry()
    for call in calls:
        result.add(call)
    return result


def test_an_answer_is_found_by_its_id_on_its_own_connection_first():
    old, new = FakeCall("1", "f", {}, connection=1), FakeCall("1", "f", {}, connection=2)
    calls = book(old, new)
    assert calls.find({"id": "1", "name": "other"}, 2) is new
    assert calls.find({"id": "1"}, 1) is old
    assert calls.find({"id": "1"}, 3) is new
    assert calls.find({"id": "2", "name": "f"}, 1) is None


def test_without_ids_answers_go_to_the_oldest_open_call_of_their_name():
    first, other, second = (FakeCall(None, name, {}, connection=1) for name in ("f", "g", "f"))
    calls = book(first, other, second)
    assert calls.find({"name": "f"}, 1) is first
    first.end("answered")
    assert calls.find({"name": "f"}, 1) is second
    assert calls.find({"name": "f"}, 2) is None
    assert calls.open(1) == [other, second]
    assert calls.with_id("g") == [other]


def test_a_call_ends_once():
    call = FakeCall("1", "f", {}, connection=1)
    call.end("cancelled")
    call.end("answered")
    assert call.state == "cancelled"
    assert call.done.is_set()


@pytest.mark.parametrize(
    ("responses", "said"),
    [
        ([], {}),
        ([{"response": {"output": 1}}], {"output": 1}),
        ([{"response": {"output": 1}, "willContinue": True}, {"response": {}}], {"output": 1}),
        ([{"id": "1"}], {}),
    ],
)
def test_a_generators_response_is_the_last_that_says_anything(responses, said):
    assert FakeCall("1", "f", {}, connection=1, responses=responses).response == said


def test_a_generators_silent_end_does_not_silence_what_it_yielded():
    yields = [{"response": {"output": n}, "willContinue": True} for n in (1, 2)]
    end = {"response": {}, "willContinue": False, "scheduling": "SILENT"}
    call = FakeCall("1", "f", {}, connection=1, responses=[*yields, end])
    assert (call.response, call.scheduling) == ({"output": 2}, "WHEN_IDLE")


@pytest.mark.parametrize(
    ("response", "scheduling"),
    [
        ({}, "WHEN_IDLE"),
        ({"scheduling": "SILENT"}, "SILENT"),
        ({"response": {"scheduling": "interrupt"}}, "INTERRUPT"),
        ({"response": None}, "WHEN_IDLE"),
    ],
)
def test_scheduling_is_read_beside_the_response_or_inside_it(response, scheduling):
    assert FakeCall("1", "f", {}, connection=1, responses=[response]).scheduling == scheduling


def test_a_response_beside_its_own_call_is_history_unless_that_call_is_open():
    opened, settled = FakeCall("1", "f", {}, connection=1), FakeCall("2", "f", {}, connection=1)
    settled.end("cancelled")
    calls = book(opened, settled)
    responses = [{"id": "1"}, {"id": "2"}, {"id": "3"}, {"name": "f"}]
    assert list(calls.answers(responses, (), 1)) == responses
    assert list(calls.answers(responses, {"1", "2", "3"}, 1)) == [{"id": "1"}, {"name": "f"}]
    assert list(calls.answers([{"name": "f"}, {"name": "g"}], {"f", "g"}, 1)) == [{"name": "f"}]
