"""The tables of the guide to results: each row is returned by a tool, on every model."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pydantic
import pytest

from livetools import Tool
from livetools.setup.model_profiles import find

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]
GUIDE = Path(__file__).parents[2] / "docs/guides/results.md"
MODELS = [
    "gemini-3.8-live",
    "gemini-3.8-live-extended-thinking",
    "gemini-3.1-flash-live-preview",
    "gemini-2.5-flash-native-audio-preview-12-2025",
    "gemini-live-2.5-flash-preview",
]


@dataclasses.dataclass
class Booking:
    number: int
    day: date


class Point(NamedTuple):
    x: int
    y: int


class Guest(pydantic.BaseModel):
    name: str


class Colour(enum.Enum):
    RED = "red"


class Table:
    """As polars' or pandas'."""

    def to_dicts(self) -> list[dict[str, Any]]:
        return [{"id": 1, "name": "Ann"}]


def row() -> sqlite3.Row:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        found: sqlite3.Row = connection.execute("select 1 as id, 'Ann' as name").fetchone()
        return found


NAMES: dict[str, Any] = {
    **{one.__name__: one for one in (Booking, Point, Guest, Colour, date, datetime, timedelta, Decimal)},
    "row": row(),
    "table": Table(),
    "PNG": b"\x89PNG\r\n\x1a\n" + b"\0" * 20,
    "WAV": b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 8,
}


def rows(heading: str) -> Iterator[tuple[str, str]]:
    """The code and the answer of each row of a table, by its heading."""
    table = GUIDE.read_text().partition(heading)[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        code, answer = (re.findall(r"`([^`]+)`", cell)[0] for cell in line.strip("|").split(" | "))
        yield code, answer


VALUES = list(rows("| Value | In the response |"))
ERRORS = list(rows("| Value | The error names |"))


def returning(code: str, name: str = "value") -> Tool:
    def value() -> object:
        """Give the value."""
        return eval(code, dict(NAMES))  # an expression of the guide's

    return Tool(value, name=name)


async def sent(line: Any, name: str) -> Any:
    line.call({"name": name, "id": name, "args": {}})
    return (await line.responses(1))[0]


@pytest.mark.parametrize("model", MODELS)
async def test_each_value_becomes_what_the_guide_says(opened: Opened, model: str) -> None:
    config = {"thinking_config": {"thinking_level": "LOW"}} if "thinking" in model else None
    tools = [returning(code, f"v{n}") for n, (code, _) in enumerate([*VALUES, *ERRORS])]
    async with opened(tools, model=model, config=config) as line:
        for n, (code, answer) in enumerate(VALUES):
            found = await sent(line, f"v{n}")
            assert found["response"]["output"] == json.loads(answer), code
            assert ("parts" in found) is (code == "PNG" and "image/png" in find(model).media)
            assert ("note" in found["response"]) is (code in ("PNG", "WAV") and "parts" not in found)
        for n, (code, words) in enumerate(ERRORS, len(VALUES)):
            assert words in (await sent(line, f"v{n}"))["response"]["error"], code


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(("code", "answer"), VALUES)
async def test_offline_and_inside_of_a_list_it_becomes_the_same(code: str, answer: str) -> None:
    assert (await returning(code).call({}))["output"] == json.loads(answer)
    nested = await returning(f"[{{'inner': {code}}}]").call({})
    assert nested["output"] == [{"inner": json.loads(answer)}]


def test_the_guide_has_both_tables() -> None:
    assert len(VALUES) > 15
    assert len(ERRORS) == 3
