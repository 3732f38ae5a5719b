"""The REST APIs of Twilio, Telnyx and Plivo in a test: no network, no key."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, unquote
from xml.etree import ElementTree

import httpx

_TWILIO = re.compile(r"/2010-04-01/Accounts/[^/]+/Calls/(?P<call>[^/]+)\.json")
_TELNYX = re.compile(r"/v2/calls/(?P<call>[^/]+)/actions/(?P<action>hangup|transfer)")
_PLIVO = re.compile(r"/v1/Account/[^/]+/Call/(?P<call>[^/]+)/")


@dataclass(frozen=True, slots=True)
class RestRequest:
    """What an app has asked for. ``action``: ``"hang_up"`` or ``"transfer"``. ``call``: the provider's id of the call.
    ``to``: the destination of a transfer; with Plivo the URL from which it reads one.

    ::

        print(RestRequest("transfer", "CA1", "+4722225555").to)
    """

    action: Literal["hang_up", "transfer"]
    call: str
    to: str | None = None


class FakeRest(httpx.AsyncBaseTransport):
    """Answers as the REST APIs of Twilio, Telnyx and Plivo do: assign it to the ``transport`` of an account.

    ``secret``: the token or key that a request must show; without it, any is right. ``requests``: what was done, in
    order. A call that was hung up is over, and a second request for it is answered as the provider does.
    ``fails``: the HTTP status of every answer from now on; ``None``: the true one.

    ::

        from livetools.integrations.telephony import TwilioAccount

        rest = FakeRest(secret="the token")
        await TwilioAccount("AC1", "the token", transport=rest).hang_up({"callSid": "CA1"})
        print(rest.requests)
    """

    def __init__(self, *, secret: str | None = None) -> None:
        self.requests: list[RestRequest] = []
        self.fails: int | None = None
        self._secret = secret
        self._over: set[str] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See :class:`httpx.AsyncBaseTransport`."""
        path = request.url.raw_path.decode("ascii")
        if self.fails is not None:
            return httpx.Response(self.fails)
        if not self._may(request.headers.get("authorization", "")):
            return httpx.Response(401, json={"code": 20003})
        content = (await request.aread()).decode()
        if match := _TWILIO.fullmatch(path):
            done, over, right = (
                _of_twilio(request.method, content),
                httpx.Response(404, json={"code": 20404}),
                200,
            )
        elif match := _TELNYX.fullmatch(path):
            done = _of_telnyx(request.method, match["action"], content)
            over, right = httpx.Response(422, json={"errors": [{"code": "90018"}]}), 200
        elif match := _PLIVO.fullmatch(path):
            done, over = _of_plivo(request.method, content), httpx.Response(404, json={"error": "not found"})
            right = 204 if request.method == "DELETE" else 202
        else:
            return httpx.Response(404)
        if done is None:
            return httpx.Response(400)
        return self._do(RestRequest(done[0], unquote(match["call"]), done[1]), right, over)

    def _do(self, asked: RestRequest, right: int, over: httpx.Response) -> httpx.Response:
        if asked.call in self._over:
            return over
        self.requests.append(asked)
        if asked.action == "hang_up":
            self._over.add(asked.call)
        return httpx.Response(right, json=None if right == 204 else {})

    def _may(self, shown: str) -> bool:
        kind, _, value = shown.partition(" ")
        if kind == "Basic":
            value = base64.b64decode(value).decode().partition(":")[2]
        return bool(value) and (self._secret is None or value == self._secret)


_Done = tuple[Literal["hang_up", "transfer"], str | None]


def _of_twilio(method: str, content: str) -> _Done | None:
    form = {name: values[0] for name, values in parse_qs(content).items()}
    if method != "POST" or len(form) != 1:
        return None
    if form.get("Status") == "completed":
        return "hang_up", None
    return None if "Twiml" not in form else ("transfer", _dialed(form["Twiml"]))


def _of_telnyx(method: str, action: str, content: str) -> _Done | None:
    if method != "POST":
        return None
    to = json.loads(content or "{}").get("to")
    return ("hang_up", None) if action == "hangup" else None if to is None else ("transfer", to)


def _of_plivo(method: str, content: str) -> _Done | None:
    if method == "DELETE":
        return "hang_up", None
    body = json.loads(content or "{}")
    right = method == "POST" and body.get("legs") == "aleg" and "aleg_url" in body
    return ("transfer", body["aleg_url"]) if right else None


def _dialed(twiml: str) -> str | None:
    """What the first ``<Dial>`` connects with."""
    dial = ElementTree.fromstring(twiml).find("Dial")
    return None if dial is None else "".join(dial.itertext())
