"""Evals in YAML: what is read, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from livetools import ConfigError
from livetools.evals import (
    ANYTHING,
    AskedApproval,
    BargeIn,
    Called,
    Drop,
    InOrder,
    Judged,
    Persona,
    Ran,
    ReachedGoal,
    Refused,
    Said,
    Script,
    SlowTool,
)
from livetools.evals.files import load_yaml

WHOLE = """
agent: shop.py:agent
judge: gemini-3.8-flash
rules: rules.yaml
evals:
  - name: books
    caller: [A table for four, Thanks]
    approve: [cancel]
    timeout: 5
    patience: 2
    faults: [{drop: 1}, {slow: book, seconds: 2}, {barge_in: 2}]
    expect:
      - called: book
        with: {guests: 4, name: {matches: ann}, hour: {between: [18, 20]}, note: {anything: true}}
        times: 1
      - ran: book
      - asked_approval: cancel
      - refused: cancel
      - reached_goal: true
      - not_called: cancel
      - order: [find, book]
      - said: table
        turn: 1
      - judged: Friendly.
        least: 0.5
  - agent: other.py
    caller: {persona: You are Ann., goal: You have a table., turns: 3}
  - caller: [{say: A table, cuts_in: true}, {silence: 5}, For four]
"""


@pytest.fixture
def read(tmp_path: Path):
    asked = []

    def read(text: str):
        file = tmp_path / "evals.yaml"
        file.write_text(text, encoding="utf-8")
        return load_yaml(file, lambda target: asked.append(target) or (lambda: target)), asked

    return read


def test_a_whole_file_is_read(read, tmp_path):
    found, asked = read(WHOLE)
    first, second, third = found.evals
    assert asked == [f"{tmp_path}/shop.py:agent", f"{tmp_path}/other.py"]
    assert isinstance(third.caller, Script)
    assert [(turn.cuts_in, turn.silence) for turn in third.caller.turns] == [
        (True, 0),
        (False, 5),
        (False, 0),
    ]
    assert (found.judge, found.rules) == ("gemini-3.8-flash", tmp_path / "rules.yaml")
    assert (first.name, first.approve, first.timeout, first.patience) == ("books", ["cancel"], 5.0, 2.0)
    assert first.faults == [Drop(1), SlowTool("book", 2.0), BargeIn(2)]
    called, ran, asked_approval, refused, reached, *_, judged = first.expect
    assert [ran, asked_approval, refused] == [Ran("book"), AskedApproval("cancel"), Refused("cancel")]
    assert reached == ReachedGoal()
    assert isinstance(called, Called)
    assert called.args is not None
    assert (called.args["guests"], called.args["note"], called.times) == (4, ANYTHING, 1)
    assert called.args["name"].fits("ANNA")
    assert not called.args["hour"].fits(21)
    assert first.expect[6:8] == [InOrder(["find", "book"]), Said("table", 1)]
    assert judged == Judged("Friendly.", 0.5)
    assert isinstance(first.caller, Script)
    assert isinstance(second.caller, Persona)
    assert (second.name, second.caller.turns) == ("eval 2", 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not YAML"),
        ("[" * 5000, "is not YAML"),
        ("a: 2024-13-45", "is not YAML: month must be in 1..12"),
        ("a: !!bool maybe", "is not YAML"),
        ("a: !!timestamp soon", "is not YAML"),
        ("[1]", "expected a mapping with a list `evals`"),
        ("evals: []\nagnt: x", "'agnt' is unknown here; known are agent"),
        ("evals: [5]", "eval 1: expected a mapping, got 5"),
        ("evals: [{caller: x}]", "eval 1: expected `agent`"),
        ("agent: a.py\nevals: [{}]", "eval 1: expected `caller`"),
        ("agent: a.py\nevals: [{caller: {turns: 3}}]", "expected `persona`"),
        ("agent: a.py\nevals: [{caller: [5]}]", "the turn 5 is not a text"),
        ("agent: a.py\nevals: [{caller: x, expect: {said: x}}]", "expected a list of mappings"),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{sayd: x}]}]",
            "is not an expectation; known are called, not_called",
        ),
        ("agent: a.py\nevals: [{caller: x, expect: [{said: x, turns: 1}]}]", "said: 'turns' is unknown here"),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{latency: soon}]}]",
            "latency: 'soon' is not a number of seconds",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{called: f, with: {a: {matches: '('}}}]}]",
            "regular expression",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{called: f, with: {a: {schema: {type: 5}}}}]}]",
            "JSON Schema",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{said: [xyzzy]}]}]",
            "Said takes a text, a regular expression",
        ),
        (
            "agent: a.py\nevals: [{name: n, caller: x, expect: [{not_said: 'a('}]}]",
            "eval 1 (n): NotSaid: 'a(' is not",
        ),
        ("agent: a.py\nevals: [{caller: x, expect: [{order: 5}]}]", "order: 5 is not a list of names"),
        ("agent: a.py\nevals: [{caller: x, approve: all}]", "approve='all': expected True, False, or a list"),
        ("agent: a.py\nevals: [{caller: x, faults: [{drops: 1}]}]", "the fault {'drops': 1} is not"),
        (
            "agent: a.py\nevals: [{caller: x, faults: [{drop: 0}]}]",
            "Drop: turn: 0 is not a whole number from 1",
        ),
        ("agent: a.py\nevals: []", "the list `evals` is empty"),
        ("agent: a.py\nevals: [{caller: x}]\njudge: 5", "judge: 5 is not the name of a model"),
        ("agent: a.py\nevals: [{caller: x}]\nrules: 5", "rules: 5 is not the name of a file"),
        ("agent: a.py\nevals: [{caller: x, caller: y}]", "line 2: one mapping has the key 'caller' twice"),
        ("agent: a.py\nevals: [{caller: []}]", "eval 1: a script needs one turn"),
        (
            "agent: a.py\nevals: [{caller: {persona: Ann, turns: many}}]",
            "eval 1: Persona: turns: 'many' is not",
        ),
        ("agent: a.py\nevals: [{caller: [{wav: nope.wav}]}]", "nope.wav: No such file or directory"),
        (
            "agent: a.py\nevals: [{caller: x, approve: 5}]",
            "eval 1: approve=5: expected True, False, or a list",
        ),
        ("agent: a.py\nevals: [{caller: x, timeout: -1}]", "timeout: -1.0 is not a number of seconds"),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{called: f, times: two}]}]",
            "Called: times: 'two' is not",
        ),
        ("agent: a.py\nevals: [{caller: x, expect: [{ran: }]}]", "Ran: None is not the name of a function"),
        ("agent: a.py\nevals: [{caller: x, expect: [{said: x, turn: '1'}]}]", "Said: turn: '1' is not"),
        ("agent: a.py\nevals: [{caller: x, expect: [{language: no}]}]", "(in YAML write 'no' in quotes)"),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{latency: true}]}]",
            "latency: True is not a number of seconds",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{latency: 1, late: .inf}]}]",
            "late: inf is not a whole number",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{interruptions: 1.5}]}]",
            "SurvivedInterruptions: 1.5 is not a whole number",
        ),
        (
            f"agent: a.py\nevals: [{{caller: x, expect: [{{cost: 1{'0' * 400}}}]}}]",
            "is not a number of dollars",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{called: f, others: 'no'}]}]",
            "others: 'no' is not True or False",
        ),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{order: [f], only: 1}]}]",
            "only: 1 is not True or False",
        ),
        ("agent: a.py\nevals: [{caller: [{silence: .inf}]}]", "the turn {'silence': inf} is not"),
        ("agent: a.py\nevals: [{caller: [{silence: true}]}]", "the turn {'silence': True} is not"),
        ("agent: a.py\nevals: [{caller: {persona: Ann, model: 5}}]", "Persona: model: 5 is not the name"),
        (
            "agent: a.py\nevals: [{caller: x, expect: [{order: find}]}]",
            "order: 'find' is not a list of names",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(read, text, words):
    with pytest.raises(ConfigError) as told:
        read(text)
    assert words in str(told.value)
    assert "evals.yaml" in str(told.value)


def test_arguments_inside_of_arguments_are_matched_too(read):
    (case,) = read(
        "agent: a.py\nevals: [{caller: x, expect: [{called: f, with: {table: {guests: {between: [1, 4]}}}}]}]"
    )[0].evals
    (called,) = case.expect
    assert called.args["table"]["guests"].fits(3)
    assert not called.args["table"]["guests"].fits(5)


def test_a_mapping_that_is_merged_may_repeat_a_key(read):
    (case,) = read("agent: a.py\nevals:\n  - {<<: {name: a, caller: y}, caller: x}\n")[0].evals
    assert (case.name, case.caller.turns[0].text) == ("a", "x")
