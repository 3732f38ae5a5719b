"""JSON Schema as pydantic writes it, for tools."""

from __future__ import annotations

import enum
import warnings
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from livetools.tools.schemas.python_types import ToolSchema


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Colour(enum.Enum):
    RED = "r"


def said(annotation: Any) -> dict[str, Any]:
    return TypeAdapter(annotation).json_schema(schema_generator=ToolSchema)


def test_a_decimal_is_a_number_at_any_depth() -> None:
    class Item(BaseModel):
        price: Decimal

    assert said(Item)["properties"] == {"price": {"type": "number"}}
    assert said(Annotated[Decimal, Field(ge=1, lt=Decimal("2.5"))]) == {
        "type": "number",
        "minimum": 1.0,
        "exclusiveMaximum": 2.5,
    }


def test_names_are_said_where_values_are_no_texts() -> None:
    assert said(Level)["x-enum-varnames"] == ["LOW", "HIGH"]
    assert "x-enum-varnames" not in said(Colour)


def test_a_default_that_is_no_json_is_left_out_in_silence() -> None:
    class Item(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: Any = object()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert said(Item)["properties"] == {"thing": {}}
