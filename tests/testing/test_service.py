"""What the parts of a server share."""

from __future__ import annotations

import pytest

from livetools.setup.model_profiles import find
from livetools.testing import FakeClock, FakeLiveServer, Faults, Limits, Recording
from livetools.testing.settings.vad import EnergyDetector

LIVE = find("gemini-3.8-live")


@pytest.mark.parametrize(
    ("profile", "expected"),
    [(None, find("gemini-2.5-flash-native-audio")), (LIVE, LIVE), ("gemini-3.8-live", LIVE)],
)
def test_the_profile_is_the_servers_or_the_setups(profile, expected):
    service = FakeLiveServer(profile=profile).service
    assert service.profile_of("models/gemini-2.5-flash-native-audio", vertex=False) == expected


def test_a_switch_of_the_server_is_what_its_parts_read(tmp_path):
    server = FakeLiveServer()
    switches = {
        "pace": 0.5,
        "hold": 1.0,
        "faults": Faults(drop=1.0),
        "limits": Limits(idle=1.0),
        "strict": False,
        "profile": "gemini-3.8-live",
        "detector": EnergyDetector,
        "transcriber": lambda pcm, rate: "",
        "recording": Recording(tmp_path / "recording"),
    }
    for name, value in switches.items():
        setattr(server, name, value)
        assert getattr(server.service, name) is value
        assert getattr(server, name) is value


def test_a_frame_is_entered_in_the_log_and_in_the_recording(tmp_path):
    clock = FakeClock()
    server = FakeLiveServer(clock=clock)
    with Recording(tmp_path / "talk.jsonl") as server.recording:
        server.service.record("client", 1, {"setup": {}})
    assert [frame.message for frame in server.frames] == [{"setup": {}}]
    assert [frame.message for frame in server.recording.frames] == [{"setup": {}}]
