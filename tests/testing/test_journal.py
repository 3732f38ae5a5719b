"""What a server remembers, and what it holds against a client."""

from __future__ import annotations

import pytest

from livetools import ConnectFailed
from livetools.testing.calls import FakeCall
from livetools.testing.journal import Failure, Journal
from livetools.testing.wire import Frame


def frame(n):
    return Frame(float(n), "client", 1, {"n": n})


def test_every_fault_is_named_at_once_with_the_frames():
    call, error = FakeCall("1", "f", {"a": 1}, connection=1), ValueError("mine")
    journal = Journal(
        frames=[frame(1)],
        calls=[call],
        late=[call],
        errors=[Failure("the pretend model", error)],
        complaints=["not as recorded"],
        unplayed=["not played out"],
    )
    with pytest.raises(AssertionError) as caught:
        journal.assert_all_answered()
    text = str(caught.value)
    for part in (
        "never answered: f",
        "after its cancellation: f",
        "ValueError: mine",
        "not as recorded",
        "not played out",
        '{"n": 1}',
    ):
        assert part in text
    assert text.startswith("the pretend model raised ValueError: mine\n")
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("scripted", "met", "explained"),
    [
        (True, KeyError("the test's own"), True),
        (True, KeyboardInterrupt(), False),
        (False, KeyError("the test's own"), False),
        (False, ConnectFailed("no"), True),
        (None, ConnectFailed("no"), False),
    ],
)
def test_what_it_raised_may_be_why_the_test_met_an_error(scripted, met, explained):
    journal = Journal()
    if scripted is not None:
        journal.fail("the pretend model", ValueError("mine"), scripted=scripted)
    assert journal.explains(met) is explained


def test_a_test_is_lost_once_the_model_raised_but_a_server_that_runs_long_goes_on():
    for limit, told in ((None, "the pretend model raised ValueError: mine"), (100, None)):
        journal = Journal(limit=limit)
        assert journal.lost() is None
        journal.fail("the pretend model", ValueError("mine"))
        assert journal.lost() == told
        assert journal.log == ["the pretend model raised ValueError: mine"]


def test_nothing_is_held_against_whoever_answered():
    call = FakeCall("1", "f", {}, connection=1)
    call.end("answered")
    Journal(calls=[call]).assert_all_answered()


def test_beyond_its_limit_the_oldest_go_but_no_debt():
    owed, paid = FakeCall("1", "f", {}, connection=1), FakeCall("2", "f", {}, connection=1)
    paid.end("answered")
    journal = Journal(limit=10, calls=[owed, *[paid] * 30])
    for n in range(100):
        journal.keep(frame(n))
        journal.note(f"line {n}")
    assert len(journal.frames) <= 20
    assert journal.frames[-1].message == {"n": 99}
    assert len(journal.log) <= 20
    assert journal.log[-1] == "line 99"
    assert owed in journal.calls
    assert len(journal.calls) < 31


def test_a_transcript_shows_the_last_frames_and_the_log():
    journal = Journal(frames=[frame(n) for n in range(100)])
    journal.note("something happened")
    lines = journal.transcript().splitlines()
    assert "… 40 earlier ones" in lines[1]
    assert "something happened" in lines[-1]
