"""The judge and the persona: models of google-genai's ordinary API, here the fake's REST side."""

from __future__ import annotations

import json

import pytest
from google.genai import Client

from livetools.evals import Called, Eval, Judge, Judged, NoOpinion, Persona, Said, judge_round, play
from livetools.testing import FakeLiveServer


@pytest.fixture
def client():
    made = []

    def client(server: FakeLiveServer) -> Client:
        made.append(Client(api_key="fake-key", http_options={"base_url": server.http_url}))
        return made[-1]

    yield client
    for each in made:
        each.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ('{"score": 0.8, "reasons": "kind"}', 0.8),
        ('{"score": 7, "reasons": ""}', 1.0),
        ('{"score": "0"}', 0.0),
    ],
)
async def test_a_judge_reads_the_conversation_and_scores_it(
    conversation, client, answer, score, anyio_backend_name
):
    asked = []

    async def model(turn):
        asked.append(turn.text)
        await turn.say(answer)

    async with FakeLiveServer(model) as server:
        opinion = await Judge(client(server)).score(conversation, "Friendly.")
    assert opinion.score == score
    assert "Rubric: Friendly." in asked[0]
    assert "book_table(name='Ann', guests=4)" in asked[0]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer",
    [
        "very good",
        "[]",
        '{"reasons": "none"}',
        '{"score": null}',
        '{"score": true}',
        '{"score": NaN}',
        '{"score": 1e999}',
    ],
)
async def test_an_answer_without_a_score_is_an_error(conversation, client, answer):
    async with FakeLiveServer(lambda turn: turn.say(answer)) as server:
        with pytest.raises(NoOpinion, match="gave no score"):
            await Judge(client(server)).score(conversation, "Friendly.")


@pytest.mark.anyio
async def test_a_persona_calls_until_it_has_what_it_wants(agent, client):
    lines = iter(
        [("Book a table for Ann, four guests.", False), ("Thank you, goodbye.", True), ("never", True)]
    )

    async def model(turn):
        if "You play a person" in turn.text:
            said, done = next(lines)
            await turn.say(json.dumps({"say": said, "done": done}))
        elif "Book" in turn.text:
            await turn.call("book_table", name="Ann", guests=4)
            await turn.say("It is booked.")
        else:
            await turn.say("Goodbye.")

    async with FakeLiveServer(model) as server:
        persona = Persona("You are Ann.", client=client(server))
        case = Eval("persona", agent, persona, [Called("book_table", {"name": "Ann", "guests": 4})])
        done = await judge_round(case, await play(case, **server.options))
    assert done.passed, str(done)
    assert [turn.said for turn in done.conversation.turns] == [
        "Book a table for Ann, four guests.",
        "Thank you, goodbye.",
    ]


@pytest.mark.anyio
async def test_a_persona_hangs_up_after_its_turns(agent, client):
    async def model(turn):
        await turn.say('{"say": "and then?", "done": false}' if "You play" in turn.text else "Well.")

    async with FakeLiveServer(model) as server:
        persona = Persona("You are Ann.", turns=2, client=client(server))
        record = await play(Eval("endless", agent, persona), **server.options)
    assert len(record.turns) == 2


@pytest.mark.anyio
async def test_a_rubric_is_part_of_an_eval(agent, client):
    async def model(turn):
        await turn.say('{"score": 0.2, "reasons": "rude"}' if "Rubric" in turn.text else "Go away.")

    async with FakeLiveServer(model) as server:
        case = Eval("rude", agent, "hello", [Judged("Friendly.")])
        done = await judge_round(case, await play(case, **server.options), Judge(client(server)))
    assert not done.passed
    assert "rude" in str(done)


@pytest.mark.anyio
async def test_a_pretend_judge_without_a_score_skips_the_rubric_and_says_so(agent, client):
    case = Eval("kind", agent, "hello", [Judged("Friendly."), Said("good")])
    async with FakeLiveServer(lambda turn: turn.say("good day")) as server:
        record = await play(case, **server.options)
        skipped = await judge_round(case, record, Judge(client(server), pretend=True))
        failed = await judge_round(case, record, Judge(client(server)))
    assert [verdict.passed for verdict in skipped.verdicts] == [True, None, True]
    assert skipped.passed
    assert skipped.skipped == ["skipped: judged at least 0.7: Friendly.: the pretend judge gives no score"]
    assert skipped.skipped[0] in str(skipped)
    assert not failed.passed  # of a real judge it is a failure
    assert failed.skipped == []
