"""What the page makes of the entries it is told: the reducer, run where it runs."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.cli.page.asgi_app import About, page_app

from .conftest import serving

REDUCE = """async ([entries, declaredOnly]) => {
  const { initial, reduce, isBusy } = await import("/web/page/dist/state.js");
  const { transcriptOf } = await import("/web/page/dist/exports.js");
  const state = initial(declaredOnly);
  const busy = entries.map((entry) => isBusy(reduce(state, entry)));
  return { ...state, busy, transcript: transcriptOf(state.exchanges, "title") };
}"""


@pytest.fixture(scope="module")
def reduce(chromium):
    """From entries, each a type with its time and fields, to the state, with ``busy`` after each, and a transcript."""

    def opens() -> Any:
        import livetools

        return livetools.connect("gemini-3.8-live", base_url="ws://127.0.0.1:1", api_key="x")

    with serving(page_app(opens, About())) as address:
        page = chromium.new_page()
        page.goto(f"http://{address}/facts.json")  # a page of this site, without the page's own script

        def reduce(
            *entries: tuple[str, float, dict[str, Any]], declared_only: tuple[str, ...] = ()
        ) -> dict[str, Any]:
            told = [{"type": kind, "at": at, **fields} for kind, at, fields in entries]
            return page.evaluate(REDUCE, [told, declared_only])

        yield reduce
        page.close()


CALL = {"id": "1", "name": "f", "args": {}}


def said(text: str) -> dict[str, Any]:
    return {"text": text, "finished": False}


def done(error: str | None = None, text: str = "") -> dict[str, Any]:
    response = {"error": text} if error else {"output": 1}
    return {"call": CALL, "response": response, "error": error, "elapsed": 0.1}


TURN = {"reason": None, "status": None}


def texts(state: dict[str, Any]) -> list[list[str]]:
    return [[item["text"] for item in each["items"] if "text" in item] for each in state["exchanges"]]


def test_pieces_become_one_answer_and_the_next_question_a_turn_of_its_own(reduce):
    state = reduce(
        ("user_text", 1.0, {"text": "one?"}),
        ("OutputTranscript", 1.25, said("It ")),
        ("OutputTranscript", 1.3, said("is.")),
        ("TurnComplete", 1.4, TURN),
        ("user_text", 3.0, {"text": "two?"}),
    )
    assert texts(state) == [["one?", "It is."], ["two?"]]
    assert state["latency"] == 250
    assert state["busy"] == [True, True, True, False, True]


def test_what_is_heard_late_stands_before_the_answer(reduce):
    state = reduce(
        ("VoiceActivity", 1.0, {"kind": "start", "offset": None}),
        ("VoiceActivity", 2.0, {"kind": "end", "offset": None}),
        ("OutputTranscript", 2.5, said("It rains.")),
        ("InputTranscript", 2.6, {**said("Does "), "interim": False}),
        ("InputTranscript", 2.7, {**said("it rain?"), "interim": False}),
        ("TurnComplete", 3.0, TURN),
    )
    assert texts(state) == [["Does it rain?", "It rains."]]
    assert (state["exchanges"][0]["origin"], state["latency"]) == ("voice", 500)


def test_speech_has_its_place_though_nobody_writes_it_down(reduce):
    state = reduce(
        ("VoiceActivity", 1.0, {"kind": "start", "offset": None}),
        ("VoiceActivity", 2.0, {"kind": "end", "offset": None}),
        ("ToolStarted", 2.1, {"call": CALL}),
        ("ToolFinished", 2.2, done()),
        ("OutputTranscript", 2.5, said("It rains.")),
        ("TurnComplete", 3.0, TURN),
    )
    first, _, last = state["exchanges"][0]["items"]
    assert (first["role"], first["voice"], first["text"], first["open"]) == ("user", True, "", False)
    assert last["text"] == "It rains."
    assert state["busy"][-1] is False


def test_the_words_of_a_question_may_come_when_it_is_answered(reduce):
    state = reduce(
        ("VoiceActivity", 1.0, {"kind": "start", "offset": None}),
        ("OutputTranscript", 2.5, said("It rains.")),
        ("TurnComplete", 3.0, TURN),
        ("InputTranscript", 3.1, {**said("Does it rain?"), "interim": False}),
        ("InputTranscript", 9.0, {**said("And now?"), "interim": False}),
    )
    assert texts(state) == [["Does it rain?", "It rains."], ["And now?"]]


def test_words_that_may_be_taken_back_give_way_to_the_final_ones(reduce):
    interim = {"finished": False, "interim": True}
    state = reduce(
        ("InputTranscript", 1.0, {"text": "whether", **interim}),
        ("InputTranscript", 1.1, {"text": "weather in", **interim}),
        ("InputTranscript", 1.2, {"text": "Weather in Oslo?", "finished": True, "interim": False}),
    )
    (item,) = state["exchanges"][0]["items"]
    assert (item["text"], item["interim"]) == ("Weather in Oslo?", "")


def test_the_microphone_knows_the_end_of_speech_before_the_service(reduce):
    state = reduce(
        ("VoiceActivity", 1.0, {"kind": "start", "offset": None}),
        ("speech_ended", 2.0, {}),
        ("VoiceActivity", 2.7, {"kind": "end", "offset": None}),
        ("sound", 3.0, {}),
    )
    assert state["latency"] == 1000


def test_an_interruption_ends_the_answer_and_not_the_question_that_made_it(reduce):
    state = reduce(
        ("user_text", 1.0, {"text": "sing"}),
        ("OutputTranscript", 1.2, said("La la")),
        ("user_text", 2.0, {"text": "stop"}),
        ("Interrupted", 2.1, {}),
        ("TurnComplete", 2.2, TURN),
        ("OutputTranscript", 2.5, said("I am silent.")),
        ("TurnComplete", 2.6, TURN),
    )
    first, second = state["exchanges"]
    assert (first["interrupted"], first["items"][1]["interrupted"]) == (True, True)
    assert second["interrupted"] is False
    assert second["ended"] == 2.6
    assert state["busy"] == [True, True, True, True, True, True, False]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([("ToolFinished", 2.0, done())], "finished"),
        ([("ToolFinished", 2.0, done("ToolError", "no"))], "failed"),
        ([("ApprovalRequested", 1.1, {"call": CALL})], "approval"),
        ([("ApprovalRequested", 1.1, {"call": CALL}), ("approved", 1.5, {"id": "1"})], "running"),
        (
            [
                ("ApprovalRequested", 1.1, {"call": CALL}),
                ("ToolFinished", 2.0, done("ToolError", "the call was not approved: no")),
            ],
            "refused",
        ),
        (
            [
                ("ApprovalRequested", 1.1, {"call": CALL}),
                ("ToolFinished", 2.0, done("ValueError", "broken")),  # told before `approved`
                ("approved", 2.0, {"id": "1"}),
            ],
            "failed",
        ),
        ([("ToolCancelled", 1.5, {"call": CALL}), ("ToolFinished", 2.0, done())], "cancelled"),
        ([("ToolLost", 1.5, {"call": CALL, "delivery": "text"}), ("ToolFinished", 2.0, done())], "lost"),
    ],
)
def test_a_call_has_a_state_for_each_of_its_ends(reduce, entries, expected):
    state = reduce(("user_text", 0.5, {"text": "do"}), ("ToolStarted", 1.0, {"call": CALL}), *entries)
    run = state["exchanges"][0]["items"][1]["run"]
    assert run["state"] == expected
    assert (run["ended"] is None) is (expected in ("approval", "running"))


def test_a_turn_is_busy_while_its_call_is_open_though_the_model_has_ended_it(reduce):
    state = reduce(
        ("user_text", 0.5, {"text": "do"}),
        ("ToolStarted", 1.0, {"call": CALL}),
        ("TurnComplete", 1.1, TURN),
        ("ToolFinished", 2.0, done()),
    )
    assert state["busy"] == [True, True, True, False]


def test_what_the_model_says_by_itself_much_later_is_a_turn_of_its_own(reduce):
    state = reduce(
        ("user_text", 1.0, {"text": "hello"}),
        ("TextChunk", 1.1, {"text": "Hello."}),
        ("TurnComplete", 1.2, TURN),
        ("TextChunk", 3.0, {"text": "And welcome."}),
        ("TurnComplete", 3.1, TURN),
        ("TextChunk", 60.0, {"text": "A reminder."}),
    )
    assert texts(state) == [["hello", "Hello.", "And welcome."], ["A reminder."]]
    assert state["exchanges"][1]["origin"] == "model"


def test_tokens_and_prices_are_summed(reduce):
    usage = {"prompt_tokens": 1, "response_tokens": 2, "total_tokens": 3}
    state = reduce(("UsageUpdate", 1.0, {"usage": usage}), ("UsageUpdate", 2.0, {"usage": usage}))
    assert (state["tokens"], state["cost"]) == (6, None)
    state = reduce(*[("UsageUpdate", 1.0, {"usage": {**usage, "cost": 0.25}})] * 2)
    assert state["cost"] == 0.5


def test_the_end_of_the_session_ends_what_was_open(reduce):
    state = reduce(
        ("SessionStarted", 0.1, {"id": None}),
        ("user_text", 0.5, {"text": "do"}),
        ("ToolStarted", 1.0, {"call": CALL}),
        ("ended", 2.0, {"error": "AuthenticationError", "message": "the key is wrong", "retryable": False}),
    )
    assert state["exchanges"][0]["items"][1]["run"]["state"] == "cancelled"
    assert state["exchanges"][0]["items"][2]["text"] == "the session has ended: the key is wrong"
    assert state["busy"] == [False, True, True, False]


def test_events_of_later_versions_change_nothing(reduce):
    assert reduce(("SomethingNew", 1.0, {"x": 1}))["exchanges"] == []


def test_the_time_in_which_a_person_was_asked_is_not_the_latency_of_the_model(reduce):
    other = {"id": "2", "name": "g", "args": {}}
    state = reduce(
        ("user_text", 1.0, {"text": "both"}),
        ("ApprovalRequested", 1.1, {"call": CALL}),
        ("ApprovalRequested", 2.1, {"call": other}),
        ("approved", 31.1, {"id": "1"}),
        ("ToolFinished", 31.2, done()),
        ("ToolFinished", 41.1, {**done("Refused", "the call was not approved"), "call": other}),
        ("OutputTranscript", 41.3, said("Done.")),
    )
    assert state["latency"] == 300, "0.1 s to the first question, and 0.2 s from the second decision on"
    first, second = (item["run"] for item in state["exchanges"][0]["items"] if item["kind"] == "call")
    assert (first["state"], second["state"]) == ("finished", "refused")


def test_a_call_without_a_handler_waits_for_an_answer_which_is_not_latency_either(reduce):
    asked = (("user_text", 1.0, {"text": "?"}), ("ToolStarted", 1.2, {"call": CALL}))
    state = reduce(*asked, declared_only=("f",))
    assert state["exchanges"][0]["items"][1]["run"]["state"] == "answer"
    assert state["busy"][-1] is True
    answered = (("ToolFinished", 61.2, done()), ("TextChunk", 61.3, {"text": "Done."}))
    state = reduce(*asked, *answered, declared_only=("f",))
    assert state["exchanges"][0]["items"][1]["run"]["state"] == "finished"
    assert state["latency"] == 300


def test_an_answer_that_was_cut_off_was_heard_until_then(reduce):
    state = reduce(
        ("user_text", 1.0, {"text": "sing"}),
        ("OutputTranscript", 1.2, said("La la la.")),
        ("Interrupted", 3.0, {}),
    )
    last = state["exchanges"][0]["items"][-1]
    assert (last["interrupted"], last["last"]) == (True, 3.0)


def test_who_stops_the_model_before_its_first_word_has_stopped_it(reduce):
    before = [
        ("user_text", 1.0, {"text": "one"}),
        ("OutputTranscript", 1.2, said("One.")),
        ("TurnComplete", 1.3, TURN),
    ]
    state = reduce(*before, ("user_text", 5.0, {"text": "sing"}), ("Interrupted", 5.1, {}))
    assert state["busy"][-1] is False
    assert [each["interrupted"] for each in state["exchanges"]] == [False, True]
    state = reduce(
        *before, ("user_text", 5.0, {"text": "sing"}), ("Interrupted", 5.1, {}), ("TurnComplete", 5.2, TURN)
    )
    assert state["exchanges"][1]["complete"] is True


def test_a_question_over_an_answer_cuts_the_answer_off_and_a_stop_then_the_question(reduce):
    over = [
        ("user_text", 1.0, {"text": "sing"}),
        ("OutputTranscript", 1.2, said("La la la")),
        ("user_text", 3.0, {"text": "what time is it?"}),
        ("Interrupted", 3.1, {}),
    ]
    state = reduce(*over, ("TurnComplete", 3.2, TURN))
    assert [each["interrupted"] for each in state["exchanges"]] == [True, False]
    assert state["busy"][-1] is True, "the question is not answered yet"
    state = reduce(*over, ("Interrupted", 3.15, {}), ("TurnComplete", 3.2, TURN), ("TurnComplete", 3.3, TURN))
    assert [each["interrupted"] for each in state["exchanges"]] == [True, True]
    assert state["busy"][-1] is False


def test_a_transcript_has_what_a_generator_yielded(reduce):
    state = reduce(
        ("user_text", 1.0, {"text": "count"}),
        ("ToolStarted", 1.1, {"call": CALL}),
        ("ToolProgress", 1.2, {"call": CALL, "value": "part one"}),
        ("ToolProgress", 1.3, {"call": CALL, "value": {"n": 2}}),
        ("ToolFinished", 1.4, {"call": CALL, "response": {}, "error": None, "elapsed": 0.3}),
        ("TurnComplete", 1.5, TURN),
    )
    assert '`f()` \u2192 part one, {"n":2} (finished' in state["transcript"]
