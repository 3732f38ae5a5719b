"""Records and plays speech, with a microphone and a speaker or with WAV files.

WAV files at 16 kHz (any width, any number of channels) need only the standard library. Other rates need soxr, and a
sound card needs sounddevice and PortAudio: ``pip install 'PATH/TO/CLONE[voice]'``. They are imported on first use.
"""

from .activity_detection import Activity, Detector, Loudness, Silero, activity_from, send_speech
from .microphone import Microphone
from .pace import END_OF_SPEECH, pace
from .pcm import INPUT_RATE, OUTPUT_RATE, Resampler, seconds_of, silence
from .playback import Output, Playback
from .session_recorder import Recorder, record
from .speaker import FileSpeaker, Speaker
from .spoken_conversation import talk
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
