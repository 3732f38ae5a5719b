"""The restaurant: deps, approval and undo; and its evals."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from livetools import Tool
from livetools.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def restaurant(example):
    return example("restaurant")


def test_a_house_that_is_full_takes_no_more(restaurant):
    house = restaurant.House(seats=4)
    book = Tool(restaurant.book_table)
    first = asyncio.run(book.call({"name": "Ann", "guests": 4}, deps=house))
    assert first == {"output": "booking 1: 4 guests, Ann"}
    assert asyncio.run(book.call({"name": "Bob", "guests": 1}, deps=house)) == {
        "error": "only 0 seats are free"
    }


def test_its_evals_pass_offline():
    result = CliRunner().invoke(app, ["eval", "--fake", str(EXAMPLES / "evals" / "restaurant.yaml")])
    assert result.exit_code == 0, result.output
    assert "3 passed, 0 failed" in result.output
