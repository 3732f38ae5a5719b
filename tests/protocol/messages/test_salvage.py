"""What is left of a message that does not validate."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from livetools.protocol.messages.salvage import salvage


class Leaf(BaseModel):
    text: str = ""
    size: int = 0


class Tree(BaseModel):
    leaf: Leaf | None = None
    leaves: list[Leaf] = []
    counts: dict[str, Any] | None = None
    done: bool = False


def test_a_whole_message_is_left_whole() -> None:
    tree, left_out = salvage(Tree, '{"leaf": {"text": "a"}, "leaves": [{}, {"size": 3}], "done": true}')
    assert tree == Tree(leaf=Leaf(text="a"), leaves=[Leaf(), Leaf(size=3)], done=True)
    assert left_out == []


def test_each_broken_piece_is_taken_out_and_told_with_its_path() -> None:
    leaves = [1, {"text": "b", "size": "big"}, None, {"text": "c"}, [2]]
    tree, left_out = salvage(Tree, json.dumps({"leaves": leaves, "counts": 3, "done": "maybe"}))
    assert tree == Tree(leaves=[Leaf(text="b"), Leaf(text="c")])
    assert sorted(left_out, key=str) == [
        {"counts": 3},
        {"done": "maybe"},
        {"leaves.0": 1},
        {"leaves.1.size": "big"},
        {"leaves.4": [2]},
    ]


def test_a_lone_object_is_a_list_of_one() -> None:
    assert salvage(Tree, '{"leaves": {"text": "a"}}') == (Tree(leaves=[Leaf(text="a")]), [])
    assert salvage(Tree, '{"leaves": "a"}') == (Tree(), [{"leaves": "a"}])


def test_a_field_of_the_message_that_is_no_object_is_an_empty_one() -> None:
    assert salvage(Tree, '{"leaf": "green"}') == (Tree(leaf=Leaf()), [{"leaf": "green"}])


def test_null_is_not_set_and_not_told() -> None:
    assert salvage(Tree, '{"leaf": null, "leaves": null, "done": null}') == (Tree(), [])


@pytest.mark.parametrize(
    "data", ["", "[]", "null", '"x"', "{", b"\xff", "\ud800", "[" * 100_000, b"{'a': 1}"]
)
def test_what_is_no_object_is_left_out_whole(data: bytes | str) -> None:
    assert salvage(Tree, data) == (None, [data])


def test_what_stands_behind_the_object_is_left_out() -> None:
    assert salvage(Tree, '{"done": true} and more ') == (Tree(done=True), ["and more"])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b'{"leaf": {"text": "\xff!"}}', "\ufffd!"),
        (b'{"leaf": {"text": "\\ud83d!"}}', "?!"),
        (b'{"leaf": {"text": "\\ud83d\\ude00"}}', "😀"),
        ('{"leaf": {"text": "\ud83d!"}}', "?!"),
        (b'{"leaf": {"text": "a\x00b\nc"}}', "a\x00b\nc"),
        (b'\xef\xbb\xbf {"leaf": {"text": "bom"}}', "bom"),
    ],
)
def test_text_is_made_whole(text: bytes | str, read: str) -> None:
    tree, left_out = salvage(Tree, text)
    assert tree == Tree(leaf=Leaf(text=read))
    assert left_out == []


def test_a_number_too_long_to_convert_is_left_as_text() -> None:
    digits = "9" * 5000
    assert salvage(Tree, f'{{"counts": {{"n": {digits}}}}}') == (Tree(counts={"n": digits}), [])


names = st.sampled_from(["leaf", "leaves", "counts", "done", "text", "size"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(names, anything, max_size=4), st.text(max_size=3))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_every_object_gives_a_model(value: dict[str, Any], rest: str) -> None:
    tree, left_out = salvage(Tree, json.dumps(value) + rest)
    assert isinstance(tree, Tree)
    assert all(piece is not None for piece in left_out)


@given(st.binary() | st.text())
@settings(derandomize=True, max_examples=200, deadline=None)
def test_no_data_raises(data: bytes | str) -> None:
    salvage(Tree, data)
