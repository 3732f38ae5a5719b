"""Connects phone calls to sessions, by the media streams of Twilio and Telnyx.

::

    agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[book_table])
    app = FastAPI()

    @app.websocket("/call")
    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await twilio(websocket, agent, auth_token=TOKEN, url="wss://example.org/call", greeting="Greet the caller.")

Audio is converted as it comes: from G.711 at 8 kHz to 16 kHz, and from the model's 24 kHz back. An interruption empties
the provider's buffer (``clear``). Keypad tones (DTMF) go to the model as text, joined if they follow each other within
a second. When a tool ends the session (``ToolResult(..., ends_session=True)``), the caller hears the whole goodbye,
then the websocket is closed. To hang up or to transfer the call, use the provider's REST API in ``on_end``.

Needs ``pip install 'PATH/TO/CLONE[telephony]'``.
"""

from __future__ import annotations

from collections.abc import Callable

from livetools.setup.extras import install

try:
    from starlette.websockets import WebSocket

    from .phone.call import Ended, Options, StartFrame, serve
except ImportError as error:
    raise ImportError(
        f"telephony needs starlette, and from Python 3.13 on audioop-lts: {install('telephony')} ({error})"
    ) from error

from livetools.session.agents import AgentLike
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock, SystemClock

from .drain import Drain
from .phone.provider import Telnyx, Twilio
from .relay.limits import MAX_SESSIONS

__all__ = ["Ended", "StartFrame", "telnyx", "twilio"]


async def twilio(
    websocket: WebSocket,
    agent: AgentLike,
    *,
    deps: Callable[[StartFrame], object] | None = None,
    auth_token: str | None = None,
    url: str | None = None,
    greeting: str | None = None,
    idle: float | None = None,
    on_end: Callable[[Ended], object] | None = None,
    stores: Callable[[StartFrame], HandleStore] | None = None,
    drain: Drain | None = None,
    max_sessions: int | None = MAX_SESSIONS,
    clock: Clock | None = None,
) -> None:
    """Serve a phone call from Twilio (``<Connect><Stream url="wss://..."/>``) on an accepted starlette websocket.

    Returns when the call is over and the websocket closed. Cancelling it ends the call.

    ``deps(start)``, sync or async, gets the start frame (``start["callSid"]``, ``start["customParameters"]`` …) and
    returns the tools' ``context.deps`` (``None``: the agent's own). If it raises ``PermissionError``, the websocket is
    closed with 1008.

    ``auth_token``: the account's token, with which ``X-Twilio-Signature`` is checked; if it is wrong, the websocket is
    closed with 1008. Without it anybody may call, which is logged once. ``url``: the URL that Twilio connected to
    (``None``: the one of the request; pass it behind a proxy).

    ``greeting``: instructions that make the model speak first; without them it waits. ``idle``: after this many seconds
    of silence the model asks whether anybody is there; after as many again the call ends. ``on_end(ended)``, sync or
    async, is called once for each accepted call, when it is over (:class:`Ended`).

    ``drain``: a process that ends (:class:`~livetools.integrations.drain.Drain`) waits for the call, at most
    ``drain.within`` seconds. With ``stores(start)``, which returns the store for the call's handle (by
    ``start["callSid"]``), the call is parked at the next quiet moment instead. The ``action`` of the ``<Connect>`` then
    makes Twilio open another stream, which continues the conversation in another process (``examples/phone_fleet.py``).

    ``max_sessions``: calls from Twilio that this process has at once; one more is closed with 1013. ``None``: no bound.

    A start frame without ``streamSid`` and ``callSid`` is refused (1002), as is more than 64 KiB, or 10 s, without a
    start frame. Keys other than ``0-9*#A-D`` are not heard, and sound that comes more than a minute ahead of its time
    is dropped.

    Raises ``ConfigError`` if ``auth_token`` is empty. An error that ends the session (:class:`LiveToolsError`) is
    logged and passed to ``on_end``, not raised. Errors of ``agent``, ``deps`` and ``on_end`` are raised.

    ::

        from fastapi import FastAPI, WebSocket

        agent = partial(connect, MODEL, tools=[get_weather])
        app = FastAPI()

        @app.websocket("/twilio")
        async def call(websocket: WebSocket):
            await websocket.accept()
            await twilio(websocket, agent, greeting="Greet the caller.")

        print([route.path for route in app.routes][-1])
    """
    provider = Twilio(auth_token, str(websocket.url) if url is None else url)
    options = Options(agent, deps, greeting, idle, on_end, stores, drain or Drain(), max_sessions)
    await serve(websocket, provider, options, clock or SystemClock())


async def telnyx(
    websocket: WebSocket,
    agent: AgentLike,
    *,
    deps: Callable[[StartFrame], object] | None = None,
    auth_token: str | None = None,
    greeting: str | None = None,
    idle: float | None = None,
    on_end: Callable[[Ended], object] | None = None,
    stores: Callable[[StartFrame], HandleStore] | None = None,
    drain: Drain | None = None,
    max_sessions: int | None = MAX_SESSIONS,
    clock: Clock | None = None,
) -> None:
    """Serve a phone call from Telnyx (``stream_url``, with ``stream_bidirectional_mode: "rtp"``), as :func:`twilio`
    does.

    ``auth_token``: the ``stream_auth_token`` of the stream, which Telnyx sends in a header (``Authorization``, with
    ``Bearer`` or without) or in the ``connected`` frame; without it the websocket is closed with 1008. ``deps(start)``:
    ``start["call_control_id"]``, ``start["custom_parameters"]``, ``start["from"]`` … The codec is the stream's, PCMU
    or PCMA; for another one the websocket is closed with 1003.

    ::

        from fastapi import FastAPI, WebSocket

        agent = partial(connect, MODEL, tools=[get_weather])
        app = FastAPI()

        @app.websocket("/telnyx")
        async def call(websocket: WebSocket):
            await websocket.accept()
            await telnyx(websocket, agent, auth_token="a secret of the stream")

        print([route.path for route in app.routes][-1])
    """
    options = Options(agent, deps, greeting, idle, on_end, stores, drain or Drain(), max_sessions)
    await serve(websocket, Telnyx(auth_token), options, clock or SystemClock())
