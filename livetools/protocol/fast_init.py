"""Makes the construction of frozen dataclasses cheap, for those that every call makes."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def fast_init(kind: type[T]) -> type[T]:
    """Give a frozen dataclass with slots an ``__init__`` that stores each field in its slot.

    The one of ``dataclass`` calls ``object.__setattr__``, which looks every field up by its name and asks whether it
    may be set: more than half of what an event costs. For fields without a default factory.
    """
    names = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # a dataclass
    if any(each.default_factory is not MISSING for each in fields(kind)):  # type: ignore[arg-type]
        raise TypeError(f"{kind.__name__}: a field has a default factory")
    slots: dict[str, Any] = {f"set_{name}": vars(kind)[name].__set__ for name in names}
    body = "\n".join(f"    set_{name}(self, {name})" for name in names)
    exec(f"def __init__(self, {', '.join(names)}):\n{body}\n", slots)
    made, given = slots["__init__"], kind.__init__
    made.__defaults__, made.__annotations__ = given.__defaults__, given.__annotations__
    made.__qualname__, made.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    kind.__init__ = made  # type: ignore[method-assign]
    return kind
