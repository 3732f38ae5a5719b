"""Model, voice, language and instructions that are chosen on the page: each choice is of the sessions that it begins.

A page says what it wants with ``POST /choices``, which tries it and gives it a key. The key is in the URL of the
page's websocket, so each tab has its own choices. An instruction would be too long for a URL.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import TypeAlias
from urllib.parse import parse_qs
from weakref import WeakKeyDictionary

import typer
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from livetools.cli.agents.open_sessions import Choices, Opener
from livetools.cli.recordings.frame_history import FrameHistory
from livetools.errors import LiveToolsError
from livetools.session.session import Session
from livetools.setup.model_profiles import VOICES, families

#: Makes what opens sessions with these choices in the place of the agent's own. Raises ``ConfigError`` as that does.
Vary: TypeAlias = Callable[[Choices], Opener]

_NAMES = ("model", "voice", "language", "instructions")
#: Choices that are remembered, and characters of one.
MAX_CHOICES, _MAX_TEXT = 64, 2**16

#: The key in the URL of the websocket that is served just now.
_key: ContextVar[str] = ContextVar("choices", default="")


class Chosen:
    """Passes everything on to ``app``, which may then ask whose choices are meant."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            _key.set(query.get("choices", [""])[-1])
        await self._app(scope, receive, send)


class PageChoices:
    """What pages have chosen. ``vary`` is ``None`` where they may not."""

    def __init__(self) -> None:
        self.vary: Vary | None = None
        self._chosen: OrderedDict[str, dict[str, str]] = OrderedDict()
        self._of: WeakKeyDictionary[FrameHistory, dict[str, str]] = WeakKeyDictionary()

    async def choose(self, request: Request) -> Response:
        """Answer with a key for the choices in the request, or with what is wrong with them."""
        try:
            given = await request.json()
        except ValueError:
            return PlainTextResponse("the choices are not JSON", 400)
        if not isinstance(given, dict) or self.vary is None:
            return PlainTextResponse("there is nothing to choose on this page", 400)
        texts = {name: str(given.get(name) or "").strip()[:_MAX_TEXT] for name in _NAMES}
        chosen = {name: text for name, text in texts.items() if text}
        try:
            self.vary(changed(Choices(), chosen))
        except (LiveToolsError, typer.BadParameter) as error:
            return PlainTextResponse(str(error), 400)
        key = secrets.token_hex(8)
        self._chosen[key] = chosen
        while len(self._chosen) > MAX_CHOICES:
            self._chosen.popitem(last=False)
        return JSONResponse({"key": key})

    def opener(self, history: FrameHistory | None) -> Opener | None:
        """What opens the session of this history, or of the page that asks just now; ``None``: nothing was chosen."""
        chosen = self._chosen.get(_key.get()) or {}
        if not chosen and history is not None and history.file is not None:
            chosen = history.file.about.choices or {}
        if history is not None:
            self._of[history] = chosen
            if history.file is not None:
                history.file.about.choices = chosen or None
        return self.vary(changed(Choices(), chosen)) if chosen and self.vary is not None else None

    def of(self, history: FrameHistory) -> dict[str, str]:
        """What was chosen for the session of this history."""
        return self._of.get(history, {})

    def offered(self, session: Session) -> dict[str, list[str]] | None:
        """The models and voices that are known, as suggestions; ``None``: a page may choose nothing."""
        if self.vary is None:
            return None
        return {"models": sorted(families()), "voices": sorted(session.profile.voices or VOICES)}


def changed(choices: Choices, chosen: Mapping[str, str]) -> Choices:
    """The choices, where a page's own replace those of the same name."""
    return replace(
        choices,
        model=chosen.get("model", choices.model),
        voice=chosen.get("voice", choices.voice),
        language=chosen.get("language", choices.language),
        instructions=chosen.get("instructions", choices.instructions),
    )
