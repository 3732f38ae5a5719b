"""Speech in and out: WAV files everywhere, microphone and speaker where there is a sound card.

Files of 16 kHz (any width, any number of channels) need nothing but the standard library; other rates need
soxr, a sound card needs sounddevice and PortAudio: ``pip install 'livetools[voice]'``. Nothing of these is
imported before it is used.
"""

from .microphone import Microphone
from .pace import END_OF_SPEECH, pace
from .pcm import INPUT_RATE, OUTPUT_RATE, Resampler, seconds_of, silence
from .playback import Output, Playback
from .speaker import FileSpeaker, Speaker
from .talk import talk
from .wav import WavFormat, read_wav, wav_format, write_wav

__all__ = [
    "END_OF_SPEECH",
    "INPUT_RATE",
    "OUTPUT_RATE",
    "FileSpeaker",
    "Microphone",
    "Output",
    "Playback",
    "Resampler",
    "Speaker",
    "WavFormat",
    "pace",
    "read_wav",
    "seconds_of",
    "silence",
    "talk",
    "wav_format",
    "write_wav",
]
