"""Adapts annotations for pydantic, where it would refuse one or read it otherwise than a model sends it."""

from __future__ import annotations

import base64
import binascii
import collections.abc
import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NotRequired, Union

import typing_extensions
from pydantic import BeforeValidator, EncodedBytes, Field, ValidationError, WithJsonSchema, WrapValidator

from livetools.tools.definition.annotations import fields_of
from livetools.tools.schemas.python_types import as_key


class _Typed(typing.TypedDict):
    """One of the standard library's typed dicts, whose class has no public name."""


# before 3.12 they do not tell pydantic what it must know, and it refuses them
FOREIGN_TYPED_DICT: Any = type(_Typed) if sys.version_info < (3, 12) else ()
CALLABLE: Any = collections.abc.Callable
_LISTED: Mapping[Any, Any] = {collections.abc.Iterable: list, collections.abc.Collection: list}
"""What pydantic validates only as it is read, or does not take, and what is taken instead."""


def fit(annotation: Any, seen: dict[Any, Any] | None = None) -> Any:
    """The annotation as it is given to pydantic.

    An enum is taken by name as well as by value, bytes come as base64, ``object`` is any value, an
    ``Iterable`` a list, a text in ``Annotated`` the description, and ``typing.TypedDict`` works before Python
    3.12, where pydantic refuses it.
    """
    seen = {} if seen is None else seen
    if annotation is object or annotation is inspect.Parameter.empty:
        return Any
    if annotation is bytes:
        return BASE64
    if annotation is typing.LiteralString:
        return str
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return Annotated[annotation, WrapValidator(functools.partial(_by_name, annotation))]
    if FOREIGN_TYPED_DICT and isinstance(annotation, FOREIGN_TYPED_DICT):
        return _typed_dict(annotation, seen)
    return _fit_generic(annotation, seen)


def _fit_generic(annotation: Any, seen: dict[Any, Any]) -> Any:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        if any(isinstance(one, EncodedBytes) for one in inner[1:]):
            return annotation  # pydantic's Base64Bytes and others, which decode by themselves
        return _annotated(fit(inner[0], seen), [_described(m) for m in inner[1:]])
    if origin in (Union, types.UnionType):
        return Union[tuple(fit(a, seen) for a in inner)]  # noqa: UP007  # made of a tuple
    if origin is Literal:
        members = _literals(inner)
        return (
            Annotated[annotation, BeforeValidator(functools.partial(_member, members))]
            if members
            else annotation
        )
    generic: Any = origin or annotation
    if not isinstance(generic, type) or generic is CALLABLE:
        return annotation
    listed = _LISTED.get(generic, generic)
    fitted = tuple(a if a is Ellipsis else fit(a, seen) for a in inner)
    if inner and issubclass(generic, collections.abc.Mapping):
        fitted = (_fit_key(inner[0], fitted[0]), *fitted[1:])
    if fitted == inner and listed is generic:
        return annotation
    return listed[fitted] if fitted else listed


def _literals(choices: tuple[Any, ...]) -> dict[Any, Any]:
    """What a model may send for the choices of a ``Literal`` that are not texts, beside themselves."""
    texts = [one for one in choices if type(one) is str]
    named = [one for one in choices if isinstance(one, enum.Enum)]
    members: dict[Any, Any] = {as_key(one): one for one in choices if type(one) in (int, bool)}
    members |= {as_key(one.value): one for one in named if _is_number(one.value)}
    members |= {one.decode(): one for one in choices if isinstance(one, bytes) and one.isascii()}
    members = {key: one for key, one in members.items() if key not in texts}
    return members | {
        w: one for one in named for w in (one.name, one.value) if isinstance(w, typing.Hashable)
    }


def _fit_key(annotation: Any, fitted: Any) -> Any:
    """The annotation of a mapping's keys. In JSON every key is a text, those of enums and literals of numbers too."""
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        members = {as_key(m.value): m for m in annotation if _is_number(m.value)}
    elif typing.get_origin(annotation) is Literal:
        members = {as_key(m): m for m in typing.get_args(annotation) if type(m) in (int, bool)}
    else:
        return fitted
    return Annotated[fitted, BeforeValidator(functools.partial(_member, members))] if members else fitted


def _annotated(fitted: Any, metadata: list[Any]) -> Any:
    """``Annotated``, with what :func:`fit` added to the type placed after the bounds on the type itself.

    ``Strict()`` goes on an enum, and on nothing that is wrapped around it; validators of the user's come before ours.
    """
    if typing.get_origin(fitted) is not Annotated:
        return Annotated[(fitted, *metadata)]
    base, *ours = typing.get_args(fitted)
    bounds = [m for m in metadata if not hasattr(m, "__get_pydantic_core_schema__")]
    validators = [m for m in metadata if hasattr(m, "__get_pydantic_core_schema__")]
    return Annotated[(base, *bounds, *ours, *validators)]


def _typed_dict(annotation: Any, seen: dict[Any, Any]) -> Any:
    """A ``typing.TypedDict`` made again with ``typing_extensions``."""
    if annotation in seen:
        return seen[annotation]
    seen[annotation] = annotation  # a circle cannot be made again: pydantic's own message says what to do
    fields = {
        name: fit(hint, seen) if required else NotRequired[fit(hint, seen)]
        for name, (hint, required) in fields_of(annotation).items()
    }
    again = typing_extensions.TypedDict(annotation.__name__, fields)  # type: ignore[misc]  # made at run time
    again.__doc__, again.__module__ = annotation.__doc__, annotation.__module__
    if hasattr(annotation, "__pydantic_config__"):
        again.__pydantic_config__ = annotation.__pydantic_config__  # type: ignore[attr-defined]  # for pydantic
    seen[annotation] = again
    return again


def _by_name(kind: type[enum.Enum], value: object, validate: Callable[[object], object]) -> object:
    try:
        return validate(value)
    except ValidationError:
        if isinstance(value, str):
            if value in kind.__members__:
                return kind[value]
            # A number in a text, which a model sends now and then: a parameter that is a number takes it, too.
            for member in kind:
                if _is_number(member.value) and as_key(member.value) == value:
                    return member
        raise


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _described(metadata: Any) -> Any:
    """A text in ``Annotated``, or a ``Doc(...)`` of one, is the description."""
    text = getattr(metadata, "documentation", metadata)  # typing_extensions.Doc, annotated_doc.Doc
    return Field(description=text) if isinstance(text, str) else metadata


def _member(members: Mapping[Any, object], value: object) -> object:
    return members.get(value, value) if isinstance(value, str | int | float) else value


def _from_base64(value: object) -> object:
    if not isinstance(value, str):
        return value
    plain = value.strip().rstrip("=").translate(URL_SAFE)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        raise ValueError("it is not base64 text") from None


URL_SAFE = str.maketrans("-_", "+/")
BASE64 = Annotated[
    bytes, BeforeValidator(_from_base64), WithJsonSchema({"type": "string", "format": "base64"})
]
