"""The fixture ``live_eval``, in tests of its own."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

HEAD = """
from functools import partial
import pytest
import livetools
from livetools.evals import Called, Judged, Said

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

def price(item: str) -> str:
    "The price of an item."
    return f"{item} costs 3 kr"

agent = partial(livetools.connect, "gemini-3.8-live", tools=[price])
"""


@pytest.fixture
def outcome(pytester, monkeypatch):
    def outcome(body: str, *args: str):
        pytester.makepyfile(HEAD + body)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q", *args)

    return outcome


def test_a_conversation_that_meets_its_expectations_passes(outcome):
    result = outcome("""
async def test_prices(live_eval):
    done = await live_eval(agent, 'the price of the item "cod"', expect=[Called("price", {"item": "cod"})])
    assert "3 kr" in done.text
""")
    result.assert_outcomes(passed=1)


def test_one_that_does_not_fails_with_the_conversation(outcome):
    result = outcome("""
async def test_sings(live_eval):
    await live_eval(agent, "hello", expect=[Said("la la la")])
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*failed: says /la la la/: it said: *", "*caller: hello*"])


@pytest.mark.parametrize("more", [[], ["-n", "1"]])
def test_a_rubric_without_a_judge_is_skipped_and_the_summary_says_so(outcome, more):
    result = outcome(
        """
async def test_kind(live_eval):
    await live_eval(agent, "hello", expect=[Judged("Friendly.")])
""",
        *more,
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*live_eval: expectations that were skipped*",
            "*::test_kind: skipped: judged at least 0.7: Friendly.: no judge was given: pass judge=Judge()*",
        ]
    )


def test_a_test_may_write_the_model(outcome):
    result = outcome("""
async def test_scripted(live_eval):
    @live_eval.server.model
    async def model(turn):
        await turn.say("la la la")

    await live_eval(agent, ["hello", "again"], expect=[Said("la la la", turn=2)])
""")
    result.assert_outcomes(passed=1)


def test_against_the_service_a_test_that_writes_the_model_is_skipped(outcome):
    result = outcome(
        """
async def test_scripted(live_eval):
    live_eval.server
""",
        "--live-eval=service",
    )
    result.assert_outcomes(skipped=1)


def test_offline_a_pretend_model_plays_the_persona_and_the_judge(outcome):
    result = outcome(
        """
from livetools.evals import Judge, Persona, ReachedGoal

async def test_person(live_eval):
    person = Persona('the price of the item "cod"', goal="You know the price.")
    expect = [Called("price", {"item": "cod"}), ReachedGoal(), Judged("The agent is kind.")]
    await live_eval(agent, person, expect=expect, judge=Judge())
""",
        "-rA",
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*skipped: the caller reaches the goal*", "*skipped: judged*kind*pretend judge*"]
    )
