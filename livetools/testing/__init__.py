"""A fake Live server, for tests without a network and demos without a key.

::

    async def test_the_weather_is_spoken(live_server):  # a pytest fixture: the environment points at the server
        @live_server.model
        async def model(turn):
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']}.")

        assert "12 °C" in str(await my_app.answer("Weather in Oslo?"))

FakeLiveServer  the server; FakeSession: one conversation on it; Frame: a message of either side
Turn, User      the arguments of a pretend model, and of a script of a whole conversation
Pretend         a model that needs no code; Rules of ``Rule``: one in YAML
FakeCall        a call and its answer; TurnCancelled: the call, or its connection, is lost
Faults, Limits  what goes wrong by itself; when goAway comes, and how long a handle lasts
FakeClock       a clock that a test moves
Recording       frames in a file; RecordingProxy: writes one between a client and the service

It speaks raw JSON and shares no frame model with livetools' own client: a field that one side misspells
shows. pytest imports this package at its start (for the ``live_server`` fixture), so names are loaded when
they are first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .live.conversation_script import User
    from .live.fake_session import FakeSession
    from .model.fake_call import FakeCall
    from .model.turn import Turn, TurnCancelled
    from .pretend import Pretend
    from .pretend.rule_based import Rule, Rules
    from .recording_proxy import RecordingProxy
    from .recordings.jsonl_file import Recording
    from .server import FakeLiveServer
    from .settings.fake_clock import FakeClock
    from .settings.fault_switches import Faults
    from .settings.time_limits import Limits
    from .wire import Frame

_HOMES = {
    "FakeCall": "model.fake_call",
    "FakeClock": "settings.fake_clock",
    "FakeLiveServer": "server",
    "FakeSession": "live.fake_session",
    "Faults": "settings.fault_switches",
    "Frame": "wire",
    "Limits": "settings.time_limits",
    "Pretend": "pretend",
    "Recording": "recordings.jsonl_file",
    "RecordingProxy": "recording_proxy",
    "Rule": "pretend.rule_based",
    "Rules": "pretend.rule_based",
    "Turn": "model.turn",
    "TurnCancelled": "model.turn",
    "User": "live.conversation_script",
}

__all__ = [
    "FakeCall",
    "FakeClock",
    "FakeLiveServer",
    "FakeSession",
    "Faults",
    "Frame",
    "Limits",
    "Pretend",
    "Recording",
    "RecordingProxy",
    "Rule",
    "Rules",
    "Turn",
    "TurnCancelled",
    "User",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
