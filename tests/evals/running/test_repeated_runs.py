"""Repeats, pass rates and how sure they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools import ConfigError
from livetools.evals import Called, Conversation, Eval, Result, Round, Said, Verdict, run
from livetools.evals.running.repeated_runs import wilson
from livetools.testing import FakeLiveServer
from livetools.testing.pretend import Pretend


@given(st.integers(0, 200), st.integers(1, 200))
def test_the_interval_holds_the_rate_and_stays_a_share(passed, of):
    passed = min(passed, of)
    low, high = wilson(passed, of)
    assert 0 <= low <= passed / of + 1e-9
    assert passed / of - 1e-9 <= high <= 1


@given(st.integers(1, 50))
def test_more_rounds_of_the_same_rate_are_surer(n):
    narrow, wide = wilson(4 * n, 8 * n), wilson(n, 2 * n)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_the_interval_is_wilsons():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_round_passes_when_all_its_verdicts_do():
    right, wrong = Verdict("a", True), Verdict("b", False, "why")
    assert Round(Conversation(), (right,)).passed
    assert not Round(Conversation(), (right, wrong)).passed
    assert "failed: b: why" in str(Round(Conversation(), (right, wrong)))


def test_a_result_without_rounds_has_not_passed():
    assert (Result("x").passed, Result("x").rate) == (0, 0.0)


@pytest.mark.anyio
async def test_each_eval_is_played_as_often_as_asked(agent):
    cases = [
        Eval("books", agent, 'book a table, name "Ann", guests 4', [Called("book_table")]),
        Eval("sings", agent, "hello", [Said("la la la")]),
    ]
    async with FakeLiveServer(Pretend()) as server:
        results = [result async for result in run(cases, repeat=2, **server.options)]
    assert [(result.name, result.passed, len(result.rounds)) for result in results] == [
        ("books", 2, 2),
        ("sings", 0, 2),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("cases", "options", "words"),
    [
        (None, {"repeat": 0}, "repeat: 0 is not a whole number from 1"),
        (None, {"repeat": "2"}, "repeat: '2' is not a whole number from 1"),
        (None, {"judge": "gemini-3.8-flash"}, "is not a judge"),
        (["hello"], {}, "'hello' is not an Eval"),
    ],
)
async def test_what_cannot_be_run_is_an_error_before_anything_is_played(agent, cases, options, words):
    with pytest.raises(ConfigError, match=words):
        await anext(run(cases or [Eval("x", agent, "hello")], **options))


class Breaks:
    async def next(self, conversation):
        raise RuntimeError("the caller broke")


@pytest.mark.anyio
async def test_a_conversation_that_breaks_has_failed_and_the_others_are_played(agent):
    cases = [
        Eval("first", agent, "hello"),
        Eval("broken", agent, Breaks()),
        Eval("typo", agent, "hello", approve=["book_tabel"]),
        Eval("last", agent, "hello"),
    ]
    async with FakeLiveServer(Pretend()) as server:
        results = [result async for result in run(cases, **server.options)]
    assert [(result.name, result.rate) for result in results] == [
        ("first", 1.0),
        ("broken", 0.0),
        ("typo", 0.0),
        ("last", 1.0),
    ]
    assert "the conversation ended: RuntimeError: the caller broke" in str(results[1].rounds[0])
    assert "no tool book_tabel" in str(results[2].rounds[0])
