"""What the user sends: kept in order, within bounds, blocked while a call is open, and written again after a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from support.driver import Driver, plan

from livetools.events import Event, InputDropped
from livetools.protocol.calls.driver_actions import Close
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input.input_queue import (
    AWAY,
    ENDINGS_AT_MOST,
    FATAL,
    INPUT_BLOCKED,
    MEDIA_BOUND,
    MEDIA_ENDINGS_AT_MOST,
    OUTSIDE,
    SLOW,
    InputQueue,
    Item,
)
from livetools.protocol.input.resend import REPLAY_BOUND, Outbox, OutFrame, Receipt, Write
from livetools.protocol.messages import outgoing
from livetools.protocol.turns.exchange import Exchange, Expected

ERROR = RuntimeError("over")
MANUAL = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}


class Queue(InputQueue):
    """Hands what it takes to a socket, where ``at_once``. ``later``: items behind a turn that has not ended."""

    def __init__(self, transparent: bool, tell: Callable[[Event], None], **fields: Any) -> None:
        super().__init__(plan(**fields), Outbox(transparent), tell)
        self.later: list[Item] = []
        self.at_once = True

    def take(self, blocked: bool) -> list[Item]:
        taken = super().take(blocked)
        for item in taken:
            write = Write()
            write.handed = self.at_once
            item.take(1, Expected() if item in self.later else None)
            self.outbox.wrote(item, write)
        self.outbox.number(taken)
        return taken

    def hear(self) -> None:
        """The model speaks."""
        self.outbox.output(0)

    def drop(self, close: Close | None = None, *, turned: bool = False) -> None:
        """The connection is lost."""
        crossed = self.crossed(close or Close())
        self.lose(self.outbox.lost(crossed=crossed, turned=turned), crossed=crossed)


def held(
    input_block: bool = False, transparent: bool = False, manual: bool = False, realtime: bool = False
) -> tuple[Queue, list[Event]]:
    told: list[Event] = []
    fields: dict[str, Any] = {"input_block": input_block}
    if manual:
        fields["setup"] = MANUAL
    if realtime:
        fields["text_channel"] = "realtime"
    return Queue(transparent, told.append, **fields), told


def text(name: str) -> Item:
    return Item("text", name.encode(), Receipt(), prompts=True)


def media(name: str, size: int = 0) -> Item:
    return Item("audio", name.encode().ljust(size, b"."))


def names(items: list[Item]) -> list[str]:
    return [item.data.decode().rstrip(".") for item in items]


# Receipts


def test_a_receipt_is_resolved_once_and_says_so_once() -> None:
    receipt, notified = Receipt(), []
    receipt.notify = lambda: notified.append(1)
    receipt.end()
    receipt.end(ERROR)
    receipt.end()
    assert (receipt.done, receipt.error, notified) == (True, None, [1])


def test_at_the_end_every_receipt_fails_that_no_socket_was_handed() -> None:
    queue, _ = held()
    sent, swallowed, waiting = text("sent"), text("swallowed"), text("waiting")
    queue.put(sent)
    queue.put(swallowed)
    queue.take(False)
    assert sent.receipt is not None
    sent.receipt.end()
    queue.put(waiting)
    queue.fail(ERROR)
    assert [i.receipt.error for i in (sent, swallowed, waiting) if i.receipt] == [None, ERROR, ERROR]
    assert not queue.queue
    assert queue.backlog == 0


# Media


@pytest.mark.parametrize(("away", "reason"), [(True, AWAY), (False, SLOW)])
def test_past_its_bound_the_oldest_media_goes_first_and_it_is_told_when_it_is_over(
    away: bool, reason: str
) -> None:
    queue, told = held()
    for name in "abc":
        assert queue.media(media(name, MEDIA_BOUND // 2), blocked=False, away=away)
    queue.put(text("kept"))
    assert queue.backlog <= MEDIA_BOUND
    assert told == []
    assert queue.untold
    queue.tell()
    assert told == [InputDropped(1, reason)]
    assert not queue.untold
    assert names(queue.take(False)) == ["b", "c", "kept"]


def test_one_big_frame_sheds_as_many_small_ones_as_it_takes() -> None:
    queue, _ = held()
    for _ in range(4):
        queue.media(media("small", MEDIA_BOUND // 4), False)
    queue.media(media("big", MEDIA_BOUND), False)
    assert names(queue.take(False)) == ["big"]


def test_on_an_open_line_a_single_frame_goes_out_whatever_its_size() -> None:
    queue, _ = held()
    queue.media(media("before"), blocked=False)
    queue.media(media("photo", 2 * MEDIA_BOUND), blocked=False)
    queue.media(media("behind"), blocked=False)
    assert not queue.untold
    assert names(queue.take(False)) == ["before", "photo", "behind"]
    assert queue.backlog == 0


def test_of_several_frames_that_large_the_newest_waits() -> None:
    queue, told = held()
    for name in ("first", "second"):
        queue.media(media("sound", 10), blocked=False)
        queue.media(media(name, MEDIA_BOUND + 1), blocked=False)
    queue.tell()
    assert told == [InputDropped(1, SLOW)]
    assert queue.backlog == MEDIA_BOUND + 1 + 20
    assert names(queue.take(False)) == ["sound", "sound", "second"]


def test_beside_a_large_frame_the_rest_keeps_its_bound() -> None:
    queue, told = held()
    queue.media(media("photo", MEDIA_BOUND + 1), blocked=False)
    for name in "abc":
        queue.media(media(name, MEDIA_BOUND // 2), blocked=False)
    queue.tell()
    assert told == [InputDropped(1, SLOW)]
    assert names(queue.take(False)) == ["photo", "b", "c"]


def test_while_the_line_is_away_a_frame_that_large_is_not_kept_and_what_waits_is() -> None:
    queue, told = held()
    queue.media(media("sound"), blocked=False, away=True)
    queue.media(media("photo", MEDIA_BOUND + 1), blocked=False, away=True)
    queue.tell()
    assert told == [InputDropped(1, AWAY)]
    assert names(queue.take(False)) == ["sound"]


def test_a_large_frame_that_waits_when_the_line_breaks_makes_room_for_what_comes_then() -> None:
    queue, told = held()
    queue.media(media("photo", MEDIA_BOUND + 1), blocked=False)
    queue.drop()
    queue.media(media("sound"), blocked=False, away=True)
    queue.tell()
    assert told == [InputDropped(1, AWAY)]
    assert names(queue.take(False)) == ["sound"]


def test_text_is_never_shed_however_much_waits() -> None:
    queue, _ = held()
    queue.put(text("first"))
    for n in range(9):
        queue.media(media(str(n), MEDIA_BOUND // 3), blocked=False)
    queue.put(text("last"))
    taken = names(queue.take(False))
    assert (taken[0], taken[-1]) == ("first", "last")


# The input block


def test_while_input_is_blocked_media_is_dropped_and_text_waits() -> None:
    queue, told = held(input_block=True)
    queue.put(text("later"))
    assert not queue.media(media("lost"), blocked=True)
    assert queue.take(blocked=True) == []
    queue.tell()
    assert told == [InputDropped(1, INPUT_BLOCKED)]
    assert names(queue.take(blocked=False)) == ["later"]


def test_without_an_input_block_nothing_is_held_back() -> None:
    queue, _ = held(input_block=False)
    assert queue.media(media("heard"), blocked=True)
    queue.put(text("too"))
    assert names(queue.take(blocked=True)) == ["heard", "too"]


# Push-to-talk


def by_hand(**fields: bool) -> tuple[Queue, list[Event]]:
    """A queue whose user marks speech."""
    return held(manual=True, **fields)


def said(name: str, words: str = "words") -> Item:
    item = text(name)
    item.contents = ({"role": "user", "parts": [{"text": words}]},)
    item.doubtful = not words.strip()
    return item


@pytest.mark.parametrize("drained", [True, False])
def test_an_activity_without_input_is_not_written(drained: bool) -> None:
    queue, _ = by_hand()
    for _ in range(3):
        queue.activity(True, b"start")
        if drained:
            assert queue.take(False) == []
        queue.activity(False, b"end")
    assert queue.take(False) == []
    assert not queue.queue


def test_an_activity_begins_with_its_first_audio_and_ends_once() -> None:
    queue, _ = by_hand()
    queue.activity(True, b"start")
    assert queue.take(False) == []
    queue.media(media("a"), False)
    queue.media(media("b"), False)
    assert names(queue.take(False)) == ["start", "a", "b"]
    queue.activity(False, b"end")
    assert names(queue.take(False)) == ["end"]


def test_audio_outside_an_activity_is_dropped_and_told_at_once_and_then_when_it_is_over() -> None:
    queue, told = by_hand()
    assert not queue.media(media("early"), False)
    assert queue.untold
    queue.tell()
    for _ in range(9):
        queue.media(media("early"), False)
    assert not queue.untold, "an event for every chunk"
    queue.activity(True, b"start")
    assert queue.untold
    queue.tell()
    assert told == [InputDropped(1, OUTSIDE), InputDropped(9, OUTSIDE)]
    queue.activity(False, b"end")
    queue.media(media("late"), False)
    queue.tell()
    queue.media(media("later"), False)
    queue.fail(ERROR)
    queue.tell()
    assert told[2:] == [InputDropped(1, OUTSIDE), InputDropped(1, OUTSIDE)]


def test_video_goes_out_without_an_activity_and_waits_in_one_for_its_beginning() -> None:
    queue, _ = by_hand()
    queue.media(Item("video", b"seen"), False)
    queue.activity(True, b"start")
    queue.media(Item("video", b"held up"), False)
    assert names(queue.take(False)) == ["seen"]
    assert queue.backlog == len(b"held up")
    queue.media(media("what is this?"), False)
    assert names(queue.take(False)) == ["start", "held up", "what is this?"]
    queue.activity(False, b"end")
    queue.activity(True, b"start")
    queue.media(Item("video", b"shown"), False)
    queue.activity(False, b"end")
    assert names(queue.take(False)) == ["end", "shown"]
    assert queue.backlog == 0


def test_while_input_is_blocked_an_activity_that_was_begun_ends() -> None:
    queue, told = by_hand(input_block=True)
    queue.activity(True, b"start")
    queue.media(media("heard"), False)
    queue.take(False)
    queue.media(media("not written in time"), blocked=False)
    queue.put(text("later"))
    queue.activity(False, b"end")
    assert names(queue.take(blocked=True)) == ["end"]
    queue.tell()
    assert told == [InputDropped(1, INPUT_BLOCKED)]
    assert names(queue.take(blocked=False)) == ["later"]


def test_while_input_is_blocked_none_begins_whose_audio_is_dropped() -> None:
    queue, told = by_hand(input_block=True)
    queue.activity(True, b"start")
    assert not queue.media(media("dropped"), blocked=True)
    queue.activity(False, b"end")
    assert queue.take(blocked=True) == []
    assert queue.take(blocked=False) == []
    queue.tell()
    assert told == [InputDropped(1, INPUT_BLOCKED)]


def test_when_the_input_block_ends_in_the_middle_the_activity_begins_with_what_is_said_then() -> None:
    queue, _ = by_hand(input_block=True)
    queue.activity(True, b"start")
    queue.media(media("dropped"), blocked=True)
    assert queue.take(blocked=True) == []
    queue.media(media("heard"), blocked=False)
    queue.activity(False, b"end")
    assert names(queue.take(blocked=False)) == ["start", "heard", "end"]


def test_an_input_block_that_begins_before_anything_was_written_holds_the_whole_activity_back() -> None:
    queue, _ = by_hand(input_block=True)
    queue.activity(True, b"start")
    queue.media(media("waits"), False)
    queue.activity(False, b"end")
    assert queue.take(blocked=True) == []
    assert names(queue.take(blocked=False)) == ["start", "waits", "end"]


def test_an_activity_whose_audio_was_shed_is_not_written() -> None:
    queue, _ = by_hand()
    queue.activity(True, b"start")
    queue.media(media("old"), False)
    queue.activity(False, b"end")
    queue.activity(True, b"start")
    queue.media(media("new", MEDIA_BOUND), False)
    queue.activity(False, b"end")
    assert names(queue.take(False)) == ["start", "new", "end"]


def test_a_text_inside_an_activity_is_a_part_of_it_on_the_realtime_channel() -> None:
    queue, _ = by_hand(realtime=True)
    queue.activity(True, b"start")
    queue.put(said("a word"))
    queue.activity(False, b"end")
    taken = queue.take(False)
    assert names(taken) == ["start", "a word", "end"]
    assert [item.prompts for item in taken] == [False, False, True]


def test_a_blank_text_begins_no_activity() -> None:
    queue, _ = by_hand(realtime=True)
    queue.activity(True, b"start")
    queue.put(said("blank", " "))
    queue.activity(False, b"end")
    assert names(queue.take(False)) == ["blank"]


def test_elsewhere_a_text_inside_an_activity_waits_for_its_end_and_those_behind_it_too() -> None:
    queue, _ = by_hand()
    queue.activity(True, b"start")
    receipt, first = Receipt(), text("first")
    first.receipt = receipt
    queue.put(first)
    queue.media(media("speech"), False)
    assert names(queue.take(False)) == ["start", "speech"]
    assert queue.held_back(receipt)
    assert not queue.held_back(Receipt())
    queue.put(text("second"))
    queue.activity(False, b"end")
    queue.put(text("third"))
    assert not queue.held_back(receipt)
    taken = queue.take(False)
    assert names(taken) == ["end", "first", "second", "third"]
    assert all(item.prompts for item in taken)


def test_an_activity_without_audio_lets_the_texts_go_that_wait_for_its_end() -> None:
    queue, _ = by_hand()
    queue.activity(True, b"start")
    queue.put(text("typed"))
    assert queue.take(False) == []
    queue.activity(False, b"end")
    assert names(queue.take(False)) == ["typed"]


def test_an_activity_that_a_lost_link_took_with_it_begins_again_with_what_follows() -> None:
    queue, _ = by_hand()
    queue.activity(True, b"start")
    queue.media(media("lost"), False)
    queue.take(False)
    queue.drop()
    assert queue.take(False) == []
    queue.media(media("more"), False)
    queue.activity(False, b"end")
    assert names(queue.take(False)) == ["start", "more", "end"]


@pytest.mark.parametrize("open_again", [True, False])
def test_a_text_that_is_written_again_after_its_activity_is_a_turn_of_its_own(open_again: bool) -> None:
    queue, _ = by_hand(realtime=True)
    queue.activity(True, b"start")
    queue.put(said("a word"))
    queue.activity(False, b"end")
    queue.take(False)
    if open_again:
        queue.activity(True, b"start")
    queue.drop()
    taken = queue.take(False)
    assert names(taken) == ["a word"]
    assert taken[0].prompts


# After a loss


def test_a_text_that_a_dead_socket_may_have_swallowed_is_written_again_ahead_of_what_waits() -> None:
    queue, _ = held()
    queue.put(text("one"))
    queue.take(False)
    queue.put(text("two"))
    queue.drop()
    assert names(queue.take(False)) == ["one", "two"]


def test_what_the_model_could_have_read_before_it_spoke_has_arrived() -> None:
    queue, _ = held()
    queue.put(text("read"))
    queue.later.append(text("not yet"))
    queue.put(queue.later[0])
    queue.take(False)
    queue.hear()
    queue.drop()
    assert names(queue.take(False)) == ["not yet"]


def test_media_and_activities_are_not_written_again() -> None:
    queue, _ = held()
    queue.activity(True, b"start")
    queue.media(media("speech"), False)
    queue.put(Item("end", b"stream end"))
    queue.take(False)
    queue.drop()
    assert queue.take(False) == []


def test_transparent_everything_after_what_was_taken_in_is_written_again_in_order() -> None:
    queue, _ = held(transparent=True)
    for n in range(4):
        queue.media(media(f"m{n}"), False)
    queue.put(text("t"))
    queue.take(False)
    queue.consumed(2)
    queue.hear()  # says nothing here: the index does
    queue.drop()
    assert names(queue.take(False)) == ["m2", "m3", "t"]


def test_transparent_an_activity_is_written_again_from_where_it_was_taken_in() -> None:
    queue, _ = held(transparent=True)
    queue.activity(True, b"start")
    queue.media(media("words"), False)
    queue.activity(False, b"end")
    queue.take(False)
    queue.consumed(1)
    queue.drop()
    assert names(queue.take(False)) == ["words", "end"]


def test_transparent_answers_count_as_messages_and_a_new_link_counts_anew() -> None:
    queue, _ = held(transparent=True)
    queue.outbox.number([OutFrame("answer", b"first", run=1)])
    queue.put(text("second"))
    queue.take(False)
    queue.consumed(1)
    queue.drop()
    assert names(queue.take(False)) == ["second"]
    queue.consumed(1)
    queue.drop()
    assert queue.take(False) == []


def test_transparent_the_replay_is_bounded_and_media_goes_first() -> None:
    queue, _ = held(transparent=True)
    queue.put(text("kept"))
    for n in range(12):
        queue.media(media(f"m{n}", REPLAY_BOUND // 10), False)
        queue.take(False)
    queue.drop()
    again = names(queue.take(False))
    assert again[0] == "kept"
    assert again[-1] == "m11"
    assert len(again) < 12


def test_a_fresh_session_is_told_again_only_what_was_not_read_and_what_is_waited_for() -> None:
    queue, _ = held(transparent=True)
    asked = text("asked")
    asked.exchange = Exchange()
    queue.later.append(text("unread"))
    for item in (text("read"), asked, *queue.later):
        queue.put(item)
    queue.media(media("speech"), False)
    queue.take(False)
    queue.hear()
    queue.drop()
    queue.put(text("new"))
    queue.media(media("more"), False)
    queue.new_session()
    assert queue.backlog == len("more")
    assert names(queue.take(False)) == ["asked", "unread", "new", "more"]


def test_a_fresh_session_is_not_told_again_of_an_exchange_that_is_over() -> None:
    queue, _ = held(transparent=True)
    asked = text("asked")
    asked.exchange = Exchange()
    queue.put(asked)
    queue.take(False)
    queue.hear()
    queue.drop()
    asked.exchange.end(interrupted=True)
    queue.new_session()
    assert names(queue.take(False)) == []


@pytest.mark.parametrize("transparent", [True, False])
def test_a_text_that_connections_end_on_is_given_up_and_told(
    transparent: bool,
) -> None:
    queue, told = held(transparent=transparent)
    queue.put(text("poison"))
    for _ in range(ENDINGS_AT_MOST):
        queue.take(False)
        queue.drop()
    assert told == [InputDropped(1, FATAL)]
    assert names(queue.take(False)) == []


def test_transparent_sound_that_connections_end_on_while_input_is_blocked_goes_before_the_text_beside_it() -> (
    None
):
    queue, told = held(input_block=True, transparent=True)
    queue.put(text("one"))
    queue.media(media("sound"), False)
    queue.put(text("two"))
    for _ in range(MEDIA_ENDINGS_AT_MOST):
        assert len(queue.take(False)) == 3
        queue.drop()
    queue.tell()
    assert told == [InputDropped(1, INPUT_BLOCKED)]
    assert names(queue.take(False)) == ["one", "two"]


#: What 2.5 closes with where media met a blocking call (js-genai#1236).
CROSSED = Close(1008, "Operation is not implemented, or supported, or enabled.")


@pytest.mark.parametrize("transparent", [True, False])
def test_a_text_does_not_pay_for_media_that_met_a_call(transparent: bool) -> None:
    queue, told = held(input_block=True, transparent=transparent)
    queue.put(text("one"))
    for _ in range(2 * ENDINGS_AT_MOST):
        queue.media(media("sound"), False)
        queue.put(Item("end", b"end"))
        queue.take(False)
        queue.drop(close=CROSSED)
        assert names(list(queue.queue)) == ["one"], "the media goes at once"
    queue.tell()
    assert all(event.reason == INPUT_BLOCKED for event in told if isinstance(event, InputDropped))


def test_a_session_learns_from_the_close_that_its_sound_met_a_call() -> None:
    policy = ReconnectPolicy(attempts=99, initial=0.1, maximum=0.1, jitter=0.0, budget=999)
    d = Driver(plan(input_block=True, transparent=True), policy).live()
    d.server({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
    exchange, _ = d.machine.ask("one", d.now)
    for _ in range(2 * ENDINGS_AT_MOST):
        d.machine.send_media(outgoing.audio(b"\0\0", 16000), "audio", d.now)
        d.drain().drop(CROSSED.code, CROSSED.reason).later(0.2).establish()
    assert d.texts() == ["one"] * (2 * ENDINGS_AT_MOST + 1)
    assert not [link for link, frame in d.frames if "realtimeInput" in frame and link == d.dialled[-1]]
    d.say("to one").turn_complete()
    assert exchange.done


@pytest.mark.parametrize(("input_block", "sound"), [(False, True), (True, False)])
def test_that_close_means_something_else_where_no_media_can_have_met_a_call(
    input_block: bool, sound: bool
) -> None:
    queue, told = held(input_block=input_block)
    queue.put(text("poison"))
    for _ in range(ENDINGS_AT_MOST):
        if sound:
            queue.media(media("sound"), False)
        queue.take(False)
        queue.drop(close=CROSSED)
    assert told == [InputDropped(1, FATAL)]


def test_the_end_of_a_sound_goes_with_it_and_is_not_counted() -> None:
    queue, told = held(input_block=True, transparent=True)
    queue.media(media("sound"), False)
    queue.put(Item("end", b"end"))
    for _ in range(MEDIA_ENDINGS_AT_MOST):
        queue.take(False)
        queue.drop()
    queue.tell()
    assert told == [InputDropped(1, INPUT_BLOCKED)]
    assert names(queue.take(False)) == []


def test_a_text_behind_another_does_not_pay_for_what_ended_a_connection_that_answered() -> None:
    queue, told = held()
    behind = text("behind")
    queue.later = [behind]
    queue.put(behind)
    for _ in range(2 * ENDINGS_AT_MOST):
        queue.take(False)
        queue.drop(turned=True)
    assert told == []
    for _ in range(ENDINGS_AT_MOST):
        queue.take(False)
        queue.drop()
    assert told == [InputDropped(1, FATAL)]


def test_nobody_waits_any_longer_for_a_text_that_is_given_up() -> None:
    queue, told = held()
    item = text("one")
    assert item.receipt is not None
    queue.put(item)
    for _ in range(ENDINGS_AT_MOST):
        assert not item.receipt.done
        queue.take(False)
        queue.drop()
    assert told == [InputDropped(1, FATAL)]
    assert item.receipt.done
    assert item.receipt.error is None, "sockets were handed it"


def test_a_text_that_the_model_has_read_ends_no_connection() -> None:
    queue, told = held(transparent=True)
    queue.put(text("one"))
    for _ in range(3):
        for _ in range(ENDINGS_AT_MOST - 1):
            queue.take(False)
            queue.drop()
        queue.take(False)
        queue.hear()
        queue.drop()
    assert told == []
    assert names(queue.take(False)) == ["one"]


# Whatever happens


class Line(RuleBasedStateMachine):
    """A user, a socket that takes what it can, a server that speaks, a line that breaks."""

    @initialize(input_block=st.booleans())
    def begin(self, input_block: bool) -> None:
        self.held, self.told = held(input_block)
        self.held.at_once = False
        self.blocked = False
        self.put: list[str] = []  # texts, as they were given
        self.receipts: dict[str, Receipt] = {}
        self.notified: list[str] = []
        self.written: list[str] = []  # texts, as the server got them
        self.wire: list[Item] = []  # taken, and not written yet
        self.refused = 0

    @rule()
    def say(self) -> None:
        name = f"t{len(self.put)}"
        item = text(name)
        assert item.receipt is not None
        item.receipt.notify = lambda: self.notified.append(name)
        self.put.append(name)
        self.receipts[name] = item.receipt
        self.held.put(item)

    @rule(size=st.sampled_from([10, MEDIA_BOUND // 3, MEDIA_BOUND + 1]), away=st.booleans())
    def speak(self, size: int, away: bool) -> None:
        taken = self.held.media(media("m", size), self.blocked, away)
        self.refused += not taken
        assert taken or (self.held.input_block and self.blocked)
        waiting = [len(item.data) for item in self.held.queue if item.media]
        assert self.held.backlog == sum(waiting)
        if taken:
            assert sum(size for size in waiting if size <= MEDIA_BOUND) <= MEDIA_BOUND
            assert sum(size > MEDIA_BOUND for size in waiting) <= 1

    @rule()
    def block(self) -> None:
        self.blocked = not self.blocked

    @rule()
    def drain(self) -> None:
        taken = self.held.take(self.blocked)
        assert not (self.held.input_block and self.blocked and taken)
        self.wire += taken

    @rule(count=st.integers(1, 3))
    def write(self, count: int) -> None:
        for item in self.wire[:count]:
            assert item.write is not None
            item.write.handed = True
            if item.receipt is not None:
                self.written.append(item.data.decode())
                item.receipt.end()
        del self.wire[:count]

    @rule()
    def hear(self) -> None:
        if not self.wire:
            self.held.hear()

    @rule()
    def lose(self) -> None:
        self.wire = []
        self.held.drop()

    def teardown(self) -> None:
        """In the end the line is good, or the session is over: nothing was lost, and each receipt is resolved."""
        if not hasattr(self, "held"):
            return
        if len(self.put) % 2:
            self.blocked = False
            self.drain()
            self.write(len(self.wire))
            first = list(dict.fromkeys(self.written))
            assert first == self.put, "a text was lost, or overtook another"
            assert all(receipt.error is None for receipt in self.receipts.values())
        else:
            self.held.fail(ERROR)
        assert all(receipt.done for receipt in self.receipts.values())
        assert sorted(self.notified) == sorted(self.put)
        self.held.tell()
        dropped = [e for e in self.told if isinstance(e, InputDropped)]
        assert sum(e.count for e in dropped if e.reason == INPUT_BLOCKED) == self.refused
        assert sum(e.count for e in dropped) == self.held.dropped


def test_no_text_is_lost_or_overtaken_and_every_receipt_is_resolved() -> None:
    run_state_machine_as_test(
        Line, settings=settings(max_examples=60, stateful_step_count=30, deadline=None, derandomize=True)
    )


@pytest.mark.parametrize("kind", ["text", "content", "update"])
def test_each_kind_that_stands_by_itself_is_written_again(kind: str) -> None:
    queue, _ = held()
    made: dict[str, Any] = {"kind": kind, "data": b"again", "receipt": Receipt()}
    queue.put(Item(**made))
    queue.take(False)
    queue.drop()
    assert names(queue.take(False)) == ["again"]


def test_a_text_that_was_read_for_nothing_keeps_count_of_the_connections_that_ended_with_it() -> None:
    queue, _ = held()
    queue.put(question := text("question"))
    queue.take(False)
    queue.drop()
    queue.take(False)
    queue.again(question)
    assert question.endings == 1
    assert queue.take(False) == [question]
    queue.drop()
    assert queue.take(False) == [question], "it is queued once"
    assert question.endings == 2


# What only transparent resumption knows


def test_transparent_texts_are_kept_whatever_their_size() -> None:
    queue, _ = held(transparent=True)
    for n in range(4):
        queue.put(text(f"{n}" * (REPLAY_BOUND // 3)))
    queue.take(False)
    queue.drop()
    assert [name[0] for name in names(queue.take(False))] == ["0", "1", "2", "3"]


def test_transparent_a_message_that_was_not_written_has_no_number() -> None:
    queue, _ = held(transparent=True)
    queue.put(text("first"))
    queue.take(False)
    queue.outbox.number([OutFrame("answer", run=1)])
    queue.put(text("second"))
    queue.take(False)
    queue.consumed(2)
    queue.drop()
    assert queue.take(False) == []


@pytest.mark.parametrize("spoken", [True, False])
def test_transparent_a_fresh_session_hears_an_open_activity_begin_or_nothing_of_it(spoken: bool) -> None:
    queue, _ = held(transparent=True)
    queue.activity(True, b"start")
    queue.media(media("words"), False)
    queue.take(False)
    queue.drop()
    queue.new_session()
    if spoken:
        queue.media(media("more"), False)
    queue.activity(False, b"end")
    assert names(queue.take(False)) == (["start", "more", "end"] if spoken else [])


def test_transparent_what_is_replayed_is_an_activity_with_input_though_its_audio_was_past_the_bound() -> None:
    queue, _ = held(transparent=True)
    for name in ("first", "second"):
        queue.activity(True, b"start")
        queue.media(media(name, REPLAY_BOUND // 10), False)
        queue.activity(False, b"end")
        queue.take(False)
    for n in range(10):
        queue.media(media(f"m{n}", REPLAY_BOUND // 10 + 1), False)
        queue.take(False)
    queue.drop()
    again = names(queue.take(False))
    assert again[0] == "m1"
    assert "start" not in again


def test_transparent_an_activity_that_had_no_input_yet_begins_after_what_is_replayed() -> None:
    queue, _ = held(transparent=True)
    queue.activity(True, b"start one")
    queue.media(media("one"), False)
    queue.activity(False, b"end one")
    queue.activity(True, b"start two")
    queue.take(False)
    queue.drop()
    queue.media(media("two"), False)
    assert names(queue.take(False)) == ["start one", "one", "end one", "start two", "two"]


def test_content_that_waits_is_not_in_the_history_of_a_fresh_session_too() -> None:
    queue, _ = held()
    said = [{"role": "user", "parts": [{"text": "fyi"}]}, {"role": "model", "parts": [{"text": "yes"}]}]
    queue.put(Item("content", b"content", Receipt(), contents=tuple(said)))
    earlier = {"role": "user", "parts": [{"text": "hello"}]}
    assert queue.without([earlier, *said]) == [earlier]


def test_of_texts_that_stand_in_one_content_those_that_wait_are_left_out() -> None:
    """Two texts in a row are one content of the conversation; the second was never written."""
    queue, _ = held()
    queue.put(
        Item("text", b"?", Receipt(), prompts=True, contents=({"role": "user", "parts": [{"text": "two"}]},))
    )
    seed = [{"role": "user", "parts": [{"text": "one"}, {"text": "two"}]}]
    assert queue.without(seed) == [{"role": "user", "parts": [{"text": "one"}]}]
    assert seed[0]["parts"] == [{"text": "one"}, {"text": "two"}]
