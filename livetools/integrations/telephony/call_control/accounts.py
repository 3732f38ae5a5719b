"""Hangs up and transfers calls by the REST APIs of Twilio, Telnyx and Plivo.

The requests follow the providers' documentation, read on 2026-11-29:

- Twilio, "Update a Call resource" (twilio.com/docs/voice/api/call-resource): ``POST .../Calls/{sid}.json`` with
  ``Status=completed``, or with ``Twiml``. A call that is over is answered with 404 and the code 20404.
- Telnyx, "Hangup call" and "Transfer call" (developers.telnyx.com/api-reference/call-commands): ``POST
  /v2/calls/{call_control_id}/actions/hangup`` and ``.../transfer``. A call that is over: 422 and the code 90018.
- Plivo, "Hang up a call" and "Transfer a call" (plivo.com/docs/voice/api/call): ``DELETE`` and ``POST
  /v1/Account/{auth_id}/Call/{call_uuid}/``. The latter takes a URL from which Plivo reads what to do.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Generator, Mapping
from functools import cache
from typing import Any, ClassVar
from urllib.parse import quote, urlencode, urlsplit
from xml.sax.saxutils import escape

import httpx

from livetools.errors import ConfigError, LiveToolsError
from livetools.integrations.shared.option_checks import checked_secret
from livetools.integrations.telephony.providers.provider import StartFrame
from livetools.transport.endpoint import is_loopback

#: Seconds that the API may take to answer.
TIMEOUT = 10.0

_NUMBER = re.compile(r"\+[1-9]\d{6,14}")
_SIP = re.compile(r"sips?:[\w.!~*'()%+-]+@[\w.-]+(:\d{1,5})?")
_ADVICE = {
    401: "check the credentials of the account",
    403: "check the credentials of the account, and what they may do",
    404: "the call is over, or belongs to another account",
    429: "the provider limits how many requests it takes: try again later",
}


class AccountError(LiveToolsError):
    """A provider's REST API did not do what it was asked to. ``status``: of its answer; ``None``: there was none.

    ::

        error = AccountError("Twilio did not transfer the call: HTTP 401", 401)
        print(error.status)
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class Account:
    """An account at a provider, by whose REST API a call is ended or moved: pass it to a bridge as ``account=``.

    :class:`TwilioAccount`, :class:`TelnyxAccount` and :class:`PlivoAccount` are built in. For another provider, derive
    a class with :meth:`hang_up` and :meth:`transfer`.

    ::

        class Ours(Account):
            async def hang_up(self, start):
                print("hang up", start["call"])

        print(isinstance(Ours(), Account))
    """

    async def hang_up(self, start: StartFrame) -> None:
        """End the call whose start frame this is. It is no error that the call is over.

        Raises :class:`AccountError`. If it is cancelled, the call may or may not have ended.
        """
        raise NotImplementedError

    async def transfer(self, start: StartFrame, to: str) -> None:
        """Connect the caller of this call with ``to``, a number such as ``"+4722225555"`` or a ``sip:`` address, in the
        place of the agent. The stream of the call ends by that.

        Raises ``ConfigError`` if ``to`` is neither, and :class:`AccountError`.
        """
        raise NotImplementedError


class _Rest(Account):
    """What the three have in common: one HTTPS request, whose errors tell neither credentials nor arguments."""

    provider: ClassVar[str]
    call: ClassVar[str]  # the field of the start frame that names the call
    ended: ClassVar[frozenset[tuple[int, str]]]  # status and code of an answer for a call that is over

    def __init__(self, auth: httpx.Auth, base_url: str, transport: httpx.AsyncBaseTransport | None) -> None:
        self.transport = transport
        self._auth, self._base_url = auth, _checked_url(base_url)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _id(self, start: StartFrame) -> str:
        """The id of the call, as a part of a path: it may be a stranger's text."""
        name = start.get(self.call)
        if not isinstance(name, str) or not name:
            raise ConfigError(f"the start frame has no {self.call}: is it a call of {self.provider}?")
        return quote(name, safe="")

    async def _ask(self, doing: str, method: str, path: str, **content: Any) -> httpx.Response:
        """Send a request. Its answer may be an error. Raises :class:`AccountError` where there is no answer."""
        client = httpx.AsyncClient(
            base_url=self._base_url, auth=self._auth, timeout=TIMEOUT, transport=self.transport, verify=_tls()
        )
        try:
            async with client:
                return await client.request(method, path, **content)
        except httpx.HTTPError as error:
            kind = type(error).__name__
            why = f"{self.provider} could not be asked to {doing} the call ({kind}): check the network"
            raise AccountError(why) from None

    def _done(self, doing: str, answer: httpx.Response, over: bool = False) -> None:
        """Raise :class:`AccountError` for an error. ``over``: unless it says that the call is over."""
        if answer.is_success or (over and (answer.status_code, _code(answer)) in self.ended):
            return
        status, code = answer.status_code, _code(answer)
        advice = _ADVICE.get(status, f"look the code up in the documentation of {self.provider}")
        told = f"HTTP {status}{f', code {code}' if code else ''}"
        raise AccountError(f"{self.provider} did not {doing} the call: {told}; {advice}", status)


class TwilioAccount(_Rest):
    """A Twilio account. ``auth_token``: its token; or, with ``api_key`` (``SK…``), the secret of that key.

    ``base_url``: of the API, in a region of its own too. ``transport``: what carries the requests, in the place of the
    network; a test assigns :class:`~livetools.integrations.telephony.testing.FakeRest` to it.

    ::

        account = TwilioAccount("AC0123", "the token")
        print(account)  # no secrets are shown
    """

    provider, call = "Twilio", "callSid"
    ended = frozenset({(404, "20404")})

    def __init__(
        self,
        account_sid: str,
        auth_token: str,
        *,
        api_key: str | None = None,
        base_url: str = "https://api.twilio.com",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        checked_secret(account_sid, "account_sid")
        checked_secret(auth_token, "auth_token")
        super().__init__(httpx.BasicAuth(api_key or account_sid, auth_token), base_url, transport)
        self._calls = f"/2010-04-01/Accounts/{quote(account_sid, safe='')}/Calls"

    async def hang_up(self, start: StartFrame) -> None:
        """See :class:`Account`."""
        path = f"{self._calls}/{self._id(start)}.json"
        self._done("end", await self._ask("end", "POST", path, data={"Status": "completed"}), over=True)

    async def transfer(self, start: StartFrame, to: str) -> None:
        """See :class:`Account`."""
        path, body = f"{self._calls}/{self._id(start)}.json", {"Twiml": dial(to)}
        self._done("transfer", await self._ask("transfer", "POST", path, data=body))


class TelnyxAccount(_Rest):
    """A Telnyx account. ``api_key``: one of its API keys (V2). The rest is as for :class:`TwilioAccount`.

    ::

        print(TelnyxAccount("the key"))
    """

    provider, call = "Telnyx", "call_control_id"
    ended = frozenset({(422, "90018")})

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = "https://api.telnyx.com",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        checked_secret(api_key, "api_key")
        super().__init__(_Bearer(api_key), base_url, transport)

    async def hang_up(self, start: StartFrame) -> None:
        """See :class:`Account`."""
        self._done("end", await self._act("end", start, "hangup", {}), over=True)

    async def transfer(self, start: StartFrame, to: str) -> None:
        """See :class:`Account`."""
        self._done(
            "transfer", await self._act("transfer", start, "transfer", {"to": checked_destination(to)})
        )

    async def _act(
        self, doing: str, start: StartFrame, action: str, body: Mapping[str, str]
    ) -> httpx.Response:
        return await self._ask(doing, "POST", f"/v2/calls/{self._id(start)}/actions/{action}", json=body)


class PlivoAccount(_Rest):
    """A Plivo account. The rest is as for :class:`TwilioAccount`.

    ``transfer_url``: Plivo reads from it what a call that is transferred does next. The destination is added as the
    parameter ``to``; answer with :func:`dial`. Without it, :meth:`transfer` raises ``ConfigError``.

    ::

        print(PlivoAccount("MA0123", "the token", transfer_url="https://example.org/transfer"))
    """

    provider, call = "Plivo", "callId"
    ended = frozenset({(404, "")})

    def __init__(
        self,
        auth_id: str,
        auth_token: str,
        *,
        transfer_url: str | None = None,
        base_url: str = "https://api.plivo.com",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        checked_secret(auth_id, "auth_id")
        checked_secret(auth_token, "auth_token")
        super().__init__(httpx.BasicAuth(auth_id, auth_token), base_url, transport)
        self._calls = f"/v1/Account/{quote(auth_id, safe='')}/Call"
        self._transfer_url = transfer_url

    async def hang_up(self, start: StartFrame) -> None:
        """See :class:`Account`."""
        path = f"{self._calls}/{self._id(start)}/"
        self._done("end", await self._ask("end", "DELETE", path), over=True)

    async def transfer(self, start: StartFrame, to: str) -> None:
        """See :class:`Account`."""
        if self._transfer_url is None:
            raise ConfigError(
                "PlivoAccount(transfer_url=None): Plivo reads the destination of a call from a URL"
            )
        mark = "&" if "?" in self._transfer_url else "?"
        url = f"{self._transfer_url}{mark}{urlencode({'to': checked_destination(to)})}"
        path = f"{self._calls}/{self._id(start)}/"
        self._done(
            "transfer", await self._ask("transfer", "POST", path, json={"legs": "aleg", "aleg_url": url})
        )


def dial(to: str) -> str:
    """The XML that connects a call with a number, such as ``"+4722225555"``, or a ``sip:`` address. Twilio, Telnyx
    (TeXML) and Plivo read it; a ``sip:`` address only Twilio and Telnyx. Raises ``ConfigError`` for anything else.

    ::

        print(dial("+4722225555"))
    """
    kind = "Sip" if checked_destination(to).startswith("sip") else "Number"
    return f"<Response><Dial><{kind}>{escape(to)}</{kind}></Dial></Response>"


def checked_destination(to: object) -> str:
    """The destination of a call. Raises ``ConfigError`` for what is neither a number nor a ``sip:`` address."""
    if isinstance(to, str) and (_NUMBER.fullmatch(to) or _SIP.fullmatch(to)):
        return to
    raise ConfigError(
        "a destination is a number such as +4722225555, or an address such as sip:desk@example.org"
    )


class _Bearer(httpx.Auth):
    def __init__(self, key: str) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["authorization"] = f"Bearer {self._key}"
        yield request


@cache
def _tls() -> ssl.SSLContext:
    """Made once: reading the certificates takes 20 ms, in which no call is served.

    Raises :class:`AccountError` where the environment names authorities that cannot be read, which httpx does not name.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # an ``ssl.SSLError`` among them
        given = [
            f"{name}={os.environ[name]}" for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)
        ]
        why = error.strerror or type(error).__name__
        raise AccountError(
            f"the certificate authorities cannot be read ({why}): look at {', '.join(given)}"
        ) from None


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        return url
    raise ConfigError("base_url is the https:// address of the API: credentials are not sent in the clear")


def _code(answer: httpx.Response) -> str:
    """The provider's number of an error: of Twilio ``code``, of Telnyx ``errors[0].code``."""
    try:
        body = answer.json()
    except ValueError:
        return ""
    errors = body.get("errors") if isinstance(body, dict) else None
    first = errors[0] if isinstance(errors, list) and errors else body
    code = str(first.get("code", "")) if isinstance(first, dict) else ""
    return code if code.isascii() and code.isalnum() and len(code) < 16 else ""
