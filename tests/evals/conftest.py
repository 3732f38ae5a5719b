"""A shop's agent, and a conversation that is made by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import livetools
from livetools.evals import Conversation
from livetools.evals.recording.conversation_record import CallRecord, TurnRecord

MODEL = "gemini-3.8-live"


def book_table(name: str, guests: int) -> str:
    """Book a table."""
    return f"table 4 for {name}, {guests} guests"


def cancel_booking(number: int) -> str:
    """Cancel a booking."""
    return f"booking {number} is cancelled"


@pytest.fixture
def agent() -> Any:
    return partial(livetools.connect, MODEL, tools=[book_table, cancel_booking], stall_timeout=2.0)


@pytest.fixture
def conversation() -> Conversation:
    """One turn with one call, and a turn that was interrupted, and one more."""
    call = CallRecord(
        "1", "book_table", {"name": "Ann", "guests": 4}, 1, 0.2, 0.4, "finished", {"output": "table 4"}
    )
    return Conversation(
        "booking",
        [
            TurnRecord("a table", 0.0, 0.5, 1.0, "You have table 4, Ann. We look forward to your visit."),
            TurnRecord("and", 1.0, 3.0, 3.5, "Of course", interrupted=True),
            TurnRecord("thanks", 3.5, 4.0, 4.5, "You are welcome. Goodbye."),
        ],
        [call, CallRecord("2", "send_mail", {"to": "ann@example.org"}, 3, 4.0)],
        cost=0.01,
    )
