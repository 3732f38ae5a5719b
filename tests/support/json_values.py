"""Any JSON, with the words of a format as its keys: for functions that must not raise whatever they are given."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def json_values(*words: str) -> st.SearchStrategy[Any]:
    """Values of up to a dozen leaves, whose objects have these keys."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(words), inner, max_size=4)
        ),
        max_leaves=12,
    )
