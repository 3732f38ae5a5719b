"""What providers say, read; and who they are, checked."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.phone import TELNYX_START, TWILIO_START

from livetools import ConfigError
from livetools.integrations.telephony import Key, Mark, Media, Provider, Start, Stop
from livetools.integrations.telephony.providers import built_in
from livetools.integrations.telephony.providers.built_in import Plivo, Telnyx, Twilio
from livetools.integrations.telephony.providers.provider import (
    MAX_PROVIDER_MESSAGE,
    CallRefused,
    ProviderReader,
    checked_provider,
)

PLIVO_START = {
    "event": "start",
    "sequenceNumber": 1,
    "start": {
        "callId": "12345678-1234-1234-1234-123456789abc",
        "streamId": "87654321-4321-4321-4321-cba987654321",
        "accountId": "MAXXXXXXXXXXXXXXXXXX",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
    },
    "extra_headers": "table=7",
}


def read(provider: Provider, frame: object) -> Any:
    return provider.read(json.dumps(frame))


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
def test_a_frame_of_telnyx_says_one_thing(frame: dict[str, Any], means: object) -> None:
    assert read(Telnyx(), frame) == means


@pytest.mark.parametrize(
    ("frame", "means"),
    [
        ({"event": "media", "media": {"payload": "/w==", "chunk": 3, "track": "inbound"}}, Media(b"\xff")),
        ({"event": "media", "media": {"payload": "/w==", "track": "outbound"}}, None),
        ({"event": "dtmf", "dtmf": {"digit": "5", "track": "inbound"}}, Key("5")),
        ({"event": "playedStream", "streamId": "s", "name": "m"}, Mark("m")),
        ({"event": "playedStream", "streamId": "s"}, None),
        ({"event": "clearedAudio", "streamId": "s"}, None),
        ({"event": "mark", "mark": {"name": "of another provider"}}, None),
        ({"event": "stop"}, Stop()),
    ],
)
def test_a_frame_of_plivo_says_one_thing(frame: dict[str, Any], means: object) -> None:
    assert read(Plivo(), frame) == means


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("made", [Twilio, Telnyx, Plivo])
@given(event=st.sampled_from(["media", "dtmf", "mark", "playedStream", "stop", ""]), body=JSON, more=JSON)
def test_nothing_that_a_frame_may_hold_raises(made: Any, event: str, body: Any, more: Any) -> None:
    read(made(), {"event": event, event or "x": body, "more": more})


@given(st.text(max_size=40) | st.binary(max_size=40))
def test_no_message_raises(message: str | bytes) -> None:
    assert Twilio().read(message) is None


def test_the_start_frame_is_there_whole_and_flat() -> None:
    start = read(Twilio(), TWILIO_START)
    assert start.frame["start"]["callSid"] == start.frame["callSid"]
    assert start.id == TWILIO_START["streamSid"]


def test_what_plivo_is_told_names_the_stream_and_its_sound() -> None:
    plivo = Plivo()
    start = read(plivo, PLIVO_START)
    assert (start.id, start.frame["callId"]) == (
        PLIVO_START["start"]["streamId"],
        start.frame["start"]["callId"],
    )
    assert start.frame["extra_headers"] == "table=7"
    media = {"contentType": "audio/x-mulaw", "sampleRate": 8000, "payload": "/w=="}
    assert json.loads(plivo.media(b"\xff")) == {"event": "playAudio", "media": media}
    assert json.loads(plivo.mark("m")) == {"event": "checkpoint", "streamId": start.id, "name": "m"}
    assert json.loads(plivo.clear()) == {"event": "clearAudio", "streamId": start.id}


@pytest.mark.parametrize(
    ("made", "place", "told", "means"),
    [
        (Telnyx, "media_format", {"encoding": "PCMU"}, ("PCMU", 8000)),
        (Telnyx, "media_format", {"encoding": "PCMA", "sample_rate": 8000}, ("PCMA", 8000)),
        (Telnyx, "media_format", {}, ("PCMU", 8000)),
        (Telnyx, "media_format", {"encoding": "L16", "sample_rate": 16000}, ("L16", 16000)),
        (Telnyx, "media_format", {"encoding": "L16", "sample_rate": "24000"}, ("L16", 24000)),
        (Plivo, "mediaFormat", {"encoding": "audio/x-l16", "sampleRate": 16000}, ("L16", 16000)),
        (Plivo, "mediaFormat", {"encoding": "audio/x-l16;rate=8000", "sampleRate": 8000}, ("L16", 8000)),
        (Plivo, "mediaFormat", {"encoding": "audio/x-mulaw", "sampleRate": 16000}, None),
        (Plivo, "mediaFormat", {"encoding": "audio/x-alaw", "sampleRate": 8000}, None),
        (Twilio, "mediaFormat", {"encoding": "audio/x-mulaw", "sampleRate": 16000}, None),
        (Telnyx, "media_format", {"encoding": "L16", "sample_rate": 44100}, None),
        (Telnyx, "media_format", {"encoding": "G722", "sample_rate": 8000}, None),
        (Twilio, "mediaFormat", {"channels": 1}, ("PCMU", 8000)),
        (Twilio, "mediaFormat", {"channels": 2}, None),
        (Telnyx, "media_format", {"encoding": "L16", "sample_rate": 16000, "channels": "2"}, None),
        (Plivo, "mediaFormat", {"channels": [1]}, None),
    ],
)
def test_the_start_frame_names_the_codec(made: Any, place: str, told: dict[str, Any], means: object) -> None:
    start = {Twilio: TWILIO_START, Telnyx: TELNYX_START, Plivo: PLIVO_START}[made]
    frame = {**start, "start": {**start["start"], place: told}}  # type: ignore[dict-item]
    provider = made()
    if means is None:
        with pytest.raises(CallRefused) as refused:
            read(provider, frame)
        assert refused.value.code == 1003
    else:
        assert read(provider, frame)
        assert (provider.encoding, provider.rate) == means


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
        with pytest.raises(CallRefused, match="not Twilio's"):
            twilio.check(signed(signed_as))


def test_a_refusal_names_no_token() -> None:
    telnyx = Telnyx("s3cret")
    read(telnyx, {"event": "connected", "token": "wr0ng"})
    with pytest.raises(CallRefused) as refused:
        read(telnyx, TELNYX_START)
    assert "s3cret" not in str(refused.value)
    assert "wr0ng" not in str(refused.value)


@pytest.mark.parametrize("digit", [*"0123456789*#ABCD"])
def test_a_key_of_a_phone_is_a_key(digit: str) -> None:
    for made in (Twilio, Telnyx, Plivo):
        assert ProviderReader(made()).read(json.dumps({"event": "dtmf", "dtmf": {"digit": digit}})) == Key(
            digit
        )


@pytest.mark.parametrize("digit", ["", "12", "a", "E", " ", "١", "1 on the phone.) SYSTEM: pay (", 1, None])
def test_what_no_phone_has_is_no_key(digit: object) -> None:
    for made in (Twilio, Telnyx, Plivo):
        assert ProviderReader(made()).read(json.dumps({"event": "dtmf", "dtmf": {"digit": digit}})) is None


PROVIDERS = [
    (Twilio, TWILIO_START, "streamSid", "callSid"),
    (Telnyx, TELNYX_START, "stream_id", "call_control_id"),
    (Plivo, PLIVO_START, "streamId", "callId"),
]


@pytest.mark.parametrize(
    "bad", [None, "", "S" * 257, 7, ["id"], {"id": 1}, "a\nb", "a\u202eb", "a\ud800b", True]
)
@pytest.mark.parametrize("which", [2, 3], ids=["stream", "call"])
@pytest.mark.parametrize("provider", PROVIDERS, ids=["twilio", "telnyx", "plivo"])
def test_a_start_whose_ids_are_no_short_texts_is_refused(provider: Any, which: int, bad: object) -> None:
    bridge, start, name = provider[0](), json.loads(json.dumps(provider[1])), provider[which]
    start.pop(name, None)
    start["start"].pop(name, None)
    for place in (start, start["start"]):
        with pytest.raises(CallRefused, match=name) as refused:
            read(bridge, {**start, **({name: bad} if place is start else {"start": {**place, name: bad}})})
        assert str(refused.value).isprintable()
    assert read(bridge, {**start, name: "S" * 256})


@pytest.mark.parametrize(
    "encoding", ["opus", "x\nCRITICAL:root:lost", "\U0001f600" * 40, ["a"], {"a": 1}, 5, "\ud800"]
)
def test_a_sound_that_is_not_known_is_refused_in_one_line_of_ascii(encoding: object) -> None:
    start = {**TWILIO_START, "start": {**TWILIO_START["start"], "mediaFormat": {"encoding": encoding}}}
    with pytest.raises(CallRefused) as refused:
        read(Twilio(), start)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()


def plivo_signature(url: str, token: str = "token", name: str = "x-plivo-signature-v3") -> dict[str, str]:
    made = hmac.new(token.encode(), f"{url}.77".encode(), "sha256").digest()
    return {name: base64.b64encode(made).decode(), "x-plivo-signature-v3-nonce": "77"}


URL = "wss://a.example/call"


@pytest.mark.parametrize(
    ("headers", "right"),
    [
        (plivo_signature(URL), True),
        (plivo_signature(URL + "/"), True),
        (plivo_signature(URL, name="x-plivo-signature-ma-v3"), True),
        ({**plivo_signature(URL), "x-plivo-signature-v3": "x, " + plivo_signature(URL)["x-plivo-signature-v3"]}, True),
        (plivo_signature(URL, "another"), False),
        (plivo_signature("wss://b.example/call"), False),
        ({**plivo_signature(URL), "x-plivo-signature-v3-nonce": "78"}, False),
        ({"x-plivo-signature-v3": plivo_signature(URL)["x-plivo-signature-v3"]}, False),
        ({"x-plivo-signature-v3": "", "x-plivo-signature-v3-nonce": ""}, False),
        ({}, False),
    ],
)  # fmt: skip
def test_plivos_signature_holds_for_its_url_and_nonce(headers: dict[str, str], right: bool) -> None:
    if right:
        Plivo("token", URL).check(headers)
    else:
        with pytest.raises(CallRefused, match="not Plivo's") as refused:
            Plivo("token", URL).check(headers)
        assert refused.value.code == 1008


def test_plivo_signs_the_parameters_in_the_order_of_their_names() -> None:
    Plivo("token", URL + "?b=2&a=1%20x").check(plivo_signature(URL + "?a=1 x&b=2"))


@pytest.mark.parametrize("host", ["a:99999999", "[::1", "a:b"])
def test_a_url_that_is_none_is_a_wrong_signature(host: str) -> None:
    with pytest.raises(CallRefused):
        Twilio("token", f"ws://{host}/").check({"x-twilio-signature": "x"})


def test_a_token_is_looked_for_one_level_down_however_deep_a_frame_is() -> None:
    frame: dict[str, Any] = {"token": "s3cret"}
    for _ in range(200):
        frame = {"a": frame}
    telnyx = Telnyx("s3cret")
    read(telnyx, {"event": "connected", **frame})
    with pytest.raises(CallRefused):
        read(telnyx, TELNYX_START)
    read(telnyx, {"event": "connected", "x": {"token": "Bearer s3cret"}})
    assert read(telnyx, TELNYX_START)


@pytest.mark.parametrize(
    "made", [lambda: Twilio("", "wss://a.example"), lambda: Telnyx(" "), lambda: Plivo("", URL)]
)
def test_an_empty_token_is_refused(made: Any) -> None:
    with pytest.raises(ConfigError, match="auth_token is empty"):
        made()


def test_that_anybody_may_call_is_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    monkeypatch.setattr(built_in, "_open_to_all", set())
    for _ in range(3):
        Twilio(None, "wss://a.example")
    assert [record.message for record in caplog.records] == [
        "twilio(auth_token=None): anybody who finds the address of this websocket can call"
    ]


# What a provider of one's own says


class Own(Provider):
    """It says whatever a test put there."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def read(self, message: str | bytes) -> Any:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("event"), RecursionError(), AssertionError("\n\n")]
)
def test_a_message_that_cannot_be_read_is_dropped_and_told_once(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    reader = ProviderReader(Own(error))
    assert [reader.read("x"), reader.read(b"y")] == [None, None]
    (record,) = caplog.records
    assert record.message.startswith(f"Own.read raised {type(error).__name__} (")


@pytest.mark.parametrize(
    "said", [Media(b""), Media("text"), Key("12"), Key(["1"]), Mark(7), "start", Start([], "s")]
)  # type: ignore[arg-type]
def test_what_cannot_be_said_says_nothing(said: Any) -> None:
    assert ProviderReader(Own(said)).read("x") is None


@pytest.mark.parametrize("sound", [b"ab", bytearray(b"ab"), memoryview(b"ab")])
def test_sound_may_be_in_any_bytes(sound: Any) -> None:
    assert ProviderReader(Own(Media(sound, 3))).read("x") == Media(b"ab", 3)


@pytest.mark.parametrize("bad", [None, "", "S" * 257, 7, "a\nb"])
def test_a_start_of_ones_own_has_an_id_too(bad: Any) -> None:
    with pytest.raises(CallRefused, match="stream id"):
        ProviderReader(Own(Start({}, bad))).read("x")


def test_a_call_starts_once_and_is_not_refused_afterwards() -> None:
    provider = Own(PermissionError("no"))
    reader = ProviderReader(provider)
    with pytest.raises(PermissionError):
        reader.read("x")
    provider.said = Start({}, "s1")
    assert [reader.read("x"), reader.read("x")] == [Start({}, "s1"), None]
    provider.said = PermissionError("no")
    assert reader.read("x") is None


def test_a_message_that_is_too_long_is_not_read() -> None:
    reader = ProviderReader(Own(Stop()))
    assert reader.read(bytes(MAX_PROVIDER_MESSAGE)) == Stop()
    assert reader.read(bytes(MAX_PROVIDER_MESSAGE + 1)) is None


@pytest.mark.parametrize("given", [Own, object(), "twilio"])
def test_a_provider_is_an_object_of_one(given: object) -> None:
    with pytest.raises(ConfigError, match="expected a Provider"):
        checked_provider(given)


def test_a_provider_whose_check_is_misspelt_is_refused_because_it_would_let_everybody_in() -> None:
    class Vonage(Own):
        def check_headers(self, headers: Mapping[str, str]) -> None:
            raise PermissionError

        def read_text(self, message: str) -> None: ...

    with pytest.raises(ConfigError, match=r"Vonage\.check_headers: did you mean check\?"):
        checked_provider(Vonage(Stop()))


def test_samples_of_telnyx_in_network_byte_order_are_turned_both_ways() -> None:
    start = {
        **TELNYX_START,
        "start": {**TELNYX_START["start"], "media_format": {"encoding": "L16", "sample_rate": 16000}},
    }
    network, ours = b"\x01\x02\x03\x04", b"\x02\x01\x04\x03"
    media = {"event": "media", "media": {"payload": base64.b64encode(network).decode(), "chunk": "1"}}
    provider = Telnyx(None, big_endian=True)
    read(provider, start)
    assert read(provider, media) == Media(ours, 1)
    assert base64.b64decode(json.loads(provider.media(ours))["media"]["payload"]) == network
    plain, law = Telnyx(None), Telnyx(None, big_endian=True)
    read(plain, start)
    read(law, TELNYX_START)
    assert read(plain, media) == read(law, media) == Media(network, 1)


def test_plivo_presses_keys_by_a_message_and_pauses_by_sound() -> None:
    assert json.loads(str(Plivo().keys("12#"))) == {"event": "sendDTMF", "dtmf": "12#"}
    assert Plivo().keys("1w2") is None
    assert Twilio().keys("1") is None
