"""Conversations in a file: redacted, read back, compared."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools import ConfigError
from livetools.testing import FakeLiveServer, Recording
from livetools.testing.recordings.jsonl_file import REDACTED, differences
from livetools.testing.wire import Frame


@pytest.mark.anyio
async def test_what_crosses_the_wire_is_in_the_file_a_line_a_frame(dial, tmp_path):
    path = tmp_path / "talk.jsonl"
    with Recording(path) as recording:
        async with FakeLiveServer() as server:
            server.recording = recording
            async with dial(server) as client:
                await client.say("hi")
                await client.until("turnComplete")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["time"] == 0
    assert lines[0]["frame"]["setup"]["model"] == "models/gemini-live-2.5-flash-preview"
    assert [line["direction"] for line in lines[:3]] == ["client", "server", "client"]
    assert [frame.message for frame in Recording.load(path).frames] == [
        frame.message for frame in server.frames
    ]


@pytest.mark.parametrize(
    "secret",
    [
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "ya29.a0AfH6SMBx-y_z",
        "auth_tokens/0123abcd",
        "Bearer abc.def-ghi==",
    ],
)
def test_keys_and_tokens_are_never_written_wherever_they_stand(tmp_path, secret):
    path = tmp_path / "talk.jsonl"
    with Recording(path) as recording:
        recording.add(Frame(1.0, "client", 1, {"setup": {"labels": {"a": f"it is {secret}, keep it"}}}))
    assert secret not in path.read_text()
    assert f"it is {REDACTED}, keep it" in path.read_text()


def test_sound_that_looks_like_a_key_by_chance_stays_whole(tmp_path):
    data = "A" * 200 + "AIza" + "B" * 100
    with Recording(tmp_path / "talk.jsonl") as recording:
        recording.add(Frame(1.0, "client", 1, {"realtimeInput": {"audio": {"data": data}}}))
    assert recording.frames[0].message["realtimeInput"]["audio"]["data"] == data


def test_media_is_left_out_on_request_and_users_redact_what_they_like(tmp_path):
    path = tmp_path / "talk.jsonl"
    blob = {"mimeType": "audio/pcm", "data": "A" * 400}
    with Recording(path, media=False, redact=lambda text: text.replace("Alice", "…")) as recording:
        recording.add(Frame(1.0, "client", 1, {"realtimeInput": {"audio": blob, "text": "I am Alice"}}))
    (frame,) = Recording.load(path).frames
    assert frame.message["realtimeInput"] == {
        "audio": {"mimeType": "audio/pcm", "data": "<300 bytes>"},
        "text": "I am …",
    }


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "{}",
        '{"direction": "up", "frame": {}}',
        '{"direction": "client", "frame": 1}',
        '{"direction": "client", "frame": {}, "time": NaN}',
        '{"direction": "client", "frame": {}, "connection": 1e999}',
        "[" * 20_000,
    ],
)
def test_a_line_that_is_none_is_named(tmp_path, line):
    path = tmp_path / "talk.jsonl"
    path.write_text('{"direction": "client", "frame": {}}\n\n' + line)
    with pytest.raises(ValueError, match=r"talk\.jsonl:3: not a line of a recording"):
        Recording.load(path)


def test_differences_name_the_path_and_both_values():
    recorded = {"a": [1, {"b": "x"}], "c": 1}
    now = {"a": [1, {"b": "y"}, 3], "d": None}
    assert list(differences(recorded, now)) == [
        'a[1].b: recorded "x", now "y"',
        "a[2]: recorded nothing, now 3",
        "c: recorded 1, now nothing",
        "d: recorded nothing, now null",
    ]
    assert list(differences(recorded, recorded)) == []


# -- the file


def talk(mode="w", path=None, connection=1, text="hello"):
    with Recording(path, mode=mode) as recording:
        recording.add(Frame(5.0, "client", connection, {"realtimeInput": {"text": text}}))
        recording.add(Frame(7.5, "server", connection, {"serverContent": {"turnComplete": True}}))


@pytest.mark.parametrize("mode", ["w", "a", "x"])
def test_only_its_owner_may_read_it(tmp_path, mode):
    path = tmp_path / "talk.jsonl"
    if mode != "x":
        path.write_text("")
        path.chmod(0o644)
    talk(mode, path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_exists_is_left_alone_where_it_must_not(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        talk("x", path)
    assert path.read_text() == "precious"
    talk("w", path)
    assert "precious" not in path.read_text()


def test_it_goes_on_with_connections_and_times_that_follow(tmp_path):
    path = tmp_path / "talk.jsonl"
    talk("a", path)
    talk("a", path)
    frames = Recording.load(path).frames
    assert [(frame.connection, frame.time) for frame in frames] == [(1, 0.0), (1, 2.5), (2, 2.5), (2, 5.0)]


def test_a_file_that_is_not_text_is_named(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_bytes('{"direction": "client", "frame": {}}'.encode("utf-16"))
    with pytest.raises(ValueError, match=r"talk\.jsonl: not a recording \(invalid start byte at byte 0\)"):
        Recording.load(path)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_recording_without_a_frame_is_not_played_as_if_it_were_one(tmp_path, text):
    path = tmp_path / "talk.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"talk\.jsonl: there is nothing to play"):
        FakeLiveServer.replay(path)


def test_it_does_not_go_on_with_what_is_not_a_recording(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("precious\n")
    with pytest.raises(ValueError, match=r"talk\.jsonl:1: not a line of a recording"):
        talk("a", path)
    assert path.read_text() == "precious\n"


@settings(derandomize=True, max_examples=50)
@given(st.text(st.characters(), max_size=20))
def test_every_text_that_json_can_hold_is_read_as_it_was(text):
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "talk.jsonl"
        talk("w", path, text=text)
        assert Recording.load(path).frames[0].message == {"realtimeInput": {"text": text}}


# -- handles

HANDLE = "d4713d60-c8a7-0639-eb11-67b367a9c378"


def setup(handle, spelt="sessionResumption"):
    return {"setup": {"model": "m", spelt: {"handle": handle}}}


def test_handles_are_written_as_stand_ins_the_same_for_the_same(tmp_path):
    path = tmp_path / "talk.jsonl"
    with Recording(path) as recording:
        for connection, message in enumerate(
            [
                {"sessionResumptionUpdate": {"newHandle": HANDLE, "resumable": True}},
                {"session_resumption_update": {"new_handle": "h", "resumable": True}},
                {"sessionResumptionUpdate": {"newHandle": "", "resumable": False}},
                setup(HANDLE),
                setup("h", "session_resumption"),
                {"_close": {"code": 1007, "reason": f"Invalid session handle {HANDLE}"}},
            ],
            1,
        ):
            recording.add(Frame(1.0, "server", connection, message))
    said = [frame.message for frame in Recording.load(path).frames]
    assert HANDLE not in path.read_text()
    assert said == [
        {"sessionResumptionUpdate": {"newHandle": "handle-1", "resumable": True}},
        {"session_resumption_update": {"new_handle": "handle-2", "resumable": True}},
        {"sessionResumptionUpdate": {"newHandle": "", "resumable": False}},
        setup("handle-1"),
        setup("handle-2", "session_resumption"),
        {"_close": {"code": 1007, "reason": "Invalid session handle handle-1"}},
    ]


def test_a_recording_that_goes_on_counts_its_handles_on(tmp_path):
    path = tmp_path / "talk.jsonl"
    for _ in range(2):
        with Recording(path, mode="a") as recording:
            recording.add(Frame(1.0, "client", 1, setup(HANDLE)))
    handles = [frame.message["setup"]["sessionResumption"]["handle"] for frame in recording.frames]
    assert handles == ["handle-1", "handle-2"]


def test_a_handle_is_replaced_wherever_it_stands_and_alone_in_a_text_too(tmp_path):
    long = "Cg" + "x" * 300  # as long as sound: alone in a text it looks like media
    odd = "a handle of a server that likes spaces"
    path = tmp_path / "talk.jsonl"
    with Recording(path) as recording:
        for handle in (HANDLE, long, odd, HANDLE + "-longer"):
            recording.add(Frame(1.0, "server", 1, {"sessionResumptionUpdate": {"newHandle": handle}}))
        for text in (f"it is {HANDLE}-longer, or x{HANDLE}y", long, f"<{long}>", f"({odd})"):
            recording.add(Frame(1.0, "client", 1, {"realtimeInput": {"text": text}}))
    said = [frame.message["realtimeInput"]["text"] for frame in recording.frames[4:]]
    assert said == ["it is handle-4, or xhandle-1y", "handle-2", "<handle-2>", "(handle-3)"]


def test_a_frame_costs_the_same_however_many_handles_were_seen(tmp_path):
    seen: list[int] = []

    def profiled(frame, event, argument):
        seen[-1] += event in ("call", "c_call")

    for handles in (1, 1000):
        with Recording(tmp_path / f"{handles}.jsonl") as recording:
            for n in range(handles):
                update = {"newHandle": f"one-and-the-same-beginning-{n:08}", "resumable": True}
                recording.add(Frame(1.0, "server", 1, {"sessionResumptionUpdate": update}))
            seen.append(0)
            sys.setprofile(profiled)
            try:
                recording.add(Frame(2.0, "server", 1, {"text": "words, one-and-the-same-beginning-00000000"}))
            finally:
                sys.setprofile(None)
            assert recording.frames[-1].message == {"text": "words, handle-1"}
    # A collection that falls into one of the two adds its callbacks; a look at every handle would add 1,000 calls.
    assert abs(seen[1] - seen[0]) < 100


def test_what_is_written_is_not_kept_in_memory_and_is_counted(tmp_path):
    with Recording(tmp_path / "talk.jsonl") as recording:
        frames = [Frame(float(n), "client", 1, {"realtimeInput": {"text": str(n)}}) for n in range(3)]
        for frame in frames:
            recording.add(frame)
        assert (recording.frames, recording.count) == (frames, 3)
        assert recording.frames[0] is not recording.frames[0]  # read again
    recording.add(frames[0])  # a server may close its connections later
    assert (recording.frames, recording.count) == (frames, 3)
    loaded = Recording.load(tmp_path / "talk.jsonl")
    assert (loaded.frames, loaded.count) == (frames, 3)
