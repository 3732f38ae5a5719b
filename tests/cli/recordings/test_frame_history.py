"""The frames that a page keeps of its sessions."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from livetools.cli.recordings.frame_history import FrameHistories, FrameHistory
from livetools.cli.recordings.session_files import SessionFiles
from livetools.testing import Recording


def frame(**message: object) -> bytes:
    return json.dumps(message).encode()


def sound(size: int) -> bytes:
    blob = {"mimeType": "audio/pcm", "data": b64encode(bytes(size)).decode()}
    return frame(realtimeInput={"audio": blob})


def test_a_recording_of_it_can_be_read(tmp_path):
    time = iter([0.0, 1.0, 1.5, 2.0])
    history = FrameHistory(clock=lambda: next(time))
    history.frame("client", 1, frame(setup={"model": "m"}))
    history.frame("server", 1, frame(text="the key is AIza" + "x" * 35))
    history.closed(1, 1006, "", by_us=False)
    file = tmp_path / "it.jsonl"
    file.write_text(history.recording(), encoding="utf-8")
    first, second, third = Recording.load(file).frames
    assert (first.direction, first.connection, first.message) == ("client", 1, {"setup": {"model": "m"}})
    assert (second.time, second.message) == (0.5, {"text": "the key is REDACTED"})
    assert third.message == {"_close": {"code": 1006, "reason": ""}}


def test_the_frames_of_a_call_are_those_that_name_it():
    history = FrameHistory()
    history.frame("server", 1, frame(toolCall={"functionCalls": [{"id": "call-1", "name": "f"}]}))
    history.frame("server", 1, frame(toolCall={"functionCalls": [{"id": "call-12", "name": "g"}]}))
    history.frame("client", 1, frame(toolResponse={"functionResponses": [{"id": "call-1", "response": {}}]}))
    assert [each.direction for each in history.frames("call-1")] == ["server", "client"]
    assert len(history.frames()) == 3


def test_past_its_bound_sound_goes_first_and_then_the_oldest():
    history = FrameHistory(max_bytes=10_000)
    history.frame("client", 1, frame(setup={}))
    for _ in range(20):
        history.frame("client", 1, sound(3000))
    kept = history.frames()
    assert (len(kept), history.dropped) == (21, 0)
    assert kept[1].message["realtimeInput"]["audio"]["data"] == "<3000 bytes>"
    assert kept[-1].message["realtimeInput"]["audio"]["data"].startswith("AAAA")
    for n in range(200):
        history.frame("server", 1, frame(number=n, text="x" * 900))
    kept = history.frames()
    assert history.dropped == 221 - len(kept) > 0
    assert [each.message["number"] for each in kept] == list(range(200 - len(kept), 200))
    assert sum(len(json.dumps(each.message)) for each in kept) <= 10_000


def test_what_is_not_json_is_kept_as_text():
    history = FrameHistory()
    history.frame("server", 1, b"\xff no")
    history.frame("server", 1, b"[1]")
    assert [each.message for each in history.frames()] == [{"_text": "\ufffd no"}, {"_text": "[1]"}]


def test_the_histories_used_last_are_kept():
    histories = FrameHistories(max_sessions=2)
    first = histories.of("a")
    histories.of("b")
    assert histories.of("a") is first
    histories.of("c")
    assert (histories.find("a"), histories.find("b")) == (first, None)


def typed(text: str) -> bytes:
    return frame(clientContent={"turns": [{"role": "user", "parts": [{"text": text}]}], "turnComplete": True})


@pytest.fixture
def histories(tmp_path):
    histories = FrameHistories(files=SessionFiles(tmp_path), agent="a")
    yield histories
    histories.stop()


ONE, TWO = "1" * 64, "2" * 64


def test_a_history_that_goes_on_counts_connections_and_times_on():
    time = iter([0.0, 1.0, 2.0, 100.0, 100.5, 101.0])
    history = FrameHistory(clock=lambda: next(time))
    history.begin()  # there is nothing to go on from
    history.frame("client", 1, frame(setup={"a": 1}))
    history.frame("client", 2, typed("hello"))
    history.begin()
    history.frame("client", 1, frame(setup={"sessionResumption": {"handle": "x"}}))
    assert [(each.time, each.connection) for each in history.frames()] == [(1.0, 1), (2.0, 2), (2.5, 3)]
    assert len(history.before) == 2
    assert history.resumed


@pytest.mark.anyio
async def test_a_session_that_is_over_is_reopened_by_its_handle_under_another_name(histories):
    history = histories.of(ONE)
    history.frame("client", 1, typed("hello"))
    assert histories.reopen(ONE, TWO) is False, "there is no handle to go on with"
    await history.save("opens it")
    assert histories.reopen(ONE, TWO) is True
    assert histories.find(ONE) is None
    assert await histories.of(TWO).load() == "opens it"
    assert [each.message for each in histories.of(TWO).before] == [json.loads(typed("hello"))]
    with pytest.raises(LookupError):
        histories.reopen(ONE, TWO)


def test_a_session_in_which_nothing_was_said_goes_on_below_another_one(histories):
    histories.of(ONE).frame("client", 1, typed("hello"))
    other = histories.of(TWO)
    other.frame("client", 1, frame(setup={}))
    histories.join(ONE, TWO)
    other.frame("client", 1, typed("and now?"))
    with pytest.raises(LookupError):
        histories.join(ONE, TWO)
    histories.stop()
    assert [each.title for each in map(histories.files.about, (ONE, TWO)) if each] == ["hello"]
    recorded = histories.files.frames(TWO)
    assert [next(iter(each.message)) for each in recorded] == ["clientContent", "setup", "clientContent"]
    assert [each.connection for each in recorded] == [each.connection for each in other.frames()] == [1, 2, 2]


def test_a_session_that_is_forgotten_in_memory_is_on_disk(tmp_path):
    histories = FrameHistories(1, files=SessionFiles(tmp_path))
    histories.of(ONE).frame("client", 1, typed("hello"))
    histories.of(TWO)
    assert histories.find(ONE) is None
    assert len(histories.of(ONE).before) == 1
