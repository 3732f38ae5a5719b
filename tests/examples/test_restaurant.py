"""The restaurant: deps, approval and undo."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from livetools import Tool

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
