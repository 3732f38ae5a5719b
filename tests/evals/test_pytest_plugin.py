"""The fixture ``live_eval``, in tests that pytest runs in a process of its own: one for all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.apart import run_pytest

TESTS = """
from functools import partial
import pytest
import livetools
from livetools.evals import Called, Judge, Judged, Persona, ReachedGoal, Said

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

def price(item: str) -> str:
    "The price of an item."
    return f"{item} costs 3 kr"

agent = partial(livetools.connect, "gemini-3.8-live", tools=[price])

async def test_prices(live_eval):
    done = await live_eval(agent, 'the price of the item "cod"', expect=[Called("price", {"item": "cod"})])
    assert "3 kr" in done.text

async def test_sings(live_eval):
    await live_eval(agent, "hello", expect=[Said("la la la")])

async def test_kind(live_eval):
    await live_eval(agent, "hello", expect=[Judged("Friendly.")])

async def test_scripted(live_eval):
    @live_eval.server.model
    async def model(turn):
        await turn.say("la la la")

    await live_eval(agent, ["hello", "again"], expect=[Said("la la la", turn=2)])

async def test_several(live_eval):
    import anyio
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(live_eval, agent, "hello")
    done = await live_eval(agent, 'the price of the item "cod"', expect=[Called("price", times=1)])
    assert "3 kr" in done.text
    with pytest.raises(AssertionError, match="la la la"):
        await live_eval(agent, "hello", expect=[Said("la la la")])

async def test_person(live_eval):
    person = Persona('the price of the item "cod"', goal="You know the price.")
    expect = [Called("price", {"item": "cod"}), ReachedGoal(), Judged("The agent is kind.")]
    await live_eval(agent, person, expect=expect, judge=Judge())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """Run the tests, with these options; the output."""
    folder: Path = tmp_path_factory.mktemp("evals")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")

    def run(*options: str) -> str:
        return run_pytest("-rA", "test_it.py", *options, cwd=folder).stdout

    return run


@pytest.fixture(scope="module")
def output(run) -> str:
    """Of all of them."""
    return run()


def test_a_conversation_that_meets_its_expectations_passes(output):
    assert "PASSED test_it.py::test_prices" in output


def test_a_test_may_have_several_conversations(output):
    assert "PASSED test_it.py::test_several" in output


def test_one_that_does_not_fails_with_the_conversation(output):
    assert "FAILED test_it.py::test_sings" in output
    assert re.search("failed: says /la la la/: it said: ", output)
    assert "caller: hello" in output


def test_a_test_may_write_the_model(output):
    assert "PASSED test_it.py::test_scripted" in output


def test_a_rubric_without_a_judge_is_skipped_and_the_summary_says_so(output):
    assert "PASSED test_it.py::test_kind" in output
    assert "live_eval: expectations that were skipped" in output
    skipped = "skipped: judged at least 0.7: Friendly.: no judge was given: pass judge=Judge()"
    assert f"::test_kind: {skipped}" in output


def test_a_worker_of_xdist_tells_what_it_has_skipped_too(run):
    output = run("-n", "1", "-k", "test_kind")
    assert "live_eval: expectations that were skipped" in output
    assert "::test_kind: skipped: judged at least 0.7: Friendly.: no judge was given" in output


def test_against_the_service_a_test_that_writes_the_model_is_skipped(run):
    assert "1 skipped" in run("--live-eval=service", "-k", "test_scripted")


def test_offline_a_pretend_model_plays_the_persona_and_the_judge(output):
    assert "PASSED test_it.py::test_person" in output
    assert re.search("skipped: the caller reaches the goal", output)
    assert re.search("skipped: judged.*kind.*pretend judge", output)
