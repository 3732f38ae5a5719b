"""A session and other work in one task group. Run `python examples/background_task.py [trio]`."""

import sys
from dataclasses import dataclass

import anyio
from offline import service

from livetools import Session, ToolContext, ToolFinished, connect, tool


@dataclass
class House:
    temperature: float = 18.0
    target: float = 18.0


@tool
async def get_temperature(house: ToolContext[House]) -> str:
    """The temperature in the house."""
    return f"{house.deps.temperature:.1f} °C, going to {house.deps.target:.1f}"


@tool
async def set_target(celsius: float, house: ToolContext[House]) -> str:
    """Set the thermostat to a target."""
    house.deps.target = celsius
    return "set"


async def heat(house: House) -> None:
    """The other work: a step towards the target ten times a second."""
    while True:
        house.temperature += max(-0.5, min(0.5, house.target - house.temperature))
        await anyio.sleep(0.1)


async def log(session: Session) -> None:
    async for event in session:
        if isinstance(event, ToolFinished):
            print(f"  {event.call.name} {dict(event.call.args)} → {dict(event.response)}")


async def main() -> None:
    house = House()
    tools = [get_temperature, set_target]
    with service():
        async with (
            connect("gemini-3.8-live", tools=tools, deps=house) as session,
            anyio.create_task_group() as group,
        ):
            group.start_soon(heat, house)
            group.start_soon(log, session)
            for question in ("Set the target to 21 degrees", "What is the temperature?"):
                print(f"> {question}\n{await session.ask(question)}")
            group.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main, backend="trio" if "trio" in sys.argv else "asyncio")
