"""What waits for a page: events that are kept, speech that is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from livetools.integrations.relay.event_log import EventLog


def read_all(log: EventLog, after: int = 0) -> list[str | bytes]:
    found: list[str | bytes] = []
    while (following := log.next(after)) is not None:
        after, message = following
        found.append(message)
    return found


def test_speech_stands_behind_the_event_it_followed_and_is_read_once() -> None:
    log = EventLog()
    log.add_media(b"before")
    log.add("one")
    log.add_media(b"after one")
    log.add("two")
    assert read_all(log) == [b"before", "one", b"after one", "two"]
    assert read_all(log) == ["one", "two"]


def test_who_comes_back_reads_what_follows_and_the_speech_that_nobody_fetched() -> None:
    log = EventLog()
    for event in ("one", "two", "three"):
        log.add(event)
    log.add_media(b"new")
    assert read_all(log, after=2) == ["three", b"new"]


def test_an_interruption_drops_the_speech_and_keeps_the_events() -> None:
    log = EventLog()
    log.add_media(b"a")
    log.add("one")
    log.add_media(b"b")
    log.drop_media()
    log.add_media(b"new")
    assert read_all(log) == ["one", b"new"]


def test_past_the_bound_the_oldest_events_go_and_the_numbers_stay() -> None:
    log = EventLog(max_events=10)
    for number in range(1, 8):
        log.add(f"ev-{number}")
    assert (log.first, log.last) == (6, 7)
    assert read_all(log) == ["ev-6", "ev-7"]


def test_past_the_bound_the_oldest_speech_goes_and_is_counted() -> None:
    log = EventLog(max_media=10)
    assert log.add_media(b"12345") == 0
    assert log.add_media(b"67890") == 0
    assert log.add_media(b"abc") == 5
    assert read_all(log) == [b"67890", b"abc"]


def test_pictures_wait_among_the_speech_and_do_not_count_as_it() -> None:
    log = EventLog(max_media=10)
    log.add_media("picture")
    assert log.add_media(b"123456") == 0
    assert read_all(log) == [b"123456"]


def test_one_that_is_larger_than_the_bound_by_itself_is_kept() -> None:
    log = EventLog(max_events=3, max_media=3)
    log.add("larger")
    log.add_media(b"larger")
    assert read_all(log) == ["larger", b"larger"]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("event"), st.integers(1, 30)),
        st.tuples(st.just("speech"), st.integers(1, 30)),
        st.tuples(st.just("read"), st.just(0)),
        st.tuples(st.just("interrupt"), st.just(0)),
    )
)


@given(steps)
def test_a_reader_that_keeps_up_misses_nothing_and_the_log_stays_within_its_bounds(
    steps: list[tuple[str, int]],
) -> None:
    log, after, heard, spoken, waiting = EventLog(100, 100), 0, b"", b"", b""
    numbers: list[str] = []
    for kind, size in steps:
        if kind == "event":
            log.add("x" * size)
        elif kind == "speech":
            pcm = bytes([len(spoken) % 256]) * size
            dropped = log.add_media(pcm)
            waiting = (waiting + pcm)[dropped:]
            spoken += pcm
        elif kind == "interrupt":
            log.drop_media()
            waiting = b""
        else:
            got = b""
            while (following := log.next(after)) is not None:
                after, message = following
                if isinstance(message, bytes):
                    got += message
                else:
                    numbers.append(message)
            assert got == waiting
            heard, waiting = heard + got, b""
        assert log.last - log.first + 1 <= 100
    assert after <= log.last
