"""The transcript: whatever happens in whatever order, what it writes is a lawful conversation."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.events import (
    AudioChunk,
    Call,
    Event,
    InputTranscript,
    Interrupted,
    OutputTranscript,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
    TurnComplete,
    UsageUpdate,
)
from livetools.formats import check
from livetools.protocol.transcript.contents import UNHEARD
from livetools.protocol.transcript.placing import Placing
from livetools.protocol.transcript.transcript import CONTINUED, Transcript


def played(*events: Event | str) -> Transcript:
    """A transcript of these events; a string is a text of the user's."""
    transcript = Transcript()
    for event in events:
        transcript.user_text(event) if isinstance(event, str) else transcript.event(event)
    return transcript


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def model(*texts: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": text} for text in texts]}


def called(*calls: Call, text: str = "") -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [{"functionCall": {"id": c.id, "name": c.name, "args": dict(c.args)}} for c in calls]
    return {"role": "model", "parts": parts}


def answered(*pairs: tuple[Call, dict[str, Any]]) -> dict[str, Any]:
    parts = [{"functionResponse": {"id": c.id, "name": c.name, "response": r}} for c, r in pairs]
    return {"role": "user", "parts": parts}


def finished(call: Call, value: object = "ok") -> ToolFinished:
    return ToolFinished(call, {"output": value}, None, 0.1)


A, B, C = Call("a", "weather", {"city": "Oslo"}), Call("b", "clock"), Call("c", "map")
OK = {"output": "ok"}
CANCELLED = {"error": "cancelled"}


def test_a_call_and_its_response_stand_between_question_and_answer():
    transcript = played("Weather?", ToolStarted(A), finished(A), TextChunk("It "), TextChunk("rains."))
    assert transcript.contents == [user("Weather?"), called(A), answered((A, OK)), model("It rains.")]


def test_parallel_calls_are_answered_in_one_content_in_the_order_of_the_calls():
    transcript = played("Go", ToolStarted(A), ToolStarted(B), finished(B), finished(A, 12))
    assert transcript.contents == [user("Go"), called(A, B), answered((A, {"output": 12}), (B, OK))]


def test_a_call_made_after_a_result_is_a_step_of_its_own():
    transcript = played("Go", ToolStarted(A), finished(A), ToolStarted(B), finished(B))
    assert transcript.contents == [user("Go"), called(A), answered((A, OK)), called(B), answered((B, OK))]


def test_words_before_a_call_share_its_content():
    transcript = played("Go", OutputTranscript("One moment."), ToolStarted(A), finished(A))
    assert transcript.contents == [user("Go"), called(A, text="One moment."), answered((A, OK))]


def test_a_result_that_comes_turns_later_stands_with_its_call():
    transcript = played(
        "Go",
        ToolStarted(A),
        TextChunk("It runs."),
        TurnComplete(),
        "And you?",
        TextChunk("Fine."),
        TurnComplete(),
        finished(A),
        TextChunk("Done."),
        TurnComplete(),
    )
    assert transcript.contents == [
        user("Go"),
        called(A),
        answered((A, OK)),
        model("It runs."),
        user("And you?"),
        model("Fine.", "Done."),
    ]


def test_a_late_result_of_an_earlier_exchange_does_not_part_calls_that_are_made_together():
    transcript = played(
        "one", ToolStarted(A), TurnComplete(), "two", ToolStarted(B), finished(A), ToolStarted(C)
    )
    assert transcript.contents[:3] == [user("one"), called(A), answered((A, OK))]
    assert transcript.contents[3:5] == [user("two"), called(B, C)]


def test_a_cancelled_call_is_marked_and_stays_so():
    transcript = played("Go", ToolStarted(A), ToolStarted(B), ToolCancelled(A), finished(B), finished(A))
    assert transcript.contents == [user("Go"), called(A, B), answered((A, CANCELLED), (B, OK))]


@pytest.mark.parametrize(("delivery", "kept"), [("text", True), ("dropped", False)])
def test_a_lost_call_is_marked_and_filled_in_only_when_the_model_is_told(delivery: str, kept: bool):
    transcript = played("Go", ToolStarted(A), ToolLost(A, delivery))
    response = transcript.contents[-1]["parts"][0]["functionResponse"]["response"]
    assert response["error"].startswith("cancelled")
    transcript.event(finished(A))
    assert (transcript.contents[-1] == answered((A, OK))) is kept


def test_an_open_call_says_that_it_has_no_result_yet():
    assert played("Go", ToolStarted(A)).contents[-1] == answered((A, {"error": "no result yet"}))


def test_a_call_that_was_refused_without_being_started_is_there_too():
    assert played("Go", finished(A)).contents == [user("Go"), called(A), answered((A, OK))]


def test_an_id_that_a_fresh_session_uses_again_is_another_call():
    transcript = played("Go", ToolStarted(A), finished(A, 1), "Again", ToolStarted(A), finished(A, 2))
    assert transcript.contents[3:] == [user("Again"), called(A), answered((A, {"output": 2}))]


def test_a_call_with_nothing_before_it_follows_an_unheard_user():
    assert played(ToolStarted(A), finished(A)).contents == [user(UNHEARD), called(A), answered((A, OK))]
    spoken = played(TextChunk("Hm."), ToolStarted(A), finished(A)).contents
    assert spoken == [user(UNHEARD), called(A, text="Hm."), answered((A, OK))]


def test_an_utterance_stands_before_its_answer_though_it_was_written_down_later():
    transcript = played(
        InputTranscript("What is "),
        OutputTranscript("It is"),
        InputTranscript("it?", finished=True),
        OutputTranscript(" two."),
        TurnComplete(),
        InputTranscript("Thanks."),
    )
    assert transcript.contents == [user("What is it?"), model("It is two."), user("Thanks.")]


def test_what_was_only_guessed_is_not_written_down():
    transcript = played(
        InputTranscript("Are fun", interim=True),
        InputTranscript("A refund", interim=True),
        InputTranscript("A refund.", finished=True),
        TextChunk("Yes."),
    )
    assert transcript.contents == [user("A refund."), model("Yes.")]


def test_an_utterance_after_a_finished_one_is_another_exchange():
    transcript = played(InputTranscript("One.", finished=True), TextChunk("1"), InputTranscript("Two."))
    assert transcript.contents == [user("One."), model("1"), user("Two.")]


def test_an_interruption_ends_the_exchange():
    transcript = played(
        "Go", OutputTranscript("Once upon"), Interrupted(), InputTranscript("Stop"), TurnComplete()
    )
    assert transcript.contents == [user("Go"), model("Once upon"), user("Stop")]


def test_a_filler_turn_goes_on_with_the_same_exchange():
    transcript = played(
        InputTranscript("Fly"), OutputTranscript("Let me see."), TurnComplete(status="IN_PROGRESS"),
        OutputTranscript("DL 145."), InputTranscript(" me"), TurnComplete(status="IDLE"),
    )  # fmt: skip
    assert transcript.contents == [user("Fly me"), model("Let me see.", "DL 145.")]


def test_audio_and_usage_leave_no_trace():
    assert played("Go", AudioChunk(b"\0\0"), UsageUpdate(None)).contents == [user("Go")]  # type: ignore[arg-type]


def test_a_history_with_function_parts_in_either_case_is_paired():
    transcript = Transcript()
    transcript.user_content(
        [
            user("Go"),
            {"role": "model", "parts": [{"function_call": {"id": "a", "name": "weather", "args": {}}}]},
            {"role": "user", "parts": [{"function_response": {"name": "weather", "response": OK}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "x", "name": "x", "response": OK}}]},
            {"parts": [{"text": "so?"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
        ]
    )
    call = Call("a", "weather")
    assert transcript.contents[:3] == [user("Go"), called(call), answered((call, OK))]
    assert transcript.contents[3]["role"] == "user"
    assert len(transcript.contents[3]["parts"]) == 2


def test_a_single_part_and_things_that_are_no_parts_are_borne_with():
    transcript = Transcript()
    transcript.user_content(
        [{"role": "user", "parts": {"text": "hi"}}, {"parts": ["x", None]}, {"parts": None}]
    )
    assert transcript.contents == [user("hi")]


def test_calls_without_an_id_are_paired_by_name_in_order():
    transcript = Transcript()
    transcript.user_content([user("Go"), {"role": "model", "parts": [{"functionCall": {"name": "f"}}] * 2}])
    results = [{"functionResponse": {"name": "f", "response": {"output": n}}} for n in (1, 2)]
    transcript.user_content([{"role": "user", "parts": results}])
    assert transcript.contents[-1]["parts"] == results


def test_a_seed_of_texts_joins_neighbours_and_can_end_with_the_user():
    transcript = played(
        "Go", OutputTranscript("Wait."), ToolStarted(A), finished(A), OutputTranscript("Rain.")
    )
    assert transcript.seed(functions=False) == [user("Go"), model("Wait.", "Rain.")]
    assert transcript.seed(functions=False, ends_with_user=True)[-1] == user(CONTINUED)
    assert transcript.seed() == transcript.contents
    assert played("Go").seed(ends_with_user=True) == [user("Go")]
    assert Transcript().seed(ends_with_user=True) == []


def test_a_seed_takes_the_newest_that_fit():
    transcript = played("old " * 100, TextChunk("old " * 100), TurnComplete(), "new", TextChunk("yes"))
    assert transcript.seed(max_bytes=300) == [user("new"), model("yes")]


def test_the_oldest_exchanges_go_whole_when_the_bound_is_passed():
    transcript = Transcript(max_bytes=1000)
    for n in range(50):
        call = Call(f"id{n}", "f")
        transcript.user_text(f"question {n}")
        transcript.event(ToolStarted(call))
        transcript.event(finished(call))
        transcript.event(TextChunk(f"answer {n}"))
        transcript.event(TurnComplete())
    assert transcript.contents[0]["parts"][0]["text"].startswith("question")
    assert transcript.contents[-1] == model("answer 49")
    assert transcript.dropped == 150 - (len(transcript.contents) * 3) // 4


def test_one_endless_exchange_is_bounded_too():
    transcript = Transcript(max_bytes=1000)
    transcript.user_text("Work until you drop")
    for n in range(200):
        transcript.event(finished(Call(f"id{n}", "f")))
    assert len(transcript.contents) < 20
    assert transcript.contents[0] == user(UNHEARD)


def test_a_result_for_a_dropped_call_changes_nothing():
    transcript = Transcript(max_bytes=300)
    transcript.user_text("Go")
    transcript.event(ToolStarted(A))
    for n in range(20):
        transcript.user_text(f"a rather long question, number {n}")
    transcript.event(finished(A))
    assert_lawful(transcript.contents)


def test_a_large_result_that_pushes_its_own_call_out_leaves_room_again():
    transcript = Transcript(max_bytes=1000)
    transcript.user_content([called(A)])
    transcript.user_text("Next")
    transcript.user_content([answered((A, {"output": "x" * 2000}))])
    for n in range(5):
        transcript.user_text(f"question {n}")
    assert [content["parts"][0]["text"] for content in transcript.contents][:2] == ["Next", "question 0"]


def test_json_lines_give_the_same_conversation_back(tmp_path: Path):
    transcript = played(
        "Gå \ud800", ToolStarted(A), ToolStarted(B), finished(A), TextChunk("Ja."), TurnComplete()
    )
    path = tmp_path / "conversation.jsonl"
    transcript.to_jsonl(path)
    assert Transcript.from_jsonl(path).contents == transcript.contents
    file = io.StringIO()
    transcript.to_jsonl(file)
    assert [json.loads(line) for line in file.getvalue().splitlines()] == transcript.contents


def test_the_types_of_google_genai_take_the_contents():
    transcript = played(
        "Go", TextChunk("Wait."), ToolStarted(A), ToolStarted(B), finished(A), TextChunk("Rain.")
    )
    for content in transcript.contents:
        made = types.Content.model_validate(content)
        assert made.model_dump(by_alias=True, exclude_none=True, mode="json") == content


def test_a_line_that_is_no_content_is_named():
    with pytest.raises(ValueError, match="line 2"):
        Transcript.from_jsonl(io.StringIO('{"role":"user","parts":[]}\n[]\n'))


def assert_lawful(contents: list[dict[str, Any]]) -> None:
    """Our own check of conversations has nothing to say."""
    if contents:
        assert check(contents, "conversation").faults == ()


calls = st.sampled_from([A, B, C, Call("d", "weather")])
texts = st.text(max_size=5)
given_parts = st.one_of(
    st.builds(lambda t: {"text": t}, texts),
    st.builds(lambda c: {"functionCall": {"id": c.id, "name": c.name, "args": {}}}, calls),
    st.builds(lambda c: {"functionResponse": {"id": c.id, "name": c.name, "response": OK}}, calls),
    st.just({"functionCall": {"name": "f"}}),
    st.just({"functionResponse": {"name": "f", "response": {}}}),
)
given_turns = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "model", None]), "parts": st.lists(given_parts, max_size=3)}
)
moves = st.one_of(
    texts,
    st.lists(given_turns, max_size=3),
    st.builds(TextChunk, texts),
    st.builds(OutputTranscript, texts),
    st.builds(InputTranscript, texts, st.booleans()),
    st.builds(ToolStarted, calls),
    st.builds(finished, calls),
    st.builds(ToolCancelled, calls),
    st.builds(ToolLost, calls, st.sampled_from(["text", "dropped"])),
    st.just(Interrupted()),
    st.builds(TurnComplete, status=st.sampled_from([None, "IN_PROGRESS", "IDLE"])),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(moves, max_size=25), st.sampled_from([300, 1000, 1 << 20]))
def test_any_order_of_events_makes_a_lawful_conversation(history: list[Any], max_bytes: int):
    transcript = Transcript(max_bytes=max_bytes)
    for move in history:
        if isinstance(move, str):
            transcript.user_text(move)
        elif isinstance(move, list):
            transcript.user_content(move)
        else:
            transcript.event(move)
    assert_lawful(transcript.contents)
    assert_lawful(transcript.seed(max_bytes=200))
    seed = transcript.seed(functions=False, ends_with_user=True)
    assert all(list(part) == ["text"] for content in seed for part in content["parts"])
    assert not seed or seed[-1]["role"] == "user"
    assert check({"clientContent": {"turns": seed, "turnComplete": False}}).faults == ()
    file = io.StringIO()
    transcript.to_jsonl(file)
    file.seek(0)
    assert Transcript.from_jsonl(file).contents == transcript.contents


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(moves, max_size=25), st.sampled_from([300, 1000, 1 << 20]))
def test_a_conversation_is_the_same_however_often_it_is_asked_for(history: list[Any], max_bytes: int):
    noted, watched = Transcript(max_bytes=max_bytes), Transcript(max_bytes=max_bytes)
    for move in history:
        for transcript in (noted, watched):
            if isinstance(move, str):
                transcript.user_text(move)
            elif isinstance(move, list):
                transcript.user_content(move)
            else:
                transcript.event(move)
        assert watched.contents is not None
    assert noted.contents == watched.contents
    assert noted.dropped == watched.dropped


def test_of_a_conversation_that_is_read_again_and_again_each_note_is_placed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed: list[Any] = []

    class Counted(Placing):
        def place(self, note: Any) -> None:
            placed.append(note)
            super().place(note)

    monkeypatch.setattr("livetools.protocol.transcript.transcript.Placing", Counted)
    transcript = Transcript()
    for number in range(100):
        transcript.event(TextChunk(f"{number} "))
        assert len(transcript) == 1
    assert len(placed) == 100


def test_what_nobody_asks_for_is_bounded_as_well():
    transcript = Transcript(max_bytes=1000)
    for n in range(500):
        transcript.event(finished(Call(f"id{n}", "f")))
        assert transcript._weight <= 1300
    assert transcript.dropped > 400


def beside_speech(*events: Event | str) -> list[Any]:
    """The contents of a session that asks for a transcript of the speech."""
    transcript = Transcript(transcribed=True)
    for event in events:
        transcript.user_text(event) if isinstance(event, str) else transcript.event(event)
    return [(c["role"], [p.get("text") or next(iter(p)) for p in c["parts"]]) for c in transcript.contents]


def test_text_beside_speech_is_no_part_of_the_conversation() -> None:
    call = ToolStarted(Call("c1", "f", {}))
    twice = (OutputTranscript("Hel"), TextChunk("Hello"), OutputTranscript("lo"))
    assert beside_speech("hi", TextChunk("**Greeting**"), *twice, TurnComplete()) == [
        ("user", ["hi"]),
        ("model", ["Hello"]),
    ]
    assert beside_speech(
        "hi", TextChunk("**Looking**"), call, OutputTranscript("It rains"), TurnComplete()
    ) == [
        ("user", ["hi"]),
        ("model", ["functionCall"]),
        ("user", ["functionResponse"]),
        ("model", ["It rains"]),
    ]


def test_text_without_any_speech_is_what_was_said_once_the_turn_has_ended() -> None:
    said = ("hi", TextChunk("on"), TextChunk("ly text"))
    assert beside_speech(*said) == [("user", ["hi"])]
    assert beside_speech(*said, TurnComplete("", "IN_PROGRESS")) == [("user", ["hi"])]
    assert beside_speech(*said, TurnComplete()) == [("user", ["hi"]), ("model", ["only text"])]
    assert beside_speech(*said, TurnComplete(), OutputTranscript("And on"), TurnComplete())[-1] == (
        "model",
        ["only text", "And on"],
    )


def test_it_is_a_sequence_of_contents_that_is_read_where_it_is_printed() -> None:
    call = Call("1", "weather", {})
    transcript = played(
        "Weather?", ToolStarted(call), ToolFinished(call, {"output": 12}, None, 0.1), TextChunk("12 " * 60)
    )
    assert len(transcript) == 4
    assert list(transcript) == transcript[:] == transcript.contents
    assert transcript[0] == {"role": "user", "parts": [{"text": "Weather?"}]}
    lines = repr(transcript).splitlines()
    assert lines[:4] == [
        "Transcript(",
        '  user: "Weather?"',
        "  model: calls weather",
        "  user: weather answers",
    ]
    assert max(map(len, lines)) <= 120
    assert repr(Transcript()) == "Transcript()"
    assert not Transcript()


def test_it_goes_into_the_history_of_another_session() -> None:
    from livetools import connect

    transcript = played("My name is Ann.", TextChunk("Hello, Ann."), TurnComplete(None))
    session = connect("gemini-3.8-live", history=transcript, api_key="unused")
    assert list(session.plan.history) == transcript.contents
