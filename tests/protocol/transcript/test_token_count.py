"""The tokens of a session: the last count of each turn, also one that comes after its end."""

from __future__ import annotations

import json
from typing import Any

from support.driver import Driver, plan

from livetools.events import Usage
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.transcript.token_count import TokenCount

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


def test_only_a_count_that_grows_within_a_turn_shows_that_the_model_works() -> None:
    tokens = TokenCount()
    assert tokens.count(Usage(prompt_tokens=5, total_tokens=5))
    assert not tokens.count(Usage(prompt_tokens=5, total_tokens=5, raw={"promptTokenCount": 5}))
    assert not tokens.count(Usage(prompt_tokens=4, total_tokens=4))
    assert tokens.count(Usage(prompt_tokens=4, response_tokens=1, total_tokens=5))
