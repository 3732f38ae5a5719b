"""Runs an awaitable up to where it first waits, and tells whether it does."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class FirstStep(Generic[T]):
    """An awaitable that has been run as far as it goes without waiting, on asyncio.

    ``waits``: it is not done yet, and is to be awaited, in the same task, for its value; else that is :attr:`value`.
    What the first step raises is raised by the constructor.
    """

    __slots__ = ("_steps", "_waits_for", "value", "waits")

    def __init__(self, awaitable: Awaitable[T]) -> None:
        self._steps: Any = awaitable.__await__()  # of a coroutine or an async generator: each can throw
        self.waits, self.value = True, cast(T, None)
        try:
            self._waits_for = next(self._steps)
        except StopIteration as end:
            self.waits, self.value = False, end.value

    def __await__(self) -> Generator[Any, Any, T]:
        while True:
            try:
                yield self._waits_for
            except BaseException as error:
                try:
                    self._waits_for = self._steps.throw(error)
                except StopIteration as end:
                    return cast(T, end.value)
            else:
                return cast(
                    T, (yield from self._steps)
                )  # asyncio's tasks send nothing into it: the next step is taken
