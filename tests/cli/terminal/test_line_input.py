"""Where lines are typed."""

from __future__ import annotations

import io
import sys

from livetools.cli.terminal.line_input import Piped, history_file, lines


def test_a_pipe_is_read_to_its_end_and_broken_bytes_end_nothing():
    piped = Piped(io.TextIOWrapper(io.BytesIO(b"one\n\xff\n"), encoding="utf-8"))
    assert [piped.read("> ") for _ in range(3)] == ["one\n", "\N{REPLACEMENT CHARACTER}\n", None]
    assert not piped.typed


def test_what_is_no_terminal_is_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one"))
    assert not lines([]).typed


def test_the_history_is_its_owners(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file().stat().st_mode & 0o777 == 0o600
    history_file().write_text("kept")
    assert history_file().read_text() == "kept"
