"""A response that is too long."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.tools.results.truncation import shrink


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def test_what_fits_is_left_alone() -> None:
    response = {"output": "x" * 80}
    assert shrink(response, 100) is response


def test_a_long_text_ends_in_a_marker() -> None:
    assert shrink({"output": "word " * 100}, 60) == {"output": "word word word … [cut: 15 of 500 characters]"}


def test_a_long_array_ends_in_a_marker() -> None:
    assert shrink({"output": list(range(1000))}, 60) == {
        "output": [0, 1, 2, 3, 4, 5, 6, "… [cut: 7 of 1000 items]"]
    }


def test_what_is_short_is_kept_whole_beside_what_is_long() -> None:
    cut = shrink({"output": {"text": "x" * 5000, "status": "ok", "count": 3}}, 200)
    assert list(cut["output"]) == ["text", "status", "count"]
    assert (cut["output"]["status"], cut["output"]["count"]) == ("ok", 3)
    assert cut["output"]["text"].endswith("of 5000 characters]")


def test_keys_that_find_no_room_are_counted() -> None:
    cut = shrink({"output": {f"key {i}": "x" * 30 for i in range(100)}}, 300)
    assert cut["output"]["…"].startswith("[cut: ")
    assert size(cut) <= 300


def test_a_key_that_is_too_long_is_left_out() -> None:
    assert shrink({"output": {"k" * 500: "x" * 500}}, 120) == {"output": {"…": "[cut: 0 of 1 keys]"}}


def test_the_original_is_not_changed() -> None:
    response = {"output": [{"a": "x" * 100}] * 10}
    before = json.dumps(response)
    shrink(response, 200)
    assert json.dumps(response) == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=200),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=40,
)


@settings(deadline=None, derandomize=True)
@given(value=JSON, room=st.integers(120, 1000))
def test_the_result_is_json_within_the_limit(value: Any, room: int) -> None:
    cut = shrink({"output": value}, room)
    assert size(cut) <= room
    assert list(cut) == ["output"]
    if size({"output": value}) <= room:
        assert cut == {"output": value}
