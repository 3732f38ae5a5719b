"""The buffer between the reader and a slow user."""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import get_args

import anyio
import pytest
from support.waiting import everybody_waits

from livetools import events
from livetools.errors import ConcurrencyError, ServerError, ToolError
from livetools.events import (
    AudioChunk,
    Call,
    Event,
    HandleUpdate,
    Interrupted,
    Stalled,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolProgress,
    TurnComplete,
    UnknownMessage,
    VideoChunk,
)
from livetools.session.running.unread_events import EVENT_OVERHEAD, UnreadEvents

pytestmark = pytest.mark.anyio


async def drained(inbox: UnreadEvents) -> list[Event]:
    inbox.close()
    return await rest(inbox)


async def rest(inbox: UnreadEvents) -> list[Event]:
    """The events that are still to come."""
    events: list[Event] = []
    try:
        while True:
            events.append(await inbox.next())
    except StopAsyncIteration:
        return events


async def test_events_come_out_in_their_order_and_then_the_end() -> None:
    inbox = UnreadEvents()
    sent: list[Event] = [TextChunk("a"), AudioChunk(b"1"), TurnComplete(), TextChunk("b")]
    for event in sent:
        inbox.put([event])
    assert await drained(inbox) == sent


async def test_an_interruption_takes_back_its_turns_media_and_overtakes_the_rest() -> None:
    inbox = UnreadEvents()
    call = Call("1", "f")
    for event in (
        AudioChunk(b"old"),
        TurnComplete(),
        TextChunk("hm"),
        AudioChunk(b"new"),
        VideoChunk(b"new", "video/mp4"),
        ToolCancelled(call),
    ):
        inbox.put([event])
    inbox.put([Interrupted()])
    assert await drained(inbox) == [
        Interrupted(), AudioChunk(b"old"), TurnComplete(), TextChunk("hm"), ToolCancelled(call),
    ]  # fmt: skip


async def test_an_unread_hour_of_audio_stays_within_the_bound_and_loses_no_word() -> None:
    inbox = UnreadEvents(bound=1_000_000)
    for minute in range(60):
        for _ in range(60):
            inbox.put([AudioChunk(b"x" * 24_000)])
            inbox.put([VideoChunk(b"x" * 24_000, "video/mp4")])
        inbox.put([TextChunk(str(minute))])
    events = await drained(inbox)
    assert sum(len(e.data) for e in events if isinstance(e, AudioChunk | VideoChunk)) <= 1_000_000
    assert [e.text for e in events if isinstance(e, TextChunk)] == [str(n) for n in range(60)]
    assert inbox.dropped == 7200 - sum(isinstance(e, AudioChunk | VideoChunk) for e in events)


async def test_without_audio_the_newest_are_kept() -> None:
    inbox = UnreadEvents(bound=10_000)
    for n in range(1000):
        inbox.put([UnknownMessage({"n": n, "pad": "x" * 1000})])
    kept = [e.raw["n"] for e in await drained(inbox) if isinstance(e, UnknownMessage)]  # type: ignore[index]
    assert kept == list(range(1000 - len(kept), 1000))
    assert 1 < len(kept) < 10


async def test_interruptions_that_nobody_reads_stay_within_the_bound() -> None:
    inbox = UnreadEvents(bound=10_000)
    inbox.put([TextChunk("x" * 4_800)])
    for _ in range(1000):
        inbox.put([Interrupted()])
    *interruptions, text = await drained(inbox)
    assert text == TextChunk("x" * 4_800)
    assert interruptions == [Interrupted()] * (1000 - inbox.dropped)
    assert 3_500 < EVENT_OVERHEAD * len(interruptions) < 5_200


async def test_an_interruption_that_has_just_come_stays_and_the_oldest_go() -> None:
    inbox = UnreadEvents(bound=10_000)
    inbox.put([*(TextChunk(str(n) + "x" * 3_000) for n in range(4)), Interrupted()])
    first, *texts = await drained(inbox)
    assert first == Interrupted()
    assert [text.text[0] for text in texts if isinstance(text, TextChunk)] == ["2", "3"]


async def test_one_event_above_the_bound_is_still_handed_out() -> None:
    inbox = UnreadEvents(bound=10)
    inbox.put([AudioChunk(b"x" * 100)])
    assert len(await drained(inbox)) == 1


async def test_a_cancelled_wait_loses_nothing() -> None:
    inbox = UnreadEvents()
    with anyio.move_on_after(0.001):
        await inbox.next()
    inbox.put([TextChunk("a")])
    assert await inbox.next() == TextChunk("a")


async def test_a_waiting_reader_is_woken() -> None:
    inbox = UnreadEvents()
    seen: list[Event] = []

    async def read() -> None:
        seen.append(await inbox.next())
        seen.extend(await rest(inbox))

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await everybody_waits()
        inbox.put([TextChunk("a")])
        await everybody_waits()
        inbox.close()
    assert seen == [TextChunk("a")]


async def test_events_that_come_together_wake_a_reader_and_keep_their_order() -> None:
    inbox = UnreadEvents()
    seen: list[Event] = []

    async def read() -> None:
        seen.extend([await inbox.next() for _ in range(3)])

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await everybody_waits()
        inbox.put([TextChunk("a"), AudioChunk(b"1"), TextChunk("b")])
        await everybody_waits()
        assert seen == [TextChunk("a"), AudioChunk(b"1"), TextChunk("b")]


async def test_the_bound_holds_for_events_that_come_together() -> None:
    inbox = UnreadEvents(bound=10_000)
    inbox.put([*(AudioChunk(bytes([n]) * 1000) for n in range(100)), TextChunk("a")])
    events = await drained(inbox)
    assert sum(len(e.data) for e in events if isinstance(e, AudioChunk)) <= 10_000
    assert [events[-2], events[-1]] == [AudioChunk(bytes([99]) * 1000), TextChunk("a")]
    assert inbox.dropped == 101 - len(events)


async def test_two_readers_at_once_are_an_error_that_says_why() -> None:
    inbox = UnreadEvents()
    async with anyio.create_task_group() as group:
        group.start_soon(inbox.next)
        await everybody_waits()
        with pytest.raises(ConcurrencyError, match="two loops"):
            await inbox.next()
        inbox.put([TextChunk("a")])


def cost_of(count: int) -> float:
    """Seconds for so many interruptions in one turn, with words and audio between them."""
    inbox = UnreadEvents()
    began = time.process_time()
    for _ in range(count):
        inbox.put([TextChunk("a")])
        inbox.put([AudioChunk(b"1")])
        inbox.put([Interrupted()])
    return time.process_time() - began


async def test_an_interruption_costs_what_it_takes_back_and_not_what_waits() -> None:
    few, many = (min(cost_of(count) for _ in range(3)) for count in (1000, 16_000))
    assert many < 60 * few  # 16 times, were the clock exact; with a walk through all that waits, 256 times


async def test_interruptions_overtake_and_each_takes_back_the_audio_since_the_last_turn() -> None:
    inbox = UnreadEvents()
    for event in (
        AudioChunk(b"1"),
        Interrupted(),
        TextChunk("a"),
        AudioChunk(b"2"),
        Interrupted(),
        AudioChunk(b"3"),
    ):
        inbox.put([event])
    assert await drained(inbox) == [Interrupted(), Interrupted(), TextChunk("a"), AudioChunk(b"3")]


async def test_what_was_had_another_way_is_dropped_until_somebody_has_iterated() -> None:
    inbox = UnreadEvents()
    inbox.put([TextChunk("before")])
    mark = inbox.count
    for event in (TextChunk("a"), AudioChunk(b"1"), Interrupted(), TurnComplete()):
        inbox.put([event])
    inbox.put([Stalled("the model", 20.0)])
    inbox.forget(mark)
    assert await inbox.next() == TextChunk("before")
    assert await inbox.next() == Stalled("the model", 20.0)
    mark = inbox.count
    inbox.put([TextChunk("b")])
    inbox.forget(mark)
    assert await inbox.next() == TextChunk("b")


async def test_what_an_answer_leaves_costs_the_next_one_nothing() -> None:
    def cost(count: int) -> float:
        inbox = UnreadEvents()
        began = time.process_time()
        for _ in range(count):
            mark = inbox.count
            inbox.put([TextChunk("a"), HandleUpdate("h"), TurnComplete()])
            inbox.forget(mark)
        return time.process_time() - began

    few, many = (min(cost(count) for _ in range(3)) for count in (500, 8000))
    assert many < 60 * few  # 16 times, were the clock exact; with a walk through all that waits, 256 times


async def test_a_full_buffer_that_is_read_lets_others_run() -> None:
    inbox = UnreadEvents()
    for _ in range(50_000):
        inbox.put([TextChunk("a")])
    inbox.close()
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(other)
        await rest(inbox)
        group.cancel_scope.cancel()
    assert turns >= 2


async def test_what_waits_is_taken_at_once_unless_it_is_time_for_others() -> None:
    inbox = UnreadEvents()
    inbox.put([TextChunk(name) for name in "abc"])
    assert await inbox.next() == TextChunk("a")  # others have run before it
    with pytest.raises(StopIteration) as taken:
        inbox.next().send(None)  # the first step is the last one
    assert taken.value.value == TextChunk("b")
    time.sleep(0.01)
    taking = inbox.next()
    taking.send(None)  # it waits for the others
    taking.close()
    assert await inbox.next() == TextChunk("c")


async def test_what_ended_it_is_raised_once_behind_the_last_event() -> None:
    inbox = UnreadEvents()
    inbox.put([TextChunk("a")])
    inbox.close(lambda: ServerError(reason="overloaded"))
    assert await inbox.next() == TextChunk("a")
    with pytest.raises(ServerError, match="overloaded"):
        await inbox.next()
    with pytest.raises(StopAsyncIteration):
        await inbox.next()


async def test_an_event_that_cannot_be_looked_at_is_kept_and_weighs_little() -> None:
    class Rude:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

    inbox = UnreadEvents(bound=10_000)
    inbox.put([ToolProgress(Call("1", "f"), value) for value in (Rude(), {(1, 2): Rude()}, "x" * 5_000)])
    assert len(await drained(inbox)) == 3
    assert inbox.dropped == 0


async def test_a_value_that_holds_itself_twice_over_and_over_is_weighed_at_once() -> None:
    value: object = "x"
    for _ in range(60):
        value = [value, value]  # 2**60 values to whoever walks through all of them, as JSON does
    inbox = UnreadEvents()
    inbox.put([ToolProgress(Call("1", "f"), value)])
    assert len(await drained(inbox)) == 1


async def test_results_and_arguments_have_a_weight() -> None:
    inbox = UnreadEvents(bound=40_000)
    for n in range(100):
        call = Call(str(n), "f", MappingProxyType({"text": "x" * 400}))
        inbox.put([ToolFinished(call, {"output": ["y" * 400]}, ToolError("z"), 0.1)])
    assert 14 < len(await drained(inbox)) < 24


LONG = "x" * 4_000
CALL = Call("1", "f", {"text": LONG})
LARGE_EVENTS: list[Event] = [
    events.TextChunk(LONG),
    events.ThoughtChunk(LONG),
    events.AudioChunk(LONG.encode()),
    events.VideoChunk(LONG.encode(), "video/mp4"),
    events.InputTranscript(LONG),
    events.InputTranscript("x", words=(events.Word("x"),) * 20),
    events.OutputTranscript(LONG),
    events.OutputTranscript("x", words=(events.Word("x"),) * 20),
    events.ToolStarted(CALL),
    events.ToolProgress(CALL, None),
    events.ToolProgress(Call("1", "f"), LONG.encode()),
    events.ToolFinished(CALL, {}, None, 0.1),
    events.ToolFinished(Call("1", "f"), {"output": LONG}, None, 0.1),
    events.ToolCancelled(CALL),
    events.ToolLost(CALL, "text"),
    events.ApprovalRequested(CALL),
    events.UsageUpdate(events.Usage(raw={"a": LONG})),
    events.CodeChunk(LONG, "PYTHON"),
    events.Grounding({"chunks": [{"title": LONG}]}),
    events.UnknownMessage([LONG]),
]
SMALL_EVENTS = {
    events.SessionStarted, events.Interrupted, events.GenerationComplete, events.TurnComplete, events.VoiceActivity,
    events.GoAway, events.HandleUpdate, events.Reconnecting, events.Reconnected, events.HandedOff, events.Stalled,
    events.InputDropped,
}  # fmt: skip


async def test_what_is_large_in_an_event_of_any_kind_counts_towards_the_bound() -> None:
    for event in LARGE_EVENTS:
        inbox = UnreadEvents(bound=10_000)
        inbox.put([event] * 4)
        assert 1 <= len(await drained(inbox)) <= 2, event
    assert {*map(type, LARGE_EVENTS)} | SMALL_EVENTS == set(get_args(Event))
