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

from .sdk.camel_case import camel, snake

T = TypeVar("T", bound=Callable[..., Any])


#: What other APIs take, and Live does not (ai.google.dev/api/live, 2026-09).
NOT_LIVE = frozenset({
    "responseLogprobs", "responseMimeType", "logprobs", "responseSchema", "responseJsonSchema", "stopSequences",
    "routingConfig", "audioTimestamp",
})  # fmt: skip
#: What other APIs call the choice of tools, which Live does not have.
TOOL_CHOICE = frozenset({"toolConfig", "toolChoice", "functionCallingConfig"})
#: The share of a name, 0 to 1, that it must have in common with another to be taken for it.
NEAR = 0.6


class UnexpectedKeyword(ConfigError, TypeError):
    """A keyword that the function does not have. A ``TypeError`` too, as Python's own would be."""


def near_names(name: str, known: Iterable[str], *, count: int = 1, cutoff: float = NEAR) -> list[str]:
    """The nearest of the ``known`` names, nearest first: at most ``count``, each at least ``cutoff`` (0 to 1) alike."""
    from difflib import get_close_matches  # takes 2 ms to import, and only a mistake needs it

    return get_close_matches(name, list(known), n=count, cutoff=cutoff)


def did_you_mean(name: str, known: Mapping[str, str], *, count: int = 1) -> str | None:
    """``use X``, with what ``known`` says to write for this name; else ``did you mean X?``, with what it says for each
    name that is near; ``None``: none is."""
    if name in known:
        return f"use {known[name]}"
    near = near_names(name, known, count=count)
    return f"did you mean {' or '.join(known[each] for each in near)}?" if near else None


def not_in_live(name: str) -> str | None:
    """Why Live has no field of this name (in camelCase), which other APIs have; ``None``: they have none either."""
    if name in TOOL_CHOICE:
        return (
            "a Live session cannot force or forbid calls (python-genai#468). "
            "Use allowed=[...]: a call to another tool is answered with an error."
        )
    return "the Live API does not support it; leave it out" if name in NOT_LIVE else None


def unexpected_keywords(
    target: Callable[..., object], names: Iterable[str], elsewhere: Mapping[str, str], nothing: str = ""
) -> UnexpectedKeyword:
    """The error for keywords that a function or a class does not have. It says what was meant by each.

    ``elsewhere``: what to write for names that are not its own; ``nothing``: the words where none is near.
    """
    own, names = keywords(target), list(names)
    known = {**elsewhere, **{name: f"{name}=" for name in own}}
    nothing = nothing or "its options are " + ", ".join(own)
    hints = "; ".join(dict.fromkeys(_meant(name, known) or nothing for name in names))  # each once
    what = "unexpected keyword arguments" if len(names) > 1 else "an unexpected keyword argument"
    return UnexpectedKeyword(f"{target.__name__}() got {what} {', '.join(map(repr, names))}: {hints}")


def _meant(name: str, known: Mapping[str, str]) -> str | None:
    """The hint for one keyword, whatever its spelling; ``None``: nothing is near."""
    # As an option is spelt: API_KEY is api_key, tools_ is tools, responseModalities is response_modalities.
    word = (name.lower() if "_" in name or name.isupper() else snake(name)).strip("_")
    if why := not_in_live(camel(word)):  # though the config may have it
        return why if "allowed" in known else why.partition(". ")[0]
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
        own = frozenset(keywords(target))
        function = vars(target)["__init__"] if isinstance(target, type) else target

        @functools.wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            if given and not given.keys() <= own:
                raise unexpected_keywords(target, [each for each in given if each not in own], elsewhere)
            return function(*args, **given)

        if isinstance(target, type):
            setattr(target, "__init__", call)  # noqa: B010 - for mypy
            return target
        return cast(T, call)

    return decorate
