"""Whether what a socket took has been read: the model's words where they must mean it, else words and pong."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import pytest
from support import reading
from support.driver import Driver, plan
from support.search import search

from livetools.events import InputDropped, Stalled, ToolLost
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input import resend
from livetools.protocol.input.input_queue import FATAL
from livetools.protocol.input.resend import Outbox, OutFrame, Write
from livetools.protocol.messages import outgoing
from livetools.protocol.turns.exchange import Expected
from livetools.setup.plan_fields import CallPolicy

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
    d.deaf.add(d.machine.connection.current)
    return d


def reconnect(d: Driver) -> Driver:
    return d.drop(1006).later(0.2).establish()


# One entry


def over(ended: bool) -> Expected:
    turn = Expected()
    turn.over = ended
    return turn


def entry(
    kind: str = "text", *, pong: int | str | None = "none to be had", handed: bool = True, **more: Any
) -> OutFrame:
    """Something that was handed to a socket; ``pong``: messages that came behind it, ``None`` if it has not come."""
    write = Write()
    write.handed = handed
    if pong != "none was wanted":
        write.ask()
        write.pong = None if pong == "none to be had" else lambda: pong  # type: ignore[assignment,return-value]
    return queued(kind, write=write, **more)


def queued(kind: str = "text", **more: Any) -> OutFrame:
    """Something that no writer has taken."""
    made = OutFrame(kind)
    for name, value in more.items():
        setattr(made, name, value)
    return made


WORDS: list[tuple[Any, ...]] = [
    (True, 0, None, True),  # no other turn can have come first: the words suffice
    (True, 1, 1, True),
    (True, 1, "none to be had", True),  # nobody can tell: what comes first has ended
    (True, 1, "none was wanted", True),
    (False, 0, 0, True),
    (False, 0, "none was wanted", True),
    (False, 0, "none to be had", True),
    (True, 1, None, False),
    (True, 1, 0, False),  # said before the pong
    (False, 1, 1, False),  # received, and its turn has not come
    (False, 0, None, True),
]


@pytest.mark.parametrize(("turn_is_over", "at_latest", "pong", "read"), WORDS)
def test_words_count_alone_where_they_must_mean_it_and_else_with_the_pong(
    turn_is_over: bool, at_latest: int, pong: Any, read: bool
) -> None:
    assert entry(after_turn=over(turn_is_over), at_latest=at_latest, pong=pong).output(0) is read


def test_what_no_socket_has_been_handed_was_read_by_nobody() -> None:
    for unhanded in (partial(entry, handed=False), queued):
        assert not unhanded(at_latest=0, after_turn=over(False)).output(5)
        assert not unhanded().output(5)
        assert not unhanded().safe
        assert not unhanded(answer=over(True)).safe


def test_what_was_read_stays_read() -> None:
    box, sent = Outbox(), entry(pong=1)
    box.wrote(sent, sent.write)
    assert box.output(0) == [sent]
    sent.write.pong = lambda: None
    assert box.output(0) == box.lost() == []
    assert sent.read


LOSSES: list[tuple[Any, ...]] = [
    (over(True), 0, True),  # its answer has ended, and it was received
    (over(True), None, False),
    (over(False), 0, False),  # received, and nothing said of it
    (over(True), "none to be had", False),
    (None, 0, True),  # no answer is expected: that it was received is enough
    (None, None, False),
    (None, "none was wanted", False),
    (over(True), "none was wanted", False),
    (None, "none to be had", True),  # and where nobody can tell, it is believed
]


@pytest.mark.parametrize(("answer", "pong", "read"), LOSSES)
def test_at_a_loss_the_end_of_its_answer_counts_with_a_pong(answer: Any, pong: Any, read: bool) -> None:
    assert entry(answer=answer, pong=pong).safe is read


# The outbox


FOLLOWED = {
    **dict.fromkeys(("text", "content", "update"), True),
    **dict.fromkeys(("answer", "acknowledgement", "yield", "errors"), False),
}


@pytest.mark.parametrize(("kind", "again"), FOLLOWED.items())
def test_what_was_swallowed_is_told_and_written_again_by_its_kind(kind: str, again: bool) -> None:
    box, swallowed = Outbox(), OutFrame(kind)
    box.wrote(swallowed, Write())
    assert box.lost() == [swallowed]
    assert (kind in resend.REPEATED) is again


def test_what_is_worth_nothing_late_is_not_followed() -> None:
    box, write = Outbox(), Write()
    for kind in ("audio", "video", "activity_start", "activity_end", "end", "cut", "word"):
        box.wrote(OutFrame(kind), write)
    assert box.sent == []
    assert box.lost() == []


def test_what_is_unread_is_lost_once_and_in_its_order() -> None:
    box, write = Outbox(), Write()
    write.handed = True
    first, second, third = OutFrame("text"), OutFrame("answer"), OutFrame("text")
    box.wrote(first, write)
    second.take(1, over(False))
    box.wrote(second, write)
    box.wrote(third, Write())
    assert box.output(0) == [first]
    assert box.lost() == [second, third]
    assert (second.endings, third.endings) == (1, 0)
    assert box.lost() == []


def test_a_connection_may_have_ended_for_what_was_still_being_written() -> None:
    # The service can have received it, and closed, before the writer runs again to say that it was handed over.
    box, write = Outbox(), Write()
    box.wrote(text := OutFrame("text"), write)
    text.begin()
    assert box.writing
    box.lost()
    assert text.endings == 1


def test_nor_has_it_ended_for_what_the_writer_had_not_begun() -> None:
    box, write = Outbox(), Write()
    box.wrote(first := OutFrame("text"), write)
    box.wrote(second := OutFrame("text"), write)
    first.begin()
    box.lost()
    assert (first.endings, second.endings) == (1, 0)


def test_a_text_that_cuts_the_model_off_was_read_and_says_nothing_of_answers() -> None:
    box, write = Outbox(), Write()
    write.handed = True
    text, answer = OutFrame("text"), OutFrame("answer", run=7)
    box.wrote(text, write)
    box.wrote(answer, write)
    assert box.output(0, answers=False) == [text]
    box.drop([7])
    assert box.lost() == []


def test_messages_are_numbered_and_one_that_was_not_written_after_all_has_no_number() -> None:
    box = Outbox(transparent=True)
    first, answer, second = OutFrame("audio", b"1"), OutFrame("answer", run=7), OutFrame("audio", b"2")
    box.number([first, answer])
    box.number([second])
    assert box.consumed(1) == [first]
    assert second in box.consumed(2)
    box.number([third := OutFrame("audio", b"3"), fourth := OutFrame("audio", b"4")])
    assert box.consumed(3) == [third]
    assert box.lost() == [fourth]


def test_answers_that_were_written_are_not_kept_for_a_service_that_does_not_count() -> None:
    class Answer(OutFrame, weakref=True, eq=False):
        """One that a test can look for."""

    box, answers = Outbox(transparent=True), []
    for run in range(100):
        box.number([answer := Answer("answer", run=run)])
        answer.data = b"written"
        answers.append(weakref.ref(answer))
    del answer
    gc.collect()
    assert sum(kept() is not None for kept in answers) <= 1
    box.number([text := OutFrame("text", b"words")])
    assert box.consumed(100) == []
    assert box.consumed(101) == [text]


@pytest.mark.parametrize("policy", reading.POLICIES.values(), ids=reading.POLICIES)
def test_in_every_order_nothing_that_was_swallowed_is_lost_and_nothing_answered_is_said_again(
    policy: Any,
) -> None:
    inputs = reading.World.INPUTS
    assert search(partial(reading.World, policy), inputs, 4, last=reading.World.breaks) > 250


@pytest.mark.slow
@pytest.mark.parametrize("policy", reading.POLICIES.values(), ids=reading.POLICIES)
def test_in_every_longer_order_too(policy: Any) -> None:
    inputs = reading.World.INPUTS
    assert search(partial(reading.World, policy), inputs, 7, last=reading.World.breaks) > 2000


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
    d = live(ASYNC, answers_lost=True)
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


def test_a_part_of_a_result_that_was_read_does_not_speak_for_the_answer_behind_it() -> None:
    streaming = CallPolicy("tool", behavior="NON_BLOCKING", ends_turn=True, streams=True)
    d = send(live(streaming), "?").call(("c1", "tool")).turn_complete()
    d.machine.progress(1, "a part", d.now, Outcome({"output": "a part"}))
    dies(d.drain()).settle("c1").say("of the part")
    reconnect(d)
    assert "ToolLost" in d.names


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
    old = d.machine.connection.current
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
    d = stalled(live(idle_signal=True), "one", "two")
    send(d, "three").say("to three").turn_complete(interactionStatus="IDLE").later(3)
    d.server({"interactionStatus": "IDLE"}).later(1)
    assert reconnect(d).texts() == ["one", "two", "three"]


# What the model need not speak of


def test_a_silent_answer_that_was_received_is_not_lost_in_a_move() -> None:
    d = send(live(ASYNC, answers_lost=True), "?").call(("a", "tool")).say("working").turn_complete()
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


def test_a_generator_that_has_ended_on_a_line_that_dies_is_lost_where_no_handle_has_its_yields() -> None:
    d = yields(yields(send(live(STREAM), "?").call(("a", "tool")).turn_complete(), "first"), "second")
    d.machine.settled(1, Outcome({}), d.now)
    late = reconnect(d.drain()).later(30).texts()[-1]
    assert "first" in late
    assert "second" in late
    assert [event.delivery for event in d.events if isinstance(event, ToolLost)] == ["text"]


def test_yields_that_a_dying_line_swallowed_stand_in_the_text() -> None:
    d = yields(send(live(STREAM), "?").call(("a", "tool")).turn_complete(), "read").say("so").turn_complete()
    yields(dies(d.server(HANDLE)), "swallowed")
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
    assert frame.last_of is not None
    frame.last_of.handed = True
    receipt.end()
    assert reconnect(d).texts() == ["waiting"]
