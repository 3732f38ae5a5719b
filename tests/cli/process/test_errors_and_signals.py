"""Commands that serve until somebody stops them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import pytest

from livetools import ConfigError
from livetools.cli.process.errors_and_signals import explained, until_stopped


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait(stop):
    begun: list[str] = []
    ticks = []

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 2:
            os.kill(os.getpid(), stop)

    anyio.run(until_stopped, lambda: begun.append("begun"), tick, 0.001)
    assert begun == ["begun"]
    assert len(ticks) >= 2


def test_errors_of_files_and_values_become_one_line():
    with pytest.raises(ConfigError, match="nowhere: No such file or directory"), explained("port 1"):
        Path("nowhere").read_text()
    with pytest.raises(ConfigError, match="port 1: taken"), explained("port 1"):
        raise OSError("taken")
    with pytest.raises(ConfigError, match="no number"), explained():
        raise ValueError("no number")
    with pytest.raises(ConfigError, match="mine"), explained():
        raise ConfigError("mine")
