"""The double of the providers' REST APIs is as strict as they are."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from livetools.integrations.telephony import TelnyxAccount, TwilioAccount
from livetools.integrations.telephony.testing import FakeRest, RestRequest

pytestmark = pytest.mark.anyio

CALLS = "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls/CA1.json"
ACTIONS = "https://api.telnyx.com/v2/calls/c1/actions"
PLIVO = "https://api.plivo.com/v1/Account/MA1/Call/c1/"


@pytest.mark.parametrize(
    ("method", "url", "content", "status"),
    [
        ("POST", CALLS, {"data": {"Status": "completed"}}, 200),
        ("POST", CALLS, {"data": {"Status": "completed", "Twiml": "<Response/>"}}, 400),
        ("POST", CALLS, {"data": {"Status": "canceled"}}, 400),
        ("GET", CALLS, {}, 400),
        ("POST", f"{ACTIONS}/hangup", {"json": {}}, 200),
        ("POST", f"{ACTIONS}/transfer", {"json": {}}, 400),
        ("POST", f"{ACTIONS}/park", {"json": {}}, 404),
        ("DELETE", PLIVO, {}, 204),
        ("POST", PLIVO, {"json": {"legs": "aleg", "aleg_url": "https://example.org"}}, 202),
        ("POST", PLIVO, {"json": {"aleg_url": "https://example.org"}}, 400),
        ("GET", "https://example.org/", {}, 404),
    ],
)
async def test_it_answers_what_the_documentation_says_and_refuses_the_rest(
    method: str, url: str, content: dict[str, Any], status: int
) -> None:
    rest = FakeRest()
    async with httpx.AsyncClient(transport=rest, auth=("AC1", "token")) as client:
        answer = await client.request(method, url, **content)
    assert answer.status_code == status
    assert len(rest.requests) == (status < 300)


async def test_without_credentials_nothing_is_done() -> None:
    rest = FakeRest()
    async with httpx.AsyncClient(transport=rest) as client:
        assert (await client.post(CALLS, data={"Status": "completed"})).status_code == 401
    assert not rest.requests


async def test_it_fails_when_it_is_told_to_and_works_again() -> None:
    rest = FakeRest()
    account = TelnyxAccount("key", transport=rest)
    rest.fails = 503
    with pytest.raises(Exception, match="HTTP 503"):
        await account.hang_up({"call_control_id": "c1"})
    rest.fails = None
    await account.hang_up({"call_control_id": "c1"})
    assert rest.requests == [RestRequest("hang_up", "c1")]


async def test_what_a_transfer_dials_is_read_from_its_twiml() -> None:
    rest = FakeRest()
    await TwilioAccount("AC1", "token", transport=rest).transfer({"callSid": "CA1"}, "sip:desk@example.org")
    assert rest.requests == [RestRequest("transfer", "CA1", "sip:desk@example.org")]
