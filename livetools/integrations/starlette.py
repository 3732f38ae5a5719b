"""A browser's websocket on one side, a session of its own on the other: an ASGI app to mount.

::

    agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[get_weather])
    app = FastAPI()
    app.mount("/live", relay(agent))

The page's side is ``livetools/web`` (its README has the whole of it), a client in TypeScript that the relay serves::

    <script type="module">
      import { LiveClient } from "/live/client.js";
      const live = new LiveClient();        // the relay that the module came from
      await live.connect();
      live.sendText("Weather in Oslo?");
    </script>

The protocol, for other clients (``docs/relay-protocol.md`` describes all of it, with examples):

* A websocket to the mount's root (``/live/``). Binary messages are sound, 16-bit little-endian mono PCM: 16 kHz to the
  relay, 24 kHz from it until an ``audio_format`` says otherwise. Text messages are JSON objects with a ``type``.
* The relay begins with ``ready``: the ``token`` to come back with, the model, the tools, what ``activity`` wants.
  Then it sends the events of the session, by the names and with the fields of our event classes
  (``{"type": "ToolStarted", "seq": 7, "at": 3.2, "call": {...}}``), and in small letters what is its own:
  ``user_text``, ``audio_format``, ``dropped``, ``error``, ``ended``. Events are numbered by ``seq`` from 1.
* A page sends ``text``, ``video``, ``audio_end``, ``activity_start``, ``activity_end``, ``interrupt``, ``approve``,
  ``refuse``, ``respond``, ``end``. The classes are in :mod:`livetools.integrations.relay.messages`.
* A page that has left keeps its session for ``linger`` seconds. It comes back with the subprotocol
  ``livetools.resume`` beside ``livetools.v1`` and sends ``{"type": "resume", "token": ..., "after": seq}`` first: it
  is sent the events it has missed, and the speech that nobody has fetched.
* A message that cannot be taken is answered with an ``error``, and the conversation continues. Bounds: 1 MiB of sound,
  4 MiB of JSON, 64 Ki characters of text, 2 MiB a picture. Of events 1 Mi characters are kept, of speech that was not
  fetched 8 MiB; the oldest go first, which ``ready.missed`` and ``dropped`` tell.
* Backpressure: while a page does not read, its speech waits within that bound, for 20 s at most (then 4408); while
  the model's line takes nothing, no more is read from the page than the session holds.
* Close codes: 1000 the session is over, 1011 it failed (``ended`` says how, before), 1012 it continues in another
  process (come back with the token), 1013 come again, 4400 the first message was not the promised ``resume``, 4408 the
  page was too slow, 4409 another page has taken over the session. Before the upgrade 403: not allowed, or a page of
  another origin.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeAlias

import anyio

from livetools.log import get_logger
from livetools.setup.install_hints import install

try:
    from starlette.datastructures import MutableHeaders
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from starlette.websockets import WebSocket
except ImportError as error:
    raise ImportError(f"relay needs starlette: {install('web')}") from error

from livetools.errors import ConfigError, LiveToolsError, SessionClosed
from livetools.session.agents import AgentLike, adjust, is_agent, open_agent
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock, SystemClock
from livetools.setup import price
from livetools.setup.did_you_mean import explains_keywords
from livetools.transport.loop.wake import on_trio
from livetools.web import BUILT

from .drain import Drain
from .relay.event_log import EventLog
from .relay.limits import RESUME_TIMEOUT
from .relay.messages import PROTOCOL, RESUME, Resume, read_command
from .relay.origin import Origin, is_one_of, known_origins, refusal
from .relay.page import NOT_A_RESUME, Page
from .relay.relayed_session import RelayedSession, RelayOptions
from .shared.closing import TRY_AGAIN, close_reason
from .shared.last_handle import LOOK, TAKE_OVER
from .shared.option_checks import checked_function, checked_secret
from .shared.places import MAX_PER_CALLER, MAX_SESSIONS, Place, Places

log = get_logger("livetools.relay")

#: Returns the dependencies of this caller's tools (``None``: the agent's own).
Authorize: TypeAlias = Callable[[WebSocket], object]
Stores: TypeAlias = Callable[[str], HandleStore]


@explains_keywords(
    **dict.fromkeys(("tools", "session", "factory"), "agent="),
    **dict.fromkeys(("auth", "authenticate", "authorization", "dependencies", "deps"), "authorize="),
    **dict.fromkeys(("store", "handle_store", "handles"), "stores="),
    **dict.fromkeys(("grace", "keep", "ttl"), "linger="),
    **dict.fromkeys(("greet", "first_message", "welcome"), "greeting="),
    **dict.fromkeys(("idle_timeout", "timeout"), "idle="),
    **dict.fromkeys(("allow_origins", "allowed_origins", "cors"), "origins="),
)
def relay(
    agent: AgentLike,
    authorize: Authorize | None = None,
    *,
    stores: Stores | None = None,
    linger: float = 30.0,
    greeting: str | None = None,
    idle: float | None = None,
    origins: Collection[str] | None = None,
    debug: bool = False,
    drain: Drain | None = None,
    drain_token: str | None = None,
    max_sessions: int | None = MAX_SESSIONS,
    max_per_caller: int | None = MAX_PER_CALLER,
    clock: Clock | None = None,
) -> Relay:
    """An ASGI app that connects each web page to a session of ``agent``. Mount it in FastAPI or Starlette.

    ``agent``: a partial of ``connect``, or a function annotated ``-> Session``.

    ``authorize(websocket)``, sync or async, is called before the websocket is accepted. It returns the user's ``deps``
    (``None``: the agent's own) or raises ``PermissionError`` (403). A session belongs to its user: a page resumes one
    only if ``repr(deps)`` is the same, so return a value whose ``repr`` identifies the user (a dataclass, a dict, a
    string).

    ``linger``: seconds that a session is kept for a page that has spoken and disconnected. ``stores(token)``: returns
    the store for the handle of this ``token``'s session, so that a page finds its conversation in another process, or
    after ``linger``. It gets a digest of the page's token and its user, not the token.

    ``greeting``: instructions that make the model speak first (``"Greet the caller."``); a resumed conversation is not
    greeted again. ``idle``: after this many seconds of silence on both sides the model asks whether anybody is there;
    after as many again the session ends. To notice that the user speaks, ``input_audio_transcription`` is added to the
    agent's config, which must not turn it off.

    ``origins``: the origins of pages that may connect, and load the client's modules (``["https://example.org"]``);
    ``None``: only the relay's own scheme, host and port. Behind a proxy that terminates TLS, list them, or let the
    server trust the proxy's headers (uvicorn: ``--proxy-headers``).

    ``debug``: tells pages the text of an error, which may name hosts, files and functions of the server; without it
    they learn its kind. For a page that only the developer sees.

    ``drain``: moves the conversations to another process when this one ends
    (:class:`~livetools.integrations.drain.Drain`; pass its ``lifespan`` to the app). ``GET ready`` under the mount
    answers 200, and 503 once the drain has begun. ``drain_token``: ``POST drain`` with ``Authorization: Bearer
    <token>`` also drains, and answers when that is done; without a token this path does not exist.

    ``max_sessions``: sessions at once, those that linger too. ``max_per_caller``: of these, the sessions of one caller,
    which is what ``authorize`` returned; where it returns ``None``, callers are not told apart and only
    ``max_sessions`` counts. A page too many is closed with 1013. ``None``: no bound. A page that has sent nothing does
    not linger.

    Raises ``ConfigError`` if ``agent`` is not an agent, an entry of ``origins`` cannot be read, ``drain_token`` is
    empty, a bound is not a number from 1 on, or another option is of the wrong kind.

    ::

        from fastapi import FastAPI

        agent = partial(connect, MODEL, tools=[get_weather], instructions="Be brief.")
        app = FastAPI()
        app.mount("/live", relay(agent))  # uvicorn module:app; a page imports /live/client.js
        print([route.path for route in app.routes][-1])
    """
    if not is_agent(agent):
        raise ConfigError(
            f"{agent!r:.80} is not an agent: pass functools.partial(connect, MODEL, tools=[...]), "
            "or a function annotated -> Session"
        )
    checked_function(authorize, "authorize")
    checked_function(stores, "stores")
    options = RelayOptions(
        linger, greeting, idle, debug, clock or SystemClock(), Drain() if drain is None else drain
    )
    known = None if origins is None else known_origins(origins)
    bounds = Places(max_sessions, max_per_caller)
    return Relay(agent, authorize, stores, known, options, bounds, checked_secret(drain_token, "drain_token"))


class Relay:
    """The app that :func:`relay` makes, with the sessions it has open."""

    def __init__(
        self,
        agent: AgentLike,
        authorize: Authorize | None,
        stores: Stores | None,
        origins: Collection[Origin] | None,
        options: RelayOptions,
        bounds: Places,
        drain_token: str | None = None,
    ) -> None:
        self.drain = options.drain
        self._drain_token = drain_token
        self._agent = agent
        self._authorize = authorize
        self._stores = stores
        self._origins = origins
        self._options = options
        self._places = bounds
        self._open: dict[str, RelayedSession] = {}  # by a digest of the token and its caller
        self._nameless: set[type] = set()  # types of deps that were warned about
        self._files = StaticFiles(directory=BUILT, check_dir=False)
        price.load()  # here nobody waits for it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Talk to a page, or serve the files of the client."""
        if scope["type"] == "websocket":
            await self._meet(WebSocket(scope, receive, send))
        elif scope["type"] == "http":
            request = Request(scope, receive)
            await (await self._answer(request) or self._client(request))(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)

    def _client(self, request: Request) -> ASGIApp:
        """The files of the client: pages of other sites may load them, where ``origins`` names the site."""
        origin = request.headers.get("origin")
        if origin is None or self._origins is None or not is_one_of(origin, self._origins):
            return self._files
        headers = {"access-control-allow-origin": origin, "vary": "origin"}

        async def shared(scope: Scope, receive: Receive, send: Send) -> None:
            async def told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message).update(headers)
                await send(message)

            await self._files(scope, receive, told)

        return shared

    async def _answer(self, request: Request) -> Response | None:
        """Answer a request for the state of this process; ``None``: the request is for a file."""
        path = request.scope["path"].removeprefix(request.scope.get("root_path", "")).strip("/")
        if path == "ready" and request.method in ("GET", "HEAD"):
            state = "draining" if self.drain.began else "ready"
            return JSONResponse({"state": state, "held": self.drain.held}, 503 if self.drain.began else 200)
        if path != "drain" or request.method != "POST" or self._drain_token is None:
            return None
        given = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {self._drain_token}".encode()):
            return JSONResponse({"error": "the token is not the one expected: see drain_token"}, 401)
        return JSONResponse({"ended": await self.drain.drain()})

    async def stop(self) -> None:
        """End every session now, those that linger too, and return when they are over.

        ``drain.drain()`` lets each come to a quiet moment first.
        """
        ending = list(self._open.values())
        for conversation in ending:
            conversation.stop()
        for conversation in ending:
            await conversation.over.wait()

    def is_open(self, key: str) -> bool:
        """Whether the session of this key (:func:`session_key`) is open here; one that lingers is."""
        return key in self._open

    async def _meet(self, websocket: WebSocket) -> None:
        if fault := refusal(websocket, self._origins, guarded=self._authorize is not None):
            log.warning("refused a websocket: %s", fault)
            return await websocket.close(1008, close_reason(fault))
        try:
            deps = await self._caller(websocket)
        except PermissionError as error:
            log.info("refused a caller: %s", error)
            return await websocket.close(1008, "not allowed")
        # uvicorn 0.35 hands on the header as it came (websockets-sansio): several in one, with commas
        lines = websocket.scope.get("subprotocols", [])
        offered = [each.strip() for line in lines for each in line.split(",")]
        await websocket.accept(PROTOCOL if PROTOCOL in offered else None)
        page = Page(websocket)
        resume = None
        if RESUME in offered and (resume := await _resume(page)) is None:
            return await websocket.close(NOT_A_RESUME, "the first message is a resume: type, token, after")
        return await self._converse(page, resume, deps)

    async def _converse(self, page: Page, resume: Resume | None, deps: object) -> None:
        if on_trio():  # elsewhere a task forgets in time
            for conversation in tuple(self._open.values()):
                conversation.forget_late()
        known = self._open.get(session_key(resume.token, deps)) if resume is not None else None
        if resume is not None and known is not None:
            return await known.serve(page, resume.after, resumed=True)
        if self.drain.began:
            page.close(TRY_AGAIN, "this process accepts no more pages: try again")
            return await page.write(EventLog(), 0)
        place = self._places.take(None if deps is None else caller_key(deps))
        if place is None:
            log.warning("a page was turned away: max_sessions or max_per_caller is reached")
            page.close(TRY_AGAIN, "too many sessions are open: come again later")
            return await page.write(EventLog(), 0)
        try:
            conversation, resumed = await self._begin(resume, deps, place)
        except Exception as error:
            if isinstance(error, LiveToolsError) and not isinstance(error, ConfigError):
                log.warning("no session could be opened for a page: %s: %s", type(error).__name__, error)
            else:
                log.exception("no session could be opened for a page")
            page.end(error, self._options.debug)
            return await page.write(EventLog(), 0)
        try:
            await conversation.serve(page, 0, resumed=resumed)
            if on_trio():  # there the session lives in this task
                await conversation.over.wait()
        finally:
            if on_trio():
                conversation.stop()
                await conversation.join()
        return None

    async def _begin(self, resume: Resume | None, deps: object, place: Place) -> tuple[RelayedSession, bool]:
        """Open a session: the one whose handle is kept for this page, or a new one with a token of its own.

        A token that no handle is kept for is not taken over: a page could choose one that others know. ``place`` is
        left when the session is closed, or could not be opened.
        """
        try:
            token, store, resumed = secrets.token_urlsafe(32), None, False
            if self._stores is not None:
                if (
                    resume is not None
                    and await self._stores(session_key(resume.token, deps)).load() is not None
                ):
                    token, resumed = resume.token, True
                store = self._stores(session_key(token, deps))
            return await self._opened_in_time(token, deps, store, resumed, place), resumed
        except BaseException:
            place.leave()
            raise

    async def _opened_in_time(
        self, token: str, deps: object, store: HandleStore | None, resumed: bool, place: Place
    ) -> RelayedSession:
        clock = self._options.clock
        until = clock.now() + TAKE_OVER
        again = False  # it is opened once more, in the same place

        def leave() -> None:
            if not again:
                place.leave()

        while True:
            again = False
            try:
                conversation = await self._opened(token, deps, store, resumed, leave)
                try:
                    again = resumed and clock.now() < until and await conversation.overtaken()
                except BaseException:
                    conversation.stop()
                    await conversation.join()
                    raise
                if not again:
                    return conversation
                conversation.stop()
                await conversation.join()
            except SessionClosed as error:
                if not (error.retryable and clock.now() < until):
                    raise
            await clock.sleep_until(clock.now() + LOOK)  # another process parks it just now

    async def _opened(
        self,
        token: str,
        deps: object,
        store: HandleStore | None,
        resumed: bool,
        on_closed: Callable[[], object],
    ) -> RelayedSession:
        key = session_key(token, deps)
        session = open_agent(self._agent, deps=deps, handle_store=store)
        if self._options.idle is not None:
            adjust(session, idle=self._options.idle)  # in the place of the agent's own
        options = replace(self._options, greeting=None) if resumed else self._options

        def forget() -> None:
            if self._open.get(key) is conversation:
                del self._open[key]

        conversation = RelayedSession(session, token, options, on_over=forget, on_closed=on_closed)
        self._open[key] = conversation
        await conversation.open()
        return conversation

    async def _caller(self, websocket: WebSocket) -> object:
        deps = self._authorize(websocket) if self._authorize is not None else None
        if inspect.isawaitable(deps):
            deps = await deps
        if type(deps).__repr__ is object.__repr__ and type(deps) not in self._nameless:
            self._nameless.add(type(deps))
            log.warning(
                "authorize returned a %s, whose repr does not show who the caller is: a page that comes back finds its"
                " session only if it is the same object again. Give it a __repr__, or make it a dataclass",
                type(deps).__name__,
            )
        return deps

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        """Handle the server's start and stop, if the relay is the whole app."""
        await receive()
        async with self.drain.lifespan():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


async def _resume(page: Page) -> Resume | None:
    with anyio.move_on_after(RESUME_TIMEOUT):
        message = await page.receive()
        try:
            command = read_command(message) if isinstance(message, str) else None
        except ValueError:
            return None
        return command if isinstance(command, Resume) else None
    return None


def session_key(token: str, deps: object) -> str:
    """The key of a session. It includes the caller, so another caller who has the token finds nothing."""
    return hashlib.sha256(f"{token}\n{caller_key(deps)}".encode(errors="surrogatepass")).hexdigest()


def caller_key(deps: object) -> str:
    """Who a caller is: what ``authorize`` returned, by its class and ``repr``."""
    return f"{type(deps).__qualname__}\n{deps!r}"
