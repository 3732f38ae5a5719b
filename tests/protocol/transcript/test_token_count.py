"""The tokens of a session: the last count of each turn, also one that comes after its end."""

from __future__ import annotations

import json
from typing import Any

from support.driver import Driver, plan

from livetools.protocol.connection.reconnect_policy import ReconnectPolicy

END = {"turnComplete": True}


def count(total: int) -> dict[str, Any]:
    return {"usageMetadata": {"totalTokenCount": total}}


def total(*frames: dict[str, Any] | str) -> int:
    """The tokens of a session in which these frames came; text is what the model says."""
    d = Driver(plan()).live()
    for frame in frames:
        d.say(frame) if isinstance(frame, str) else d.server(json.dumps(frame))
    return d.machine.usage.total_tokens


def end(total: int | None = None) -> dict[str, Any]:
    return {"serverContent": END} | ({} if total is None else count(total))


def test_of_several_counts_of_a_turn_the_last_holds_and_turns_are_added() -> None:
    assert total("a", count(100), count(150), end(180), "b", end(20)) == 200


def test_a_count_after_the_end_of_a_turn_is_that_turn_s() -> None:
    assert total("a", end(), count(12)) == 12
    assert total("a", end(), count(12), "b", end(20)) == 32
    assert total("a", end(), count(12), "b", end(), count(20)) == 32


def test_a_count_after_the_end_replaces_one_before_it() -> None:
    assert total("a", end(10), count(12), count(13), "b", end(20)) == 33


def test_a_turn_in_which_nothing_was_said_has_a_count_of_its_own() -> None:
    assert total("a", end(10), end(5), "b", end(20)) == 35
    assert total("a", end(10), count(5), end(), "b", end(20)) == 35
    assert total("a", end(10), end(), end(), "b", end(20)) == 30


def test_a_turn_that_begins_with_a_call_is_another_turn() -> None:
    call = {"toolCall": {"functionCalls": [{"id": "c1", "name": "tool", "args": {}}]}}
    assert total("a", end(), count(12), call, end(20)) == 32


def test_what_was_counted_of_a_turn_that_a_lost_connection_cut_is_kept() -> None:
    d = Driver(plan(), ReconnectPolicy()).live()
    d.say("a").server(count(7)).drop().later(1)
    d.establish().say("b").server(end(20))
    assert d.machine.usage.total_tokens == 27
