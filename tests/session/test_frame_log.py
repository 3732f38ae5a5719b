"""Frames on one line, without what must not be read."""

from __future__ import annotations

import logging

import pytest

from livetools.session.frame_log import LONGEST, FrameLog, readable


def test_a_frame_is_put_on_one_line_and_its_media_is_cut() -> None:
    data = "A" * 4000
    text = readable(b'{\n  "realtimeInput": {\n    "audio": {"data": "%b"}\n  }\n}\n' % data.encode())
    assert text == '{ "realtimeInput": { "audio": {"data": "AAAAAAAA… 4000 characters"} } }'


@pytest.mark.parametrize("key", ["newHandle", "new_handle", "handle"])
def test_a_handle_opens_a_conversation_and_is_cut(key: str) -> None:
    assert readable(b'{"%b": "secret-handle"}' % key.encode()) == f'{{"{key}": "secr…"}}'


def test_what_is_no_utf8_and_what_is_long_are_still_readable() -> None:
    assert readable(b"\xff{}") == "\ufffd{}"
    assert len(readable(b"x" * 10 * LONGEST)) < LONGEST + 30


def test_nothing_is_noted_unless_somebody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIVETOOLS_LOG", raising=False)
    assert FrameLog.wanted() is None
    monkeypatch.setenv("LIVETOOLS_LOG", "calls,frames")
    assert FrameLog.wanted() is not None


@pytest.mark.parametrize("turned_on", ["", "livetools"])
def test_a_level_for_all_logs_is_not_a_wish_for_frames(
    turned_on: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments, results and the words of exceptions stand in them."""
    monkeypatch.delenv("LIVETOOLS_LOG", raising=False)
    with caplog.at_level(logging.DEBUG, turned_on or None):
        assert FrameLog.wanted() is None
        with caplog.at_level(logging.DEBUG, "livetools.frames"):
            assert FrameLog.wanted() is not None
