"""The page of ``livetools web`` as an ASGI app: its files, the relay to the model, and data for developers.

The page speaks to its session through :func:`livetools.integrations.starlette.relay` under ``/live/``, with the client
in ``livetools/web``. Beside it the app serves what the relay does not send: ``/facts.json`` before a session is
open, and to the page that has a session's token (in the header ``livetools-session``, never in a URL) the frames of a
call under ``/frames`` and the exports under ``/export/``.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from livetools import web
from livetools.integrations.starlette import relay, session_key
from livetools.session.handle_store import HandleStore
from livetools.session.listening.tap import tap
from livetools.session.session import Session
from livetools.testing.wire import without_media

from .agent import Choices
from .door import Door, Guarded
from .exported import Subject, as_test
from .frame_history import FrameHistories, FrameHistory

PAGE = Path(web.__file__).with_name("page")
TOKEN = "livetools-session"  # the header that says whose session is asked about


@dataclass(frozen=True, slots=True)
class About:
    """What the page shows before a session is open. ``pretend``: the model is the fake's."""

    pretend: bool = False
    target: str | None = None
    choices: Choices = field(default_factory=Choices)

    @property
    def title(self) -> str:
        """The target without its folders."""
        return (self.target or "livetools").rpartition("/")[2]


#: What runs beside the server; it may give the page's new sessions another opener.
Follow: TypeAlias = Callable[["Page"], Coroutine[None, None, None]]


def page_app(
    open_session: Callable[[], Session],
    about: About,
    *,
    linger: float = 3600.0,
    door: Door | None = None,
    follow: Follow | None = None,
) -> Starlette:
    """The app. ``open_session`` makes a session a page; a page that has left keeps it for ``linger`` seconds.

    ``door``: who may come (this machine alone, if absent). ``follow`` runs as long as the app does.
    """
    page, door = Page(open_session, about), door or Door()
    live = relay(page.agent, door.authorize, stores=page.histories.of, linger=linger, debug=True)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            if follow is not None:
                group.start_soon(follow, page)
            yield
            group.cancel_scope.cancel()
        await live.stop()

    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/favicon.ico", page.icon),
            Route("/facts.json", page.facts),
            Route("/session.json", page.session),
            Route("/frames", page.frames),
            Route("/export/recording", page.recording),
            Route("/export/pytest", page.test),
            Mount("/live", live),
            Mount("/web/dist", StaticFiles(directory=web.BUILT)),
            Mount("/web/page", StaticFiles(directory=PAGE)),
        ],
        middleware=[Middleware(Guarded, door=door)],
        lifespan=lifespan,
    )


class Page:
    """What the app answers, and the agent that it gives to the relay."""

    def __init__(self, open_session: Callable[[], Session], about: About) -> None:
        self.histories = FrameHistories()
        self._about = about
        self._sessions: WeakKeyDictionary[FrameHistory, Session] = WeakKeyDictionary()
        self.take(open_session)

    @property
    def sessions(self) -> list[Session]:
        """Those that were opened and are still known."""
        return list(self._sessions.values())

    def take(self, open_session: Callable[[], Session]) -> None:
        """Open sessions with this from now on. Raises what it raises; then the one before stays."""
        probe = open_session()  # asked for what it would declare, never opened
        self._open, self._probe, about = open_session, probe, self._about
        asks_approval = any(policy.approval for policy in self._probe.plan.policies.values())
        declared_only = frozenset(name for name, handled in self._probe.tools.items() if not handled)
        self._subject = Subject(about.target, about.choices, asks_approval, declared_only)

    def agent(self, *, handle_store: HandleStore | None = None, **options: object) -> Session:
        """A session whose frames go to the history that the relay hands over as its store."""
        session = self._open()
        if isinstance(handle_store, FrameHistory):
            self._sessions[handle_store] = session
            tap(session, handle_store)
        return session

    async def index(self, request: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def icon(self, request: Request) -> Response:
        return FileResponse(PAGE / "icon.svg")

    async def facts(self, request: Request) -> Response:
        """Serve what is known before a session is open."""
        return JSONResponse(
            {
                "title": self._about.title,
                "model": self._probe.model.rpartition("/")[2],
                "tools": declarations(self._probe),
                "pretend": self._about.pretend,
            }
        )

    async def session(self, request: Request) -> Response:
        """What the model of the page's session has received: its setup, and the functions that it may call now."""
        history = self._history(request)
        session = None if history is None else self._sessions.get(history)
        if session is None:
            return UNKNOWN
        return JSONResponse({"tools": declarations(session), "setup": without_media(session.plan.setup)})

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
        """The history of the session whose token is in the request's header."""
        token = request.headers.get(TOKEN)
        return self.histories.find(session_key(token, None)) if token else None


UNKNOWN = PlainTextResponse("this session is not known, or its frames are not kept any more", 404)


def declarations(session: Session) -> list[dict[str, object]]:
    """Each tool that the session declares: name, description, parameters, and who must approve a call."""
    found: dict[str, dict[str, object]] = {
        name: {"description": "", "parameters": None, "approval": policy.approval, "handled": policy.handled}
        for name, policy in session.plan.policies.items()
    }
    for tool in session.plan.setup.get("tools") or []:
        for each in tool.get("functionDeclarations") or []:
            about = found.setdefault(str(each["name"]), {"approval": False, "handled": True})
            about["description"] = str(each.get("description", ""))
            about["parameters"] = each.get("parameters") or each.get("parametersJsonSchema")
    return [{"name": name, **about} for name, about in found.items()]


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
