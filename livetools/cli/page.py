"""The page of ``livetools web`` as an ASGI app: its files, the relay to the model, and what only a developer wants.

The page speaks to its session through :func:`livetools.integrations.starlette.relay` under ``/live/``, with the client
in ``livetools/web``. Beside it the app serves what the relay does not tell: ``/facts.json`` before a session stands,
and to the page that has a session's token (in the header ``livetools-session``, never in a URL) the frames of a call
under ``/frames`` and the exports under ``/export/``.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livetools import web
from livetools.integrations.starlette import relay, session_key
from livetools.session.handle_store import HandleStore
from livetools.session.listening.tap import tap
from livetools.session.session import Session
from livetools.testing.wire import without_media

from .agent import Choices
from .exported import Subject, as_test
from .frame_history import FrameHistories, FrameHistory

PAGE = Path(web.__file__).with_name("page")
TOKEN = "livetools-session"  # the header that says whose session is asked about
HOSTS = ["127.0.0.1", "localhost"]  # a site may point a name of its own here: it is not answered

#: Nothing inline, nothing from elsewhere, in nobody's frame.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class About:
    """What the page says before a session stands. ``pretend``: the model is the fake's."""

    pretend: bool = False
    target: str | None = None
    choices: Choices = field(default_factory=Choices)

    @property
    def title(self) -> str:
        """The target without its folders."""
        return (self.target or "livetools").rpartition("/")[2]


def page_app(open_session: Callable[[], Session], about: About, *, linger: float = 30.0) -> Starlette:
    """The app. ``open_session`` makes a session a page; a page that is gone keeps it for ``linger`` seconds."""
    page = _Page(open_session, about)
    live = relay(page.agent, stores=page.histories.of, linger=linger)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await live.stop()

    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/favicon.ico", page.icon),
            Route("/facts.json", page.facts),
            Route("/frames", page.frames),
            Route("/export/recording", page.recording),
            Route("/export/pytest", page.test),
            Mount("/live", live),
            Mount("/web/dist", StaticFiles(directory=web.BUILT)),
            Mount("/web/page", StaticFiles(directory=PAGE)),
        ],
        middleware=[Middleware(Guarded), Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)],
        lifespan=lifespan,
    )


class _Page:
    """What the app answers, and the agent that it gives to the relay."""

    def __init__(self, open_session: Callable[[], Session], about: About) -> None:
        self.histories = FrameHistories()
        self._open, self._about = open_session, about
        self._probe = open_session()  # asked for what it would declare, never opened
        asks_approval = any(policy.approval for policy in self._probe.plan.policies.values())
        declared_only = frozenset(name for name, handled in self._probe.tools.items() if not handled)
        self._subject = Subject(about.target, about.choices, asks_approval, declared_only)

    def agent(self, *, handle_store: HandleStore | None = None, **options: object) -> Session:
        """A session whose frames go to the history that the relay hands over as its store."""
        session = self._open()
        return tap(session, handle_store) if isinstance(handle_store, FrameHistory) else session

    async def index(self, request: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def icon(self, request: Request) -> Response:
        return FileResponse(PAGE / "icon.svg")

    async def facts(self, request: Request) -> Response:
        """What is known before a session stands."""
        return JSONResponse(
            {
                "title": self._about.title,
                "model": self._probe.model.rpartition("/")[2],
                "tools": declarations(self._probe),
                "pretend": self._about.pretend,
            }
        )

    async def frames(self, request: Request) -> Response:
        """The frames of a call of the page's session."""
        if (history := self._history(request)) is None:
            return UNKNOWN
        return JSONResponse(await run_in_threadpool(frames_of, history, request))

    async def recording(self, request: Request) -> Response:
        """The page's session as a recording."""
        if (history := self._history(request)) is None:
            return UNKNOWN
        return PlainTextResponse(await run_in_threadpool(history.recording))

    async def test(self, request: Request) -> Response:
        """The page's session as a pytest test."""
        if (history := self._history(request)) is None:
            return UNKNOWN
        try:
            return PlainTextResponse(
                await run_in_threadpool(lambda: as_test(history.frames(), self._subject))
            )
        except ValueError as error:
            return PlainTextResponse(str(error), 409)

    def _history(self, request: Request) -> FrameHistory | None:
        """The history of the session whose token stands in the request's header."""
        token = request.headers.get(TOKEN)
        return self.histories.find(session_key(token, None)) if token else None


UNKNOWN = PlainTextResponse("this session is not known, or its frames are not kept any more", 404)


def declarations(session: Session) -> list[dict[str, str]]:
    """Name and description of each tool that the session declares."""
    found = dict.fromkeys(session.plan.policies, "")
    for tool in session.plan.setup.get("tools") or []:
        for each in tool.get("functionDeclarations") or []:
            found[str(each["name"])] = str(each.get("description", ""))
    return [{"name": name, "description": description} for name, description in found.items()]


def frames_of(history: FrameHistory, request: Request) -> list[dict[str, object]]:
    """The frames of the call that the query names by ``id``; by ``name`` where the service gave it no id."""
    found = history.frames(request.query_params.get("id", "")) or history.frames(
        request.query_params.get("name", "")
    )
    return [
        {
            "time": frame.time,
            "direction": frame.direction,
            "connection": frame.connection,
            "frame": without_media(frame.message),
        }
        for frame in found
    ]


class Guarded:
    """Adds :data:`HEADERS` to every answer, and lets no websocket in that is not a browser's.

    Whose page it is, of those that a browser sends, the relay asks.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        if scope["type"] == "websocket" and "origin" not in Headers(scope=scope):
            return await send(
                {"type": "websocket.close", "code": 1008, "reason": "only the page may come here"}
            )
        return await self._app(scope, receive, guarded if scope["type"] == "http" else send)
