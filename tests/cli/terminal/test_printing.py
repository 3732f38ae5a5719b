"""What a conversation looks like."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from livetools import (
    AudioChunk,
    Call,
    GoAway,
    HandedOff,
    Interrupted,
    OutputTranscript,
    Reconnected,
    Reconnecting,
    Stalled,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolProgress,
    ToolStarted,
    TurnComplete,
)
from livetools.cli.terminal.printing import ConversationPrinter, called, cut, duration, harmless, result

CALL = Call("1", "get_weather", {"city": "Oslo", "days": [1, None]})


def seen(*events: object) -> str:
    """What is printed where no terminal is."""
    out = io.StringIO()
    view = ConversationPrinter(Console(file=out, width=60), "model")
    for event in events:
        view.show(event)
    view.end()
    return out.getvalue()


def test_pieces_of_an_answer_stand_on_one_line():
    assert seen(TextChunk("It is "), OutputTranscript("12 °C.")) == "model: It is 12 °C.\n"


def test_a_long_answer_is_not_broken_by_us():
    assert seen(TextChunk("word " * 50)).count("\n") == 1


def test_a_call_is_shown_with_its_arguments_its_result_and_its_time():
    done = ToolFinished(CALL, {"output": "12 °C, rain"}, None, 0.012)
    assert seen(ToolStarted(CALL), ToolProgress(CALL, "half"), done) == (
        '  → get_weather(city="Oslo", days=[1, null])\n'
        '  … get_weather: "half"\n'
        '  ← get_weather: "12 °C, rain"  (12 ms)\n'
    )


def test_a_call_begins_a_line_of_its_own():
    assert seen(TextChunk("Let me look."), ToolStarted(Call("1", "f"))) == "model: Let me look.\n  → f()\n"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ToolCancelled(CALL), "get_weather was cancelled by the service"),
        (ToolLost(CALL, "text"), "the line broke while get_weather ran: its result follows as text"),
        (ToolLost(CALL, "dropped"), "the line broke while get_weather ran: its result is dropped"),
        (Interrupted(), "interrupted"),
        (GoAway(9.5), "the service ends this connection in 9.5 s"),
        (GoAway(None), "the service ends this connection"),
        (Reconnecting(1, 0.25, "1006"), "the connection is lost (1006): attempt 1 in 0.2 s"),
        (Reconnected(True), "connected again"),
        (Reconnected(False), "connected again, to a new session"),
        (Stalled("a reply", 20.0), "waiting for a reply since 20 s"),
        (TurnComplete("MALFORMED_FUNCTION_CALL"), "the turn ended: MALFORMED_FUNCTION_CALL"),
    ],
)
def test_what_happens_to_the_conversation_is_a_line(event, line):
    assert seen(event) == f"  {line}\n"


@pytest.mark.parametrize("event", [TurnComplete(), AudioChunk(b"\0\0")])
def test_the_rest_is_not_shown(event):
    assert seen(event) == ""


def test_values_are_unwrapped_and_cut():
    assert result({"output": {"a": 1}}) == '{"a": 1}'
    assert result({"error": "no"}) == '{"error": "no"}'
    assert result({"output": 1, "unit": "km"}) == '{"output": 1, "unit": "km"}'
    assert cut("x" * 500) == "x" * 300 + "…"
    assert len(called(Call("1", "f", {"a": "x" * 999}))) < 320


def test_times_are_for_people():
    assert [duration(0.0123), duration(1.26)] == ["12 ms", "1.3 s"]


def test_a_result_cannot_take_over_the_terminal():
    assert harmless("a\x1b[2J\x9b\x07b\tc\n") == "a[2Jb\tc\n"
    assert harmless("a\u202eb\u2066c\ud800") == "abc?"
    assert seen(TextChunk("[red]plain[/red]")) == "model: [red]plain[/red]\n"


def test_what_a_call_holds_is_shown_with_every_character():
    assert called(Call("1", "f", {"x": "a\u202eb\x7f"})) == 'f(x="a\\u202eb\\u007f")'
    assert result({"output": "a\u2069"}) == '"a\\u2069"'


def test_a_value_that_json_cannot_hold_is_named_by_its_type():
    assert called(Call("1", "f", {"x": 10**5000})) == "f(x=<int that JSON cannot hold>)"


def test_a_hand_off_is_told_with_the_name_of_the_agent():
    assert "handed over to billing" in seen(HandedOff("billing"))
    assert "handed over to another agent" in seen(HandedOff(None))
