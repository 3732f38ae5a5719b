"""A telephone on one side, a session of its own on the other: Twilio's and Telnyx' media streams.

::

    agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[book_table])
    app = FastAPI()

    @app.websocket("/call")
    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await twilio(websocket, agent, auth_token=TOKEN, url="wss://example.org/call", greeting="Greet the caller.")

Sound goes both ways as it comes, from G.711 at 8 kHz to 16 kHz and from the model's 24 kHz back. An interruption
silences the line (``clear``). Keys (DTMF) go to the model as a text, those that follow each other within a second
together. When a tool ends the session (``ToolResult(..., ends_session=True)``), its farewell is heard to the end, then
the websocket is closed. Hanging up and passing the call on are requests to the provider's REST API: make them in
``on_end``.

Needs ``pip install 'PATH/TO/CLONE[telephony]'``.
"""

from __future__ import annotations

from collections.abc import Callable

from livetools.protocol.extras import install

try:
    from starlette.websockets import WebSocket

    from .phone.call import Ended, Options, StartFrame, serve
except ImportError as error:
    raise ImportError(
        f"telephony needs starlette, and from Python 3.13 on audioop-lts: {install('telephony')} ({error})"
    ) from error

from livetools.session.agents import AgentLike
from livetools.session.clock import Clock, SystemClock
from livetools.session.handle_store import HandleStore

from .drain import Drain
from .phone.provider import Telnyx, Twilio

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
    clock: Clock | None = None,
) -> None:
    """Take a call of Twilio's (``<Connect><Stream url="wss://..."/>``): a starlette websocket that was accepted.

    Returns when the call is over and the websocket closed. Cancelling it ends the call.

    ``deps(start)``, plain or async, gets the start frame (``start["callSid"]``, ``start["customParameters"]`` …) and
    returns what ``context.deps`` gives the tools (``None``: the agent's own), or raises ``PermissionError``: the
    websocket is closed with 1008.

    ``auth_token`` of the account: ``X-Twilio-Signature`` is checked against ``url``, which Twilio has dialled
    (``None``: what the request says; behind a proxy say it), and the websocket closed with 1008 if it is not right.

    ``greeting``: instructions by which the model speaks first; without them it waits. ``idle``: seconds of silence
    after which it asks whether anybody is there, and after as many more the call ends. ``on_end(ended)``, plain or
    async, is called once for each call that was taken, when it is over (:class:`Ended`).

    ``drain``: a process that ends (:class:`~livetools.integrations.drain.Drain`) waits for the call, ``drain.within``
    seconds at most. With ``stores(start)``, where the call's handle is kept (by ``start["callSid"]``), it is parked at
    the next quiet moment instead. The stream that Twilio opens next, told so by the ``action`` of the ``<Connect>``,
    goes on with the conversation in another process (``examples/phone_fleet.py``).

    What ends the session (:class:`LiveToolsError`) is logged and told to ``on_end``, not raised; what ``agent``,
    ``deps`` or ``on_end`` raise comes out.

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
    options = Options(agent, deps, greeting, idle, on_end, stores, drain or Drain())
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
    clock: Clock | None = None,
) -> None:
    """Take a call of Telnyx' (``stream_url``, with ``stream_bidirectional_mode: "rtp"``), as :func:`twilio` does.

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
    options = Options(agent, deps, greeting, idle, on_end, stores, drain or Drain())
    await serve(websocket, Telnyx(auth_token), options, clock or SystemClock())
