"""Where the command keeps what it remembers."""

from __future__ import annotations

from livetools.cli.process.state_folder import state_folder


def test_it_is_in_the_users_folder_for_such_things(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert state_folder() == tmp_path / "state" / "livetools"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local" / "state" / "livetools"
