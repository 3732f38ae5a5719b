"""Conversations in a file: redacted, read back, compared."""

from __future__ import annotations

import json

import pytest

from livetools.testing import FakeLiveServer, Recording
from livetools.testing.recording import REDACTED, differences
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
    "line", ["nonsense", "{}", '{"direction": "up", "frame": {}}', '{"direction": "client", "frame": 1}']
)
def test_a_line_that_is_none_is_named(tmp_path, line):
    path = tmp_path / "talk.jsonl"
    path.write_text('{"direction": "client", "frame": {}}\n\n' + line)
    with pytest.raises(ValueError, match=r"talk\.jsonl:3: no line of a recording"):
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
