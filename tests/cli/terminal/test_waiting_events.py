"""What waits for a terminal is bounded, and loses nothing that somebody waits for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from livetools import ApprovalRequested, AudioChunk, Call, OutputTranscript, TextChunk, ToolStarted
from livetools.cli.terminal.waiting_events import Sign, WaitingEvents
from livetools.events import Event
from livetools.session.running.unread_events import EVENT_OVERHEAD

CALL = Call("c1", "erase")
PIECE = "x" * (1000 - EVENT_OVERHEAD)  # an event of 1,000 bytes


def waits(event: Event) -> bool:
    return isinstance(event, ApprovalRequested | ToolStarted)


def taken(waiting: WaitingEvents, over: Sign) -> list[object]:
    entries: list[object] = []
    while (entry := waiting.get()) is not over:
        entries.append(entry)
    return entries


def test_events_and_signs_come_in_their_order_without_sound() -> None:
    waiting, over = WaitingEvents(waits), Sign()
    for _ in range(1000):
        waiting.event(AudioChunk(bytes(4800), 24000))
    waiting.event(TextChunk("12 °C"))
    waiting.event(ToolStarted(CALL))
    waiting.put(over)
    assert taken(waiting, over) == [TextChunk("12 °C"), ToolStarted(CALL)]
    assert waiting.dropped() == 0


def test_past_the_bound_the_oldest_goes_and_is_counted_and_what_must_be_answered_stays() -> None:
    waiting, pressed, over = WaitingEvents(waits, 10_000), Sign(), Sign()
    waiting.event(ApprovalRequested(CALL))
    waiting.event(ToolStarted(CALL))
    waiting.put(pressed)
    for n in range(1000):
        waiting.event(OutputTranscript(f"{n:4}{PIECE}"))
    waiting.put(over)
    entries = taken(waiting, over)
    words = [entry for entry in entries if isinstance(entry, OutputTranscript)]
    assert all(each in entries for each in (ApprovalRequested(CALL), ToolStarted(CALL), pressed))
    assert 5 <= len(words) <= 10
    assert words == [OutputTranscript(f"{n:4}{PIECE}") for n in range(1000 - len(words), 1000)]
    assert waiting.dropped() == 1000 - len(words)
    assert waiting.dropped() == 0
    waiting.event(TextChunk("the next one"))
    assert waiting.get() == TextChunk("the next one")


def test_a_terminal_in_a_thread_of_its_own_misses_no_end_whatever_is_dropped() -> None:
    waiting, over = WaitingEvents(waits, 5_000), Sign()
    with ThreadPoolExecutor(1) as terminal:
        for _ in range(20):
            shown = terminal.submit(taken, waiting, over)
            for _ in range(200):
                waiting.event(TextChunk(PIECE))
            waiting.put(over)
            assert len(shown.result(10)) + waiting.dropped() == 200
