"""Whether what a socket took has been read: the model's words where they must mean it, else words and pong."""

from __future__ import annotations

from math import inf

import pytest
from support.driver import Driver, plan

from livetools.protocol import outgoing
from livetools.protocol.actions import Outcome
from livetools.protocol.delivery import Batch, Posted, handed
from livetools.protocol.events import InputDropped, Stalled, ToolLost
from livetools.protocol.held import FATAL
from livetools.protocol.link import ReconnectPolicy
from livetools.protocol.terms import CallPolicy

PATIENT = ReconnectPolicy(attempts=8, initial=0.1, maximum=0.1, jitter=0.0)
ASYNC = CallPolicy("tool", behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
WAITED_FOR = CallPolicy("tool", behavior="BLOCKING")
CUT = {"serverContent": {"interrupted": True}}


def live(*policies: CallPolicy, **fields: object) -> Driver:
    return Driver(plan(*policies, **fields), PATIENT).live()


def send(d: Driver, text: str) -> Driver:
    d.machine.send_text(text, d.now)
    return d.drain()


def dies(d: Driver) -> Driver:
    """The line takes frames from now on, and nothing arrives."""
    d.deaf.add(d.machine.connection.link.current)
    return d


def reconnect(d: Driver) -> Driver:
    return d.drop(1006).later(0.2).establish()


# A piece of what went out


def posted(after: float, surely: float, pong: bool | None, taken: bool = True) -> Posted:
    batch = Batch()
    batch.handed = taken
    if pong is not None:
        batch.ask()
        batch.pong = lambda: 1 if pong else None
    return Posted(batch, after, surely)


@pytest.mark.parametrize(
    ("after", "surely", "pong", "read"),
    [
        (1, 1, False, True),  # no other turn can have come first: the words suffice
        (1, 2, True, True),
        (1, 2, None, True),  # nobody can tell: the count decides
        (1, 2, False, False),
        (2, 2, True, False),  # received, and its turn is not due yet
    ],
)
def test_words_count_alone_where_they_must_mean_it_and_else_with_the_pong(
    after: int, surely: int, pong: bool | None, read: bool
) -> None:
    assert posted(after, surely, pong).heard(1, 1) is read


def test_what_no_socket_has_been_handed_was_read_by_nobody() -> None:
    assert not posted(0, 0, None, taken=False).heard(5, 5)


def test_words_before_the_pong_prove_nothing_and_words_behind_it_do() -> None:
    batch = Batch()
    batch.ask()
    batch.handed = True
    sent = Posted(batch, 0, 1)
    assert not sent.heard(0, 0)
    batch.pong = lambda: 1
    assert not sent.read
    assert sent.heard(0, 0)


def test_what_was_read_stays_read() -> None:
    batch = Batch()
    batch.ask()
    batch.handed = True
    sent = Posted(batch, 0, 1)
    batch.pong = lambda: 1
    sent.heard(0, 0)
    batch.pong = lambda: None
    assert sent.heard(0, 0)


def test_until_the_ping_is_written_no_words_are_behind_its_pong() -> None:
    batch = Batch()
    batch.handed = True
    batch.ask()
    assert not Posted(batch, 0, 1).heard(0, 0)


@pytest.mark.parametrize(
    ("ends", "pong", "read"),
    [
        (2, 0, True),  # the turn that is counted to be its answer has ended, and it was received
        (2, None, False),
        (1, 0, False),  # received, and nothing said since
    ],
)
def test_where_nothing_more_is_said_the_end_of_its_own_turn_counts_with_a_pong_that_came_since(
    ends: int, pong: int | None, read: bool
) -> None:
    batch = Batch()
    batch.ask()
    batch.handed = True
    batch.pong = lambda: pong
    assert Posted(batch, 1, 9, answer=1).over(ends) is read


def test_of_what_is_written_without_batches_any_word_is_proof() -> None:
    assert handed().heard(0, 0)


# Texts


def test_a_text_that_nothing_can_be_mistaken_for_costs_no_ping() -> None:
    d = send(live(), "one").say("an answer").turn_complete()
    send(d, "two").say("another")
    assert d.pings == 0
    assert reconnect(d).texts() == ["one", "two"]


def test_a_text_behind_a_turn_is_followed_by_a_ping() -> None:
    d = send(live(), "one").say("a long")
    send(d, "two")
    assert d.pings == 1
    d.turn_complete().say("to two")
    assert reconnect(d).texts() == ["one", "two"]


def test_two_turns_on_two_answers_do_not_pass_for_the_reading_of_a_text_that_was_swallowed() -> None:
    """The model may speak of two answers in one turn, which is what is counted on, or in two."""
    d = live(ASYNC).call(("a", "tool"), ("b", "tool")).turn_complete()
    d.settle("a").settle("b")
    send(dies(d), "swallowed")
    d.say("of a").turn_complete().say("of b").turn_complete()
    assert reconnect(d).texts() == ["swallowed", "swallowed"]


def test_a_turn_that_audio_began_does_not_pass_for_the_reading_of_a_text_that_was_swallowed() -> None:
    d = live()
    d.machine.send_media(outgoing.audio(b"\0\0", 16000), "audio", d.now)
    d.drain()
    send(dies(d), "swallowed")
    d.say("to what was said").turn_complete()
    assert reconnect(d).texts() == ["swallowed", "swallowed"]


def test_a_turn_on_the_errors_of_lost_calls_does_not_pass_for_the_reading_of_a_text() -> None:
    d = live(ASYNC, answer_lost=True)
    d.server({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}})
    reconnect(d.call(("a", "tool")))
    assert len(d.answers()) == 1
    send(dies(d), "swallowed")
    d.say("an error, it seems").turn_complete()
    assert reconnect(d).texts() == ["swallowed", "swallowed"]


def test_what_arrived_and_was_not_answered_is_written_again() -> None:
    d = send(live(), "one").say("a long")
    send(d, "two").turn_complete()
    assert reconnect(d).texts() == ["one", "two", "two"]


def test_a_slow_pong_is_not_needed_once_no_other_turn_can_come() -> None:
    d = dies(send(live(), "one").say("a long"))  # or the pong takes its time
    send(d, "two").server(CUT).turn_complete().say("to two").turn_complete()
    assert d.pings == 1
    assert reconnect(d).texts() == ["one", "two"]


def test_a_text_that_was_answered_before_its_slow_pong_came_is_not_written_again() -> None:
    d = live()
    d.slow.add(1)
    d.machine.send_media(outgoing.audio(b"\0\0", 16000), "audio", d.now)
    send(d, "one").say("to one").turn_complete()
    d.slow.clear()
    assert reconnect(d).texts() == ["one"]


# Stalls


def stalled(d: Driver, *texts: str) -> Driver:
    for text in texts:
        send(d, text)
    d.later(20.1)
    assert any(isinstance(event, Stalled) for event in d.events)
    return d


def test_turns_that_a_stall_has_given_up_come_first_if_they_come() -> None:
    d = stalled(live(), "one", "two")
    send(d, "three")
    d.say("to one").turn_complete().say("to two").turn_complete()
    assert reconnect(d).texts() == ["one", "two", "three", "three"]


def test_turns_that_a_stall_has_given_up_and_that_do_not_come_are_not_waited_for() -> None:
    d = stalled(live(), "one", "two")
    send(d, "three").say("to three").turn_complete().later(5)
    assert reconnect(d).texts() == ["one", "two", "three"]


def test_after_a_stall_words_in_a_hurry_prove_nothing_yet() -> None:
    d = stalled(live(), "one")
    send(d, "two").say("to one, or to two").turn_complete().later(1)
    assert reconnect(d).texts() == ["one", "two", "two"]


# A text that ends connections


def test_a_text_that_five_connections_were_handed_and_ended_on_is_given_up_and_told() -> None:
    d = send(live(), "poison")
    for _ in range(5):
        reconnect(d)
    assert d.texts() == ["poison"] * 5
    assert [e for e in d.events if isinstance(e, InputDropped)] == [InputDropped(1, FATAL)]


def test_connections_that_end_before_they_are_handed_a_text_do_not_count_against_it() -> None:
    d = live()
    d.machine.send_text("patient", d.now)
    for _ in range(7):
        taken = d.machine.frames()
        assert [frame for frame in taken if b"patient" in (frame.make() or b"")]
        d.drop(1006).later(0.2)
        link = d.dialled[-1]
        d.machine.opened(link, d.now)
        d.drain()
        d.machine.receive(link, '{"setupComplete": {}}', d.now)
    assert not any(isinstance(event, InputDropped) for event in d.drain().events)


# Answers


def test_the_model_that_stood_still_for_an_answer_has_read_it_when_it_speaks() -> None:
    d = send(live(WAITED_FOR), "?").call(("c1", "tool")).settle("c1").say("It is")
    assert d.pings == 0
    reconnect(d)
    assert "ToolLost" not in d.names


def test_calls_in_a_row_that_the_model_stands_still_for_cost_no_ping() -> None:
    d = send(live(WAITED_FOR), "?")
    for n in range(4):
        d.call((f"c{n}", "tool")).settle(f"c{n}")
    assert d.say("done").turn_complete().pings == 0


def test_an_answer_that_was_swallowed_while_the_model_spoke_is_lost_and_told() -> None:
    d = send(live(ASYNC), "?").call(("a", "tool"), ("b", "tool")).turn_complete().settle("a")
    dies(d).settle("b").say("of a").turn_complete()
    reconnect(d)
    assert [e.call.id for e in d.events if isinstance(e, ToolLost)] == ["b"]
    assert any("Result of tool" in text for text in d.later(60).texts())


def test_the_end_of_the_calls_own_turn_is_no_word_on_its_answer() -> None:
    half_cascade = CallPolicy("tool", behavior="BLOCKING", ends_turn=True)
    d = send(live(half_cascade), "?").call(("c1", "tool"))
    dies(d).settle("c1").turn_complete()
    reconnect(d)
    assert "ToolLost" in d.names


def test_a_call_that_was_read_is_not_taken_back_any_more() -> None:
    d = send(live(ASYNC), "?").call(("a", "tool")).turn_complete().settle("a").say("of a")
    d.server({"toolCallCancellation": {"ids": ["a"]}})
    assert "ToolCancelled" not in d.names


def slow_to_answer_pings(d: Driver) -> Driver:
    """A voice session, in which audio goes out all the time, and the pongs take their time."""
    d.slow.add(1)
    d.machine.send_media(outgoing.audio(b"\0\0", 16000), "audio", d.now)
    return d.drain()


@pytest.mark.parametrize("policy", [WAITED_FOR, ASYNC])
def test_an_answer_that_was_spoken_of_before_its_slow_pong_came_is_not_lost(policy: CallPolicy) -> None:
    d = slow_to_answer_pings(live(policy)).say("Let me see").call(("c1", "tool"))
    if policy is ASYNC:
        d.turn_complete()
    d.settle("c1").say("It is").turn_complete()
    d.slow.clear()
    reconnect(d)
    assert "ToolLost" not in d.names


def test_an_answer_that_was_received_and_not_spoken_of_is_lost_and_told() -> None:
    d = slow_to_answer_pings(live(ASYNC)).say("Let me see").call(("c1", "tool"))
    d.settle("c1").say(", one moment").turn_complete()  # which is the call's own turn
    d.slow.clear()
    reconnect(d)
    assert "ToolLost" in d.names


HANDLE = {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}
STREAM = CallPolicy("tool", behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True, streams=True)


def move(d: Driver, seconds: float = 1.0) -> Driver:
    """A planned move: goAway, and after so many seconds the next connection stands, if it was dialled."""
    old = d.machine.connection.link.current
    d.server({"goAway": {"timeLeft": "50s"}}).later(seconds)
    if d.dialled[-1] == old:
        return d
    d.machine.opened(d.dialled[-1], d.now)
    d.drain().drop(1000, link=old)
    return d.server({"setupComplete": {}}, d.dialled[-1])


# Silence proves nothing by itself


def test_a_stall_does_not_make_a_swallowed_text_read() -> None:
    d = send(dies(send(live(), "one")), "two").say("to one").turn_complete().later(25)
    assert reconnect(d).texts() == ["one", "two", "two"]


def test_nor_does_the_quiet_after_a_late_answer() -> None:
    d = send(dies(stalled(live(), "one", "two")), "three").say("to one").turn_complete().later(5)
    assert reconnect(d).texts() == ["one", "two", "three", "three"]


def test_an_idle_that_only_repeats_a_turns_end_does_not_break_the_quiet() -> None:
    d = stalled(live(status_signal=True), "one", "two")
    send(d, "three").say("to three").turn_complete(interactionStatus="IDLE").later(3)
    d.server({"interactionStatus": "IDLE"}).later(1)
    assert reconnect(d).texts() == ["one", "two", "three"]


# What the model need not speak of


def test_a_silent_answer_that_was_received_is_not_lost_in_a_move() -> None:
    d = send(live(ASYNC, answer_lost=True), "?").call(("a", "tool")).say("working").turn_complete()
    d.settle("a", scheduling="SILENT").later(5).server(HANDLE)
    assert len(move(d).answers()) == 1
    assert "ToolLost" not in d.names


def test_a_silent_answer_that_was_swallowed_is_lost_and_told() -> None:
    d = send(live(ASYNC), "?").call(("a", "tool")).say("working").turn_complete()
    reconnect(dies(d).settle("a", scheduling="SILENT"))
    assert "ToolLost" in d.names


def yields(d: Driver, value: object) -> Driver:
    d.machine.progress(1, value, d.now, Outcome({"output": value}))
    return d.drain()


def test_a_generator_that_has_ended_is_not_lost_in_a_move() -> None:
    d = yields(send(live(STREAM), "?").call(("a", "tool")).turn_complete(), 1).say("one").turn_complete()
    d.machine.settled(1, Outcome({}), d.now)
    assert move(d.drain().server(HANDLE)).texts() == ["?"]
    assert "ToolLost" not in d.names


def test_yields_that_a_dying_line_swallowed_stand_in_the_text() -> None:
    d = yields(send(live(STREAM), "?").call(("a", "tool")).turn_complete(), "read").say("so").turn_complete()
    yields(dies(d), "swallowed")
    yields(reconnect(d), "later")
    d.machine.settled(1, Outcome({}), d.now)
    [_, late] = d.drain().later(30).texts()
    assert "swallowed" in late
    assert "later" in late
    assert '"read"' not in late


def test_a_yield_that_the_writer_had_not_come_to_stands_in_the_text() -> None:
    d = send(live(STREAM), "?").call(("a", "tool")).turn_complete()
    d.machine.progress(1, "waiting", d.now, Outcome({"output": "waiting"}))
    reconnect(d).machine.settled(1, Outcome({}), d.now)
    assert "waiting" in d.drain().later(30).texts()[-1]


def test_content_that_asks_for_no_answer_is_not_written_again_at_every_move() -> None:
    d = live().server(HANDLE)
    d.machine.send_content([{"role": "user", "parts": [{"text": "fyi"}]}], False, d.now)
    d.drain()
    for _ in range(6):
        move(d)
    assert len(d.sent("clientContent")) == 1
    assert not any(isinstance(event, InputDropped) for event in d.events)


# Cancellations


def test_an_answer_that_an_interruption_and_a_cancellation_have_crossed_was_not_read() -> None:
    d = send(live(ASYNC), "?").say("I look").call(("a", "tool")).settle("a").server(CUT)
    d.server({"toolCallCancellation": {"ids": ["a"]}})
    assert "ToolCancelled" in d.names


# A planned move has time


def waiting_for_a_pong() -> Driver:
    return slow_to_answer_pings(live()).server(HANDLE)


def test_a_planned_move_waits_for_the_pong_that_says_what_was_read() -> None:
    d = send(waiting_for_a_pong(), "one").say("to one").turn_complete().server(HANDLE)
    move(d, 3.0)
    assert d.dialled == [1]
    d.slow.clear()
    d.later(0.3)
    assert d.dialled == [1, 2]
    d.machine.opened(2, d.now)
    d.drain().drop(1000, link=1).server({"setupComplete": {}}, 2)
    assert d.texts() == ["one"]


def test_but_not_for_ever() -> None:
    d = send(waiting_for_a_pong(), "one").say("to one").turn_complete().server(HANDLE)
    move(d, 10.5)
    assert d.dialled == [1, 2]


def test_a_turn_that_ended_before_a_text_was_handed_over_says_nothing_of_it() -> None:
    """Nothing else is under way, so that no ping is asked for: the words that count come after the writing."""
    d = live()
    receipt = d.machine.send_text("waiting", d.now)
    [frame] = d.machine.frames()  # and its writer waits for a full socket
    d.machine.receive(1, '{"serverContent": {"modelTurn": {"parts": [{"text": "of my own accord"}]}}}', d.now)
    d.machine.receive(1, '{"serverContent": {"turnComplete": true}}', d.now)
    assert frame.batch is not None
    frame.batch.handed = True
    receipt.sent()
    assert reconnect(d).texts() == ["waiting"]


@pytest.mark.parametrize(("answer", "read"), [(0, False), (-inf, True)])
def test_where_no_pong_can_be_had_only_what_needs_no_answer_is_believed(answer: float, read: bool) -> None:
    batch = Batch()
    batch.ask()
    batch.handed, batch.pong = True, None
    assert Posted(batch, 0, inf, answer).over(5) is read
