"""What the model sees of a conversation, and how compression makes it less."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.protocol.profiles import find
from livetools.testing import FakeLiveServer
from livetools.testing.said import History, compression

LIVE = find("gemini-3.8-live")


def content(role, text):
    return {"role": role, "parts": [{"text": text}]}


def history(*sizes):
    made = History()
    for n, size in enumerate(sizes):
        made.append(content("user" if n % 2 == 0 else "model", "x" * size))
    return made


def test_the_window_slides_to_its_target_and_begins_with_a_user_turn():
    talk = history(400, 400, 400, 400)
    before = talk.tokens()
    talk.slide(before, 10)
    assert talk.tokens() == before  # not beyond the trigger
    talk.slide(before - 1, before * 3 // 4)
    assert talk.tokens() == pytest.approx(before / 2, abs=1)  # the model's turn went with the user's
    assert len(talk) == 4  # what was said is still known


def test_the_answer_to_a_call_opens_no_window():
    talk = history(400, 400)
    talk.append({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]})
    talk.append(content("model", "done"))
    talk.append(content("user", "thanks"))
    talk.slide(10, 100)
    last = History()
    last.append(content("user", "thanks"))
    assert talk.tokens() == last.tokens()


@settings(derandomize=True, deadline=None, max_examples=80)
@given(
    st.lists(st.integers(0, 200), max_size=12), st.integers(0, 400), st.integers(0, 400), st.integers(0, 12)
)
def test_a_resumption_after_compression_counts_what_is_left(sizes, trigger, target, after):
    talk = history(*sizes)
    talk.slide(trigger, target)
    assert talk.tokens() <= max(trigger, target, 1)
    kept = talk.tokens()
    talk.forget(after)
    assert 1 <= talk.tokens() <= kept
    assert list(talk) == list(history(*sizes))[:after]


@pytest.mark.parametrize(
    ("asked", "bounds"),
    [
        (None, None),
        ({}, None),  # no mechanism was named
        ({"slidingWindow": {}}, (104857, 52428)),
        ({"slidingWindow": {"targetTokens": "100"}, "triggerTokens": "1000"}, (1000, 100)),
        ({"slidingWindow": {}, "triggerTokens": 1000}, (1000, 500)),
    ],
)
def test_by_default_the_window_slides_at_80_percent_to_half_of_that(asked, bounds):
    setup = {} if asked is None else {"contextWindowCompression": asked}
    assert compression(setup, LIVE) == bounds


@pytest.mark.anyio
async def test_the_prompts_tokens_fall_once_the_window_slides(dial):
    asked = {"triggerTokens": "120", "slidingWindow": {"targetTokens": "60"}}
    async with FakeLiveServer() as server, dial(server, contextWindowCompression=asked) as client:
        counts = []
        for _ in range(6):
            await client.say("Some words to count.")
            usage = (await client.until("turnComplete"))[-1]["usageMetadata"]
            counts.append(usage["promptTokenCount"])
    assert max(counts) <= 120
    assert any(later < earlier for earlier, later in itertools.pairwise(counts))
