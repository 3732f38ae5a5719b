"""Calls in pieces: whole when the last piece is there, whatever the cut, and never before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.driver import Driver, plan

from livetools.events import Call, ToolStarted
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.messages.incoming import RAW_ARGS, FunctionCall, parse
from livetools.protocol.messages.partial_calls import MAX_CHARACTERS, MAX_PARTIAL_CALLS, PartialCalls
from livetools.setup.plan_fields import CallPolicy


def read(partial: PartialCalls, *entries: dict[str, Any]) -> list[tuple[str | None, str, Any]]:
    """The calls that are whole after a message with these entries."""
    message = parse(json.dumps({"toolCall": {"functionCalls": entries}}))
    assert not message.unknown
    return [(call.id, call.name, dict(call.args)) for call in partial.whole(message.calls)]


def grown(*parts: dict[str, Any]) -> Any:
    """The arguments of a call that came with these parts."""
    partial = PartialCalls()
    assert read(partial, {"id": "1", "name": "f", "willContinue": True}) == []
    for part in parts:
        assert read(partial, {"id": "1", "partialArgs": [part], "willContinue": True}) == []
    ((_, _, args),) = read(partial, {"id": "1"})
    return args


def test_a_call_that_is_whole_passes() -> None:
    calls = [FunctionCall("1", "f", {"x": 1})]
    assert PartialCalls().whole(calls) is calls


def test_pieces_without_id_and_name_belong_to_the_call_before_them() -> None:
    partial = PartialCalls()
    first = {"jsonPath": "$.place", "stringValue": "Os", "willContinue": True}
    assert read(partial, {"id": "1", "name": "f", "willContinue": True}) == []
    assert read(partial, {"partialArgs": [first], "willContinue": True}) == []
    last = {"jsonPath": "$.place", "stringValue": "lo"}
    assert read(partial, {"partialArgs": [last], "willContinue": True}) == []
    assert read(partial, {}) == [("1", "f", {"place": "Oslo"})]
    assert read(partial, {"id": "2", "name": "f", "args": {}}) == [("2", "f", {})]


def test_two_calls_grow_beside_each_other_by_their_ids() -> None:
    partial = PartialCalls()
    assert read(partial, *({"id": id, "name": "f", "willContinue": True} for id in "ab")) == []
    piece = {"jsonPath": "$.n", "numberValue": 1}
    assert read(partial, {"id": "a", "partialArgs": [piece]}, {"id": "c", "name": "g", "args": {}}) == [
        ("a", "f", {"n": 1}),
        ("c", "g", {}),
    ]
    assert read(partial, {"id": "b"}) == [("b", "f", {})]


def test_every_kind_of_value_is_read() -> None:
    args = grown(
        {"jsonPath": "$.flag", "boolValue": False},
        {"jsonPath": "$.none", "nullValue": "NULL_VALUE"},
        {"json_path": "$['two words'][0]", "number_value": 1.5},
        {"jsonPath": '$["two words"][1].deep', "stringValue": ""},
        {"jsonPath": "$.flag"},  # the end of a value that had no more to come
    )
    assert args == {"flag": False, "none": None, "two words": [1.5, {"deep": ""}]}


@pytest.mark.parametrize(
    "part",
    [
        {"stringValue": "nowhere"},
        {"jsonPath": 7, "stringValue": "x"},
        {"jsonPath": "place", "stringValue": "x"},
        {"jsonPath": "$", "stringValue": "x"},
        {"jsonPath": "$.a[*]", "stringValue": "x"},
        {"jsonPath": "$.list[4000000000]", "stringValue": "x"},
        {"jsonPath": "$[0]", "stringValue": "x"},
        {"jsonPath": "$.x", "stringValue": "x" * (MAX_CHARACTERS + 1)},
        "no object",
    ],
)
def test_what_cannot_be_placed_makes_the_call_one_that_is_refused(part: Any) -> None:
    assert set(grown(part)) == {RAW_ARGS}


def test_a_path_through_what_is_no_object_makes_the_call_one_that_is_refused() -> None:
    assert set(grown({"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a.b", "numberValue": 2})) == {
        RAW_ARGS
    }


def test_what_is_cancelled_or_of_another_session_never_becomes_whole() -> None:
    partial = PartialCalls()
    read(partial, {"id": "1", "name": "f", "willContinue": True})
    partial.cancel(["1"])
    assert read(partial, {"id": "1", "name": "f", "args": {}}) == [("1", "f", {})]
    read(partial, {"id": "2", "name": "f", "willContinue": True})
    partial.clear()
    assert read(partial, {}) == [(None, "", {})]


def test_calls_that_are_never_finished_do_not_add_up() -> None:
    partial = PartialCalls()
    for n in range(MAX_PARTIAL_CALLS + 1):
        read(partial, {"id": str(n), "name": "f", "willContinue": True})
    assert read(partial, {"id": "1", "name": "f"}) == [("1", "f", {})]
    assert read(partial, {"id": "0", "name": "late", "args": {}}) == [("0", "late", {})]


def leaves(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        step = (
            f"[{key}]"
            if isinstance(key, int)
            else "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"
        )
        yield from leaves(each, path + step)
    if not isinstance(value, dict | list):
        yield path, value


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


@given(args=st.dictionaries(st.text(max_size=4), TREES, max_size=4), cut=st.integers(1, 4))
def test_arguments_cut_anywhere_come_together_again(args: dict[str, Any], cut: int) -> None:
    parts: list[dict[str, Any]] = []
    for path, value in leaves(args):
        if isinstance(value, str):
            texts = [value[at : at + cut] for at in range(0, len(value), cut)] or [""]
            parts += [{"jsonPath": path, "stringValue": text, "willContinue": True} for text in texts]
            parts[-1]["willContinue"] = False
        else:
            name = {type(None): "nullValue", bool: "boolValue", int: "numberValue"}[type(value)]
            parts.append({"jsonPath": path, name: "NULL_VALUE" if value is None else value})
    assert grown(*parts) == args


def piece(**entry: Any) -> dict[str, Any]:
    return {"toolCall": {"functionCalls": [entry]}}


def test_a_session_runs_a_call_when_it_is_whole_and_answers_it_once() -> None:
    d = Driver(plan(CallPolicy("f"))).live()
    part = {"jsonPath": "$.x", "stringValue": "a", "willContinue": True}
    d.server(piece(id="1", name="f", willContinue=True))
    d.server(piece(partialArgs=[part], willContinue=True))
    assert not d.started
    d.server(piece(id="1")).settle("1")
    assert ToolStarted(Call("1", "f", {"x": "a"})) in d.events
    assert d.started == ["1"]
    assert d.answers() == [("1", {"output": "ok"})]


def test_what_a_lost_connection_left_incomplete_is_not_completed_by_the_next() -> None:
    d = Driver(plan(CallPolicy("f")), ReconnectPolicy()).live()
    d.server(piece(id="1", name="f", willContinue=True))
    d.drop().later(1.0)
    d.establish().server(piece(id="2", name="f", args={}))
    assert d.started == ["2"]
