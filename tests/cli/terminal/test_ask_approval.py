"""What a person is shown before a call runs, and what follows from what is typed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools import Call
from livetools.cli.terminal.ask_approval import MAX_LINES, decision, written
from livetools.log import escaped

RENT = "Rent for flat 4, thank you. " * 40


class Person:
    """Reads what is shown and types ``answers``, one for each prompt."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []
        self.prompts: list[str] = []

    def notice(self, text: str, style: str) -> None:
        self.shown.append(text)

    def reply(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return self.answers.pop(0)

    def decides(self, **args: object) -> str | None:
        return decision(Call("c1", "transfer", args), self.notice, self.reply)


@pytest.mark.parametrize(
    ("typed", "refusal"),
    [
        ("y", None),
        ("YES", None),
        ("n", "the user said no"),
        ("", "the user said no"),
        ("a", "the user said no"),
    ],
)
def test_only_a_yes_lets_a_call_run(typed, refusal):
    person = Person(typed)
    assert person.decides(to="ann", amount=40) == refusal
    assert person.shown == ['  ? transfer(to="ann", amount=40)']
    assert person.prompts == ["    run it? [y/N] "]


def test_where_nobody_can_type_the_call_is_refused():
    person = Person(None)
    assert person.decides(to="ann") == "nobody was there to be asked"
    assert "approval needs an interactive terminal" in person.shown[-1]


def test_a_long_value_hides_no_other_argument_and_one_key_shows_all_of_it():
    person = Person("a", "y")
    assert person.decides(memo=RENT, to="mallory", amount=9999) is None
    assert 'to = "mallory"' in person.shown[0]
    assert "amount = 9999" in person.shown[0]
    assert "822 more characters" in person.shown[0]
    assert "[y/N/a]" in person.prompts[0]
    assert RENT in person.shown[1]


def test_many_arguments_are_counted_and_one_key_shows_them():
    person = Person("a", "n")
    person.decides(**{f"to_{n}": "a" * 20 for n in range(MAX_LINES + 70)})
    assert "… 70 more arguments" in person.shown[0]
    assert "to_99" not in person.shown[0]
    assert "to_99" in person.shown[1]


@pytest.mark.parametrize(
    ("memo", "shown"),
    [
        ("x\u202egnirts", r"x\u202egnirts"),
        ("a\u2066b\u2069", r"a\u2066b\u2069"),
        ("a\u200bb\u00adc", r"a\u200bb\u00adc"),
        ("a\x9b2Jb\x7f", r"a\u009b2Jb\u007f"),
        ("a\u2028b\u00a0c", r"a\u2028b\u00a0c"),
        ("a\ud800b", r"a\ud800b"),
        ("a\U000e0041b", r"a\U000e0041b"),
    ],
)
def test_characters_that_show_nothing_or_turn_the_text_are_made_escaped(memo, shown):
    for args in ({"memo": memo}, {memo: "memo"}):
        person = Person("n")
        person.decides(**args)
        assert shown in person.shown[0]
        assert memo not in person.shown[0]


def deep() -> object:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [deep(), 10**5000], ids=["deep", "a number of 5,001 digits"])
def test_a_call_that_cannot_be_shown_is_refused_without_a_question(value):
    person = Person()
    assert person.decides(to="ann", options=value) == "its arguments cannot be shown to the user"
    assert not person.prompts


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON | st.text(min_size=200, max_size=800)))
def test_what_is_shown_can_be_printed_and_nothing_is_missing_from_the_whole(args):
    brief, whole = written(Call("c1", "transfer", args))
    for text in (brief, whole):
        assert all(line.isprintable() for line in text.split("\n"))
    for name, value in args.items():
        assert escaped(name) in whole
        assert escaped(json.dumps(value, ensure_ascii=False)) in whole
