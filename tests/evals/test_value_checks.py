"""A slip in an eval is an error when the eval is made, and not a verdict, nor an expectation that always passes."""

from __future__ import annotations

import pytest

from livetools import ConfigError
from livetools.evals import (
    AskedApproval,
    BargeIn,
    Called,
    Caller,
    Cost,
    Drop,
    Eval,
    Expectation,
    InOrder,
    Judge,
    Judged,
    Language,
    Latency,
    NotCalled,
    NotSaid,
    Persona,
    Ran,
    Refused,
    Said,
    Script,
    SlowTool,
    SurvivedInterruptions,
    between,
)


class Silent(Caller):
    """A caller that says what nobody asks."""

    async def nxt(self, conversation):
        """Misspelt: it would hang up at once."""


class Lenient(Expectation):
    """An expectation that nobody asks."""

    async def chek(self, conversation, judge):
        """Misspelt: it would judge nothing."""


def book_table():
    """Passed where its name is expected."""


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Called(book_table),
        lambda: Called("book", ["Ann"]),
        lambda: Called("book", times=True),
        lambda: Called("book", times=-1),
        lambda: Called("book", others="no"),
        lambda: InOrder(["book"], only="no"),
        lambda: NotCalled(""),
        lambda: AskedApproval(book_table),
        lambda: Ran(None),
        lambda: Refused(5),
        lambda: InOrder("book"),
        lambda: InOrder([]),
        lambda: Said("x", turn=0),
        lambda: NotSaid("x", turn="2"),
        lambda: Language(False),
        lambda: Latency(float("nan")),
        lambda: Latency(1.0, late=-1),
        lambda: Cost(-1),
        lambda: SurvivedInterruptions(0),
        lambda: Judged("friendly", least=7),
        lambda: Judged(" "),
        lambda: between(4, 1),
        lambda: Drop(0),
        lambda: BargeIn("1"),
        lambda: SlowTool("book", -1.0),
        lambda: Persona("Ann", turns=0),
        lambda: Persona("Ann", goal=5),
        lambda: Persona("Ann", model=5),
        lambda: Script(["hello", 5]),
        lambda: Judge("gemini-3.8-flash"),
    ],
)
def test_a_value_of_a_wrong_kind_is_an_error(wrong):
    with pytest.raises(ConfigError):
        wrong()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"caller": 5}, "x: 5 is not a caller"),
        ({"caller": Silent()}, "is not a caller: expected texts, or an object such as Persona"),
        ({"expect": [Lenient()]}, "is not an expectation, such as Called"),
        ({"caller": []}, "x: a script needs one turn"),
        ({"faults": Drop(1)}, "is not a list of faults"),
        ({"faults": ["drop"]}, "drop'. is not a list of faults"),
        ({"approve": {"book": True}}, "expected True, False, or a list of names"),
        ({"approve": None}, "expected True, False, or a list of names"),
        ({"timeout": -1}, "x: timeout: -1 is not a number of seconds"),
        ({"patience": "long"}, "x: patience: 'long' is not a number of seconds"),
    ],
)
def test_an_eval_names_what_it_does_not_take(agent, options, words):
    with pytest.raises(ConfigError, match=words):
        Eval("x", agent, **{"caller": "hello", **options})
