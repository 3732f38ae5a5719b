"""A text agent with three tools. Run `python examples/text_agent.py` or `livetools chat examples/text_agent.py`."""

import asyncio
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Annotated

from offline import service
from pydantic import BaseModel, Field

from livetools import ToolError, connect, tool


class Unit(Enum):
    km = "kilometre"
    mile = "mile"
    metre = "metre"
    foot = "foot"


class Quantity(BaseModel):
    amount: float
    unit: Unit


City = Annotated[str, Field(description="its English name")]
To = Annotated[Unit, Field(description="the unit to convert it to")]
METRES = {Unit.km: 1000.0, Unit.mile: 1609.344, Unit.metre: 1.0, Unit.foot: 0.3048}


@tool(timeout=5)
async def get_weather(city: City) -> str:
    """Current weather in a city: temperature, rain, sun."""
    await asyncio.sleep(0.2)  # a weather service would be asked here
    return {"Oslo": "12 °C, rain", "Cairo": "31 °C, sun"}.get(city, "20 °C, clouds")


@tool
def get_time(city: City) -> str:
    """The time of day in a city."""
    hours = {"London": 0, "Oslo": 1, "Cairo": 2, "Tokyo": 9}  # in winter
    if city not in hours:
        raise ToolError(f"I know the time in {', '.join(hours)}, not in {city}")
    return f"{datetime.now(timezone(timedelta(hours=hours[city]))):%H:%M}"


@tool
def convert_units(quantity: Annotated[Quantity, Field(description="the length")], to: To) -> Quantity:
    """Convert a length to another unit."""
    return Quantity(amount=round(quantity.amount * METRES[quantity.unit] / METRES[to], 3), unit=to)


async def main() -> None:
    with service():
        async with connect("gemini-3.8-live", tools=[get_weather, get_time, convert_units]) as session:
            for question in ("Weather in Oslo, and the time in Tokyo?", "How many km are 26.2 miles?"):
                reply = await session.ask(question)
                print(f"> {question}\n{reply}   [{', '.join(call.name for call in reply.calls)}]\n")


if __name__ == "__main__":
    asyncio.run(main())
