"""The table of debts, proved: every pair of state and move, every order of inputs, long random runs."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from support.cases import cases
from support.driver import plan
from support.world import BEGINNINGS, World, explore

from livetools.events import Call
from livetools.protocol.calls.call_states import TABLE, CallState, Effect, Ledger, Move, Record
from livetools.setup.plan_fields import CallPolicy, Plan

PLAIN = CallPolicy("tool", timeout=60, undo=True)
PLANS = {
    "each": plan(PLAIN),
    "batch": plan(PLAIN, reply_batching="batch"),
    "client_content": plan(PLAIN, reply_format="client_content"),
    "answers_lost": plan(PLAIN, answers_lost=True),
    "dropped": plan(PLAIN, lost_results="drop"),
    "background": plan(CallPolicy("tool", timeout=60, background=True)),
    "background_batch": plan(CallPolicy("tool", timeout=60, background=True), reply_batching="batch"),
    "stream": plan(CallPolicy("tool", timeout=60, streams=True, takes_scheduling=True)),
    "limited": plan(CallPolicy("tool", timeout=60, concurrency=1)),
    "joined": plan(CallPolicy("tool", timeout=60, join=True)),
    "uncancellable": plan(CallPolicy("tool", timeout=60, cancellable=False, undo=True)),
}


def record(state: CallState) -> Record:
    made = Record(1, Call("a", "tool"), CallPolicy("tool"), 1, 0.0)
    made.state = state
    return made


@cases("state, what", product(CallState, Move))
def test_every_pair_of_state_and_move_does_what_the_table_says(state: CallState, what: Move) -> None:
    one, ledger = record(state), Ledger()
    ledger.enter(one)
    effects = ledger.move(one, what)
    assert (one.state, effects) == TABLE.get((state, what), (state, ()))


def test_what_leads_out_of_a_state_leads_on() -> None:
    """No state is a trap: from each there is a way to the end, by CLOSE at the latest."""
    final = {CallState.PAID, CallState.VOID, CallState.DONE}
    for state in set(CallState) - final:
        assert TABLE[state, Move.CLOSE][0] in final


def test_an_answer_is_queued_exactly_where_a_debt_becomes_ready() -> None:
    for (_, what), (to, effects) in TABLE.items():
        assert (Effect.REPLY in effects) == (to is CallState.READY), what


def test_a_result_is_delivered_as_text_exactly_where_it_can_no_longer_be_an_answer() -> None:
    delivered = {pair for pair, (_, effects) in TABLE.items() if Effect.DELIVER in effects}
    assert delivered == {
        (CallState.READY, Move.LOSE),
        (CallState.SENT, Move.LOSE),
        (CallState.DETACHED, Move.SETTLE),
        (CallState.DETACHED, Move.EXPIRE),
    }


@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_keeps_the_invariants(name: str) -> None:
    depth = 4 if name == "each" else 3
    assert explore(PLANS[name], depth) > 50


@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_after_longer_beginnings_keeps_the_invariants(name: str) -> None:
    depth = 3 if name == "each" else 2
    for beginning in BEGINNINGS:
        assert explore(PLANS[name], depth, beginning) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_keeps_the_invariants_deeper(name: str) -> None:
    assert explore(PLANS[name], 6) > 100
    for beginning in BEGINNINGS:
        assert explore(PLANS[name], 3, beginning) > 10


def runs(of: Plan) -> type[RuleBasedStateMachine]:
    """Long random runs over a plan; inputs that end the session are rare, or they would blind the run."""

    class Runs(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.world = World(of)

        @rule(ids=st.lists(st.sampled_from(World.IDS), min_size=1, max_size=3))
        def offer(self, ids: list[str]) -> None:
            self.world.play(("offer", *ids))

        @rule(id=st.sampled_from(World.IDS))
        def settle(self, id: str) -> None:
            self.world.play(("settle", id))

        @rule(id=st.sampled_from(World.IDS))
        def part(self, id: str) -> None:
            self.world.play(("part", id))

        @rule(id=st.sampled_from(World.IDS))
        def cancel(self, id: str) -> None:
            self.world.play(("cancel", id))

        @rule()
        def write(self) -> None:
            self.world.play(("write",))

        @rule()
        def hear(self) -> None:
            self.world.play(("hear",))

        @rule()
        def expire(self) -> None:
            self.world.play(("expire",))

        @rule(fresh=st.booleans())
        def lose(self, fresh: bool) -> None:
            self.world.play(("begin_anew" if fresh else "resume",))

        @rule(now=st.integers(0, 40))
        def close(self, now: int) -> None:
            if now == 0:
                self.world.play(("close",))

    return Runs


@pytest.mark.parametrize("name", PLANS)
def test_long_random_runs_keep_the_invariants(name: str) -> None:
    run_state_machine_as_test(runs(PLANS[name]), settings=some(10))


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_many_more_random_runs_keep_the_invariants(name: str) -> None:
    run_state_machine_as_test(runs(PLANS[name]), settings=some(500))


def some(examples: int) -> settings:
    return settings(max_examples=examples, stateful_step_count=40, deadline=None, derandomize=True)
