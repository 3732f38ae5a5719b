"""The sound card: what is opened, and what is said where that cannot be."""

from __future__ import annotations

import sys

import pytest

from livetools.audio.devices import find_card
from livetools.errors import ConfigError


def test_a_card_that_takes_the_rate_is_opened_with_it(cards):
    cards(("USB", 1, 0, 48000.0))
    card = find_card("input", None, 16000)
    stream = card.open(lambda *_: None, lambda: None, 0.04)
    settings = stream.settings
    assert (settings["samplerate"], settings["blocksize"]) == (16000, 640)
    assert (settings["channels"], settings["dtype"]) == (1, "int16")


def test_a_card_that_refuses_the_rate_is_opened_with_its_own(cards):
    cards(("USB", 1, 0, 44100.0), refused=(16000,))
    assert find_card("input", "USB", 16000).rate == 44100


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(ConfigError, match=r"pip install 'PATH/TO/CLONE\[voice\]'"):
        find_card("output", None, 24000)


def test_without_portaudio_the_error_says_what_to_install(monkeypatch, tmp_path):
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    with pytest.raises(ConfigError, match="apt install libportaudio2"):
        find_card("output", None, 24000)


def test_a_machine_without_a_card_is_told_and_pointed_to_files(cards):
    cards()
    with pytest.raises(ConfigError, match=r"default output device .* has no output device\. WAV files work"):
        find_card("output", None, 24000)


def test_an_unknown_device_is_told_with_those_that_exist(cards):
    devices = ("USB mic", 1, 0, 48000.0), ("Headset", 1, 2, 48000.0), ("HDMI", 0, 2, 48000.0)
    cards(*devices)
    with pytest.raises(ConfigError, match=r"input device 'Foo' .*There are: 0: USB mic; 1: Headset\."):
        find_card("input", "Foo", 16000)


def test_a_device_that_does_not_start_is_a_config_error_too(cards):
    cards(("USB", 1, 0, 48000.0), broken="Device unavailable")
    with pytest.raises(ConfigError, match="Device unavailable"):
        find_card("input", None, 16000).open(lambda *_: None, lambda: None)
