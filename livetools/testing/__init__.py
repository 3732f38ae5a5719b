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
    from .calls import FakeCall
    from .clock import FakeClock
    from .faults import Faults
    from .live.conversation_script import User
    from .live.fake_session import FakeSession
    from .pretend import Pretend
    from .proxy import RecordingProxy
    from .recording import Recording
    from .rules import Rule, Rules
    from .server import FakeLiveServer
    from .settings.time_limits import Limits
    from .turn import Turn, TurnCancelled
    from .wire import Frame

_HOMES = {
    "FakeCall": "calls",
    "FakeClock": "clock",
    "FakeLiveServer": "server",
    "FakeSession": "live.fake_session",
    "Faults": "faults",
    "Frame": "wire",
    "Limits": "settings.time_limits",
    "Pretend": "pretend",
    "Recording": "recording",
    "RecordingProxy": "proxy",
    "Rule": "rules",
    "Rules": "rules",
    "Turn": "turn",
    "TurnCancelled": "turn",
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
