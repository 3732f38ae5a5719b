"""``approval`` and ``undo`` with the context, and without."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from livetools import Call, Tool, ToolContext, ToolDefinitionError, tool
from livetools.tools.definition.callbacks import fits, with_context

CONTEXT: ToolContext[Any] = ToolContext(call=Call("c1", "book"))


class Undo:
    def two(self, call: object, result: object) -> None: ...
    def three(self, call: object, result: object, context: object) -> None: ...
    def __call__(self, call: object, result: object, *, context: object) -> None: ...
    @classmethod
    def cls(cls, call: object, result: object) -> None: ...
    @staticmethod
    def static(call: object, result: object, ctx: ToolContext[int]) -> None: ...


def named(call: object, result: object = None, context: object = None) -> None: ...
def annotated(call: object, result: object, where: ToolContext | None = None) -> None: ...
def aliased(
    call: object, result: object, where: Annotated[ToolContext[str], "the house"] | None = None
) -> None: ...
def own(call: object, result: object, retries: int = 3) -> None: ...
def by_keyword(call: object, result: object, *, where: ToolContext) -> None: ...
def unresolved(call: object, result: object, x: NotThere = None) -> None: ...  # type: ignore[name-defined]  # noqa: F821
async def later(call: object, result: object, context: object) -> None: ...


TAKES: list[tuple[Callable[..., Any], str]] = [
    (Undo().two, ""),
    (Undo.cls, ""),
    (own, ""),
    (unresolved, ""),
    (lambda call, result: None, ""),
    (lambda *args: None, ""),
    (print, ""),
    (functools.partial(own, retries=2), ""),
    (functools.partial(lambda house, call, result: None, "house"), ""),
    (Undo().three, "positional"),
    (Undo.static, "positional"),
    (named, "positional"),
    (annotated, "positional"),
    (aliased, "positional"),
    (later, "positional"),
    (lambda call, result, c: None, "positional"),
    (functools.partial(lambda house, call, result, c: None, "house"), "positional"),
    (Undo(), "context"),
    (by_keyword, "where"),
]


@pytest.mark.parametrize(("function", "how"), TAKES, ids=map(str, range(len(TAKES))))
def test_the_context_is_given_to_who_takes_it(function: Callable[..., Any], how: str) -> None:
    assert fits(function, 2)
    positional, keyword = with_context(function, ("call", "result"), CONTEXT)
    if how == "positional":
        assert (positional, keyword) == (("call", "result", CONTEXT), {})
    else:
        assert positional == ("call", "result")
        assert keyword == ({how: CONTEXT} if how else {})
    result = function(*positional, **keyword)
    if function is later:
        result.close()


WRONG: list[Callable[..., Any]] = [
    lambda: None,
    lambda call: None,
    lambda call, result, context, extra: None,
    lambda call, result, *, house: None,
    functools.partial(lambda call, result: None, "call"),
    Undo.three,
]


@pytest.mark.parametrize("wrong", WRONG, ids=["0", "1", "4", "named", "partial", "method"])
def test_a_callable_that_cannot_be_called_so_is_refused_when_it_is_decorated(
    wrong: Callable[..., Any],
) -> None:
    def book(table: int) -> None:
        """Books."""

    with pytest.raises(
        ToolDefinitionError, match=r"book: undo=.* has the wrong parameters: it must take \(call, result"
    ):
        tool(undo=wrong)(book)
    with pytest.raises(ToolDefinitionError, match="undo"):
        Tool(book, undo=lambda: None)


@pytest.mark.parametrize(
    "wrong", [lambda: True, lambda args, context, more: True, lambda *, args: True], ids=["0", "3", "named"]
)
def test_an_approval_of_the_wrong_arity_is_refused_when_it_is_decorated(wrong: Callable[..., Any]) -> None:
    def book(table: int) -> None:
        """Books."""

    with pytest.raises(
        ToolDefinitionError, match=r"approval=.* has the wrong parameters: it must take \(args"
    ):
        tool(approval=wrong)(book)
    for right in (lambda args: True, lambda args, context: True, lambda args, *, context: True, bool, print):
        tool(approval=right)(book)
