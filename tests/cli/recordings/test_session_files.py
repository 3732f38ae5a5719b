"""The sessions of the page on disk."""

from __future__ import annotations

import json
import logging
import os
from hashlib import sha256
from pathlib import Path

import pytest

from livetools.cli.recordings.session_files import (
    MAX_AGE,
    MAX_SAVED_SESSIONS,
    SessionAbout,
    SessionFile,
    SessionFiles,
)
from livetools.testing import Recording
from livetools.testing.wire import Frame

NOW = 1_790_000_000.0


def id_of(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def typed(text: str, at: float = 0.0) -> Frame:
    content = {"turns": [{"role": "user", "parts": [{"text": text}]}], "turnComplete": True}
    return Frame(at, "client", 1, {"clientContent": content})


def heard(text: str) -> Frame:
    return Frame(0.0, "server", 1, {"serverContent": {"inputTranscription": {"text": text}}})


SETUP = Frame(0.0, "client", 1, {"setup": {"model": "models/m"}})
SOUND = Frame(0.0, "client", 1, {"realtimeInput": {"audio": {"mimeType": "audio/pcm", "data": "A" * 400}}})
SAID = Frame(0.0, "server", 1, {"serverContent": {"outputTranscription": {"text": "Yes?"}}})


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    return SessionFiles(tmp_path / "kept", clock=lambda: NOW)


def keep(files: SessionFiles, name: str, *frames: Frame, used: float = NOW) -> str:
    id = id_of(name)
    file = SessionFile(files, id, SessionAbout(agent="a", began=used))
    for frame in frames or (SETUP, typed(name)):
        file.add(frame)
    file.stop()
    path = files.folder / f"{id}.jsonl"
    if path.exists():
        os.utime(path, (used, used))
    return id


def test_nothing_is_written_before_the_user_has_said_something(files):
    keep(files, "a", SETUP, SAID)
    assert not files.folder.exists()
    keep(files, "b", SETUP, SAID, typed("hello"))
    [kept] = files.listed()
    assert [frame.message for frame in files.frames(kept.id)] == [
        each.message for each in (SETUP, SAID, typed("hello"))
    ]


def test_only_its_owner_may_read_it(files):
    files.folder.mkdir(mode=0o755, parents=True)
    keep(files, "a")
    assert oct(files.folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(file.stat().st_mode & 0o777) for file in files.folder.iterdir()} == {"0o600"}


def test_it_is_a_recording_without_media_and_of_the_users_sound_the_first_of_each_piece(files):
    id = keep(files, "a", SETUP, SOUND, SOUND, SOUND, SAID, SOUND, SOUND)
    recorded = Recording.load(files.folder / f"{id}.jsonl").frames
    assert [next(iter(frame.message)) for frame in recorded] == [
        "setup",
        "realtimeInput",
        "serverContent",
        "realtimeInput",
    ]
    assert recorded[1].message["realtimeInput"]["audio"]["data"] == "<300 bytes>"


@pytest.mark.parametrize(
    ("frames", "title"),
    [
        ([typed("What is\n the weather?"), SAID, typed("And now?")], "What is the weather?"),
        ([SOUND, heard("What "), heard("is it?"), SAID, heard("More")], "What is it?"),
        ([SOUND, SAID, heard("late")], "late"),
        ([typed("x" * 500)], "x" * 120),
    ],
    ids=["typed", "spoken", "heard late", "long"],
)
def test_its_title_is_what_the_user_said_first(files, frames, title):
    id = keep(files, "a", SETUP, *frames)
    about = files.about(id)
    assert about is not None
    assert about.title == title


def test_the_list_has_the_newest_first_and_what_is_too_old_or_too_much_is_deleted(files):
    for age in (5, 1, 3):
        keep(files, f"{age} h", used=NOW - age * 3600)
    keep(files, "old", used=NOW - MAX_AGE - 1)
    assert [each.about.title for each in files.listed() if each.about] == ["1 h", "3 h", "5 h"]
    assert len(list(files.folder.glob("*.json*"))) == 6
    for n in range(MAX_SAVED_SESSIONS):
        keep(files, f"new {n}", used=NOW - n)
    found = files.listed()
    assert len(found) == MAX_SAVED_SESSIONS
    assert found[-1].about is not None
    assert found[-1].about.title == f"new {MAX_SAVED_SESSIONS - 1}"
    assert len(list(files.folder.glob("*.jsonl"))) == MAX_SAVED_SESSIONS


def test_a_session_that_is_too_large_is_kept_as_far_as_it_fits(files, monkeypatch, caplog):
    monkeypatch.setattr("livetools.cli.recordings.session_files.MAX_SESSION", 100_000)
    id = keep(files, "a", SETUP, *[typed("x" * 1000) for _ in range(1000)])
    assert 100_000 < files.size(id) < 250_000
    assert "larger than is kept" in caplog.text
    assert files.frames(id)


def test_sessions_that_are_too_large_together_go_oldest_first(files, monkeypatch):
    monkeypatch.setattr("livetools.cli.recordings.session_files.MAX_BYTES", 25_000)
    for age in (1, 2, 3):
        keep(files, f"{age}", SETUP, typed("x" * 10_000), used=NOW - age)
    assert [each.used for each in files.listed()] == [NOW - 1, NOW - 2]


def test_a_handle_is_kept_unless_it_is_of_no_use_to_another_process(files):
    for keeps in (True, False):
        id = id_of(f"{keeps}")
        file = SessionFile(files, id, SessionAbout(began=NOW), keeps_handle=keeps)
        file.keep_handle("too early: there is no file yet")
        file.add(typed("hello"))
        file.keep_handle("opens it")
        file.pause()
        about = files.about(id)
        assert about is not None
        assert (about.handle, file.handle) == ("opens it" if keeps else None, "opens it")
        assert "opens it" not in (files.folder / f"{id}.jsonl").read_text()


def test_a_line_that_is_not_whole_is_left_out_and_what_is_no_recording_is_named(files):
    id = keep(files, "a", SETUP, typed("a"))
    path = files.folder / f"{id}.jsonl"
    with path.open("a") as file:
        file.write('{"time": 1')
    assert len(files.frames(id)) == 2
    session = SessionFile(files, id, SessionAbout(began=NOW))
    session.add(SAID)
    session.pause()
    session.add(SAID)
    session.stop()
    session.add(SAID)
    assert len(files.frames(id)) == 4, "and it goes on behind it"
    path.write_text(path.read_text().replace('"server"', '"nobody"'))
    with pytest.raises(ValueError, match=":3: not a line of a recording"):
        files.frames(id)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"began": "yesterday"}', '{"choices": 3}', "[" * 100_000])
def test_what_is_known_of_a_session_may_be_damaged(files, text):
    id = keep(files, "a")
    (files.folder / f"{id}.json").write_text(text)
    assert [each.about for each in files.listed()] == [None]
    files.delete(id)
    assert list(files.folder.iterdir()) == []


@pytest.mark.parametrize("id", ["../../etc/passwd", "a", "", "A" * 64, "0" * 63 + "\n"])
def test_an_id_names_no_other_file(files, id):
    keep(files, "a")
    assert not files.has(id)
    assert files.about(id) is None
    files.delete(id)
    assert len(files.listed()) == 1


def test_a_disk_that_refuses_costs_no_session_and_is_told_once(tmp_path, caplog):
    (tmp_path / "kept").write_text("a file where a folder should be")
    files = SessionFiles(tmp_path / "kept")
    with caplog.at_level(logging.WARNING, "livetools.web"):
        for name in "abc":
            keep(files, name)
    assert files.listed() == []
    assert caplog.text.count("cannot be kept") == 1


def test_a_renamed_session_is_found_under_its_other_id(files):
    id = keep(files, "a")
    files.rename(id, id_of("b"))
    assert (files.has(id), files.has(id_of("b"))) == (False, True)
    about = files.about(id_of("b"))
    assert about is not None
    assert about.title == "a"
    assert len(json.loads((files.folder / f"{id_of('b')}.json").read_text())) > 3


def test_a_disk_that_is_full_costs_no_conversation(files, caplog):
    resource = pytest.importorskip("resource", reason="Windows has no limit of the size of files")
    file = SessionFile(files, id_of("a"), SessionAbout(began=NOW))
    file.add(typed("hello"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (2000, before[1])
    )  # what is larger is refused, as by a full disk
    try:
        for _ in range(3):
            file.add(typed("x" * 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    file.add(SAID)
    assert caplog.text.count("cannot be kept") == 1
    assert [frame.message for frame in files.frames(id_of("a"))] == [typed("hello").message]
