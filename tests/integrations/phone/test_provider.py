"""What providers say, read; and who they are, checked."""

from __future__ import annotations

import base64
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.phone import TELNYX_START, TWILIO_START

from livetools.integrations.phone.codec import PCMA, PCMU
from livetools.integrations.phone.provider import Key, Mark, Media, Refused, Stop, Telnyx, Twilio, heard, read


def signed(url: str) -> dict[str, str]:
    digest = hmac.new(b"token", url.encode(), "sha1").digest()
    return {"x-twilio-signature": base64.b64encode(digest).decode()}


@pytest.mark.parametrize(
    ("frame", "means"),
    [
        (
            {"event": "media", "media": {"payload": "/w==", "chunk": "3", "track": "inbound"}},
            Media(b"\xff", 3),
        ),
        ({"event": "media", "media": {"payload": "/w==", "chunk": 3}}, Media(b"\xff", 3)),
        ({"event": "media", "media": {"payload": "/w==", "track": "inbound_track"}}, Media(b"\xff")),
        ({"event": "media", "media": {"payload": "/w==", "track": "outbound"}}, None),
        ({"event": "media", "media": {"payload": ""}}, None),
        ({"event": "media", "media": {"payload": "not base64!"}}, None),
        ({"event": "dtmf", "dtmf": {"digit": "#"}}, Key("#")),
        ({"event": "dtmf", "dtmf": {}}, None),
        ({"event": "mark", "mark": {"name": "m"}}, Mark("m")),
        ({"event": "stop", "stop": {}}, Stop()),
        ({"event": "stop"}, Stop()),
        ({"event": "error", "payload": {"code": 100002}}, None),
    ],
)
def test_a_frame_says_one_thing(frame: dict[str, Any], means: object) -> None:
    assert heard(frame) == means


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(["media", "dtmf", "mark", "stop", "start", ""]), JSON, JSON)
def test_nothing_that_a_frame_may_hold_raises(event: str, body: Any, more: Any) -> None:
    text = json.dumps({"event": event, event or "x": body, "more": more})
    frame = read(text)
    assert frame is not None
    heard(frame)


@given(st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    assert read(text) is None or isinstance(read(text), dict)


def test_the_start_frame_is_there_whole_and_flat() -> None:
    start = Twilio(None, "").begin({"start": TWILIO_START})
    assert start.frame["start"]["callSid"] == start.frame["callSid"]
    assert start.id == TWILIO_START["streamSid"]
    assert start.codec is PCMU


@pytest.mark.parametrize(("encoding", "codec"), [("PCMU", PCMU), ("PCMA", PCMA), (None, PCMU)])
def test_telnyx_names_the_codec(encoding: str | None, codec: object) -> None:
    body = {**TELNYX_START["start"], "media_format": {} if encoding is None else {"encoding": encoding}}
    assert Telnyx(None).begin({"start": {**TELNYX_START, "start": body}}).codec is codec


@pytest.mark.parametrize(
    ("url", "signed_as", "right"),
    [
        ("wss://a.example/call", "wss://a.example/call", True),
        ("wss://a.example/call/", "wss://a.example/call", True),
        ("wss://a.example:443/call", "wss://a.example/call", True),
        ("wss://a.example:8443/call", "wss://a.example:8443/call", True),
        ("wss://a.example:8443/call", "wss://a.example/call", False),
        ("wss://a.example/call?x=1", "wss://a.example/call?x=1", True),
        ("wss://a.example/call?x=1", "wss://a.example/call", False),
        ("wss://a.example", "wss://a.example/", True),
        ("wss://b.example/call", "wss://a.example/call", False),
    ],
)
def test_a_signature_holds_for_the_url_however_it_is_spelt(url: str, signed_as: str, right: bool) -> None:
    twilio = Twilio("token", url)
    if right:
        twilio.check(signed(signed_as))
    else:
        with pytest.raises(Refused, match="not Twilio's"):
            twilio.check(signed(signed_as))


def test_a_refusal_names_no_token() -> None:
    with pytest.raises(Refused) as refused:
        Telnyx("s3cret").begin({"connected": {"token": "wr0ng"}, "start": TELNYX_START})
    assert "s3cret" not in str(refused.value)
    assert "wr0ng" not in str(refused.value)
