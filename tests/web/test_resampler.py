"""The sound of a microphone at another rate: what is kept of it, and what is not."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from livetools.web import BUILT

NODE = shutil.which("node")
PROGRAM = """
import { Resampler, pcmOf } from "./resampler.js";
const { from, to, frequency, chunk } = JSON.parse(process.argv[1]);
const resampler = new Resampler(from, to), output = [];
for (let start = 0; start < from; start += chunk) {  // one second
  const size = Math.min(chunk, from - start);
  const sine = (_, n) => 0.5 * Math.sin((2 * Math.PI * frequency * (start + n)) / from);
  output.push(...resampler.push(Float32Array.from({ length: size }, sine)));
}
const middle = output.slice(to / 4, (3 * to) / 4);
const power = middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length;
const crossings = middle.filter((sample, n) => n > 0 && middle[n - 1] < 0 && sample >= 0).length;
console.log(JSON.stringify({
  samples: output.length, level: Math.sqrt(2 * power), frequency: 2 * crossings,
  sum: output.reduce((sum, sample, n) => sum + sample * ((n % 97) + 1), 0),
  pcm: [...pcmOf(Float32Array.of(0, 0.5, 1, -1, 2, -2))],
}));
"""
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def resampled(frequency: float, rate: int, to: int = 16000, chunk: int = 128) -> dict[str, Any]:
    """What becomes of a second of a sine of amplitude 0.5, cut as an audio thread cuts it."""
    arguments = json.dumps({"from": rate, "to": to, "frequency": frequency, "chunk": chunk})
    command = [str(NODE), "--input-type=module", "--eval", PROGRAM, arguments]
    done = subprocess.run(command, cwd=BUILT, capture_output=True, text=True, check=True, timeout=60)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000, 96000, 192000])
def test_speech_keeps_its_pitch_its_level_and_its_length(rate):
    tone = resampled(1000, rate)
    assert tone["level"] == pytest.approx(0.5, rel=0.02)
    assert tone["frequency"] == pytest.approx(1000, abs=2)
    assert tone["samples"] == pytest.approx(16000, abs=64)


@pytest.mark.parametrize("frequency", [9000, 12000, 15000])
@pytest.mark.parametrize("rate", [44100, 48000])
def test_what_the_new_rate_cannot_hold_is_not_folded_into_the_speech(rate, frequency):
    assert resampled(frequency, rate)["level"] < 0.5 * 10 ** (-40 / 20)


def test_it_makes_no_difference_how_the_sound_is_cut():
    once, often = resampled(440, 44100, chunk=44100), resampled(440, 44100, chunk=37)
    assert once["samples"] == often["samples"]
    assert once["sum"] == pytest.approx(often["sum"], abs=1e-3)


def test_what_is_too_loud_for_16_bits_is_clipped():
    assert resampled(440, 16000)["pcm"] == [0, 16384, 32767, -32767, 32767, -32768]
