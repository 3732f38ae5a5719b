"""The dispatcher by itself, as it stands beside somebody else's session: calls in, actions, events and answers out."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.desk import Desk
from support.driver import Driver, plan
from support.world import responses

from livetools.events import ApprovalRequested, Call, ToolFinished, ToolStarted
from livetools.protocol.calls.calls import REMEMBERED, Calls
from livetools.protocol.calls.driver_actions import AskApproval, Outcome, RunTool, StopTool, Undo
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.plan_fields import CallPolicy, Plan


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
        self.desk = Desk(self.calls)

    def offer(self, *asked: Asked, link: int = 0, now: float = 0.0) -> None:
        self.calls.receive_calls(link, asked, now)

    def answers(self) -> list[dict[str, Any]]:
        return [r for reply in self.desk.take() for r in responses(json.loads(reply.make() or b"{}"))]

    def of_last(self, kind: type) -> Any:
        """The last action of a kind, without a look at the others."""
        return next(x for x in reversed(self.actions) if isinstance(x, kind))

    def of(self, kind: type) -> list[Any]:
        return [x for x in (*self.actions, *self.events) if isinstance(x, kind)]


def bench(*policies: CallPolicy, **fields: Any) -> Bench:
    return Bench(plan(*(policies or (CallPolicy("tool"),)), **fields))


def test_calls_start_in_their_order_and_each_is_told_before_it_starts() -> None:
    b = bench()
    b.offer(Asked("a"), Asked("b"))
    assert [s.call.id for s in b.of(RunTool)] == ["a", "b"]
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


def test_the_shell_checks_the_arguments_and_asks_the_tool_before_a_person_is_asked() -> None:
    b = bench(CallPolicy("asks", approval=True))
    b.offer(Asked("a", "asks"), Asked("b", "asks"), Asked("c", "asks"))
    assert [c.call.id for c in b.of(AskApproval)] == ["a", "b", "c"]
    assert b.of(ApprovalRequested) == []
    b.calls.judge(1, True, 0.0)
    assert [e.call.id for e in b.of(ApprovalRequested)] == ["a"]
    b.calls.settled(2, Outcome({"error": "n is missing"}, began=False), 0.0)
    b.calls.judge(3, None, 0.0)
    assert [s.call.id for s in b.of(RunTool)] == ["c"]
    assert [(r["id"], r["response"]) for r in b.answers()] == [("b", {"error": "n is missing"})]


def test_a_waiting_call_is_told_to_the_model_where_it_takes_that() -> None:
    b = bench(CallPolicy("tool", approval=True, takes_more=True, takes_scheduling=True))
    b.offer(Asked("a"))
    b.calls.judge(1, True, 0.0)
    [interim] = b.answers()
    assert interim["willContinue"] is True
    assert interim["scheduling"] == "SILENT"
    assert b.calls.judge(1, None, 0.0)
    assert not b.calls.judge(1, None, 0.0), "twice"
    assert not b.calls.judge(1, "no", 0.0)


def test_a_call_that_is_only_declared_waits_to_be_answered_by_hand() -> None:
    b = bench(CallPolicy("tool", handled=False, timeout=5.0))
    b.offer(Asked("a"), Asked("b"))
    assert b.of(RunTool) == []
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
    assert [s.call.id for s in b.of(StopTool)] == ["a"]
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
    assert [s.call.id for s in b.of(RunTool)] == ["a", "c"]
    b.calls.settled(1, Outcome({"output": "x"}), 0.0)
    assert {r["id"]: r["response"]["output"] for r in b.answers()} == {"a": "x", "b": "x"}
    b.offer(Asked("d", args={"n": 1}))
    assert [s.call.id for s in b.of(RunTool)] == ["a", "c", "d"]


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
        b.desk.hear()
    assert len(b.calls.by_id) <= 2 * REMEMBERED + 1
    b.offer(Asked("open"), Asked(f"c{3 * REMEMBERED - 1}"))
    assert len(b.of(RunTool)) == 3 * REMEMBERED + 1, "both are duplicates"


def test_after_the_end_nothing_is_held() -> None:
    b = bench(CallPolicy("tool"), CallPolicy("asks", approval=True))
    b.offer(Asked("a"), Asked("b", "asks"))
    b.calls.close(0.0)
    b.calls.settled(1, Outcome({"output": 1}), 1.0)
    assert b.answers() == []
    assert b.calls.stats(1.0) == []
    assert b.calls.wake_at() == inf
    assert not b.calls.judge(2, None, 1.0)


@pytest.mark.parametrize("how", ["answered", "expired", "cancelled", "background", "lost"])
def test_a_handler_that_nobody_waits_for_holds_its_tool_and_no_slot_of_the_session(how: str) -> None:
    background = how == "background"
    stuck = CallPolicy("stuck", concurrency=1, timeout=1.0, background=background, takes_slot=not background)
    b = bench(stuck, CallPolicy("tool"), max_concurrency=1)
    b.offer(Asked("s", "stuck"), Asked("t", "stuck"), Asked("a"))
    if how == "expired":
        b.calls.tick(1.0)
    elif how == "cancelled":
        b.calls.cancel(["s"], 0.0)
    elif how == "lost":
        b.calls.lose(0.0, ())
    elif how == "answered":
        b.calls.settled(1, Outcome({}), 0.0)
    started = [s.call.id for s in b.of(RunTool)]
    assert started == (["s", "t"] if how == "answered" else ["s", "a"])


def test_the_time_of_a_call_begins_with_its_handler_and_not_in_the_queue() -> None:
    b = bench(CallPolicy("tool", timeout=5.0), max_concurrency=1)
    b.offer(Asked("a"), Asked("b"))
    b.calls.tick(4.0)
    b.calls.settled(1, Outcome({}), 4.0)
    b.answers()
    b.calls.tick(5.0)  # the time of the first, which was answered
    assert b.calls.wake_at() == 9.0
    b.calls.tick(8.9)
    assert b.answers() == []
    b.calls.tick(9.0)
    assert "timed out after 5 s" in b.answers()[0]["response"]["error"]


def test_what_never_began_is_not_undone() -> None:
    b = bench(CallPolicy("tool", undo=True, timeout=1.0))
    b.offer(Asked("a"), Asked("b"))
    b.calls.tick(1.0)
    b.calls.settled(1, Outcome({"error": "cancelled"}, began=False), 1.0)
    b.calls.settled(2, Outcome({"error": "n is missing"}, began=False), 1.0)
    b.calls.cancel(["a", "b"], 1.0)
    assert b.of(Undo) == []


def test_handlers_that_run_on_after_the_end_are_undone_once_without_their_result() -> None:
    b = bench(
        CallPolicy("tool", undo=True), CallPolicy("plain"), CallPolicy("asks", approval=True, undo=True)
    )
    b.offer(Asked("a"), Asked("b"), Asked("c", "plain"), Asked("d", "asks"))
    b.calls.close(0.0)
    b.calls.settled(2, Outcome({}, result="done"), 1.0)
    b.calls.give_up()
    assert [(u.call.id, u.result) for u in b.of(Undo)] == [("b", "done"), ("a", None)]
    b.calls.settled(1, Outcome({}, result="late"), 9.0)
    assert len(b.of(Undo)) == 2


def test_a_refusal_of_a_shared_run_is_the_answer_to_all_who_share_it() -> None:
    b = bench(CallPolicy("tool", join=True, approval=True, approval_timeout=9.0))
    b.offer(Asked("a"), Asked("b"))
    b.calls.judge(1, "no", 0.0)
    assert [(r["id"], r["response"]["error"]) for r in b.answers()] == [
        ("a", "the call was not approved: no"),
        ("b", "the call was not approved: no"),
    ]
    b.offer(Asked("c"), Asked("d"))
    b.calls.tick(9.0)
    assert all("nobody decided within 9 s" in r["response"]["error"] for r in b.answers())


def test_the_time_of_a_shared_run_is_that_of_its_handler() -> None:
    b = bench(CallPolicy("tool", join=True, approval=True, approval_timeout=9.0, timeout=5.0))
    b.offer(Asked("a"), Asked("b"))
    b.calls.judge(1, None, 8.0)
    b.calls.tick(9.0)
    assert b.answers() == []
    b.calls.tick(13.0)
    assert [r["response"]["error"] for r in b.answers()] == ["timed out after 5 s"] * 2
    assert [s.call.id for s in b.of(StopTool)] == ["a"], "nobody wants it any more"


@pytest.mark.parametrize("waits", ["a slot", "approval"])
def test_calls_that_shared_a_run_go_on_when_it_is_taken_back_before_it_began(waits: str) -> None:
    approval = waits == "approval"
    b = bench(CallPolicy("tool", join=True, approval=approval), CallPolicy("busy"), max_concurrency=1)
    b.offer(Asked("x", "busy"), Asked("a"), Asked("b"), Asked("c"))
    b.calls.cancel(["a"], 0.0)
    if approval:
        assert [c.call.id for c in b.of(AskApproval)] == ["a", "b"]
        b.calls.judge(3, None, 0.0)
    b.calls.settled(1, Outcome({}), 0.0)
    assert [s.call.id for s in b.of(RunTool)] == ["x", "b"]
    b.calls.settled(3, Outcome({"output": 1}), 0.0)
    assert [r["id"] for r in b.answers()] == ["x", "b", "c"]


def test_a_shared_run_that_all_have_left_is_stopped_and_undone_once() -> None:
    b = bench(CallPolicy("tool", join=True, undo=True))
    b.offer(Asked("a"), Asked("b"))
    b.calls.cancel(["a"], 0.0)
    assert b.of(StopTool) == []
    b.calls.cancel(["b"], 0.0)
    assert [s.call.id for s in b.of(StopTool)] == ["a"]
    b.calls.settled(1, Outcome({}, result=7), 1.0)
    assert [(u.call.id, u.result) for u in b.of(Undo)] == [("a", 7)]


def test_a_background_call_that_shares_a_run_is_answered_at_once_too() -> None:
    b = bench(CallPolicy("tool", join=True, background=True))
    b.offer(Asked("a"), Asked("b"))
    assert [r["id"] for r in b.answers()] == ["a", "b"]
    b.calls.settled(1, Outcome({"output": 7}), 0.0)
    assert [text.count("7") for _, text in b.calls.late()] == [1, 1]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 99), st.booleans()), min_size=1, max_size=9), st.floats(0, 100))
def test_those_whose_time_is_up_expire_in_the_order_of_their_deadlines_and_no_others(
    calls: list[tuple[int, bool]], now: float
) -> None:
    b = bench(*(CallPolicy(f"t{seconds}", timeout=seconds) for seconds, _ in calls))
    for run, (seconds, answered) in enumerate(calls, 1):
        b.offer(Asked(f"c{run}", f"t{seconds}"))
        if answered:
            b.calls.settled(run, Outcome({}), 0.0)
    b.answers()
    open = sorted((seconds, run) for run, (seconds, answered) in enumerate(calls, 1) if not answered)
    b.calls.tick(now)
    assert [r["id"] for r in b.answers()] == [f"c{run}" for seconds, run in open if seconds <= now]
    assert now < b.calls.wake_at() <= min((seconds for seconds, _ in open if seconds > now), default=inf)


@pytest.mark.parametrize("policy", [CallPolicy("tool"), CallPolicy("tool", join=True)], ids=["plain", "join"])
@pytest.mark.parametrize("most", [None, 64])
def test_a_call_costs_the_same_among_ten_thousand(policy: CallPolicy, most: int | None) -> None:
    def cost(among: int) -> float:
        best = inf
        for _ in range(3):
            b = bench(policy, max_concurrency=most)
            b.offer(*(Asked(f"w{n}", args={"n": n}) for n in range(among)))
            started = time.process_time()
            for n in range(1, 200):
                b.offer(Asked(f"c{n}", args={"c": n}), now=1.0)
                b.calls.blocking()
                b.calls.run_of(f"c{n}")
                b.calls.settled(b.of_last(RunTool).run, Outcome({}), 1.0)
                b.calls.wake_at()
            best = min(best, time.process_time() - started)
        return best

    assert cost(10_000) < 5 * cost(100)


def test_calls_that_expire_one_by_one_cost_the_same_among_ten_thousand() -> None:
    def cost(among: int) -> float:
        best = inf
        for _ in range(3):
            b = bench(CallPolicy("tool", timeout=10.0), max_concurrency=None)
            for n in range(among):
                b.offer(Asked(f"c{n}"), now=n / 1000)
            b.calls.tick(b.calls.wake_at())
            started = time.process_time()
            for _ in range(90):
                b.calls.tick(b.calls.wake_at())
            best = min(best, time.process_time() - started)
        return best

    assert cost(10_000) < 6 * cost(100)


def test_a_call_that_joins_a_run_after_another_has_expired_expires_with_it() -> None:
    b = bench(CallPolicy("short", timeout=1.0), CallPolicy("shared", timeout=5.0, join=True))
    b.offer(Asked("a", "short"), Asked("first", "shared"))
    b.calls.tick(1.0)
    b.offer(Asked("second", "shared"), now=2.0)
    b.answers()
    b.calls.tick(5.0)
    assert [response["id"] for response in b.answers()] == ["first", "second"]


# Calls that an earlier process has left behind


def left_behind(restored: bool = True, **fields: Any) -> Driver:
    """A machine that goes on with a handle, and with a call that is still to be finished."""
    left = [Call("c1", "book", {"table": 4}), Call("c2", "gone", {})]
    d = Driver(plan(CallPolicy("book"), handle="h1", **fields), ReconnectPolicy(attempts=1), left=left)
    d.machine.connect(d.now)
    d.drain()
    d.machine.opened(1, d.now)
    d.drain()
    if not restored:
        d.drop(1008, "BidiGenerateContent session not found").later(1)
        d.machine.opened(2, d.now)
        d.drain()
    return d.server({"setupComplete": {}}, link=d.dialled[-1])


def test_a_call_that_was_left_behind_is_run_here_and_its_result_is_told_once() -> None:
    d = left_behind(answers_lost=True)
    assert d.started == ["c1"]  # of c2 there is no tool here
    [(id, response)] = d.answers()
    assert id == "c1"
    assert "error" in response
    d.turn_complete()
    d.settle("c1", "booked").later(5)
    texts = [frame for _, frame in d.frames if "booked" in str(frame)]
    assert len(texts) == 1
    assert "clientContent" in texts[0]
    assert d.names.count("ToolLost") == d.names.count("ToolFinished") == 1


def test_asked_again_with_the_same_id_it_is_answered_and_not_told() -> None:
    d = left_behind().call(("c1", "book"))
    assert d.started == ["c1"]
    d.settle("c1", "booked").later(5)
    assert d.answers() == [("c1", {"output": "booked"})]


def test_a_session_that_knows_nothing_of_it_is_not_told() -> None:
    d = left_behind(restored=False)
    assert d.started == []
