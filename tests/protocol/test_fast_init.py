"""Frozen dataclasses whose construction is cheap, and which are as any other in all else."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace

import pytest

from livetools.protocol.fast_init import fast_init


@fast_init
@dataclass(frozen=True, slots=True)
class Lean:
    """What is made often."""

    name: str
    size: int = 3


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: int = 3


def test_it_is_made_as_any_other() -> None:
    for made in (Lean("a"), Lean(name="a"), Lean("a", 3), Lean("a", size=3)):
        assert (made.name, made.size) == ("a", 3)
    assert inspect.signature(Lean) == inspect.signature(Plain)
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'name'"):
        Lean()  # type: ignore[call-arg]


def test_it_stays_frozen_equal_hashed_printed_matched_and_copied() -> None:
    made = Lean("a", 1)
    with pytest.raises(FrozenInstanceError):
        made.size = 2  # type: ignore[misc]
    assert made == Lean("a", 1) != Lean("a", 2)
    assert hash(made) == hash(Plain("a", 1))
    assert repr(made) == "Lean(name='a', size=1)"
    assert replace(made, size=2) == Lean("a", 2)
    assert asdict(made) == {"name": "a", "size": 1}
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    match made:
        case Lean(name, 1):
            assert name == "a"
        case _:
            pytest.fail("not matched")


def test_a_default_factory_is_refused_when_the_class_is_made() -> None:
    @dataclass(frozen=True, slots=True)
    class Listed:
        values: list[int] = field(default_factory=list)

    with pytest.raises(TypeError, match="Listed: a field has a default factory"):
        fast_init(Listed)
