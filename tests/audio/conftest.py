"""A sound card without sound: a double of the module sounddevice, which is not ours."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest


class PortAudioError(Exception):
    pass


class Stream:
    """A stream of the double: a test plays the card and calls ``callback`` itself."""

    latency = 0.0

    def __init__(self, **settings):
        self.settings = settings
        self.callback = settings["callback"]
        self.state = "open"

    def start(self):
        self.state = "started"

    def abort(self):
        self.state = "stopped"
        self.settings["finished_callback"]()

    def close(self):
        self.state = "closed"


def sounddevice(*devices: tuple[str, int, int, float], refused: tuple[int, ...] = (), broken: str = ""):
    """A double of the module: its devices (name, inputs, outputs, rate), the rates that they refuse."""
    streams = []
    table = [
        {
            "index": index,
            "name": name,
            "max_input_channels": inputs,
            "max_output_channels": outputs,
            "default_samplerate": rate,
        }
        for index, (name, inputs, outputs, rate) in enumerate(devices)
    ]

    def query_devices(device=None, kind=None):
        if kind is None:
            return table
        found = [each for each in table if device is None or device in (each["index"], each["name"])]
        if not found:
            raise (
                PortAudioError("Error querying device -1")
                if device is None
                else ValueError("No device matching")
            )
        return found[0]

    def check(samplerate, **_):
        if samplerate in refused:
            raise PortAudioError("Invalid sample rate [PaErrorCode -9997]")

    def open_stream(**settings):
        if broken:
            raise PortAudioError(broken)
        streams.append(Stream(**settings))
        return streams[-1]

    return SimpleNamespace(
        streams=streams,
        PortAudioError=PortAudioError,
        query_devices=query_devices,
        check_input_settings=check,
        check_output_settings=check,
        RawInputStream=open_stream,
        RawOutputStream=open_stream,
    )


@pytest.fixture
def cards(monkeypatch):
    """``cards(("USB", inputs, outputs, rate), ..., refused=, broken=)`` puts the double in place and returns it."""

    def install(*devices, **faults):
        double = sounddevice(*devices, **faults)
        monkeypatch.setitem(sys.modules, "sounddevice", double)
        return double

    return install
