"""Speech in and out: WAV files everywhere, microphone and speaker where there is a sound card.

Files of 16 kHz (any width, any number of channels) need nothing but the standard library; other rates need
soxr, a sound card needs sounddevice and PortAudio: ``pip install 'PATH/TO/CLONE[voice]'``. Nothing of these is
imported before it is used.
"""

from .activity import Activity, Detector, Loudness, Silero, activity_from, send_speech
from .microphone import Microphone
from .pace import END_OF_SPEECH, pace
from .pcm import INPUT_RATE, OUTPUT_RATE, Resampler, seconds_of, silence
from .playback import Output, Playback
from .record import Recorder, record
from .speaker import FileSpeaker, Speaker
from .talk import talk
from .wav import WavFormat, read_wav, wav_format, write_wav

__all__ = [
    "END_OF_SPEECH",
    "INPUT_RATE",
    "OUTPUT_RATE",
    "Activity",
    "Detector",
    "FileSpeaker",
    "Loudness",
    "Microphone",
    "Output",
    "Playback",
    "Recorder",
    "Resampler",
    "Silero",
    "Speaker",
    "WavFormat",
    "activity_from",
    "pace",
    "read_wav",
    "record",
    "seconds_of",
    "send_speech",
    "silence",
    "talk",
    "wav_format",
    "write_wav",
]
