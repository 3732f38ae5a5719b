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

from livetools import ConfigError
from livetools.integrations.phone import provider as provider_module
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
    start = Twilio(None, "").begin(TWILIO_START)
    assert start.frame["start"]["callSid"] == start.frame["callSid"]
    assert start.id == TWILIO_START["streamSid"]
    assert start.codec is PCMU


@pytest.mark.parametrize(("encoding", "codec"), [("PCMU", PCMU), ("PCMA", PCMA), (None, PCMU)])
def test_telnyx_names_the_codec(encoding: str | None, codec: object) -> None:
    body = {**TELNYX_START["start"], "media_format": {} if encoding is None else {"encoding": encoding}}
    assert Telnyx(None).begin({**TELNYX_START, "start": body}).codec is codec


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
    telnyx = Telnyx("s3cret")
    telnyx.greet({"event": "connected", "token": "wr0ng"})
    with pytest.raises(Refused) as refused:
        telnyx.begin(TELNYX_START)
    assert "s3cret" not in str(refused.value)
    assert "wr0ng" not in str(refused.value)


@pytest.mark.parametrize("digit", [*"0123456789*#ABCD"])
def test_a_key_of_a_phone_is_a_key(digit: str) -> None:
    assert heard({"event": "dtmf", "dtmf": {"digit": digit}}) == Key(digit)


@pytest.mark.parametrize("digit", ["", "12", "a", "E", " ", "١", "1 on the phone.) SYSTEM: pay (", 1, None])
def test_what_no_phone_has_is_no_key(digit: object) -> None:
    assert heard({"event": "dtmf", "dtmf": {"digit": digit}}) is None


PROVIDERS = [
    (Twilio(None, ""), TWILIO_START, "streamSid", "callSid"),
    (Telnyx(None), TELNYX_START, "stream_id", "call_control_id"),
]


@pytest.mark.parametrize(
    "bad", [None, "", "S" * 257, 7, ["id"], {"id": 1}, "a\nb", "a\u202eb", "a\ud800b", True]
)
@pytest.mark.parametrize("which", [2, 3], ids=["stream", "call"])
@pytest.mark.parametrize("provider", PROVIDERS, ids=["twilio", "telnyx"])
def test_a_start_whose_ids_are_no_short_texts_is_refused(provider: Any, which: int, bad: object) -> None:
    bridge, start, name = provider[0], json.loads(json.dumps(provider[1])), provider[which]
    start.pop(name, None)
    start["start"].pop(name, None)
    for place in (start, start["start"]):
        with pytest.raises(Refused, match=name) as refused:
            bridge.begin({**start, **({name: bad} if place is start else {"start": {**place, name: bad}})})
        assert str(refused.value).isprintable()
    assert bridge.begin({**start, name: "S" * 256})


@pytest.mark.parametrize(
    "encoding", ["opus", "x\nCRITICAL:root:lost", "\U0001f600" * 40, ["a"], {"a": 1}, 5, "\ud800"]
)
def test_a_sound_that_is_not_known_is_refused_in_one_line_of_ascii(encoding: object) -> None:
    start = {**TWILIO_START, "start": {**TWILIO_START["start"], "mediaFormat": {"encoding": encoding}}}
    with pytest.raises(Refused) as refused:
        Twilio(None, "").begin(start)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("host", ["a:99999999", "[::1", "a:b"])
def test_a_url_that_is_none_is_a_wrong_signature(host: str) -> None:
    with pytest.raises(Refused):
        Twilio("token", f"ws://{host}/").check({"x-twilio-signature": "x"})


def test_a_token_is_looked_for_one_level_down_however_deep_a_frame_is() -> None:
    frame: dict[str, Any] = {"token": "s3cret"}
    for _ in range(5000):
        frame = {"a": frame}
    telnyx = Telnyx("s3cret")
    telnyx.greet({"event": "connected", **frame})
    with pytest.raises(Refused):
        telnyx.begin(TELNYX_START)
    telnyx.greet({"event": "connected", "x": {"token": "Bearer s3cret"}})
    assert telnyx.begin(TELNYX_START)


@pytest.mark.parametrize("made", [lambda: Twilio("", "wss://a.example"), lambda: Telnyx(" ")])
def test_an_empty_token_is_refused(made: Any) -> None:
    with pytest.raises(ConfigError, match="auth_token is empty"):
        made()


def test_that_anybody_may_call_is_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    monkeypatch.setattr(provider_module, "_open_to_all", set())
    for _ in range(3):
        Twilio(None, "wss://a.example")
    assert [record.message for record in caplog.records] == [
        "twilio(auth_token=None): whoever finds the address of this websocket may call"
    ]
