"""What a model is told of defaults, enums and literals, and what it may send for them."""

from __future__ import annotations

import datetime
import enum
import json
from typing import Any, Literal

import pytest
from pydantic import SecretStr

from livetools import Tool


class Paint(enum.Enum):
    RED = (255, 0, 0)
    GREEN = (0, 255, 0)


class Kind(enum.Enum):
    WHOLE = int
    TEXT = str


def declared(function: Any) -> dict[str, Any]:
    properties: dict[str, Any] = Tool(function).declaration()["parameters"]["properties"]
    return properties


def test_defaults_are_told_whatever_their_type_but_for_secrets() -> None:
    def f(
        either: int | str = 3,
        day: datetime.date = datetime.date(2026, 1, 2),
        counts: list[int] = [1, 2],  # noqa: B006
        by_name: dict[str, int] = {"a": 1},  # noqa: B006
        maybe: list[str] | None = ["a"],  # noqa: B006
        nothing: list[str] | None = None,
        secret: SecretStr = SecretStr("hunter2"),  # noqa: B008
        text: SecretStr = "hunter2",  # type: ignore[assignment]
        long: list[int] = list(range(500)),  # noqa: B006
    ) -> None: ...

    told = declared(f)
    assert told["either"] == {"anyOf": [{"type": "INTEGER", "default": 3}, {"type": "STRING"}]}
    assert told["day"]["default"] == "2026-01-02"
    assert told["counts"]["default"] == [1, 2]
    assert told["by_name"]["default"] == {"a": 1}
    assert told["maybe"]["default"] == ["a"]
    assert not any("default" in told[name] for name in ("nothing", "secret", "text", "long"))
    assert "hunter2" not in json.dumps(told)


@pytest.mark.parametrize("kind", [Paint, Kind])
@pytest.mark.anyio
async def test_an_enum_of_objects_is_declared_and_taken_by_its_names(kind: Any) -> None:
    def f(c: Any) -> str:
        return str(c.name)

    f.__annotations__ = {"c": kind}
    (told,) = declared(f).values()
    assert told["enum"] == [member.name for member in kind]
    for member in kind:
        assert await Tool(f).call({"c": member.name}) == {"output": member.name}


def test_a_number_that_is_chosen_may_come_as_text() -> None:
    def f(n: Literal[1, "x", "2", 2, True]) -> None: ...

    for sent, got in ((1, 1), ("1", 1), ("x", "x"), ("2", "2"), (2, 2), ("true", True)):
        assert Tool(f).arguments({"n": sent}) == {"n": got}
