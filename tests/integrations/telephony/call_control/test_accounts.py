"""What is asked of the providers' REST APIs, and what their errors say."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from livetools import ConfigError, LiveToolsError
from livetools.integrations.telephony import (
    Account,
    AccountError,
    PlivoAccount,
    TelnyxAccount,
    TwilioAccount,
    dial,
)
from livetools.integrations.telephony.call_control.accounts import _tls
from livetools.integrations.telephony.testing import FakeRest, RestRequest

pytestmark = pytest.mark.anyio

SECRET = "the-secret-of-the-account"
NUMBER = "+4722225555"
CALL = {"callSid": "CA1", "call_control_id": "v3:one/two", "callId": "00-11"}


def plivo_account(secret: str = SECRET, **options: Any) -> Account:
    return PlivoAccount("MA1", secret, transfer_url="https://example.org/transfer", **options)


def twilio_account(secret: str = SECRET, **options: Any) -> Account:
    return TwilioAccount("AC1", secret, **options)


def telnyx_account(secret: str = SECRET, **options: Any) -> Account:
    return TelnyxAccount(secret, **options)


ACCOUNTS: dict[str, tuple[Callable[..., Account], str]] = {
    "twilio": (twilio_account, "CA1"),
    "telnyx": (telnyx_account, "v3:one/two"),
    "plivo": (plivo_account, "00-11"),
}
each_account = pytest.mark.parametrize(("make", "call"), ACCOUNTS.values(), ids=ACCOUNTS)


class Wire(httpx.AsyncBaseTransport):
    """Keeps what is sent, and answers it."""

    def __init__(self, answer: httpx.Response | Exception) -> None:
        self.sent: list[httpx.Request] = []
        self.answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        await request.aread()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@each_account
async def test_a_call_is_hung_up_once_and_a_second_time_is_no_error(
    make: Callable[..., Account], call: str
) -> None:
    rest = FakeRest(secret=SECRET)
    account = make(transport=rest)
    await account.hang_up(CALL)
    await account.hang_up(CALL)
    assert rest.requests == [RestRequest("hang_up", call)]


@each_account
async def test_a_call_is_transferred_to_a_number(make: Callable[..., Account], call: str) -> None:
    rest = FakeRest(secret=SECRET)
    await make(transport=rest).transfer(CALL, NUMBER)
    to = "https://example.org/transfer?to=%2B4722225555" if make is plivo_account else NUMBER
    assert rest.requests == [RestRequest("transfer", call, to)]


@each_account
async def test_a_call_that_is_over_cannot_be_transferred(make: Callable[..., Account], call: str) -> None:
    account = make(transport=FakeRest())
    await account.hang_up(CALL)
    with pytest.raises(AccountError, match="did not transfer the call: HTTP 4"):
        await account.transfer(CALL, NUMBER)


@each_account
async def test_a_wrong_secret_is_told_without_it(
    make: Callable[..., Account], call: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    account = make(transport=FakeRest(secret="another"))
    with pytest.raises(AccountError, match=r"HTTP 401.*check the credentials") as raised:
        await account.hang_up(CALL)
    assert raised.value.status == 401
    told = "".join(traceback.format_exception(raised.value)) + repr(account) + str(account) + caplog.text
    assert SECRET not in told
    assert isinstance(raised.value, LiveToolsError)


@each_account
async def test_what_no_one_answers_is_told_without_the_secret_and_the_number(
    make: Callable[..., Account], call: str
) -> None:
    account = make(transport=Wire(httpx.ConnectError(f"{SECRET} {NUMBER}")))
    with pytest.raises(
        AccountError, match=r"could not be asked to transfer the call \(ConnectError\)"
    ) as raised:
        await account.transfer(CALL, NUMBER)
    told = "".join(traceback.format_exception(raised.value))
    assert raised.value.status is None
    assert SECRET not in told
    assert NUMBER not in told


async def test_the_requests_are_those_of_the_documentation() -> None:
    wire = Wire(httpx.Response(200))
    await TwilioAccount("AC1", SECRET, api_key="SK1", transport=wire).hang_up(CALL)
    await TelnyxAccount(SECRET, transport=wire).transfer(CALL, NUMBER)
    await PlivoAccount("MA1", SECRET, transport=wire).hang_up(CALL)
    twilio, telnyx, plivo = wire.sent
    assert (twilio.method, str(twilio.url)) == (
        "POST", "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls/CA1.json",
    )  # fmt: skip
    assert twilio.content == b"Status=completed"
    assert httpx.BasicAuth("SK1", SECRET)._auth_header == twilio.headers["authorization"]
    assert str(telnyx.url) == "https://api.telnyx.com/v2/calls/v3%3Aone%2Ftwo/actions/transfer"
    assert json.loads(telnyx.content) == {"to": NUMBER}
    assert telnyx.headers["authorization"] == f"Bearer {SECRET}"
    assert (plivo.method, str(plivo.url)) == ("DELETE", "https://api.plivo.com/v1/Account/MA1/Call/00-11/")


async def test_an_id_of_a_stranger_stays_a_part_of_the_path() -> None:
    wire = Wire(httpx.Response(200))
    await TwilioAccount("AC1", SECRET, transport=wire).hang_up({"callSid": "../../AC2?x=1#"})
    assert wire.sent[0].url.raw_path == b"/2010-04-01/Accounts/AC1/Calls/..%2F..%2FAC2%3Fx%3D1%23.json"


@pytest.mark.parametrize(
    "to", ["4722225555", "+47", "tel:+4722225555", "sip:a b@example.org", "+47222255<Hangup/>", "", 5, None]
)
async def test_a_destination_that_is_none_is_refused_before_anything_is_sent(to: Any) -> None:
    rest = FakeRest()
    with pytest.raises(ConfigError, match="a destination is a number"):
        await twilio_account(transport=rest).transfer(CALL, to)
    assert not rest.requests


@pytest.mark.parametrize("build", [
    lambda: TwilioAccount("", SECRET),
    lambda: TwilioAccount("AC1", ""),
    lambda: TelnyxAccount(" "),
    lambda: PlivoAccount("MA1", ""),
    lambda: TwilioAccount("AC1", SECRET, base_url="http://api.twilio.com"),
])  # fmt: skip
def test_credentials_that_are_empty_or_would_go_in_the_clear_are_refused(
    build: Callable[[], Account],
) -> None:
    with pytest.raises(ConfigError):
        build()


async def test_a_call_of_another_provider_is_told_by_the_field_that_it_lacks() -> None:
    with pytest.raises(ConfigError, match="no callId: is it a call of Plivo"):
        await plivo_account(transport=FakeRest()).hang_up({"callSid": "CA1"})


async def test_plivo_needs_a_url_to_transfer() -> None:
    with pytest.raises(ConfigError, match="transfer_url"):
        await PlivoAccount("MA1", SECRET, transport=FakeRest()).transfer(CALL, NUMBER)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (httpx.Response(429), "HTTP 429; the provider limits"),
        (httpx.Response(400, json={"code": 21220}), "HTTP 400, code 21220; look the code up"),
        (httpx.Response(422, json={"errors": [{"code": "10015"}]}), "HTTP 422, code 10015"),
        (httpx.Response(500, json=[{"code": "<b>"}]), "HTTP 500; "),
        (httpx.Response(302, headers={"location": "https://evil.example"}), "HTTP 302"),
    ],
)
async def test_an_error_names_the_status_and_the_providers_code(answer: httpx.Response, told: str) -> None:
    with pytest.raises(AccountError) as raised:
        await twilio_account(transport=Wire(answer)).hang_up(CALL)
    assert told in str(raised.value)


def test_the_xml_of_a_transfer_names_a_number_or_a_sip_address() -> None:
    assert dial(NUMBER) == "<Response><Dial><Number>+4722225555</Number></Dial></Response>"
    assert dial("sip:front'desk@example.org") == (
        "<Response><Dial><Sip>sip:front'desk@example.org</Sip></Dial></Response>"
    )


async def test_authorities_that_cannot_be_read_are_told_with_the_variable_and_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _tls.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    account = twilio_account()
    with pytest.raises(AccountError, match=r"No such file.*: look at SSL_CERT_FILE=/nowhere/ca\.pem"):
        await account.hang_up(CALL)
