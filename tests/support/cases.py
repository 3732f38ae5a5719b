"""Many cases in one test: for what takes microseconds a case, where a test for each would take seconds in all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., None])


def cases(names: str, values: Iterable[Any], ids: Callable[[Any], object] = repr) -> Callable[[F], F]:
    """As ``pytest.mark.parametrize``, but in one test, which tries every case and names those that fail.

    For functions that use no fixture: what a fixture has set up is not set up again for the next case.
    """
    parameters = names.replace(" ", "").split(",")
    rows = [tuple(value) if len(parameters) > 1 else (value,) for value in values]
    assert rows, "there is no case"

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def every(**others: Any) -> None:
            failures: list[BaseException] = []
            for row in rows:
                try:
                    function(**dict(zip(parameters, row, strict=True)), **others)
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"in the case {', '.join(str(ids(value)) for value in row)}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} cases fail", failures)

        signature = inspect.signature(function)
        assert set(parameters) <= set(signature.parameters), f"{function.__name__} does not take {names}"
        left = [p for name, p in signature.parameters.items() if name not in parameters]
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every  # type: ignore[return-value]

    return decorate
