"""The dispatcher by itself, as it stands beside somebody else's session: calls in, actions, events and answers out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import pytest
from support.driver import plan
from support.world import responses

from livetools.protocol.actions import Consult, Outcome, Start, Stop, Undo
from livetools.protocol.calls import REMEMBERED, Calls
from livetools.protocol.events import ApprovalRequested, ToolFinished, ToolStarted
from livetools.protocol.terms import CallPolicy, Plan


@dataclass
class Asked:
    id: str | None
    name: str = "tool"
    args: Mapping[str, Any] = field(default_factory=dict)


class Bench:
    """A dispatcher, and all that came of it."""

    def __init__(self, of: Plan) -> None:
        self.events: list[Any] = []
        self.actions: list[Any] = []
        self.calls = Calls(of, self.events.append, self.actions.append)

    def offer(self, *asked: Asked, link: int = 0, now: float = 0.0) -> None:
        self.calls.offer(link, asked, now)

    def answers(self, link: int = 0) -> list[dict[str, Any]]:
        return [
            r
            for reply in self.calls.replies.frames(link)
            for r in responses(json.loads(reply.make() or b"{}"))
        ]

    def of(self, kind: type) -> list[Any]:
        return [x for x in (*self.actions, *self.events) if isinstance(x, kind)]


def bench(*policies: CallPolicy, **fields: Any) -> Bench:
    return Bench(plan(*(policies or (CallPolicy("tool"),)), **fields))


def test_calls_start_in_their_order_and_each_is_told_before_it_starts() -> None:
    b = bench()
    b.offer(Asked("a"), Asked("b"))
    assert [s.call.id for s in b.of(Start)] == ["a", "b"]
    assert [e.call.id for e in b.of(ToolStarted)] == ["a", "b"]


def test_a_late_settle_of_an_answered_call_does_nothing() -> None:
    b = bench(CallPolicy("tool", timeout=1.0))
    b.offer(Asked("a"))
    b.calls.tick(1.0)
    assert b.answers()[0]["response"] == {"error": "timed out after 1 s"}
    b.calls.settled(1, Outcome({"output": "late"}), 2.0)
    assert b.answers() == []
    assert len(b.of(ToolFinished)) == 1


def test_the_time_that_a_call_took_is_told() -> None:
    b = bench()
    b.offer(Asked("a"), now=5.0)
    b.calls.settled(1, Outcome({"output": 1}), 7.5)
    assert b.of(ToolFinished)[0].elapsed == 2.5


def test_the_clock_is_wanted_at_the_first_deadline_and_not_at_all_without_one() -> None:
    b = bench(CallPolicy("tool", timeout=9.0), CallPolicy("ever", timeout=None))
    assert b.calls.wake_at() == inf
    b.offer(Asked("a", "ever"))
    assert b.calls.wake_at() == inf
    b.offer(Asked("b"), now=1.0)
    assert b.calls.wake_at() == 10.0


def test_an_approval_is_sought_by_the_tool_itself_or_of_a_person() -> None:
    b = bench(CallPolicy("asks", approval="ask"), CallPolicy("consults", approval="consult"))
    b.offer(Asked("a", "asks"), Asked("b", "consults"))
    assert [c.call.id for c in b.of(Consult)] == ["b"]
    assert [e.call.id for e in b.of(ApprovalRequested)] == ["a"]
    b.calls.ask(2, 0.0)
    assert [e.call.id for e in b.of(ApprovalRequested)] == ["a", "b"]
    assert b.of(Start) == []


def test_a_waiting_call_is_told_to_the_model_where_it_takes_that() -> None:
    b = bench(CallPolicy("tool", approval="ask", interim=True, takes_scheduling=True))
    b.offer(Asked("a"))
    [interim] = b.answers()
    assert interim["willContinue"] is True
    assert interim["scheduling"] == "SILENT"
    assert b.calls.approve(1, 0.0)
    assert not b.calls.approve(1, 0.0), "twice"
    assert not b.calls.refuse(1, "no", 0.0)


def test_a_call_that_is_only_declared_waits_to_be_answered_by_hand() -> None:
    b = bench(CallPolicy("tool", handled=False, timeout=5.0))
    b.offer(Asked("a"), Asked("b"))
    assert b.of(Start) == []
    assert [c["waiting_for"] for c in b.calls.stats(0.0)] == ["session.respond"] * 2
    run = b.calls.run_of("a")
    assert run is not None
    b.calls.settled(run, Outcome({"output": 1}), 1.0)
    assert [r["id"] for r in b.answers()] == ["a"]
    b.calls.tick(5.0)
    assert "timed out" in b.answers()[0]["response"]["error"]


def test_only_a_handler_that_runs_and_may_be_stopped_is_stopped() -> None:
    b = bench(CallPolicy("tool"), CallPolicy("stubborn", cancellable=False))
    b.offer(Asked("a"), Asked("b", "stubborn"), Asked("c"))
    b.calls.settled(3, Outcome({}), 0.0)
    b.calls.cancel(["a", "b", "c"], 0.0)
    assert [s.call.id for s in b.of(Stop)] == ["a"]
    b.calls.settled(2, Outcome({"output": "done"}), 1.0)
    assert b.answers() == []


@pytest.mark.parametrize("how", ["cancelled", "expired", "closed"])
def test_what_had_effects_is_undone_once_with_what_was_done(how: str) -> None:
    b = bench(CallPolicy("tool", undo=True, timeout=1.0))
    b.offer(Asked("a"))
    if how == "cancelled":
        b.calls.cancel(["a"], 0.5)
        b.calls.cancel(["a"], 0.5)
    elif how == "expired":
        b.calls.tick(1.0)
    else:
        b.calls.close(0.5)
    assert b.of(Undo) == []
    b.calls.settled(1, Outcome({}, result="table 7"), 2.0)
    assert [u.result for u in b.of(Undo)] == ["table 7"]


def test_identical_calls_share_a_run_only_while_it_runs_and_only_if_identical() -> None:
    b = bench(CallPolicy("tool", join=True))
    b.offer(Asked("a", args={"n": 1}), Asked("b", args={"n": 1}), Asked("c", args={"n": 2}))
    assert [s.call.id for s in b.of(Start)] == ["a", "c"]
    b.calls.settled(1, Outcome({"output": "x"}), 0.0)
    assert {r["id"]: r["response"]["output"] for r in b.answers()} == {"a": "x", "b": "x"}
    b.offer(Asked("d", args={"n": 1}))
    assert [s.call.id for s in b.of(Start)] == ["a", "c", "d"]


def test_parts_that_cannot_stream_are_told_and_not_sent() -> None:
    b = bench()
    b.offer(Asked("a"))
    b.calls.progress(1, 1, 0.0, Outcome({"output": 1}))
    assert b.answers() == []
    assert [type(e).__name__ for e in b.events] == ["ToolStarted", "ToolProgress"]


def test_blocking_is_what_the_model_stands_still_for() -> None:
    b = bench(CallPolicy("tool"), CallPolicy("free", behavior="NON_BLOCKING"))
    b.offer(Asked("a", "free"))
    assert not b.calls.blocking()
    b.offer(Asked("b"))
    assert b.calls.blocking()
    b.calls.settled(2, Outcome({}), 0.0)
    assert b.calls.blocking(), "until the answer is written"
    b.answers()
    assert not b.calls.blocking()


def test_stats_name_every_open_call_with_what_it_waits_for() -> None:
    b = bench(CallPolicy("tool", concurrency=1))
    b.offer(Asked("a"), Asked("b"), now=1.0)
    told = [(c["id"], c["state"], c["waiting_for"], c["seconds"]) for c in b.calls.stats(4.0)]
    assert told == [("a", "owed", "its handler", 3.0), ("b", "owed", "a free slot", 3.0)]


def test_what_is_remembered_is_bounded_and_open_calls_are_not_forgotten() -> None:
    b = bench()
    b.offer(Asked("open"))
    for n in range(3 * REMEMBERED):
        b.offer(Asked(f"c{n}"))
        b.calls.settled(n + 2, Outcome({}), 0.0)
        b.answers()
        b.calls.heard()
    assert len(b.calls.by_id) <= 2 * REMEMBERED + 1
    b.offer(Asked("open"), Asked(f"c{3 * REMEMBERED - 1}"))
    assert len(b.of(Start)) == 3 * REMEMBERED + 1, "both are duplicates"


def test_after_the_end_nothing_is_held() -> None:
    b = bench(CallPolicy("tool"), CallPolicy("asks", approval="ask"))
    b.offer(Asked("a"), Asked("b", "asks"))
    b.calls.close(0.0)
    b.calls.settled(1, Outcome({"output": 1}), 1.0)
    assert b.answers() == []
    assert b.calls.stats(1.0) == []
    assert b.calls.wake_at() == inf
    assert not b.calls.approve(2, 1.0)
