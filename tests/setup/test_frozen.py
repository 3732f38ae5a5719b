"""``@frozen`` makes a class what ``dataclass(frozen=True, slots=True)`` makes it, for whoever uses it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import sys
import typing
from dataclasses import KW_ONLY, FrozenInstanceError, asdict, astuple, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from livetools import events
from livetools.events import Call, ToolFinished, Usage
from livetools.protocol.calls import actions
from livetools.protocol.connection import reconnect_policy
from livetools.setup import plan_types, profiles
from livetools.setup.frozen import frozen
from livetools.tools import agent, results


@frozen
class Parcel:
    """What is sent."""

    kinds: ClassVar[int] = 2

    name: str
    size: int = 3
    tags: dict[str, Any] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    seen: float = field(default=0.0, compare=False)
    _: KW_ONLY
    urgent: bool = False

    def heavy(self) -> bool:
        """Its own method."""
        return self.size > self.kinds


@dataclass(frozen=True, slots=True)
class Twin:
    """What is sent."""

    kinds: ClassVar[int] = 2

    name: str
    size: int = 3
    tags: dict[str, Any] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    seen: float = field(default=0.0, compare=False)
    _: KW_ONLY
    urgent: bool = False


@frozen
class One:
    """One field."""

    value: object


@frozen
class Nothing:
    """No field."""


@frozen(kw_only=True)
class Named:
    """By keyword alone."""

    first: int = 1
    second: int


def classes() -> list[type]:
    """Every class of the library that ``import livetools`` makes so."""
    modules = (events, actions, plan_types, profiles, reconnect_policy, agent, results)
    found = {
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type)
        and each.__module__.startswith("livetools.")
        and dataclasses.is_dataclass(each)
    }
    return sorted(found - {actions.Outcome}, key=lambda kind: kind.__qualname__)  # an outcome is filled in


def as_dataclass_makes(kind: type) -> type:
    """The same fields in a class that the standard library has made."""
    parts = [
        (
            each.name,
            each.type,
            field(
                default=each.default,
                default_factory=each.default_factory,  # type: ignore[arg-type]  # MISSING, too
                repr=each.repr,
                compare=each.compare,
                kw_only=each.kw_only,
            ),
        )
        for each in fields(kind)
    ]
    return dataclasses.make_dataclass(kind.__name__, parts, frozen=True, slots=True)


def params(kind: type) -> set[str]:
    """What ``dataclass`` was told of the class; its fields say what is ``kw_only``."""
    told = re.findall(r"\w+=\w+", repr(vars(kind)["__dataclass_params__"]))
    return {each for each in told if not each.startswith("kw_only=")}


def test_there_are_classes_to_look_at() -> None:
    assert len(classes()) > 45
    assert {ToolFinished, actions.Start, plan_types.Plan, profiles.ModelProfile} <= set(classes())


@pytest.mark.parametrize(
    "kind", [*classes(), Parcel, One, Nothing, Named], ids=lambda kind: str(kind.__name__)
)
def test_a_class_of_the_library_has_the_signature_and_the_patterns_of_a_dataclass(kind: type[Any]) -> None:
    twin: type[Any] = as_dataclass_makes(kind)
    assert str(inspect.signature(kind)) == str(inspect.signature(twin))
    assert kind.__match_args__ == twin.__match_args__
    assert kind.__slots__ == twin.__slots__
    assert params(kind) == params(twin) >= {"init=True", "repr=True", "eq=True", "frozen=True"}
    methods = ("init", "repr", "eq", "hash", "setattr", "delattr", "getstate", "setstate")
    assert not [name for name in methods if f"__{name}__" not in vars(kind)]


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: str(kind.__name__))
def test_the_types_in_a_constructor_can_be_found(kind: type[Any]) -> None:
    hints = typing.get_type_hints(kind.__init__)
    assert hints.pop("return") is type(None)
    assert hints.keys() == {each.name for each in fields(kind)}


def test_it_is_made_as_any_other() -> None:
    for made in (Parcel("a"), Parcel(name="a"), Parcel("a", 3, {}, urgent=False), Parcel("a", size=3)):
        assert (made.name, made.size, made.tags, made.secret, made.urgent) == ("a", 3, {}, "", False)
    assert Parcel("a").tags is not Parcel("b").tags
    assert Parcel("a", 5).heavy()
    assert not Parcel("a", 1).heavy()
    assert str(inspect.signature(Parcel)) == str(inspect.signature(Twin))
    assert "tags: 'dict[str, Any]' = <factory>" in str(inspect.signature(Parcel))
    assert (Parcel.__doc__, Nothing(), One(value=1)) == (Twin.__doc__, Nothing(), One(1))
    assert Named(second=2) == Named(first=1, second=2)
    with pytest.raises(
        TypeError, match=r"^Parcel\.__init__\(\) missing 1 required positional argument: 'name'"
    ):
        Parcel()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"__init__\(\) got an unexpected keyword argument 'weight'"):
        Parcel("a", weight=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        Named(1, 2)  # type: ignore[misc]


@pytest.mark.parametrize("name", ["size", "other"])
def test_it_is_frozen(name: str) -> None:
    made = Parcel("a", 1)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(made, name, 2)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(made, name)
    assert made.size == 1
    assert not hasattr(made, "__dict__")


def test_it_equals_what_has_its_class_and_its_values() -> None:
    assert Parcel("a", 1) == Parcel("a", 1) != Parcel("a", 2)
    assert Parcel("a", seen=1.0) == Parcel("a", seen=2.0)
    assert Parcel("a", secret="x") != Parcel("a", secret="y")
    assert (One(1) == One(1), One(1) == One(2), Nothing() == Nothing()) == (True, False, True)
    assert One(1) != actions.Dial(1)
    assert Parcel.__eq__(Parcel("a"), "a") is NotImplemented

    class Same(One):
        """Of the same values, and not the same class."""

    assert Same(1) == Same(1) != One(1)


def test_its_hash_is_that_of_its_values() -> None:
    assert hash(Named(second=2)) == hash((1, 2))
    assert (hash(One("a")), hash(Nothing())) == (hash(("a",)), hash(()))
    assert len({One(1), One(1), One(2)}) == 2
    with pytest.raises(TypeError, match="unhashable type: 'dict'"):
        hash(Parcel("a"))


def test_it_is_printed_as_any_other() -> None:
    assert repr(Parcel("a", secret="x")) == repr(Twin("a", secret="x")).replace("Twin", "Parcel")
    assert (repr(One("a")), repr(Nothing())) == ("One(value='a')", "Nothing()")
    endless: list[object] = []
    endless.append(One(endless))
    assert repr(endless) == "[One(value=[...])]"
    round_about = One([])
    typing.cast("list[object]", round_about.value).append(round_about)
    assert repr(round_about) == "One(value=[...])"

    class Inner(One):
        """A class in a function."""

    assert repr(Inner(1)).endswith("test_it_is_printed_as_any_other.<locals>.Inner(value=1)")


def test_it_is_taken_apart_copied_and_pickled() -> None:
    made = Parcel("a", 1, {"x": [1]}, "s", 2.0, urgent=True)
    assert replace(made, size=2) == Parcel("a", 2, {"x": [1]}, "s", urgent=True)
    assert asdict(made) == {
        "name": "a", "size": 1, "tags": {"x": [1]}, "secret": "s", "seen": 2.0, "urgent": True
    }  # fmt: skip
    assert astuple(made) == ("a", 1, {"x": [1]}, "s", 2.0, True)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert asdict(pickle.loads(pickle.dumps(made, protocol))) == asdict(made)
    deep = copy.deepcopy(made)
    assert asdict(deep) == asdict(made)
    assert deep.tags is not made.tags
    assert copy.copy(made).tags is made.tags
    if sys.version_info >= (3, 13):
        assert copy.replace(made, size=2) == replace(made, size=2)


def test_it_is_matched_by_position_and_by_name() -> None:
    match Parcel("a", 1, urgent=True):
        case Parcel(name, 1, urgent=True):
            assert name == "a"
        case _:
            pytest.fail("not matched")


def test_what_a_class_defines_itself_is_kept() -> None:
    seen = []

    @frozen
    class Checked:
        """Looks at what it is given."""

        value: int

        def __post_init__(self) -> None:
            seen.append(self.value)

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Checked)

    assert repr(Checked(1)) == "mine"
    assert Checked(1) == Checked(2)
    assert seen == [1, 1, 2]
    assert hash(Checked(1)) == hash((1,))


def test_a_program_extends_it_with_a_frozen_dataclass_and_with_no_other() -> None:
    @dataclass(frozen=True)
    class Traced(Call):
        span: str = ""

    made = Traced("1", "f", {"a": 1}, span="s")
    assert repr(made).endswith("Traced(id='1', name='f', args={'a': 1}, span='s')")
    assert made == Traced("1", "f", {"a": 1}, "s") != Call("1", "f", {"a": 1})
    assert copy.deepcopy(made) == made
    assert asdict(made)["span"] == "s"
    with pytest.raises(FrozenInstanceError):
        made.span = "t"  # type: ignore[misc]
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):

        @dataclass
        class Loose(Call):
            span: str = ""


def test_a_class_that_extends_it_may_have_attributes_of_its_own() -> None:
    class Counted(One):
        """Not a dataclass itself."""

    made = Counted(1)
    made.count = 3  # type: ignore[attr-defined]
    assert made.count == 3  # type: ignore[attr-defined]
    del made.count  # type: ignore[attr-defined]
    assert not vars(made)
    with pytest.raises(FrozenInstanceError):
        made.value = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del made.value


def test_what_it_cannot_make_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match="More: expected no base that is a dataclass"):

        @frozen
        class More(One):
            """Has a base."""

    with pytest.raises(TypeError, match=re.escape("Late.value: expected a parameter of __init__")):

        @frozen
        class Late:
            """Is filled in."""

            value: int = field(init=False)

    with pytest.raises(TypeError, match="Bare: expected a docstring"):

        @frozen
        class Bare:
            value: int

    with pytest.raises(SyntaxError, match="default"):

        @frozen
        class Disorder:
            """A default in front."""

            first: int = 1
            second: int  # type: ignore[misc]


def test_it_costs_a_call_for_each_field_and_its_init_and_no_look_up() -> None:
    """Nothing but the compiled body runs: no ``__setattr__`` of Python's is called to construct one."""
    called = []

    def profile(frame: Any, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            called.append(frame.f_code.co_name if event == "call" else argument.__name__)  # type: ignore[attr-defined]

    sys.setprofile(profile)
    try:
        ToolFinished(CALL, {}, None, 0.5)
    finally:
        sys.setprofile(None)
    assert [name for name in called if name != "setprofile"] == ["__init__"]
    assert Usage(1, 2).modalities == {}


CALL = Call("1", "f", {})
