"""Each expectation: what it lets pass, and what it says of the rest."""

from __future__ import annotations

import pytest

from livetools.evals import (
    ANYTHING,
    Answered,
    Called,
    Conversation,
    Cost,
    InOrder,
    Judged,
    Language,
    Latency,
    NotCalled,
    NotSaid,
    Said,
    SurvivedInterruptions,
    between,
    matches,
    schema,
)
from livetools.evals.grading.judge import Opinion
from livetools.evals.recording.conversation_record import TurnRecord

pytestmark = pytest.mark.anyio

ANN = {"name": "Ann", "guests": 4}


def is_even(number: int) -> bool:
    return number % 2 == 0


@pytest.mark.parametrize(
    "expectation",
    [
        Answered(),
        Called("book_table"),
        Called("book_table", ANN),
        Called("book_table", {"name": "ann ", "guests": 4}, times=1),
        Called("book_table", {"name": matches("^an"), "guests": between(3, 5)}),
        Called("book_table", {"name": ANYTHING, "guests": schema({"type": "integer", "maximum": 4})}),
        Called("book_table", {"guests": is_even}, others=True),
        Called("erase", times=0),
        NotCalled("erase"),
        InOrder(["book_table", "send_mail"]),
        InOrder(["send_mail"]),
        InOrder(["book_table", "send_mail"], only=True),
        Said("TABLE 4"),
        Said("goodbye", turn=3),
        NotSaid("error"),
        NotSaid("goodbye", turn=1),
        Language("en-GB"),
        Latency(2.0),
        Latency(1.0, late=1),
        Cost(0.02),
        SurvivedInterruptions(),
    ],
    ids=lambda each: getattr(each, "__class__", type(each)).__name__ if not isinstance(each, str) else "why",
)
async def test_what_happened_as_expected_passes(conversation, expectation):
    verdict = await expectation.check(conversation, None)
    assert verdict.passed, verdict.why


@pytest.mark.parametrize(
    ("expectation", "why"),
    [
        (Called("erase"), "it was not called; called were: book_table, send_mail"),
        (Called("book_table", {"name": "Ann"}), "guests=4 was not asked for"),
        (Called("book_table", {**ANN, "hour": 8}), "hour is missing"),
        (Called("book_table", {"name": "Bob", "guests": 4}), "name is 'Ann', expected 'Bob'"),
        (Called("book_table", {"name": matches("bob"), "guests": 4}), "expected text like /bob/"),
        (Called("book_table", {"name": "Ann", "guests": True}), "guests is 4, expected True"),
        (Called("book_table", {"name": "Ann", "guests": between(5, 9)}), "expected a number from 5 to 9"),
        (Called("book_table", times=2), "it was called 1 time"),
        (Called("book_table", times=0), "it was called 1 time"),
        (NotCalled("book_table"), "called were: book_table(name='Ann', guests=4)"),
        (NotCalled(), "send_mail(to='ann@example.org')"),
        (InOrder(["send_mail", "book_table"]), "called were, in order: book_table, send_mail"),
        (InOrder(["book_table"], only=True), "called were, in order"),
        (Said("table 5"), "it said: 'You have table 4"),
        (Said("table 4", turn=2), "it said: 'Of course'"),
        (Said("x", turn=9), "it said: ''"),
        (NotSaid("w.lcome"), "it said 'welcome'"),
        (NotSaid("x", turn=9), "there was no turn 9"),
        (Language("de"), "it spoke en"),
        (Latency(1.0), "1 turn was later, up to 2.00 s"),
        (Cost(0.001), "it cost 0.0100 $"),
        (SurvivedInterruptions(2), "1 turn was interrupted"),
    ],
    ids=lambda each: getattr(each, "__class__", type(each)).__name__ if not isinstance(each, str) else "why",
)
async def test_what_did_not_is_told(conversation, expectation, why):
    verdict = await expectation.check(conversation, None)
    assert not verdict.passed
    assert why in verdict.why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"text": " "}, "turn 1: no words came for 'a table'"),
        ({"trouble": "no answer within 2 s"}, "turn 1: no answer within 2 s"),
    ],
)
async def test_a_turn_that_nobody_answers_fails(conversation, change, why):
    for name, value in change.items():
        setattr(conversation.turns[0], name, value)
    assert (await Answered().check(conversation, None)).why == why


async def test_a_session_that_breaks_off_fails(conversation):
    conversation.error = "closed with 1011"
    assert "closed with 1011" in (await Answered().check(conversation, None)).why


async def test_a_conversation_in_which_nothing_was_said_fails():
    assert (await Answered().check(Conversation(), None)).why == "the caller said nothing"


async def test_an_unknown_price_fails_and_says_so(conversation):
    conversation.cost = None
    assert "unknown" in (await Cost(1.0).check(conversation, None)).why


async def test_an_interruption_that_silences_the_agent_fails(conversation):
    conversation.turns[2].text = ""
    assert (await SurvivedInterruptions().check(conversation, None)).why == "turn 3 was not answered"


async def test_the_language_is_the_services_word_where_it_tells_it(conversation):
    conversation.turns[0].language = "nb-NO"
    assert (await Language("nb").check(conversation, None)).passed


async def test_silence_is_no_language():
    assert (
        await Language("en").check(Conversation(turns=[TurnRecord("x", 0.0)]), None)
    ).why == "it said nothing"


async def test_a_rubric_without_a_judge_is_skipped_and_says_how_to_give_one(conversation):
    verdict = await Judged("Friendly.").check(conversation, None)
    assert verdict.passed is None
    assert "judge=Judge()" in verdict.why


@pytest.mark.parametrize(("score", "passed"), [(0.69, False), (0.7, True)])
async def test_a_judge_decides_by_its_score(conversation, score, passed):
    class Strict:
        async def score(self, conversation: Conversation, rubric: str) -> Opinion:
            return Opinion(score, f"of {rubric}")

    verdict = await Judged("Friendly.").check(conversation, Strict())
    assert (verdict.passed, verdict.score, verdict.why) == (passed, score, "of Friendly.")
