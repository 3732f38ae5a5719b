"""``@frozen``: the frozen dataclasses of the library, cheap to define and cheap to construct.

``dataclass(frozen=True, slots=True)`` writes and compiles six methods for each class, which takes most of a
millisecond, and importing the library defines some fifty. Here ``dataclass`` only collects the fields and makes the
slots. Of the methods one is compiled, ``__init__``; the others are the same for every class and are handed its fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Factory:
    """Stands in a signature for a default that is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()


@overload
def frozen(kind: type[T], /) -> type[T]: ...
@overload
def frozen(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    kind: type[T] | None = None, /, *, kw_only: bool = False
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class what ``dataclass(frozen=True, slots=True)`` makes it, in a sixth of the time.

    Its ``__init__`` stores each field in its slot. The one of ``dataclass`` calls ``object.__setattr__``, which looks
    every field up by its name and asks whether it may be set: more than half of what an event costs.

    The class has a docstring, every field is a parameter of ``__init__``, and no base is a dataclass; else
    ``TypeError`` is raised. What the class defines itself (``__repr__``, ``__post_init__``) is kept. A program may
    extend it with ``dataclass(frozen=True)``.

    ::

        @frozen
        class Word:
            word: str
            start: float | None = None
    """

    def decorate(kind: type[T]) -> type[T]:
        if any(map(is_dataclass, kind.__bases__)):
            raise TypeError(f"{kind.__name__}: expected no base that is a dataclass")
        if not kind.__doc__:
            raise TypeError(f"{kind.__name__}: expected a docstring")  # dataclass() would write a wrong one
        plain = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(kind)
        own = {
            "__init__": _init(plain),
            **_methods(plain),
            "__getstate__": _getstate,
            "__setstate__": _setstate,
        }
        for name, method in own.items():
            if vars(plain).get(name) is None:  # Python gives a class that defines __eq__ the hash None
                setattr(plain, name, method)
        params = vars(plain)["__dataclass_params__"]  # by which dataclass() judges who extends the class
        params.init = params.repr = params.eq = params.frozen = True
        return plain

    return decorate if kind is None else decorate(kind)


def _init(kind: type[Any]) -> Callable[..., None]:
    parts = fields(kind)
    given: dict[str, Any] = {"_factory": _FACTORY}  # what the text refers to
    positional: list[str] = ["self"]
    by_keyword: list[str] = []
    body: list[str] = []
    for each in parts:
        name = parameter = value = each.name
        if not each.init:
            raise TypeError(f"{kind.__name__}.{name}: expected a parameter of __init__")
        if each.default is not MISSING:
            given[f"_default_{name}"] = each.default
            parameter = f"{name}=_default_{name}"
        elif each.default_factory is not MISSING:
            given[f"_make_{name}"] = each.default_factory
            parameter, value = f"{name}=_factory", f"_make_{name}() if {name} is _factory else {name}"
        (by_keyword if each.kw_only else positional).append(parameter)
        given[f"_set_{name}"] = getattr(kind, name).__set__
        body.append(f"  _set_{name}(self, {value})")
    if hasattr(kind, "__post_init__"):
        body.append("  self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *by_keyword] if by_keyword else ())])
    text = "\n".join(
        [
            f"def make({', '.join(given)}):",
            f" def __init__({parameters}):",
            *(body or ["  pass"]),
            " return __init__",
        ]
    )
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules[kind.__module__]), made)  # where the names in its annotations are known
    init: Callable[..., None] = made["make"](**given)
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    init.__annotations__ = {**{each.name: each.type for each in parts}, "return": None}
    return init


def _methods(kind: type[Any]) -> dict[str, Callable[..., Any]]:
    """The methods that know the fields of their class."""
    parts = fields(kind)
    names = frozenset([each.name for each in parts])
    shown = [each.name for each in parts if each.repr]
    key = _key([each.name for each in parts if each.compare])

    @recursive_repr()
    def __repr__(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    def __eq__(self: Any, other: object) -> bool:
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(key(self))

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is kind or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    made: list[Any] = [__repr__, __eq__, __hash__, __setattr__, __delattr__]
    for method in made:
        method.__qualname__ = f"{kind.__qualname__}.{method.__name__}"
        method.__module__ = kind.__module__
    return {method.__name__: method for method in made}


def _key(names: list[str]) -> Callable[[Any], tuple[object, ...]]:
    """The values by which instances are compared, as a tuple."""
    if not names:
        return lambda self: ()
    get = attrgetter(*names)  # in C
    return get if len(names) > 1 else lambda self: (get(self),)


def _getstate(self: Any) -> list[object]:
    """For pickle and copy, which would set the attributes."""
    return [getattr(self, each.name) for each in fields(self)]


def _setstate(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=False):
        object.__setattr__(self, each.name, value)
