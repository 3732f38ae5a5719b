"""The messages of the relay: what is told of events, and what is kept back."""

from __future__ import annotations

import contextlib
import json
from types import MappingProxyType
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools import (
    ApprovalRequested,
    AudioChunk,
    Call,
    HandleUpdate,
    Reconnecting,
    SessionStarted,
    ToolError,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UnknownMessage,
    VideoChunk,
)
from livetools.errors import (
    AuthenticationError,
    ConfigError,
    ConnectFailed,
    ModelNotFound,
    QuotaExceeded,
    RemoteProtocolError,
    SessionClosed,
    ToolDefinitionError,
)
from livetools.integrations.relay.limits import MAX_EVENT
from livetools.integrations.relay.messages import (
    Command,
    closing,
    encode_event,
    encode_video,
    ending,
    read_command,
    shows_whole,
)


def told(event: Any) -> dict[str, Any]:
    text = encode_event(event, 7, 1.23456)
    assert text is not None
    assert len(text) <= MAX_EVENT + 100
    return dict(json.loads(text))


def test_an_event_is_told_by_the_names_of_its_class_and_its_fields() -> None:
    call = Call("c-1", "book", MappingProxyType({"guests": 4}))
    assert told(ToolStarted(call)) == {
        "type": "ToolStarted",
        "seq": 7,
        "at": 1.235,
        "call": {"id": "c-1", "name": "book", "args": {"guests": 4}},
    }


def test_the_picture_of_an_avatar_is_told_without_a_number():
    message = json.loads(encode_video(VideoChunk(b"\x00\xff", "video/mp4")))
    assert message == {"type": "VideoChunk", "data": "AP8=", "mime_type": "video/mp4"}


@pytest.mark.parametrize("event", [AudioChunk(b"1"), HandleUpdate("secret"), UnknownMessage({"a": "secret"})])
def test_sound_secrets_and_what_nobody_knows_stay_here(event):
    assert encode_event(event, 1, 0.0) is None


def test_what_an_event_does_not_print_stays_here():
    told = json.loads(encode_event(SessionStarted("s1", "signature"), 1, 0.0))
    assert (told["id"], told["voice_consent"]) == ("s1", None)


def test_an_exception_is_told_by_its_class_alone():
    event = ToolFinished(Call("c", "f"), {"error": "no seats"}, ToolError("password=hunter2"), 0.5)
    assert told(event)["error"] == "ToolError"
    assert "hunter2" not in json.dumps(told(event))


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), None),
        (b"\x00\xff", "AP8="),
        ({1: {2}}, {"1": [2]}),
        (Odd(), "<Odd>"),
        (object, None),
        ("\ud800", None),
        (10**400, None),
    ],
)
def test_whatever_a_tool_reports_there_is_a_message_that_a_browser_can_read(value, shown):
    event = told(ToolProgress(Call("c", "f"), value))
    assert event["type"] == "ToolProgress"
    if shown is not None:
        assert event["value"] == shown


def test_a_circle_is_left_out():
    circle: list[object] = []
    circle.append(circle)
    assert told(ToolProgress(Call("c", "f"), circle)) == {
        "type": "ToolProgress", "seq": 7, "at": 1.235, "truncated": True,
        "call": {"id": "c", "name": "f", "args": {}}, "value": None,
    }  # fmt: skip


def test_what_is_too_large_is_told_without_its_bulk():
    event = told(ToolFinished(Call("c", "f", {"x": "y" * MAX_EVENT}), {"output": "z" * MAX_EVENT}, None, 1.0))
    assert event["truncated"] is True
    assert (event["elapsed"], event["response"]) == (1.0, None)
    assert event["call"] == {"id": "c", "name": "f", "args": {}}


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        ("m" * 100_000, True),
        ("a\u202eb", True),
        ([1, 2.5, None, True, {"a": []}], True),
        (10**300, True),
        ("m" * MAX_EVENT, False),
        (float("inf"), False),
        (float("nan"), False),
        (10**308, False),
        ("\ud800", False),
        (nested(600), False),
    ],
)
def test_an_approval_is_of_a_call_that_a_page_sees_as_it_would_run(value, whole):
    call = Call("c", "f", {"first": 1, "value": value})
    text = encode_event(ApprovalRequested(call), 1, 0.0)
    assert text is not None
    assert shows_whole(text, call) == whole


@pytest.mark.parametrize(
    ("error", "kind", "message", "retryable"),
    [
        (QuotaExceeded(1011, "SECRET", "setup", retryable=True), "QuotaExceeded", "the server's quota", True),
        (AuthenticationError(1008, "SECRET", "setup"), "AuthenticationError", "credentials", False),
        (ModelNotFound(1008, "SECRET", "setup"), "ModelNotFound", "the model is not available", False),
        (
            SessionClosed(1011, "SECRET", "idle", retryable=True),
            "SessionClosed",
            "has closed the session",
            True,
        ),
        (ConnectFailed("nobody listens on SECRET"), "ConnectFailed", "could not be reached", False),
        (RemoteProtocolError("SECRET"), "RemoteProtocolError", "the server failed", False),
        (RuntimeError("postgres://SECRET@host"), "ServerFailed", "the server failed", False),
        (ToolDefinitionError("/srv/SECRET.py:12: pay(amount)"), "ServerFailed", "the server failed", False),
        (ConfigError("GEMINI_API_KEY of SECRET"), "ServerFailed", "the server failed", False),
    ],
)
def test_of_an_error_a_page_is_told_the_kind_and_no_text(error, kind, message, retryable):
    told = ending(error)
    assert (told["error"], told["retryable"]) == (kind, retryable)
    assert message in told["message"]
    assert "SECRET" not in f"{told} {closing(told)}"


def test_why_the_service_was_lost_is_not_told():
    event = told(Reconnecting(2, 0.5, "1011 project SECRET failed"))
    assert (event["attempt"], event["delay"]) == (2, 0.5)
    assert "SECRET" not in str(event)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(read_command(text), get_args(Command))
