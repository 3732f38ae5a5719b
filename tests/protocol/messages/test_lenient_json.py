"""JSON is read in some form, whatever is wrong with it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.protocol.messages.lenient_json import MAX_DEPTH, lenient_json

QUICK = settings(derandomize=True, max_examples=200, deadline=None)


@pytest.mark.parametrize("data", ["", "{", b"\xff", "\ud800", "[" * 100_000, b"{'a': 1}"])
def test_what_is_no_json_has_no_value(data: bytes | str) -> None:
    assert lenient_json(data) == (None, "")


def test_what_stands_behind_the_value_is_told() -> None:
    assert lenient_json('{"done": true} and more ') == ({"done": True}, "and more")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b'{"text": "\xff!"}', "\ufffd!"),
        (b'{"text": "\\ud83d!"}', "?!"),
        (b'{"text": "\\ud83d\\ude00"}', "😀"),
        ('{"text": "\ud83d!"}', "?!"),
        (b'{"text": "a\x00b\nc"}', "a\x00b\nc"),
        (b'\xef\xbb\xbf {"text": "bom"}', "bom"),
    ],
)
def test_text_is_made_whole(text: bytes | str, read: str) -> None:
    assert lenient_json(text) == ({"text": read}, "")


def test_a_number_too_long_to_convert_is_left_as_text() -> None:
    digits = "9" * 5000
    assert lenient_json(f'{{"n": {digits}}}') == ({"n": digits}, "")


def test_what_is_nested_too_deep_is_cut_off_and_the_rest_is_read() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    value, rest = lenient_json(f'{{"deep": {deep}, "text": "kept"}}')
    assert isinstance(value, dict)
    assert (value["text"], rest) == ("kept", "")
    assert str(value["deep"]).count("[") == MAX_DEPTH - 2


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(anything, st.sampled_from(["", " ", "}", " x"]))
@QUICK
def test_json_is_read_as_it_is_whatever_follows(value: object, rest: str) -> None:
    assert lenient_json(json.dumps(value) + rest) == (value, rest.strip())


@given(st.binary() | st.text())
@QUICK
def test_no_data_raises(data: bytes | str) -> None:
    lenient_json(data)
