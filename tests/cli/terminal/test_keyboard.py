"""Standard input that is no terminal has nobody at it. How keys are read is tried in test_voice, on a terminal."""

from __future__ import annotations

import io

import pytest

from livetools.cli.terminal.keyboard import Keyboard


def test_nobody_answers_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    keyboard = Keyboard()
    with keyboard.listening():
        assert keyboard.is_there is False
        assert keyboard.ask("run it? ") is None
