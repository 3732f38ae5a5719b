"""The page of ``livetools web`` as an ASGI app: its files, the relay to the model, and data for developers.

The page speaks to its session through :func:`livetools.integrations.starlette.relay` under ``/live/``, with the client
in ``livetools/web``. Beside it the app serves what the relay does not send: ``/facts.json`` before a session is
open, and to the page that has a session's token (in the header ``livetools-session``, never in a URL) the frames of a
call under ``/frames`` and the exports under ``/export/``. :mod:`~livetools.cli.page.session_routes` serves the
sessions of today, and recordings.
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
from livetools.cli.agents.open_sessions import Choices, Opener
from livetools.cli.recordings.frame_history import FrameHistories, FrameHistory
from livetools.cli.recordings.pytest_export import Subject, as_test
from livetools.cli.recordings.session_files import SessionFiles
from livetools.errors import ConfigError
from livetools.integrations.starlette import relay, session_key
from livetools.session.handle_store import HandleStore
from livetools.session.listening.frame_tap import tap
from livetools.session.session import Session
from livetools.testing.wire import without_media

from .access_control import AccessControl, Door
from .chosen_settings import Chosen, PageChoices, Vary, changed
from .session_routes import TOKEN, Replay, SessionRoutes

PAGE = Path(web.__file__).with_name("page")


@dataclass(frozen=True, slots=True)
class About:
    """What the page shows before a session is open. ``pretend``: the model is the fake's. ``replay``: a recording that
    is shown in place of a first session.
    """

    pretend: bool = False
    target: str | None = None
    choices: Choices = field(default_factory=Choices)
    replay: Replay | None = None

    @property
    def title(self) -> str:
        """The target without its folders."""
        return (self.target or "livetools").rpartition("/")[2]

    @property
    def place(self) -> str:
        """The target as sessions on disk name it: a file by its whole path."""
        file = (self.target or "").partition(".py")[0] + ".py"
        return str(Path(file).resolve()) if self.target and ".py" in self.target else self.target or ""


#: What runs beside the server; it may give the page's new sessions another opener.
Follow: TypeAlias = Callable[["PageApp"], Coroutine[None, None, None]]


def page_app(
    open_session: Opener,
    about: About,
    *,
    linger: float = 3600.0,
    door: Door | None = None,
    follow: Follow | None = None,
    vary: Vary | None = None,
    files: SessionFiles | None = None,
) -> Starlette:
    """The app. ``open_session`` makes a session a page; a page that has left keeps it for ``linger`` seconds.

    ``door``: who may come (this machine alone, if absent). ``follow`` runs as long as the app does. ``vary`` makes what
    opens sessions with the page's choices; without it the page offers none. ``files``: where sessions are kept.
    """
    histories = FrameHistories(files=files, agent=about.place, keeps_handles=not about.pretend)
    page, door = PageApp(open_session, about, histories, vary), door or Door()
    live = relay(page.agent, door.authorize, stores=histories.of, linger=linger, debug=True)
    kept = SessionRoutes(histories, live.is_open, page.end, about.replay)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            if follow is not None:
                group.start_soon(follow, page)
            yield
            group.cancel_scope.cancel()
        await live.stop()
        histories.stop()

    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/favicon.ico", page.icon),
            Route("/facts.json", page.facts),
            Route("/session.json", page.session),
            Route("/frames", page.frames),
            Route("/export/recording", page.recording),
            Route("/export/pytest", page.test),
            Route("/choices", page.choices.choose, methods=["POST"]),
            *kept.routes,
            Mount("/live", Chosen(live)),
            Mount("/web/dist", StaticFiles(directory=web.BUILT)),
            Mount("/web/page", StaticFiles(directory=PAGE)),
        ],
        middleware=[Middleware(AccessControl, door=door)],
        lifespan=lifespan,
    )


class PageApp:
    """What the app answers, and the agent that it gives to the relay."""

    def __init__(
        self, open_session: Opener, about: About, histories: FrameHistories, vary: Vary | None = None
    ) -> None:
        self.histories = histories
        self.choices = PageChoices()
        self._about = about
        self._sessions: WeakKeyDictionary[FrameHistory, Session] = WeakKeyDictionary()
        self.take(open_session, vary)

    @property
    def sessions(self) -> list[tuple[Session, bool]]:
        """Those that were opened and are still known, each with whether its instructions are the agent's own."""
        return [
            (session, "instructions" not in self.choices.of(history))
            for history, session in self._sessions.items()
        ]

    def take(self, open_session: Opener, vary: Vary | None = None) -> None:
        """Open sessions with this from now on. Raises what it raises; then the one before stays."""
        probe = open_session()  # asked for what it would declare, never opened
        self._open, self._probe, self.choices.vary = open_session, probe, vary

    def agent(self, *, handle_store: HandleStore | None = None, **options: object) -> Session:
        """A session whose frames go to the history that the relay hands over as its store."""
        history = handle_store if isinstance(handle_store, FrameHistory) else None
        open_session = self.choices.opener(history) or self._open
        session = _opened(open_session, history)
        if history is not None:
            self._sessions[history] = session
            history.begin()
            tap(session, history)
            if history.file is not None:
                history.file.about.model = session.model.rpartition("/")[2]
        return session

    async def end(self, history: FrameHistory) -> None:
        """End the session of this history, if one is open."""
        if (session := self._sessions.get(history)) is not None:
            await session.aclose()

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
                "replay": self._about.replay is not None,
                "history": self.histories.files is not None,
                "choices": self.choices.offered(self._probe),
            }
        )

    async def session(self, request: Request) -> Response:
        """What the model of the page's session has received: its setup, and the functions that it may call now."""
        history = self._history(request)
        session = None if history is None else self._sessions.get(history)
        if session is None or history is None:
            return _UNKNOWN
        history.token = request.headers.get(TOKEN, "")
        return JSONResponse(
            {
                "id": session_key(history.token, None),
                "tools": declarations(session),
                "setup": without_media(session.plan.setup),
                "choices": self.choices.of(history),
            }
        )

    async def frames(self, request: Request) -> Response:
        """The frames of a call of the page's session."""
        if (history := self._history(request)) is None:
            return _UNKNOWN
        return JSONResponse(await run_in_threadpool(frames_of, history, request))

    async def recording(self, request: Request) -> Response:
        """The page's session as a recording."""
        if (history := self._history(request)) is None:
            return _UNKNOWN
        return PlainTextResponse(await run_in_threadpool(history.recording))

    async def test(self, request: Request) -> Response:
        """The page's session as a pytest test."""
        if (history := self._history(request)) is None:
            return _UNKNOWN
        try:
            return PlainTextResponse(
                await run_in_threadpool(lambda: as_test(history.frames(), self._subject(history)))
            )
        except ValueError as error:
            return PlainTextResponse(str(error), 409)

    def _subject(self, history: FrameHistory) -> Subject:
        about, session = self._about, self._sessions.get(history, self._probe)
        asks_approval = any(policy.approval for policy in session.plan.policies.values())
        declared_only = frozenset(name for name, handled in session.tools.items() if not handled)
        choices = changed(about.choices, self.choices.of(history))
        return Subject(about.target, choices, asks_approval, declared_only)

    def _history(self, request: Request) -> FrameHistory | None:
        """The history of the session whose token is in the request's header."""
        token = request.headers.get(TOKEN)
        return self.histories.find(session_key(token, None)) if token else None


def _opened(open_session: Opener, history: FrameHistory | None) -> Session:
    """A session that keeps its handle in its history, where the agent and its model can."""
    if history is not None and history.file is not None:
        with contextlib.suppress(ConfigError):  # a function that takes no store, a model without handles
            return open_session(handle_store=history)
    return open_session()


_UNKNOWN = PlainTextResponse("this session is not known, or its frames are not kept any more", 404)


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
