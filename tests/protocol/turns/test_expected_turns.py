"""Whose move it is, for every order of frames that a model family was seen to send; and what always holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asking import World
from support.driver import Driver, plan
from support.search import search

from livetools.errors import ConcurrencyError, NoAnswer
from livetools.events import Call, OutputTranscript, Stalled, TextChunk, ToolStarted
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.messages import outgoing
from livetools.protocol.turns.exchange import Exchange
from livetools.protocol.turns.expected_turns import PAUSE, QUIET_SETTLES, Turns
from livetools.setup.plan_fields import CallPolicy

BLOCKING = CallPolicy("tool", timeout=None)
ASYNC = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
HALF_CASCADE = CallPolicy("tool", timeout=None, ends_turn=True)  # on Vertex
THINKING = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True)

# What a server sends, and what we do.
WORDS = {"serverContent": {"outputTranscription": {"text": "word "}}}
GENERATED = {"serverContent": {"generationComplete": True}}
COMPLETE = {"serverContent": {"turnComplete": True}, "usageMetadata": {"totalTokenCount": 9}}
CUT = {"serverContent": {"interrupted": True}}
CALL = {"toolCall": {"functionCalls": [{"id": "c1", "name": "tool", "args": {}}]}}
CALL_TWO = {"toolCall": {"functionCalls": [{"id": "c2", "name": "tool", "args": {}}]}}
CANCEL = {"toolCallCancellation": {"ids": ["c1"]}}
HEARD = {"serverContent": {"inputTranscription": {"text": "what I said"}}}
CODE = {"serverContent": {"modelTurn": {"parts": [{"executableCode": {"code": "default_api.tool()"}}]}}}
NO_HANDLE = {"sessionResumptionUpdate": {}}
GO_AWAY = {"goAway": {"timeLeft": "50s"}}
BUSY = {"interactionStatus": "IN_PROGRESS"}
IDLE = {"serverContent": {"interactionStatus": "IDLE"}}
COMPLETE_BUSY = {"serverContent": {"turnComplete": True, "interactionStatus": "IN_PROGRESS"}}
COMPLETE_IDLE = {"serverContent": {"turnComplete": True, "interactionStatus": "IDLE"}}
DECLINED = {"serverContent": {"turnComplete": True, "turnCompleteReason": "NEED_MORE_INPUT"}}
ALL_AT_ONCE = {
    "serverContent": {
        "outputTranscription": {"text": "word"},
        "modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]},
        "turnComplete": True,
    }
}


TOOL = Call("c1", "tool")


@dataclass
class Order:
    """Frames as they come (a string: our answer goes out, with this scheduling), and what the exchange is then."""

    name: str
    steps: list[Any]
    policy: CallPolicy = BLOCKING
    status: bool = False
    interrupted: bool = False
    after: float = 0.0  # seconds until it is over
    words: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)


ORDERS = [
    # an ordinary turn
    Order("generation, then turn", [WORDS, WORDS, GENERATED, COMPLETE], words=2),
    Order("everything in one message", [ALL_AT_ONCE], words=1),
    Order("what the user said comes late", [WORDS, HEARD, GENERATED, HEARD, COMPLETE], words=1),
    Order("no words at all", [DECLINED], words=0),
    Order("handles and goAway between the frames", [NO_HANDLE, WORDS, GO_AWAY, WORDS, NO_HANDLE, COMPLETE]),
    # cut off
    Order("interrupted, then complete", [WORDS, CUT, COMPLETE], interrupted=True),
    Order("interrupted in the playback", [WORDS, GENERATED, CUT, COMPLETE], interrupted=True),
    # blocking calls
    Order("one turn around a blocking call", [CALL, "", WORDS, GENERATED, COMPLETE]),
    Order("code, then the call it stands for", [CODE, CALL, "", WORDS, COMPLETE]),
    Order("words before a blocking call", [WORDS, CALL, "", WORDS, COMPLETE], words=2),
    Order("words after a blocking call, too", [CALL, WORDS, "", WORDS, COMPLETE], words=2),
    Order("generationComplete with the call", [CALL, GENERATED, "", WORDS, COMPLETE]),
    Order("a blocking call that is cancelled", [CALL, CUT, CANCEL, COMPLETE], interrupted=True),
    # a model whose call ends its turn by itself (half-cascade on Vertex)
    Order("a turn of its own for the call", [CALL, COMPLETE, "", WORDS, COMPLETE], HALF_CASCADE),
    Order("its answer goes out before that turn ends", [CALL, "", COMPLETE, WORDS, COMPLETE], HALF_CASCADE),
    Order("its turn goes on", [CALL, "", WORDS, COMPLETE], HALF_CASCADE),
    Order("words before the call", [WORDS, CALL, COMPLETE, "", WORDS, COMPLETE], HALF_CASCADE, words=2),
    Order("words behind the call", [CALL, WORDS, COMPLETE, "", WORDS, COMPLETE], HALF_CASCADE, words=2),
    Order(
        "one call after another",
        [CALL, COMPLETE, "", CALL_TWO, COMPLETE, "c2", WORDS, COMPLETE],
        HALF_CASCADE,
        words=1,
    ),
    Order("cancelled when that turn is over", [CALL, COMPLETE, CANCEL], HALF_CASCADE, after=PAUSE),
    Order("words, then a call that is cancelled", [WORDS, CALL, COMPLETE, CANCEL], HALF_CASCADE, after=PAUSE),
    Order("cancelled, and it goes on", [CALL, COMPLETE, CANCEL, WORDS, COMPLETE], HALF_CASCADE, words=1),
    Order("cancelled before that turn ends", [CALL, CANCEL, COMPLETE], HALF_CASCADE),
    Order("cut off, then cancelled", [CALL, COMPLETE, CUT, CANCEL, COMPLETE], HALF_CASCADE, interrupted=True),
    Order("cut off before that turn ends", [CALL, CUT, CANCEL, COMPLETE], HALF_CASCADE, interrupted=True),
    # calls that do not block
    Order("the result comes in a new turn", [CALL, WORDS, COMPLETE, "", WORDS, COMPLETE], ASYNC, words=2),
    Order("the call alone ends its turn", [CALL, COMPLETE, "", WORDS, COMPLETE], ASYNC),
    Order("the turn ends with the call", [{**CALL, **COMPLETE}, "", WORDS, COMPLETE], ASYNC),
    Order("the answer before the empty turn", [CALL, "", COMPLETE, WORDS, COMPLETE], ASYNC),
    Order("the answer is spoken of in that turn", [CALL, "", WORDS, COMPLETE], ASYNC, after=QUIET_SETTLES),
    Order("when idle", [CALL, WORDS, "WHEN_IDLE", GENERATED, COMPLETE, WORDS, COMPLETE], ASYNC),
    Order("silent, after the turn", [CALL, WORDS, COMPLETE, "SILENT"], ASYNC),
    Order("silent, before the turn ends", [CALL, WORDS, "SILENT", WORDS, COMPLETE], ASYNC),
    Order("cutting in", [CALL, WORDS, "INTERRUPT", WORDS, CUT, COMPLETE, WORDS, COMPLETE], ASYNC),
    Order("a call cancelled when its turn is over", [CALL, COMPLETE, CANCEL], ASYNC),
    # background reasoning: IDLE ends a turn, turnComplete does not
    Order("idle beside turnComplete", [WORDS, COMPLETE_BUSY, WORDS, COMPLETE_IDLE], THINKING, True, words=2),
    Order("idle, and nothing said since", [WORDS, COMPLETE_BUSY, IDLE], THINKING, True),
    Order("idle by itself", [WORDS, COMPLETE_BUSY, WORDS, IDLE], THINKING, True),
    Order(
        "a call after turnComplete",
        [WORDS, COMPLETE_BUSY, {**CALL, **BUSY}, "", WORDS, COMPLETE_IDLE],
        THINKING,
        True,
    ),
    Order("a call, filler, idle", [CALL, "", WORDS, COMPLETE_BUSY, WORDS, IDLE], THINKING, True),
    Order("an old status name is no end", [WORDS, {"interactionStatus": "REQUIRES_ACTION"}, COMPLETE_IDLE]),
]


def begin(order: Order, microphone: str = "") -> tuple[Driver, Exchange]:
    d = Driver(plan(order.policy, idle_signal=order.status, **order.fields)).live()
    hear(d, microphone and "on")
    exchange, _ = d.machine.ask("?", d.now)
    return d.drain(), exchange


def hear(d: Driver, microphone: str) -> None:
    """Sound goes out, in which nobody speaks; ``"off and on"``: the microphone is closed after each piece of it."""
    if microphone:
        d.machine.send_media(outgoing.audio(bytes(640), 16000), "audio", d.now)
        if microphone == "off and on":
            d.machine.end_audio(d.now)
        d.drain()


def take(d: Driver, step: Any) -> None:
    if isinstance(step, str):
        known = step if step == "c2" else "c1"
        d.settle(known, scheduling=(step if step != known else "") or None)
    else:
        d.server(step)


@pytest.mark.parametrize("microphone", ["", "on", "off and on"])
@pytest.mark.parametrize("order", ORDERS, ids=lambda o: o.name)
def test_an_exchange_ends_with_the_last_frame_that_is_due_and_not_before(
    order: Order, microphone: str
) -> None:
    d, exchange = begin(order, microphone)
    for step in order.steps[:-1]:
        take(d, step)
        hear(d, microphone)
        assert not exchange.done, f"over after {step}"
    take(d, order.steps[-1])
    if order.after:
        assert not exchange.done
        d.later(order.after - 0.01)
        assert not exchange.done
        d.later(0.02)
    assert exchange.done
    assert exchange.interrupted is order.interrupted
    assert d.machine.turns.idle
    assert "Stalled" not in d.names
    if order.words is not None:
        assert sum(isinstance(e, OutputTranscript | TextChunk) for e in exchange.events) == order.words


@pytest.mark.parametrize("order", ORDERS, ids=lambda o: o.name)
def test_wherever_the_model_falls_silent_a_stall_ends_the_exchange(order: Order) -> None:
    for cut in range(len(order.steps)):
        d, exchange = begin(order)
        for step in order.steps[:cut]:
            take(d, step)
        waiting = [c["name"] for c in d.machine.stats()["calls"]]
        d.later(60.0)
        assert exchange.done or waiting == ["tool"], "silent, and nobody is named who owes something"
        assert waiting or "Stalled" in d.names


@pytest.mark.parametrize("order", ORDERS, ids=lambda o: o.name)
def test_wherever_the_line_is_cut_the_exchange_ends_or_goes_on(order: Order) -> None:
    for cut in range(len(order.steps)):
        d = Driver(plan(order.policy, idle_signal=order.status, answers_lost=True), ReconnectPolicy()).live()
        exchange, _ = d.machine.ask("?", d.now)
        d.drain()
        for step in order.steps[:cut]:
            take(d, step)
        d.drop()
        d.later(0.5)
        d.establish()
        if not exchange.done:
            assert d.texts().count("?") == 2, "neither over nor asked again"
            d.server(WORDS).turn_complete()
        assert exchange.done or d.machine.stats()["calls"]


def test_transcription_alone_ends_no_exchange_and_owes_nothing() -> None:
    """A model that only transcribes says ``generationComplete`` and never ``turnComplete``."""
    d = Driver(plan(stall_timeout=3)).live()
    d.server({"voiceActivity": {"type": "ACTIVITY_START"}}).server(HEARD).server(GENERATED)
    d.server({"voiceActivity": {"type": "ACTIVITY_END"}}).later(60)
    assert d.machine.turns.idle
    assert "Stalled" not in d.names


def test_interrupted_with_nothing_under_way_owes_nothing() -> None:
    d = Driver(plan(stall_timeout=3)).live().server(CUT).later(60)
    assert d.machine.turns.idle
    assert "Stalled" not in d.names


def test_two_answers_with_nothing_heard_between_them_are_spoken_of_as_one() -> None:
    d = Driver(plan(ASYNC)).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().call(("a", "tool"), ("b", "tool")).turn_complete()
    d.settle("a").settle("b").say("both").turn_complete()
    assert exchange.done


def test_two_answers_with_words_between_them_are_spoken_of_in_turn() -> None:
    d = Driver(plan(ASYNC)).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().call(("a", "tool"), ("b", "tool")).turn_complete().settle("a").say("the first")
    d.settle("b").turn_complete()
    assert not exchange.done
    d.say("the second").turn_complete()
    assert exchange.done


def answered_with_silence() -> tuple[Driver, Exchange]:
    """A session whose model has ended a turn without a word after the answers to two calls."""
    d = Driver(plan(ASYNC)).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().call(("a", "tool"), ("b", "tool")).turn_complete()
    return d.settle("a").settle("b").turn_complete(), exchange


def test_an_empty_turn_after_two_answers_may_be_about_the_first_alone() -> None:
    d, exchange = answered_with_silence()
    assert not exchange.done
    d.later(QUIET_SETTLES - 0.1).say("both").turn_complete()
    assert exchange.done
    assert [event.text for event in exchange.events if isinstance(event, OutputTranscript)] == ["both"]


def test_if_nothing_follows_that_the_model_has_nothing_to_say_to_either() -> None:
    d, exchange = answered_with_silence()
    d.later(QUIET_SETTLES + 0.1)
    assert exchange.done
    assert not exchange.interrupted
    assert "Stalled" not in d.names
    assert d.machine.turns.idle


@pytest.mark.parametrize("before", ["", "Let me see. "])
@pytest.mark.parametrize("speaks", [True, False])
def test_the_end_that_a_blocking_call_has_brought_may_cross_its_answer(before: str, speaks: bool) -> None:
    d = Driver(plan(BLOCKING)).live()
    exchange, _ = d.machine.ask("one", d.now)
    d.drain()
    if before:
        d.say(before)
    d.call(("a", "tool")).settle("a").turn_complete()
    assert not exchange.done
    if speaks:
        d.say("It rains.").turn_complete()
    else:
        d.later(QUIET_SETTLES + 0.1)
    assert exchange.done
    said = [event.text for event in exchange.events if isinstance(event, OutputTranscript)]
    assert "".join(said) == before + ("It rains." if speaks else "")
    exchange, _ = d.machine.ask("two", d.now)
    d.drain().say("to two").turn_complete()
    assert exchange.done
    assert [event.text for event in exchange.events if isinstance(event, OutputTranscript)] == ["to two"]


def test_a_turn_without_a_word_after_the_answers_it_stood_still_for_is_over() -> None:
    d = Driver(plan(BLOCKING)).live()
    d.machine.send_text("one", d.now)
    exchange, _ = d.machine.ask("two", d.now)
    d.drain().call(("a", "tool"), ("b", "tool")).settle("a").settle("b").turn_complete()
    d.say("to two").turn_complete()
    assert exchange.done
    assert [event.text for event in exchange.events if isinstance(event, OutputTranscript)] == ["to two"]


def test_text_that_cuts_the_models_reply_is_answered_next() -> None:
    d = Driver(plan()).live()
    d.machine.send_text("first", d.now)
    d.drain().say("A long answer")
    exchange, _ = d.machine.ask("second", d.now)
    d.drain().server(CUT).turn_complete()
    assert not exchange.done
    d.say("the second answer").turn_complete()
    assert exchange.done
    assert not exchange.interrupted


@pytest.mark.parametrize("stalls_in", ["the answer", "the turn", "the response"])
def test_a_stall_says_what_is_waited_for(stalls_in: str) -> None:
    d = Driver(plan(BLOCKING, stall_timeout=3)).live()
    d.machine.send_text("?", d.now)
    d.drain()
    if stalls_in == "the turn":
        d.say("half")
    elif stalls_in == "the response":
        d.call(("c1", "tool")).settle("c1")
    d.later(3.1)
    [told] = [e for e in d.events if isinstance(e, Stalled)]
    assert (
        told.waiting_for
        == {
            "the answer": "the model's answer to the user's turn",
            "the turn": "the end of the model's turn",
            "the response": "the model's words on a function response",
        }[stalls_in]
    )
    assert told.seconds == pytest.approx(3.0)


def test_a_stall_is_told_once_and_again_after_the_model_went_on() -> None:
    turns = Turns(3.0, False)
    turns.prompted(0.0)
    assert turns.tick(3.0, False) == Stalled("the model's answer to the user's turn", 3.0)
    assert turns.tick(60.0, False) is None
    turns.content(60.0)
    assert turns.tick(63.5, False) == Stalled("the end of the model's turn", 3.5)


def test_one_exchange_at_a_time() -> None:
    turns = Turns(3.0, False)
    turns.ask()
    with pytest.raises(ConcurrencyError, match="await that one first"):
        turns.ask()


STREAM = replace(ASYNC, streams=True)


def test_an_exchange_goes_on_while_its_generator_yields() -> None:
    d = Driver(plan(STREAM)).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().server(CALL).turn_complete()
    for part in ("first", "second"):
        d.machine.progress(1, part, d.now, Outcome({"output": part}))
        d.drain().say(part).turn_complete().later(3)
        assert not exchange.done
    d.machine.settled(1, Outcome({}), d.now)
    assert d.drain().later(3)
    assert exchange.done
    assert [e.text for e in exchange.events if isinstance(e, OutputTranscript)] == ["first", "second"]


def test_an_exchange_goes_on_while_its_call_waits_for_approval() -> None:
    d = Driver(plan(replace(ASYNC, approval=True, takes_more=True))).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().server(CALL).turn_complete().later(10)
    assert not exchange.done
    d.machine.judge(1, None, d.now)
    d.drain().settle("c1").say("done").turn_complete()
    assert exchange.done


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize(
    "order", [(CUT, CANCEL, COMPLETE_IDLE), (COMPLETE_IDLE, CANCEL), (CANCEL, COMPLETE_IDLE)]
)
def test_of_an_answer_that_was_taken_back_nothing_is_due(order: Order, idle: bool) -> None:
    """Neither the model's words on it, nor the next exchange's patience."""
    d = Driver(plan(ASYNC, idle_signal=idle)).live()
    d.machine.send_text("?", d.now)
    d.drain().say("I look").server(CALL).settle("c1")
    for frame in order:
        d.server(frame)
    exchange, _ = d.machine.ask("next", d.now)
    d.drain().say("to next").server(COMPLETE_IDLE)
    assert exchange.done
    assert [e.text for e in exchange.events if isinstance(e, OutputTranscript)] == ["to next"]


def test_of_an_answer_that_waited_and_was_taken_back_nothing_is_due() -> None:
    d = Driver(plan(ASYNC)).live()
    d.machine.send_text("?", d.now)
    d.drain().server(CALL).turn_complete()
    d.machine.settled(1, Outcome({"output": 1}), d.now)
    [waiting] = d.machine.frames()
    d.server(CANCEL)
    assert waiting.make() is None
    assert d.machine.turns.idle


def test_one_of_two_answers_that_was_taken_back_leaves_the_other_due() -> None:
    d = Driver(plan(ASYNC)).live().call(("c1", "tool"), ("c2", "tool")).turn_complete()
    d.settle("c1").settle("c2").server(CANCEL)
    assert not d.machine.turns.idle
    assert d.say("on c2").turn_complete().machine.turns.idle


# Turns that may not come


#: Sets of inputs, with how many orders are searched at least: five inputs deep, and seven.
PLAYED = {
    "text": (World.INPUTS, 1_500, 30_000),
    "speech": (World.SPEECH, 1_500, 30_000),
    "calls": (World.CALLS, 800, 8_000),
    "calls, microphone": (World.MICROPHONE, 1_400, 13_000),
    "calls that end their turn": (World.HALTS, 700, 7_000),
}


@pytest.mark.parametrize("name", PLAYED)
def test_in_every_order_of_questions_and_answers_each_question_is_given_its_own_answer(name: str) -> None:
    """Given up, ignored, blank, answered together, in the middle of speech, beside calls: or it is given none, and
    says so.
    """
    inputs, floor, _ = PLAYED[name]
    assert search(World, inputs, 5, last=World.calm) > floor


@given(st.lists(st.sampled_from(World.CALLS), min_size=6, max_size=20))
@settings(max_examples=500, deadline=None)
def test_in_long_conversations_with_calls_each_question_is_given_its_own_answer(steps: list[Any]) -> None:
    world = World()
    for step in steps:
        world.play(step)
    world.calm()


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_in_every_longer_order_of_questions_and_answers_each_question_is_given_its_own_answer(
    name: str,
) -> None:
    inputs, _, floor = PLAYED[name]
    assert search(World, inputs, 7, last=World.calm) > floor


OTHER_KIND = CallPolicy("other", timeout=None, behavior="NON_BLOCKING", ends_turn=True)
OTHER = {"toolCall": {"functionCalls": [{"id": "o1", "name": "other"}]}}
UNDER_WAY = [
    Order("words", [WORDS]),
    Order("a call that ends its turn", [CALL], ASYNC),
    Order("a call that the model stands still for", [CALL]),
    Order("words after such a call", [CALL, WORDS]),
    Order("a status", [BUSY], THINKING, True),
    Order("a turn that goes on", [COMPLETE_BUSY], THINKING, True),
    Order("words, and a turn that goes on", [WORDS, COMPLETE_BUSY], THINKING, True),
    Order("a status, then words", [BUSY, WORDS], THINKING, True),
    Order("a call, and a turn that goes on", [CALL, COMPLETE_BUSY]),
    Order("a call, and a status", [CALL, BUSY]),
    Order("a turn that goes on, and a call", [COMPLETE_BUSY, CALL], ASYNC),
    Order("such a call, words, and it is taken back", [CALL, WORDS, CANCEL]),
    Order("such a call, a turn that goes on, and it is taken back", [CALL, COMPLETE_BUSY, CANCEL]),
    Order("such a call, a status, and it is taken back", [CALL, BUSY, CANCEL]),
    Order("such a call, one of the other kind, and it is taken back", [CALL, OTHER, CANCEL]),
    Order("calls in a row", [CALL, {"toolCall": {"functionCalls": [{"id": "c2", "name": "tool"}]}}], ASYNC),
]


@pytest.mark.parametrize("order", UNDER_WAY, ids=lambda o: o.name)
def test_a_question_that_is_asked_in_the_middle_of_a_turn_is_answered_by_the_next(order: Order) -> None:
    """The turn under way was begun by speech, and is speech's."""
    d = spoken_to(order)
    exchange, _ = d.machine.ask("?", d.now)
    settle_all(d.drain(), ends_turn=False)
    d.say("to the speech").server(COMPLETE_IDLE)
    assert not exchange.done
    assert not exchange.events
    d.say("to the question").server(COMPLETE_IDLE)
    settle_all(d, ends_turn=True).later(0)
    if not exchange.done:
        d.say("to the calls").server(COMPLETE_IDLE)
    assert exchange.done
    assert "to the speech" not in [e.text for e in exchange.events if isinstance(e, OutputTranscript)]


def spoken_to(order: Order, **fields: Any) -> Driver:
    """The user has spoken, and so much of the answer has come."""
    terms = plan(order.policy, OTHER_KIND, idle_signal=order.status, **fields)
    d = Driver(terms, ReconnectPolicy()).live()
    for step in order.steps:
        take(d, step)
    return d


def settle_all(d: Driver, ends_turn: bool) -> Driver:
    """The handlers of the calls of this kind end."""
    policies = d.machine.plan.policies
    for call in [c for c in d.machine.stats()["calls"] if policies[c["name"]].ends_turn is ends_turn]:
        d.settle(call["id"])
    return d


@pytest.mark.parametrize("order", UNDER_WAY, ids=lambda o: o.name)
def test_a_turn_that_ends_leaves_nothing_due_but_the_calls(order: Order) -> None:
    d = spoken_to(order).server(COMPLETE_IDLE)
    assert d.machine.turns.idle
    assert not d.machine.turns.ahead
    for ends_turn in (False, True):
        settle_all(d, ends_turn)
    if not d.machine.turns.idle:
        assert d.say("to the calls").server(COMPLETE_IDLE).machine.turns.idle
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().say("an answer").server(COMPLETE_IDLE)
    assert exchange.done


@pytest.mark.parametrize("order", UNDER_WAY, ids=lambda o: o.name)
def test_a_turn_that_a_lost_connection_has_cut_is_not_waited_for_on_the_next(order: Order) -> None:
    d = spoken_to(order)
    d.machine.send_content([{"role": "user", "parts": [{"text": " "}]}], True, d.now)
    assert d.drain().machine.turns.ahead
    assert d.drop().machine.turns.ahead == 0
    d.later(0.5).establish()
    assert d.machine.turns.idle
    d.later(QUIET_SETTLES + 0.1)
    exchange, _ = d.machine.ask("?", d.now)
    assert d.drain().say("an answer").server(COMPLETE_IDLE)
    assert exchange.done


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("order", UNDER_WAY, ids=lambda o: o.name)
def test_a_turn_that_a_stall_has_given_up_may_still_come_before_the_next(order: Order, late: bool) -> None:
    d = spoken_to(order, stall_timeout=3)
    for ends_turn in (False, True):
        settle_all(d, ends_turn)
    d.later(3.1)
    assert d.machine.turns.idle
    assert not d.machine.turns.under_way
    exchange, _ = d.machine.ask("?", d.now)
    d.drain()
    if late and "Stalled" in d.names:  # a turn was expected, and may come
        d.say("the late one").server(COMPLETE_IDLE).later(1)
        assert not exchange.done
    d.say("an answer").server(COMPLETE_IDLE).later(
        2.1
    )  # where two were expected, the other one may have come
    assert exchange.done
    assert [e.text for e in exchange.events if isinstance(e, OutputTranscript)] == ["an answer"]


def texts(exchange: Exchange) -> list[str]:
    return [event.text for event in exchange.events if isinstance(event, TextChunk | OutputTranscript)]


def two_questions() -> tuple[Turns, Exchange]:
    """The first was given up before the model said anything; the second waits."""
    turns = Turns(20.0, False)
    first = turns.ask()
    turns.prompted(0.0, first)
    turns.give_up(first, 0.0)
    second = turns.ask()
    turns.prompted(0.0, second)
    return turns, second


def test_what_was_heard_of_another_turn_before_the_line_broke_is_no_part_of_the_answer():
    turns, second = two_questions()
    turns.content(1.0)
    second.hear(TextChunk("of the first"))
    turns.lost(2.0, again=True)
    turns.prompted(3.0, second)
    turns.content(4.0)
    second.hear(TextChunk("of the second"))
    turns.complete(None, 5.0)
    assert second.done
    assert texts(second) == ["of the second"]


def test_each_of_two_questions_that_call_is_answered_in_its_own_turn():
    turns, second = two_questions()
    turns.called(1, Call("c1", "tool"), False, 1.0)
    turns.called(2, Call("c2", "tool"), False, 1.0)
    for run, words in ((1, "of the first"), (2, "of the second")):
        turns.answered(run, None, 2.0)
        turns.content(3.0)
        second.hear(TextChunk(words))
        turns.complete(None, 3.0)
    turns.settle_doubts(3.0 + QUIET_SETTLES)
    assert second.done
    assert texts(second) == ["of the second"]
    assert (
        sum(isinstance(event, ToolStarted) for event in second.events) == 2
    )  # whose they are nobody can tell


@pytest.mark.parametrize("order", UNDER_WAY, ids=lambda o: o.name)
def test_a_turn_that_begins_behind_a_question_that_was_given_up_may_be_the_answer_to_the_next(
    order: Order,
) -> None:
    d = Driver(plan(order.policy, OTHER_KIND, idle_signal=order.status)).live()
    first, _ = d.machine.ask("one", d.now)
    d.drain().machine.turns.give_up(first, d.now)
    second, _ = d.machine.ask("two", d.now)
    d.drain()
    for step in order.steps:
        take(d, step)
    settle_all(d, ends_turn=False).say("to two").server(COMPLETE_IDLE)
    settle_all(d, ends_turn=True)
    if not d.machine.turns.idle and not d.later(QUIET_SETTLES + 0.1).machine.turns.idle:
        d.say("and on").server(COMPLETE_IDLE).later(QUIET_SETTLES + 0.1)
    assert second.done
    assert "to two" in [e.text for e in second.events if isinstance(e, OutputTranscript)]


ON_SPEECH: list[tuple[CallPolicy, list[Any]]] = [
    (THINKING, [WORDS, COMPLETE_BUSY, IDLE]),  # the end of a filler, and of the turn
    (BLOCKING, [CALL, "", COMPLETE]),  # no word on the answer to its call
    (BLOCKING, [CALL, "", WORDS, COMPLETE]),
]


@pytest.mark.parametrize(("policy", "turn"), ON_SPEECH)
def test_a_turn_on_what_was_said_is_not_the_answer_to_a_text_however_it_ends(
    policy: CallPolicy, turn: list[Any]
) -> None:
    d = Driver(plan(policy, idle_signal=policy is THINKING)).live()
    d.machine.send_media(outgoing.audio(bytes(640), 16000), "audio", d.now)
    d.drain().machine.send_text("one", d.now)
    exchange, _ = d.machine.ask("two", d.now)
    d.drain().server(HEARD)
    for step in turn:
        take(d, step)
    for words in ("to one", "to two"):
        assert not exchange.done
        d.say(words).server(COMPLETE_IDLE)
    assert exchange.done
    assert "to one" not in texts(exchange)
    assert texts(exchange)[-1] == "to two"


def test_the_users_interruption_does_not_end_the_turn_that_a_call_ends_by_itself() -> None:
    """The model reads it when the call is answered, and has not been cut off before."""
    d = Driver(plan(HALF_CASCADE, content_mid_session="honoured")).live()
    d.machine.send_text("one", d.now)
    d.machine.send_text("two", d.now)
    d.drain().server(CALL).machine.interrupt(d.now)
    d.drain().server(COMPLETE)
    settle_all(d, ends_turn=True)
    exchange, _ = d.machine.ask("three", d.now)
    for words in ("to one", "to two", "to three"):
        d.drain().say(words).server(COMPLETE)
    assert exchange.done
    assert texts(exchange) == ["to three"]


@pytest.mark.parametrize(
    "answers", [("c1", "c3"), ("c3", "c1")], ids=["while it stands", "before it goes on"]
)
def test_an_answer_that_is_written_while_another_call_stands_is_spoken_of_behind_that_turn(
    answers: tuple[str, str],
) -> None:
    d = Driver(plan(ASYNC, replace(BLOCKING, name="other"))).live()
    d.machine.send_text("one", d.now)
    d.machine.ask("two", d.now)
    d.drain().server(CALL).server(COMPLETE)  # on the first text, or on both
    d.call(("c3", "other"))
    for answered in answers:
        d.settle(answered)
    d.say("to two").server(COMPLETE)
    assert not d.machine.turns.idle, "the answer to c1 is still to be spoken of"
    assert d.say("to one").server(COMPLETE).machine.turns.idle


ENDS_OF_CALLS: list[list[Any]] = [[CANCEL], ["", COMPLETE_IDLE]]


@pytest.mark.parametrize("end", ENDS_OF_CALLS)
def test_after_a_call_without_a_word_on_it_the_next_turn_is_the_questions(end: list[Any]) -> None:
    d = Driver(plan(BLOCKING)).live().server(CALL)
    for step in end:
        take(d, step)
    exchange, _ = d.machine.ask("?", d.now)
    assert d.drain().say("an answer").turn_complete()
    assert exchange.done


ANSWERS: list[tuple[list[Any], bool]] = [
    ([WORDS, CALL, "", COMPLETE], True),  # the call's own turn has ended; the answer's is due
    (
        [CALL, COMPLETE_BUSY, "", WORDS, COMPLETE],
        False,
    ),  # it had ended before, and this one was the answer's
    ([COMPLETE_BUSY, CALL, "", COMPLETE], True),
    ([CALL, COMPLETE_BUSY, WORDS, "", COMPLETE], True),
]


@pytest.mark.parametrize(("steps", "due"), ANSWERS)
def test_an_answer_is_spoken_of_in_the_turn_behind_the_calls_own(steps: list[Any], due: bool) -> None:
    d = Driver(plan(ASYNC)).live()
    for step in steps:
        take(d, step)
    assert d.machine.turns.idle is not due


def test_nothing_waits_for_a_question_that_was_given_up() -> None:
    """Neither a move nor a late result, and its silence is no stall."""
    d = Driver(plan(stall_timeout=3), ReconnectPolicy()).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().machine.turns.give_up(exchange, d.now)
    assert d.machine.turns.idle
    d.server({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}).server(GO_AWAY).later(1.0)
    assert d.dialled == [1, 2]
    assert "Stalled" not in d.later(2.5).names


def test_a_question_that_was_given_up_before_it_was_written_is_not_waited_for_either() -> None:
    d = Driver(plan(), ReconnectPolicy()).live().drop()
    exchange, _ = d.machine.ask("one", d.now)
    d.machine.turns.give_up(exchange, d.now)
    d.later(0.5).establish()
    assert d.texts() == ["one"]
    second, _ = d.machine.ask("two", d.now)
    d.drain().say("to one").turn_complete().later(1).say("to two").turn_complete()
    assert [e.text for e in second.events if isinstance(e, OutputTranscript)] == ["to two"]


def test_a_late_answer_to_a_question_that_ended_with_a_stall_is_not_the_next_ones() -> None:
    d = Driver(plan(stall_timeout=3)).live()
    first, _ = d.machine.ask("one", d.now)
    d.drain().later(3.1)
    assert isinstance(first.error, NoAnswer)
    assert "the model's answer to the user's turn" in str(first.error)
    second, _ = d.machine.ask("two", d.now)
    d.drain().say("to one").turn_complete().later(1).say("to two").turn_complete()
    assert second.done
    assert [e.text for e in second.events if isinstance(e, OutputTranscript)] == ["to two"]


@pytest.mark.parametrize("came", [WORDS, CALL])
def test_a_stall_after_a_word_or_a_call_ends_the_exchange_with_what_there_is(came: object) -> None:
    d = Driver(plan(BLOCKING, stall_timeout=3)).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().server(came)
    if came is CALL:
        d.settle("c1")
    d.later(3.1)
    assert (exchange.done, exchange.stalled is not None, exchange.error) == (True, True, None)


def test_a_turn_that_ended_empty_is_an_answer_and_no_stall() -> None:
    d = Driver(plan()).live()
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().turn_complete()
    assert (exchange.done, exchange.stalled, exchange.error) == (True, None, None)


def test_a_turn_that_the_next_question_cuts_off_is_not_its_answer() -> None:
    d = Driver(plan()).live()
    first, _ = d.machine.ask("one", d.now)
    d.drain().machine.turns.give_up(first, d.now)
    second, _ = d.machine.ask("two", d.now)
    d.drain().say("to one").server(CUT).turn_complete().later(3)
    assert not second.done
    d.say("to two").turn_complete()
    assert (second.done, second.interrupted) == (True, False)
    assert [e.text for e in second.events if isinstance(e, OutputTranscript)] == ["to two"]


def test_calls_in_a_turn_that_may_be_the_answer_are_the_exchanges_if_it_was() -> None:
    d = Driver(plan(ASYNC)).live()
    first, _ = d.machine.ask("one", d.now)
    d.drain().machine.turns.give_up(first, d.now)
    second, _ = d.machine.ask("two", d.now)
    d.drain().server(CALL).turn_complete().later(1).settle("c1").later(1)
    assert not second.done
    d.say("to two").turn_complete()
    assert second.done
    assert [type(e).__name__ for e in second.events] == [
        "ToolStarted",
        "TurnComplete",
        "OutputTranscript",
        "TurnComplete",
    ]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("before", ["text", "given up"])
def test_words_on_a_call_that_was_made_on_a_text_before_the_question_are_not_the_next_answer(
    before: str, told: bool
) -> None:
    """Whose call it was nobody can tell: a turn on its answer may follow that of the question, or not."""
    d = Driver(plan(ASYNC)).live()
    if before == "text":
        d.machine.send_text("one", d.now)
    else:
        d.machine.turns.give_up(d.machine.ask("one", d.now)[0], d.now)
    second, _ = d.drain().machine.ask("two", d.now)
    d.drain().server(CALL).turn_complete().settle("c1").say("to two").turn_complete()
    assert second.done
    third, _ = d.machine.ask("three", d.now)
    d.drain()
    if told:
        d.say("on c1").turn_complete()
        assert not third.done
    d.say("to three").turn_complete().later(QUIET_SETTLES)
    assert third.done
    assert [e.text for e in third.events if isinstance(e, OutputTranscript)] == ["to three"]
    assert d.machine.turns.ahead == 0


@pytest.mark.parametrize("apart", [True, False])
def test_a_question_behind_a_response_that_was_perhaps_spoken_of_already_is_answered(apart: bool) -> None:
    """Words follow the response in the same turn: they may be on it, and then no turn of its own comes."""
    d = Driver(plan(ASYNC)).live()
    d.machine.send_text("one", d.now)
    d.drain().server(CALL).settle("c1").say("to one").turn_complete()
    second, _ = d.machine.ask("two", d.now)
    d.drain()
    if apart:
        d.say("on c1").turn_complete()
        assert not second.done
    d.say("to two").turn_complete().later(PAUSE)
    assert second.done
    assert second.error is None
    assert [e.text for e in second.events if isinstance(e, OutputTranscript)] == ["to two"]
    assert d.machine.turns.ahead == 0


def test_a_response_behind_two_texts_may_have_a_turn_of_its_own() -> None:
    d = Driver(plan(ASYNC)).live()
    for text in ("one", "two"):
        d.machine.send_text(text, d.now)
    d.drain().server(CALL).settle("c1")
    third, _ = d.machine.ask("three", d.now)
    d.drain().turn_complete().say("to two").turn_complete().say("on c1").turn_complete()
    assert not third.done
    d.say("to three").turn_complete().later(QUIET_SETTLES)
    assert third.done
    assert [e.text for e in third.events if isinstance(e, OutputTranscript)] == ["to three"]


@pytest.mark.parametrize(
    "contents",
    [[], [{"role": "model", "parts": [{"text": "I said"}]}], [{"role": "user", "parts": [{"text": " "}]}]],
)
def test_content_that_says_nothing_may_start_no_turn(contents: Any) -> None:
    d = Driver(plan(stall_timeout=3)).live()
    d.machine.send_content(contents, True, d.now)
    assert d.drain().machine.turns.idle
    exchange, _ = d.machine.ask("?", d.now)
    d.drain().say("an answer").turn_complete()
    assert d.later(QUIET_SETTLES)
    assert exchange.done


# What always holds


class Model:
    """A lawful model beside the turns: it knows what it still has to say, and ends each turn it begins."""

    def __init__(self, ends_turn: bool) -> None:
        self.turns = Turns(20.0, False)
        self.ends_turn = ends_turn
        self.now = 0.0
        self.exchange = self.turns.ask()
        self.turns.prompted(self.now, self.exchange)
        self.turn, self.called, self.due = True, 0, 0  # in a turn; calls open; turns due for answers
        self.answers = 0

    def can(self) -> list[str]:
        moves = ["word"] if self.turn else []
        if self.turn and self.called + self.answers < 3:
            moves.append("call")
        if self.called and (self.turn or self.ends_turn):
            moves.append("answer")
        if self.turn and (self.ends_turn or not self.called):
            moves.append("complete")
        if not self.turn and self.due:
            moves.append("begin")
        return moves

    def play(self, move: str) -> None:
        self.now += 0.1
        if move == "word":
            self.turns.content(self.now)
        elif move == "begin":
            self.turn, self.due = True, 0
            self.turns.content(self.now)
        elif move == "call":
            self.called += 1
            self.turns.called(self.called + self.answers, TOOL, self.ends_turn, self.now)
        elif move == "answer":
            self.answers += 1
            self.called -= 1
            self.turns.answered(self.answers, None, self.now)
            self.due = 1 if self.ends_turn else 0
        else:
            self.turn = False
            self.turns.complete(None, self.now)

    @property
    def over(self) -> bool:
        return not (self.turn or self.called or self.due)


@given(ends_turn=st.booleans(), data=st.data())
@settings(derandomize=True, max_examples=150, deadline=None)
def test_an_exchange_with_a_lawful_model_ends_when_all_is_said_and_never_before(
    ends_turn: bool, data: st.DataObject
) -> None:
    model = Model(ends_turn)
    for _ in range(data.draw(st.integers(0, 14))):
        if not (moves := model.can()):
            break
        model.play(data.draw(st.sampled_from(moves)))
        assert model.over or not model.exchange.done, "over, and the model has more to say"
    while moves := model.can():
        model.play(next(m for m in ("answer", "complete", "begin") if m in moves))
        assert model.over or not model.exchange.done, "over, and the model has more to say"
    model.turns.tick(model.now + QUIET_SETTLES, False)
    assert model.exchange.done
    assert model.turns.idle


INPUTS = st.sampled_from(
    [
        ("prompted",),
        ("content",),
        ("called",),
        ("answered", None),
        ("answered", "SILENT"),
        ("answered", "INTERRUPT"),
        ("taken back",),
        ("interrupted",),
        ("complete", None),
        ("complete", "IDLE"),
        ("complete", "IN_PROGRESS"),
        ("status", "IDLE"),
        ("status", "IN_PROGRESS"),
        ("lost", True),
        ("lost", False),
        ("tick",),
    ]
)


@given(inputs=st.lists(INPUTS, max_size=25), status=st.booleans(), ends_turn=st.booleans())
@settings(derandomize=True, max_examples=200, deadline=None)
def test_after_any_order_of_inputs_silence_ends_the_exchange_and_the_clock_runs_on(
    inputs: list[tuple[Any, ...]], status: bool, ends_turn: bool
) -> None:
    turns, now = Turns(20.0, status), 0.0
    exchange = turns.ask()
    turns.prompted(now, exchange)
    for n, (what, *args) in enumerate(inputs):
        now += 0.5
        if what == "called":
            turns.called(n, TOOL, ends_turn, now)
        elif what == "answered":
            turns.answered(n - 1, args[0], now)
        elif what == "taken back":
            turns.taken_back(n - 1, now)
        elif what == "lost":
            turns.lost(now, args[0])
        elif what == "tick":
            turns.tick(now, False)
            assert turns.wake_at(False) > now
        else:
            getattr(turns, what)(*args, now)
        assert (turns.exchange is None) == exchange.done
        assert bool(turns.waiting_for()) != turns.idle
    for run in list(exchange.calls):
        turns.taken_back(run, now)
    if exchange.turn is None and not exchange.done:
        turns.prompted(now, exchange)  # the connection was lost, and the prompt is written again
    while (at := turns.wake_at(False)) < inf:
        assert at <= now + 20.0, "it would be silent for longer than a stall"
        now = at
        turns.tick(now, False)
    assert exchange.done


@pytest.mark.parametrize("overdue", [True, False])
def test_a_silence_in_which_nothing_was_read_settles_no_doubt(overdue: bool) -> None:
    """The words that end it may have come in time, and only be read late: then they are the second one's answer."""
    d = Driver(plan()).live()
    d.machine.send_text("one", d.now)
    second, _ = d.machine.ask("two", d.now)
    d.drain().say("to one").turn_complete()  # to both, if it is quiet now
    d.now += 2 * PAUSE
    for message in (
        {"serverContent": {"outputTranscription": {"text": "to two"}}},
        {"serverContent": {"turnComplete": True}},
    ):
        d.machine.receive(1, json.dumps(message), d.now, overdue=overdue)
    d.drain().later(PAUSE)
    assert second.done
    heard = "".join(e.text for e in second.events if isinstance(e, OutputTranscript))
    assert heard.endswith("to two") == overdue
