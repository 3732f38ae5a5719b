"""Handles that are replaced in texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.testing.recordings.handle_stand_ins import UNMISTAKABLE, StandIns

FEW = st.text(st.sampled_from("ab/ "), min_size=1, max_size=3)


def one_after_another(handles, text):
    """What is right, the slow way: at each place the longest handle that stands there."""
    names = {handle: f"handle-{n}" for n, handle in enumerate(handles, 1)}
    said, at = [], 0
    while at < len(text):
        here = [h for h in names if len(h) >= UNMISTAKABLE and text.startswith(h, at)]
        if here:
            said.append(names[max(here, key=len)])
            at += len(max(here, key=len))
        else:
            said.append(text[at])
            at += 1
    return "".join(said)


@settings(derandomize=True, max_examples=300)
@given(
    st.lists(st.builds(lambda start, end: "a" * start + end, st.integers(10, 20), FEW), unique=True),
    st.data(),
)
def test_each_handle_is_found_wherever_it_stands(handles, data):
    stand_ins = StandIns()
    assert [stand_ins.of(handle) for handle in handles] == [f"handle-{n + 1}" for n in range(len(handles))]
    pieces = st.lists(st.one_of(FEW, st.sampled_from(handles)) if handles else FEW, max_size=5)
    text = "".join(data.draw(pieces))
    assert stand_ins.replace(text) == one_after_another(handles, text)
