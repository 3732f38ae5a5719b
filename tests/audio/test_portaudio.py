"""The real sounddevice and PortAudio, on a card of ALSA's that plays into a file and hears out of one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip(
    "sounddevice", reason="needs sounddevice and PortAudio (extra [voice])", exc_type=Exception
)
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux'"),
    pytest.mark.skipif(not Path("/usr/share/alsa/alsa.conf").exists(), reason="ALSA's data is not installed"),
]

CARD = """
pcm.!default { type file  file "@out.raw"  infile "@in.raw"  format "raw"  slave.pcm { type null } }
ctl.!default { type null }
"""

PROGRAM = """
import sys, anyio
from livetools.audio import Microphone, Speaker

async def main():
    with Microphone() as microphone:
        assert await anext(microphone) == b"ab" * 640
    with Speaker() as speaker:
        speaker.write(b"xy" * 2400)
        await speaker.drained()
        assert speaker.played == 0.1

anyio.run(main)
"""


def test_the_microphone_hears_and_the_speaker_plays_through_portaudio(tmp_path):
    (tmp_path / "asound.conf").write_text(CARD.replace("@", f"{tmp_path}/"))
    (tmp_path / "in.raw").write_bytes(b"ab" * 64000)
    environment = os.environ | {"ALSA_CONFIG_PATH": str(tmp_path / "asound.conf")}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    played = (tmp_path / "out.raw").read_bytes()
    shutil.rmtree(tmp_path)  # a card without a crystal plays megabytes of silence
    assert run.returncode == 0, run.stderr
    assert played.strip(b"\0") == b"xy" * 2400
