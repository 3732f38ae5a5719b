"""The report page."""

from __future__ import annotations

from html.parser import HTMLParser

from livetools.evals import Conversation, Result, Round, Verdict
from livetools.evals.report import page


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "line", "rect") or tag == "rect":
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
    assert not reader.sources


def test_what_was_said_cannot_become_markup():
    nasty = Conversation("<script>alert(1)</script>")
    assert "<script" not in page([Result("<b>", [Round(nasty, (Verdict("<i>", False, "<u>"),))])], "<title>")
