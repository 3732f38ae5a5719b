"""Steps become contents."""

from __future__ import annotations

from livetools.protocol.transcript.contents import UNHEARD, Batch, Passage, Slot, render, without_functions


def batch(*names: str) -> Batch:
    return [
        Slot(name, name, {"functionCall": {"id": name, "name": name, "args": {"x": 1}}}) for name in names
    ]


def test_a_batch_is_a_content_of_calls_and_one_of_responses():
    calls, made = batch("a", "b"), [Passage("user", text="Go")]
    calls[1].response = {"output": 1}
    user, model, answers = render([*made, calls])
    assert user == {"role": "user", "parts": [{"text": "Go"}]}
    assert model["parts"][0] == {"functionCall": {"id": "a", "name": "a", "args": {"x": 1}}}
    assert [part["functionResponse"]["response"] for part in answers["parts"]] == [
        {"error": "no result yet"},
        {"output": 1},
    ]


def test_a_call_without_an_id_is_rendered_without_one():
    made = [Slot(None, "f", {"functionCall": {"name": "f"}}, {"output": 1}, {"parts": []})]
    contents = render([made])
    assert contents[0]["parts"] == [{"text": UNHEARD}]
    assert contents[1]["parts"] == [{"functionCall": {"name": "f"}}]
    assert contents[2]["parts"] == [
        {"functionResponse": {"parts": [], "name": "f", "response": {"output": 1}}}
    ]


def test_what_the_model_says_in_a_row_shares_a_content_and_the_users_turns_do_not():
    steps = [Passage(side, text="x") for side in ("user", "user", "model", "model")]
    assert [len(content["parts"]) for content in render(steps)] == [1, 1, 2]


def test_nothing_said_is_no_content():
    assert render([Passage("user"), Passage("model")]) == []


def test_texts_alone_are_joined_where_functions_stood_between_them():
    steps = [
        Passage("user", text="a"),
        Passage("model", text="b"),
        batch("f"),
        Passage("model", text="c"),
    ]
    thought = {"role": "model", "parts": [{"text": "hm", "thought": True}]}
    assert without_functions([*render(steps), thought]) == [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "b"}, {"text": "c"}]},
    ]
