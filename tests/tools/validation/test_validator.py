"""The pydantic type behind a function's parameters."""

from __future__ import annotations

import inspect
import json
import time
from enum import Enum
from typing import Any

import pytest

from livetools.errors import ToolDefinitionError
from livetools.tools.definition.annotations import Argument
from livetools.tools.validation.invalid_arguments import InvalidArguments
from livetools.tools.validation.validator import Validator

EMPTY = inspect.Parameter.empty
KEYWORD = inspect.Parameter.KEYWORD_ONLY


class Colour(Enum):
    RED = "r"


def validator(rest: Any = None, **arguments: tuple[Any, Any]) -> Validator:
    made = {name: Argument(name, hint, default, KEYWORD) for name, (hint, default) in arguments.items()}
    return Validator(made, rest, ToolDefinitionError)


@pytest.mark.parametrize(
    ("hint", "default", "said"),
    [(int, 3, 3), (str, "", ""), (bool, False, False), (Colour, Colour.RED, "r"), (float, 1.5, 1.5)],
)
def test_a_default_that_json_can_say_is_said(hint: Any, default: Any, said: Any) -> None:
    assert validator(x=(hint, default)).json_schema()["properties"]["x"]["default"] == said


@pytest.mark.parametrize("default", [None, float("nan"), object(), [], {}])
def test_another_default_is_not(default: Any) -> None:
    assert "default" not in validator(x=(Any, default)).json_schema()["properties"]["x"]


def test_only_the_value_that_does_not_fit_is_read_again() -> None:
    both = validator(x=(Any, EMPTY), y=(list[int], EMPTY))
    assert both.validate("f", {"x": "[1]", "y": "[1]"}) == {"x": "[1]", "y": [1]}
    assert both.validate("f", {"x": 3.0, "y": [3.0]}) == {"x": 3.0, "y": [3]}


def test_texts_inside_a_value_stay_texts() -> None:
    listed = validator(x=(list[Any], EMPTY))
    assert listed.validate("f", {"x": '["1", {"a": "[2]"}]'}) == {"x": ["1", {"a": "[2]"}]}


def test_null_is_the_default_only_where_there_is_one() -> None:
    assert validator(x=(int, 5)).validate("f", {"x": None}) == {}
    assert validator(x=(int | None, 5)).validate("f", {"x": None}) == {"x": None}
    with pytest.raises(InvalidArguments, match="x should be a whole number, not null"):
        validator(x=(int, EMPTY)).validate("f", {"x": None})


def test_what_else_may_come_is_validated_too() -> None:
    rest = validator(int, x=(str, EMPTY))
    assert rest.validate("f", {"x": "a", "more": "3"}) == {"x": "a", "more": 3}
    assert rest.json_schema()["additionalProperties"] == {"type": "integer"}
    with pytest.raises(InvalidArguments, match="more should be a whole number"):
        rest.validate("f", {"x": "a", "more": "b"})
    assert validator(EMPTY).validate("f", {"more": [1]}) == {"more": [1]}


def test_the_arguments_that_came_are_not_changed() -> None:
    args = {"x": "[1.0]"}
    validator(x=(list[int], EMPTY)).validate("f", args)
    assert args == {"x": "[1.0]"}


def test_the_parameter_that_cannot_be_declared_is_named() -> None:
    with pytest.raises(ToolDefinitionError, match="parameter 'y': range cannot be declared to a model"):
        validator(x=(int, EMPTY), y=(range, EMPTY)).json_schema()
    with pytest.raises(ToolDefinitionError, match="parameter 'y'"):
        validator(x=(int, EMPTY), y=(range, EMPTY)).validate("f", {})


NAMES = {f"k{n}": "x" for n in range(300_000)}


@pytest.mark.parametrize(
    ("hint", "args", "told"),
    [
        (int, NAMES, "Invalid arguments for add: k0 is not known; k1 is not known; k2 is not known; k3 is not known;"
         " k4 is not known; k5 is not known; and 299994 more. add takes x."),
        (dict[str, int], {"x": NAMES}, "Invalid arguments for add: 300000 values do not fit. add takes x."),
        (list[int], {"x": ["y"] * 300_000}, "Invalid arguments for add: 300000 values do not fit. add takes x."),
    ],
    ids=["names", "values", "items"],
)  # fmt: skip
def test_of_very_many_faults_a_few_are_told_and_nobody_waits_for_the_rest(hint, args, told):
    began = time.process_time()
    json.dumps(NAMES)
    unit = time.process_time() - began
    began = time.process_time()
    with pytest.raises(InvalidArguments) as refused:
        validator(x=(hint, EMPTY)).validate("add", args)
    assert str(refused.value) == told
    assert time.process_time() - began < max(1.0, 20 * unit)


def test_a_long_name_is_shortened():
    args = {"k" * 500 + str(n): n for n in range(2000)}
    with pytest.raises(InvalidArguments) as refused:
        validator(x=(int, EMPTY)).validate("add", args)
    assert len(str(refused.value)) < 500
