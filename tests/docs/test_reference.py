"""The reference shows the parameters of every public dataclass, as mkdocstrings reads them from the sources."""

from __future__ import annotations

import inspect
from pathlib import Path

import griffe
import pytest

import livetools
from livetools.setup import model_profiles
from livetools.tools.interface import agent_definition
from livetools.tools.results import outcomes

ROOT = Path(__file__).parents[2]
PUBLIC = [
    getattr(livetools, name)
    for name in livetools.__all__
    if hasattr(getattr(livetools, name), "__dataclass_fields__")
]


@pytest.fixture(scope="module")
def read() -> griffe.Object:
    package = griffe.load("livetools", search_paths=[ROOT])
    assert isinstance(package, griffe.Object)
    return package


def test_the_classes_are_those_of_the_door() -> None:
    assert len(PUBLIC) > 33
    assert {model_profiles.ModelProfile, agent_definition.Agent, outcomes.ToolResult, livetools.Call} <= set(
        PUBLIC
    )


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: str(kind.__name__))
def test_its_parameters_are_those_of_the_constructor(read: griffe.Object, kind: type) -> None:
    found = read[f"{kind.__module__}.{kind.__qualname__}".removeprefix("livetools.")]
    kinds = {
        griffe.ParameterKind.positional_or_keyword: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        griffe.ParameterKind.keyword_only: inspect.Parameter.KEYWORD_ONLY,
    }
    shown = [(each.name, kinds[each.kind], str(each.annotation)) for each in found.parameters][1:]  # self
    taken = inspect.signature(kind).parameters.values()
    assert shown == [(each.name, each.kind, str(each.annotation)) for each in taken]
    assert [each.default is not None for each in found.parameters][1:] == [
        each.default is not inspect.Parameter.empty for each in taken
    ]
    assert "dataclass" in found.labels
