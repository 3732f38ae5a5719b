"""The report page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from livetools.evals import Conversation, Result, Round, Verdict
from livetools.evals.html_report import page
from livetools.evals.recording.conversation_record import Note


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "line"):
            self.open.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        self.words.append(data)


def test_every_conversation_stands_on_the_page_with_its_verdicts(conversation):
    rounds = [
        Round(conversation, (Verdict("says /x/", False, "it said y"), Verdict("judged", True, "kind", 0.9)))
    ]
    reader = Reader()
    reader.feed(page([Result("books", rounds), Result("empty")], "evals.yaml"))
    text = " ".join(reader.words)
    for word in ("evals.yaml", "0 of 1", "it said y", "0.90", "book_table", "turn 3", "caller: a table"):
        assert word in text
    assert reader.sources == ["#eval-1", "#eval-2"]  # nothing is loaded from elsewhere


def test_the_page_begins_with_what_failed_and_how_often(conversation):
    wrong, right = Verdict("says /x/", False, "it said y"), Verdict("says /x/", True)
    rounds = [Round(conversation, (verdict,)) for verdict in (wrong, wrong, right)]
    text = page([Result("books", rounds)], "evals.yaml")
    assert "1 of 3 conversations passed" in text
    assert "1 of 3 (33%)" in text
    assert "<div>says /x/ (2 ×)</div>" in text


@pytest.mark.parametrize(
    ("seconds", "named"),
    [(0.03, ["0 s", "0.01 s", "0.03 s"]), (2.2, ["0.5 s", "2 s"]), (61.0, ["20 s", "60 s"])],
)
def test_the_timeline_names_round_seconds_and_what_went_wrong(conversation, seconds, named):
    conversation.seconds = seconds
    conversation.notes = [Note(0.0, "the connection is cut"), Note(seconds, "<resumed>")]
    text = page([Result("books", [Round(conversation, ())])], "evals.yaml")
    for each in [*named, "the connection is cut", "&lt;resumed&gt;"]:
        assert f">{each}</text>" in text


def test_what_was_said_cannot_become_markup():
    nasty = Conversation("<script>alert(1)</script>")
    assert "<script" not in page([Result("<b>", [Round(nasty, (Verdict("<i>", False, "<u>"),))])], "<title>")


def test_half_a_character_does_not_keep_the_page_from_being_written(conversation):
    conversation.turns[0].text = "half \ud800"
    assert "half ?" in page([Result("x", [Round(conversation, ())])], "t")
