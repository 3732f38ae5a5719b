"""Says what was meant by a name that is not known: an option, a field of the config, a model, a function.

For a keyword Python alone says "unexpected keyword argument". ``explains_keywords`` says which of the target's own was
meant, where another library has another name for it, or where a letter is wrong; else which ones there are.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from livetools.errors import ConfigError

T = TypeVar("T", bound=Callable[..., Any])


#: The share of a name, 0 to 1, that it must have in common with another to be taken for it.
NEAR = 0.6


class UnexpectedKeyword(ConfigError, TypeError):
    """A keyword that the function does not have. A ``TypeError`` too, as Python's own would be."""


def near_names(name: str, known: Iterable[str], *, count: int = 1, cutoff: float = NEAR) -> list[str]:
    """The nearest of the ``known`` names, nearest first: at most ``count``, each at least ``cutoff`` (0 to 1) alike."""
    from difflib import get_close_matches  # takes 2 ms to import, and only a mistake needs it

    return get_close_matches(name, list(known), n=count, cutoff=cutoff)


def did_you_mean(name: str, known: Mapping[str, str], *, count: int = 1) -> str | None:
    """``did you mean X?``, with what ``known`` says to write for each near name; ``None``: none is near."""
    near = near_names(name, known, count=count)
    return f"did you mean {' or '.join(known[each] for each in near)}?" if near else None


def unexpected_keywords(function: str, names: Iterable[str], hint: Callable[[str], str]) -> UnexpectedKeyword:
    """The error for keywords that a function does not have; ``hint`` says what was meant by one."""
    names = list(names)
    what = "unexpected keyword arguments" if len(names) > 1 else "an unexpected keyword argument"
    hints = "; ".join(map(hint, names))
    return UnexpectedKeyword(f"{function}() got {what} {', '.join(map(repr, names))}: {hints}")


def meant(word: str, known: Mapping[str, str]) -> str | None:
    """What to write for ``word``: as ``known`` says, by its name or the one that is nearest; ``None``: none is near."""
    if word in known:
        return f"use {known[word]}"
    return did_you_mean(word, known)


def keywords(function: Callable[..., object]) -> list[str]:
    """The names that a function takes as keywords."""
    taken = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in taken]


def explains_keywords(**elsewhere: str) -> Callable[[T], T]:
    """A decorator for a class or a function: an unknown keyword raises :class:`UnexpectedKeyword`, with a hint.

    ``elsewhere``: what to write for a name that others use, each the option (``"attempts="``) or the place.
    """

    def decorate(target: T) -> T:
        if isinstance(target, type):
            setattr(target, "__init__", _checked(vars(target)["__init__"], target, elsewhere))  # noqa: B010 - for mypy
            return target
        return cast(T, _checked(target, target, elsewhere))

    return decorate


def _checked(
    function: Callable[..., Any], target: Callable[..., Any], elsewhere: Mapping[str, str]
) -> Callable[..., Any]:
    own = keywords(target)
    known = {**elsewhere, **{name: f"{name}=" for name in own}}
    listed = "its options are " + ", ".join(own)
    names = frozenset(own)

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        if given and not given.keys() <= names:
            name = getattr(target, "__name__", "")
            wrong = [each for each in given if each not in names]
            raise unexpected_keywords(name, wrong, lambda each: meant(each.lower(), known) or listed)
        return function(*args, **given)

    return call
