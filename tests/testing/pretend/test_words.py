"""Questions as tokens, and words that mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.testing.pretend.words import clauses, parts, same, stem, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Weather in Oslo?", [("word", "Weather"), ("word", "in"), ("word", "Oslo"), ("mark", "?")]),
        ("10km", [("number", "10"), ("word", "km")]),
        ("1,250.5 and -3", [("number", "1250.5"), ("word", "and"), ("number", "-3")]),
        ("four", [("number", "4")]),
        ("on 2026-12-24 at 18:30", [("word", "on"), ("date", "2026-12-24"), ("word", "at"), ("time", "18:30")]),
        ("2026-12-24T18:30:00Z", [("date", "2026-12-24T18:30:00Z")]),
        ("say \"a, b\" 'c'", [("word", "say"), ("quote", "a, b"), ("quote", "c")]),
        ("“d” «e»", [("quote", "d"), ("quote", "e")]),
        ("it's bob@example.com.", [("word", "it's"), ("email", "bob@example.com"), ("mark", ".")]),
        ("see https://example.com/a?b=1.", [("word", "see"), ("url", "https://example.com/a?b=1"), ("mark", ".")]),
        ("São Paulo", [("word", "São"), ("word", "Paulo")]),
    ],
)  # fmt: skip
def test_a_text_is_cut_into_tokens(text, expected):
    assert [(token.kind, token.text) for token in tokens(text)] == expected


def test_the_first_word_of_each_sentence_is_marked():
    assert [token.text for token in tokens("Weather now. Is it Oslo? Yes") if token.first] == [
        "Weather",
        "Is",
        "Yes",
    ]


def test_an_identifier_is_read_as_its_words():
    assert parts("getUnit_price2") == ["get", "unit", "price"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rates", "rating"),
        ("Weather", "weathers"),
        ("cities", "city"),
        ("temp", "temperature"),
        ("km", "kilometers"),
        ("kilometre", "kilometer"),
        ("feet", "ft"),
        ("C", "celsius"),
    ],
)
def test_forms_of_a_word_and_names_of_a_unit_are_the_same(one, other):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(("one", "other"), [("car", "carrot"), ("mile", "km"), ("glass", "gla"), ("m", "mi")])
def test_other_words_are_not_the_same(one, other):
    assert not same(one, other)


def test_a_question_is_cut_at_commas_ands_and_ends_but_not_inside_quotations():
    cut = clauses(tokens('weather in Oslo and the time, then say "this and that". Bye'))
    assert [" ".join(token.text for token in clause) for clause in cut] == [
        "weather in Oslo",
        "the time",
        "say this and that",
        "Bye",
    ]


@settings(derandomize=True, deadline=None)
@given(st.text())
def test_any_text_has_tokens(text):
    assert [token.at for token in tokens(text)] == list(range(len(tokens(text))))
    assert all(token.text for token in tokens(text))
    stem(text)
