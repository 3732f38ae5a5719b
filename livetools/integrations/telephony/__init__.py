"""Connects phone calls to sessions, by the media streams of Twilio, Telnyx, Plivo, and of any other provider.

::

    agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[book_table, hang_up])
    app = FastAPI()

    @app.websocket("/call")
    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await twilio(websocket, agent, auth_token=TOKEN, url="wss://example.org/call", greeting="Greet the caller.")

Audio is converted as it comes: from the codec of the line to 16 kHz, and from the model's 24 kHz back. An interruption
empties the provider's buffer. Keypad tones (DTMF) go to the model as text, joined if they follow each other within a
second. When a tool ends the session (:func:`hang_up`), the caller hears the whole goodbye, then the websocket is
closed.

Each bridge takes an ``auth_token``: a caller who cannot show it, or whose request is not signed with it, is closed with
1008. Without it anybody may call, which is logged once; an empty one is a ``ConfigError``. Twilio and Plivo sign the
URL that they connect to: the one of the request, or ``url``, which must be passed behind a proxy. A start frame without
the ids of the stream and the call is refused (1002).

A provider that is not built in is a class of your own (:class:`Provider`), which :func:`serve` takes.
:mod:`livetools.integrations.telephony.testing` calls an app in a test.

Needs ``pip install 'PATH/TO/CLONE[telephony]'``.
"""

from __future__ import annotations

from typing import Unpack

from livetools.setup.install_hints import install

try:
    from starlette.websockets import WebSocket

    from .bridge.take_call import take_call
except ImportError as error:
    raise ImportError(
        f"telephony needs the packages of its extra: {install('telephony')} ({error})"
    ) from error

from livetools.session.agents import AgentLike

from .bridge.call_options import CallOptions, Ended, options_of
from .call_control.accounts import Account, AccountError, PlivoAccount, TelnyxAccount, TwilioAccount, dial
from .call_control.call_tools import hang_up, press_keys, transfer_to
from .call_control.phone_call import PhoneCall, current_call
from .providers.built_in import Plivo, Telnyx, Twilio
from .providers.provider import Key, Mark, Media, Provider, Start, StartFrame, Stop

__all__ = [
    "Account",
    "AccountError",
    "CallOptions",
    "Ended",
    "Key",
    "Mark",
    "Media",
    "PhoneCall",
    "PlivoAccount",
    "Provider",
    "Start",
    "StartFrame",
    "Stop",
    "TelnyxAccount",
    "TwilioAccount",
    "current_call",
    "dial",
    "hang_up",
    "plivo",
    "press_keys",
    "serve",
    "telnyx",
    "transfer_to",
    "twilio",
]


async def serve(
    websocket: WebSocket, provider: Provider, agent: AgentLike, **options: Unpack[CallOptions]
) -> None:
    """Serve a phone call from ``provider``, an object of a class of your own that is made for this call, on an
    accepted starlette websocket.

    Returns when the call is over and the websocket closed. Cancelling it ends the call. ``options``:
    :class:`CallOptions`.

    A start whose id is no printable text of at most 256 characters is refused (1002), as is more than 64 KiB, or 10 s,
    without a start. A codec that the start frame brings and that is not known is refused with 1003. Keys other than
    ``0-9*#A-D`` are not heard, and sound that comes more than a minute ahead of its time is dropped.

    Raises ``ConfigError`` if ``provider`` is not a :class:`Provider`, or its ``encoding`` or ``rate`` none that there
    is. An error that ends the session (:class:`LiveToolsError`) is logged and passed to ``on_end``, not raised. Errors
    of ``agent``, ``deps`` and ``on_end`` are raised, and what ``media``, ``mark`` and ``clear`` raise.

    ::

        from fastapi import FastAPI, WebSocket

        class Ours(Provider):
            encoding, rate = "L16", 16000

        agent = partial(connect, MODEL, tools=[get_weather])
        app = FastAPI()

        @app.websocket("/ours")
        async def call(websocket: WebSocket):
            await websocket.accept()
            await serve(websocket, Ours(), agent, greeting="Greet the caller.")

        print([route.path for route in app.routes][-1])
    """
    await take_call(websocket, provider, agent, options_of(options))


async def twilio(
    websocket: WebSocket,
    agent: AgentLike,
    *,
    auth_token: str | None = None,
    url: str | None = None,
    **options: Unpack[CallOptions],
) -> None:
    """Serve a phone call from Twilio (``<Connect><Stream url="wss://..."/></Connect>``), as :func:`serve` does.

    ``auth_token``: of the account, with which ``X-Twilio-Signature`` is checked. ``url``: the URL that Twilio connected
    to. ``deps(start)``: ``start["callSid"]``, ``start["customParameters"]`` … The codec is the µ-law.

    ::

        async def call(websocket):
            await websocket.accept()
            await twilio(websocket, partial(connect, MODEL), auth_token="of the account", url="wss://example.org/call")

        print(call.__name__)
    """
    provider = Twilio(auth_token, str(websocket.url) if url is None else url)
    await serve(websocket, provider, agent, **options)


async def telnyx(
    websocket: WebSocket,
    agent: AgentLike,
    *,
    auth_token: str | None = None,
    big_endian: bool = False,
    **options: Unpack[CallOptions],
) -> None:
    """Serve a phone call from Telnyx (``stream_url``, with ``stream_bidirectional_mode: "rtp"``), as :func:`serve`
    does.

    ``auth_token``: the ``stream_auth_token`` of the stream, which Telnyx shows in a header or in the ``connected``
    frame. ``deps(start)``: ``start["call_control_id"]``, ``start["custom_parameters"]``, ``start["from"]`` … The codec
    is the stream's: PCMU, PCMA, or L16 at 8, 16 or 24 kHz (ask for the same one as ``stream_codec`` and
    ``stream_bidirectional_codec``). ``big_endian``: the samples of L16 are in network byte order, both ways. Telnyx'
    documentation (2026-11-29) does not say in which they are: if you hear noise in the place of speech, set it.

    ::

        async def call(websocket):
            await websocket.accept()
            await telnyx(websocket, partial(connect, MODEL), auth_token="of the stream")

        print(call.__name__)
    """
    await serve(websocket, Telnyx(auth_token, big_endian), agent, **options)


async def plivo(
    websocket: WebSocket,
    agent: AgentLike,
    *,
    auth_token: str | None = None,
    url: str | None = None,
    **options: Unpack[CallOptions],
) -> None:
    """Serve a phone call from Plivo (``<Stream bidirectional="true" keepCallAlive="true">wss://...</Stream>``), as
    :func:`serve` does.

    ``auth_token``: of the account, with which ``X-Plivo-Signature-V3`` is checked. ``url``: the URL that Plivo
    connected to. ``deps(start)``: ``start["callId"]``, ``start["extra_headers"]`` … The codec is the one of
    ``contentType``: ``audio/x-mulaw;rate=8000``, ``audio/x-l16;rate=8000`` or ``audio/x-l16;rate=16000``.

    ::

        async def call(websocket):
            await websocket.accept()
            await plivo(websocket, partial(connect, MODEL), auth_token="of the account", url="wss://example.org/call")

        print(call.__name__)
    """
    provider = Plivo(auth_token, str(websocket.url) if url is None else url)
    await serve(websocket, provider, agent, **options)
