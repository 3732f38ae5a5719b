"""Long random runs of whole sessions: whatever comes in whatever order, the invariants of ledger and machine hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from support.driver import plan
from support.whole import ODD, Whole

from livetools.protocol.calls.driver_actions import Outcome
from livetools.setup.plan_fields import CallPolicy, Plan


def terms(policy: CallPolicy | None = None, **fields: Any) -> Plan:
    """A plan with a tool of this kind, one that wants an approval, and one that is only declared."""
    tool = policy or CallPolicy("tool", timeout=30.0, undo=True)
    fields.setdefault("stall_timeout", 15.0)
    return plan(
        tool,
        CallPolicy("pay", approval=True, approval_timeout=20.0, timeout=10.0),
        CallPolicy("declared", handled=False, timeout=10.0),
        **fields,
    )


ASYNC = CallPolicy("tool", timeout=30.0, behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
STREAM = CallPolicy("tool", timeout=30.0, behavior="NON_BLOCKING", ends_turn=True, streams=True)
MANUAL = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}


def by_hand(of: Plan) -> Plan:
    """The same one with push-to-talk."""
    return replace(of, setup={**of.setup, **MANUAL})


PLANS = {
    "2.5": terms(input_block=True),
    "3.1": terms(input_block=True, text_channel="realtime", content_mid_session="refused", answers_lost=True),
    "3.8": terms(ASYNC, answers_lost=True, context_update="honoured"),
    "thinking": terms(ASYNC, answers_lost=True, idle_signal=True),
    "vertex, transparent": terms(transparent=True),
    "batch": terms(reply_batching="batch", lost_results="drop"),
    "client content": terms(reply_format="client_content", max_concurrency=2),
    "stream": terms(STREAM),
    "background": terms(CallPolicy("tool", timeout=30.0, background=True)),
    "limited": terms(CallPolicy("tool", timeout=None, concurrency=1), max_calls=20),
    "joined": terms(CallPolicy("tool", timeout=30.0, join=True)),
    "without handles": terms(resumption=False),
    "push to talk, 2.5": by_hand(terms(input_block=True)),
    "push to talk, 3.1": by_hand(
        terms(input_block=True, text_channel="realtime", content_mid_session="refused")
    ),
    "push to talk, transparent": by_hand(terms(input_block=True, transparent=True)),
}
IDS = ("a", "b", "c")
CALLS = st.tuples(
    st.sampled_from([*IDS, *IDS, None, "7"]),
    st.sampled_from(["tool", "tool", "tool", "pay", "declared", "nope"]),
    st.sampled_from([{}, {}, {"n": 1}, "no object", [], None]),
)
CONTENT = (
    {"serverContent": {"outputTranscription": {"text": "words"}}},
    {"serverContent": {"generationComplete": True}},
    {"serverContent": {"turnComplete": True}},
    {"serverContent": {"turnComplete": True}},
    {"serverContent": {"interrupted": True}},
    {"serverContent": {"turnComplete": True, "interactionStatus": "IN_PROGRESS"}},
    {"interactionStatus": "IDLE"},
    {"sessionResumptionUpdate": {}},
    {"sessionResumptionUpdate": {"lastConsumedClientMessageIndex": "2"}},
)
CLOSES = (
    (1006, ""),
    (1001, ""),
    (1011, "Internal error encountered."),
    (1008, "The operation was aborted."),
    (1008, "BidiGenerateContent session not found"),
    (1000, ""),
)


def runs(of: Plan) -> type[RuleBasedStateMachine]:
    """Long random runs; what ends a session for good is rare, or it would blind the run."""

    class Runs(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.world = Whole(of)
            self.names: dict[str, str] = {}

        @rule(calls=st.lists(CALLS, min_size=1, max_size=3), part=st.booleans())
        def call(self, calls: list[Any], part: bool) -> None:
            named = [(id, self.names.setdefault(id, name) if id else name, args) for id, name, args in calls]
            self.world.call(*named, part=part)

        @rule(ids=st.lists(st.sampled_from(IDS), min_size=1, max_size=2))
        def cancel(self, ids: list[str]) -> None:
            self.world.cancel(*ids)

        @rule(data=st.data(), settles=st.booleans())
        def cancel_what_runs(self, data: st.DataObject, settles: bool) -> None:
            if self.world.running:
                run = data.draw(st.sampled_from(sorted(self.world.running)))
                self.world.cancel(self.world.running[run])
                if settles:
                    self.world.settle(run, Outcome({"output": "after all"}))

        @rule(frame=st.sampled_from(CONTENT))
        def content(self, frame: object) -> None:
            self.world.server(frame)

        @rule(frame=st.sampled_from(ODD), link=st.sampled_from([None, None, 1]))
        def odd(self, frame: object, link: int | None) -> None:
            self.world.server(frame, link)

        @rule()
        def handle(self) -> None:
            self.world.give_handle()

        @rule(data=st.data(), silent=st.booleans(), fails=st.booleans())
        def settle(self, data: st.DataObject, silent: bool, fails: bool) -> None:
            if self.world.running:
                run = data.draw(st.sampled_from(sorted(self.world.running)))
                error = ValueError("broken") if fails else None
                scheduling = "SILENT" if silent else None
                self.world.settle(run, Outcome({"output": run}, error=error, scheduling=scheduling))

        @rule(run=st.integers(1, 12))
        def respond(self, run: int) -> None:
            """By hand, or to a call that is over, or that never was."""
            if run not in self.world.running and not self.world.asleep:
                self.world.settle(run, Outcome({"output": run}))

        @rule(data=st.data())
        def progress(self, data: st.DataObject) -> None:
            if self.world.running:
                self.world.progress(data.draw(st.sampled_from(sorted(self.world.running))))

        @rule(verdict=st.sampled_from([True, False, None]), run=st.integers(1, 12), asked=st.booleans())
        def decide(self, verdict: bool | None, run: int, asked: bool) -> None:
            if asked and self.world.consulted:
                run = self.world.consulted.pop()
            self.world.decide(run, verdict)

        @rule(ask=st.booleans())
        def say(self, ask: bool) -> None:
            self.world.say(ask)

        @rule(ask=st.booleans(), slow=st.booleans(), words=st.booleans(), reconnects=st.booleans())
        def say_into_a_dying_line(self, ask: bool, slow: bool, words: bool, reconnects: bool) -> None:
            """A text that no socket may have been handed, or nobody has read."""
            self.world.slow = slow
            self.world.say(ask)
            if words:
                self.world.server(CONTENT[0])
                self.world.server(CONTENT[2])
            self.world.drop(1006)
            if reconnects:
                self.reconnect()

        @rule(what=st.sampled_from(["audio", "audio", "content", "interrupt", "update", "speak", "hush"]))
        def user(self, what: str) -> None:
            self.world.user(what)

        @rule(seconds=st.sampled_from([0.0, 0.3, 1.0, 5.0, 12.0, 40.0]))
        def later(self, seconds: float) -> None:
            self.world.later(seconds)

        @rule(close=st.sampled_from(CLOSES[:-1]))
        def drop(self, close: tuple[int, str]) -> None:
            self.world.drop(*close)

        @rule(chance=st.integers(0, 20))
        def end(self, chance: int) -> None:
            if chance == 0:
                self.world.close()
            elif chance == 1:
                self.world.drop(*CLOSES[-1])

        @rule(seconds=st.sampled_from([None, "50s", "2s", "0s"]))
        def go_away(self, seconds: str | None) -> None:
            self.world.server({"goAway": {} if seconds is None else {"timeLeft": seconds}}, reads=False)

        @rule()
        def open(self) -> None:
            self.world.open()

        @rule()
        def establish(self) -> None:
            self.world.establish()

        @rule()
        def reconnect(self) -> None:
            """The usual course after a drop."""
            self.world.later(1.0)
            self.world.finish_closing()
            self.world.establish()

        @rule()
        def finish_closing(self) -> None:
            self.world.finish_closing()

        @rule()
        def sleep_or_wake(self) -> None:
            self.world.asleep = not self.world.asleep
            self.world.drain()

        @rule()
        def slow_or_fast(self) -> None:
            self.world.slow = not self.world.slow
            self.world.drain()

        @rule()
        def write_one(self) -> None:
            self.world.write(1)

        @invariant()
        def invariants(self) -> None:
            self.world.check()

        def teardown(self) -> None:
            self.world.finish()

    return Runs


@pytest.mark.parametrize("name", PLANS)
def test_whatever_happens_the_invariants_hold_and_everybody_gets_what_is_owed(name: str) -> None:
    run_state_machine_as_test(runs(PLANS[name]), settings=fast(10))


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_whatever_happens_for_longer(name: str) -> None:
    run_state_machine_as_test(runs(PLANS[name]), settings=fast(1500))


def fast(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
