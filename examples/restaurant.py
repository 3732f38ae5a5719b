"""A restaurant that takes bookings. Run `livetools chat examples/restaurant.py`, or `livetools web` with it."""

from dataclasses import dataclass, field
from typing import Any

from livetools import Call, Session, ToolContext, ToolError, connect, tool


@dataclass
class House:
    """The bookings of one evening: number → name and guests."""

    seats: int = 40
    bookings: dict[int, tuple[str, int]] = field(default_factory=dict)

    def free(self) -> int:
        return self.seats - sum(guests for _, guests in self.bookings.values())


def unbook(call: Call, result: object, context: ToolContext[House]) -> None:
    """Free the table: the guest was not told of the booking, because the call was cancelled or the session ended."""
    bookings = context.deps.bookings
    for number in [n for n, (name, _) in bookings.items() if name == call.args["name"]]:
        del bookings[number]


@tool(undo=unbook, duplicates="join")
async def book_table(name: str, guests: int, context: ToolContext[House]) -> str:
    """Book a table for this evening, in the name of a guest."""
    house = context.deps
    if guests > house.free():
        raise ToolError(f"only {house.free()} seats are free")
    number = len(house.bookings) + 1
    house.bookings[number] = (name, guests)
    return f"booking {number}: {guests} guests, {name}"


@tool(approval=True)
async def cancel_booking(number: int, context: ToolContext[House]) -> str:
    """Cancel a booking by its number. A person at the restaurant approves it first."""
    if number not in context.deps.bookings:
        raise ToolError(f"there is no booking {number}")
    name, guests = context.deps.bookings.pop(number)
    return f"booking {number} of {name} for {guests} is cancelled"


def agent(**options: Any) -> Session:
    """Each conversation gets its own house, unless `deps` is passed."""
    return connect(
        "gemini-3.8-live",
        tools=[book_table, cancel_booking],
        instructions="You take bookings for a restaurant. Be brief. Repeat the name and the number of guests.",
        **{"deps": House(), **options},
    )
