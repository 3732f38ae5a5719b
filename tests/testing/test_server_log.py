"""What a server remembers, and what it holds against a client."""

from __future__ import annotations

import pytest

from livetools import ConnectFailed
from livetools.testing.model.fake_call import FakeCall
from livetools.testing.server_log import Failure, Log
from livetools.testing.wire import Frame


def frame(n):
    return Frame(float(n), "client", 1, {"n": n})


def test_every_fault_is_named_at_once_with_the_frames():
    call, error = FakeCall("1", "f", {"a": 1}, connection=1), ValueError("mine")
    log = Log(
        frames=[frame(1)],
        calls=[call],
        late=[call],
        errors=[Failure("the pretend model", error)],
        complaints=["not as recorded"],
        unplayed=["not played out"],
    )
    with pytest.raises(AssertionError) as caught:
        log.assert_all_answered()
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
    log = Log()
    if scripted is not None:
        log.fail("the pretend model", ValueError("mine"), scripted=scripted)
    assert log.explains(met) is explained


def test_a_test_is_lost_once_the_model_raised_but_a_server_that_runs_long_goes_on():
    for limit, told in ((None, "the pretend model raised ValueError: mine"), (100, None)):
        log = Log(limit=limit)
        assert log.lost() is None
        log.fail("the pretend model", ValueError("mine"))
        assert log.lost() == told
        assert log.lines == ["the pretend model raised ValueError: mine"]


def test_nothing_is_held_against_whoever_answered():
    call = FakeCall("1", "f", {}, connection=1)
    call.end("answered")
    Log(calls=[call]).assert_all_answered()


def test_beyond_its_limit_the_oldest_go_but_no_debt():
    owed, paid = FakeCall("1", "f", {}, connection=1), FakeCall("2", "f", {}, connection=1)
    paid.end("answered")
    log = Log(limit=10, calls=[owed, *[paid] * 30])
    for n in range(100):
        log.keep(frame(n))
        log.note(f"line {n}")
    assert len(log.frames) <= 20
    assert log.frames[-1].message == {"n": 99}
    assert len(log.lines) <= 20
    assert log.lines[-1] == "line 99"
    assert owed in log.calls
    assert len(log.calls) < 31


def test_a_transcript_shows_the_last_frames_and_the_log():
    log = Log(frames=[frame(n) for n in range(100)])
    log.note("something happened")
    lines = log.transcript().splitlines()
    assert "… 40 earlier ones" in lines[1]
    assert "something happened" in lines[-1]


def sound(n, direction="client"):
    blob = {"mimeType": "audio/pcm;rate=16000", "data": "A" * 80}
    said = {"realtimeInput": {"audio": blob}}
    if direction == "server":
        said = {"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": blob}]}}}
    return Frame(float(n), direction, 1, said)


def test_an_open_microphone_does_not_push_the_other_frames_out_of_a_transcript():
    media = [sound(n, "server" if n % 5 else "client") for n in range(300)]
    lines = Log(frames=[frame(-1), *media, frame(300), sound(301), sound(302)]).transcript().splitlines()
    assert lines[0].startswith("frames (304;")
    assert '{"n": -1}' in lines[1]
    assert "audio/pcm" in lines[2]
    assert lines[3] == "  … 299 more with nothing but media"
    assert '{"n": 300}' in lines[4]
    assert len(lines) == 7
