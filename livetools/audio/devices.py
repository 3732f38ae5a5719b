"""The sound card, through sounddevice, which is imported when a device is opened and not before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from livetools.errors import ConfigError
from livetools.setup.install_hints import install

Device: TypeAlias = int | str | None  # its number or a part of its name; None: the system's default
_Kind: TypeAlias = Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class Card:
    """A device and the rate it is to be opened with."""

    kind: _Kind
    device: Device
    rate: int  # Hz
    sounddevice: Any  # the module, which has no types

    def open(self, callback: Callable[..., None], ended: Callable[[], None], seconds: float = 0.0) -> Any:
        """A started raw stream of 16-bit mono: ``callback(buffer, frames, time, status)`` in a thread of its own.

        ``seconds``: of sound a callback (0: as the device likes it). ``ended`` is called when the stream ends,
        for any reason. Raises :class:`ConfigError`.
        """
        streams = {"input": self.sounddevice.RawInputStream, "output": self.sounddevice.RawOutputStream}
        try:
            stream = streams[self.kind](
                samplerate=self.rate,
                blocksize=int(seconds * self.rate),
                device=self.device,
                channels=1,
                dtype="int16",
                callback=callback,
                finished_callback=ended,
            )
            stream.start()
        except self.sounddevice.PortAudioError as error:
            raise _unusable(self.sounddevice, self.kind, self.device, error) from error
        return stream


def find_card(kind: _Kind, device: Device, rate: int) -> Card:
    """The device, with ``rate`` if it takes that, else with its own (many USB microphones have one rate only).

    Raises :class:`ConfigError` that says what is missing: the extra, the PortAudio library, or the device.
    """
    sounddevice = _sounddevice()
    check = {"input": sounddevice.check_input_settings, "output": sounddevice.check_output_settings}[kind]
    try:
        own = int(sounddevice.query_devices(device, kind)["default_samplerate"])
    except (sounddevice.PortAudioError, ValueError) as error:
        raise _unusable(sounddevice, kind, device, error) from error
    try:
        check(device=device, channels=1, dtype="int16", samplerate=rate)
    except sounddevice.PortAudioError:
        return Card(kind, device, own, sounddevice)
    return Card(kind, device, rate, sounddevice)


def names_of(kind: _Kind) -> list[str]:
    """The devices of a kind, each with its number: ``"3: USB Microphone"``. Raises :class:`ConfigError` as
    :func:`find_card` does, but not for a device."""
    return _named(_sounddevice(), kind)


def _named(sounddevice: Any, kind: _Kind) -> list[str]:
    usable = [each for each in sounddevice.query_devices() if each[f"max_{kind}_channels"] > 0]
    return [f"{each['index']}: {each['name']}" for each in usable]


def _sounddevice() -> Any:  # a module without types
    try:
        import sounddevice
    except ImportError as error:
        raise ConfigError(f"A microphone or a speaker needs sounddevice: {install('voice')}") from error
    except OSError as error:  # "PortAudio library not found": the wheels for Linux do not bring it
        raise ConfigError(
            "sounddevice does not find the PortAudio library. Install it: apt install libportaudio2 (Debian, "
            "Ubuntu), dnf install portaudio (Fedora), brew install portaudio (macOS)."
        ) from error
    return sounddevice


def _unusable(sounddevice: Any, kind: _Kind, device: Device, error: Exception) -> ConfigError:
    names = "; ".join(_named(sounddevice, kind))
    which = f"The {kind} device {device!r}" if device is not None else f"The default {kind} device"
    there = f"There are: {names}." if names else f"This machine has no {kind} device."
    return ConfigError(f"{which} cannot be used: {error}. {there} WAV files work without one.")
