"""Sessions of the last day on the page: the list, reopening and deleting one; and recordings.

==========================================  =====================================================================
``GET /sessions.json``                      the list, newest first
``POST /sessions/ID/open``                  a token with which a page continues it
``POST /sessions/ID/join``                  the page's own session, in which nothing was said, continues below it
``DELETE /sessions/ID``                     ends and deletes it
``GET /past``                               what was said before the page's own session began
``POST /recording``, ``GET /replay``        what was said in a recording: the one that is sent, that of ``--replay``
==========================================  =====================================================================
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from livetools.cli.recordings.frame_history import FrameHistories, FrameHistory
from livetools.cli.recordings.session_files import Listed
from livetools.integrations.starlette import session_key
from livetools.testing import Recording
from livetools.testing.wire import Frame, without_media

from .past_messages import page_messages

TOKEN = "livetools-session"  # the header that says whose session is asked about

#: Bytes of a recording that a page may send.
MAX_RECORDING = 64 * 2**20

UNKNOWN_SESSION = PlainTextResponse("there is no such session any more", 404)
IN_USE = PlainTextResponse("this session is open in another tab", 409)


@dataclass(frozen=True, slots=True)
class Replay:
    """A recording that is shown: its name and frames."""

    name: str
    frames: tuple[Frame, ...]


class SessionRoutes:
    """Answers for the sessions in ``histories``. ``is_open``: whether the relay has this one; ``end`` ends it."""

    def __init__(
        self,
        histories: FrameHistories,
        is_open: Callable[[str], bool],
        end: Callable[[FrameHistory], Awaitable[None]],
        replay: Replay | None = None,
    ) -> None:
        self._histories, self._is_open, self._end, self._replay = histories, is_open, end, replay

    @property
    def routes(self) -> list[Route]:
        """What is served, by path."""
        return [
            Route("/sessions.json", self.listed),
            Route("/sessions/{id}", self.delete, methods=["DELETE"]),
            Route("/sessions/{id}/open", self.open, methods=["POST"]),
            Route("/sessions/{id}/join", self.join, methods=["POST"]),
            Route("/past", self.past),
            Route("/recording", self.recording, methods=["POST"]),
            Route("/replay", self.replay),
        ]

    async def listed(self, request: Request) -> Response:
        """The sessions of this agent, newest first, and those whose file cannot be read."""
        files, own = self._histories.files, _own(request)
        if files is None:
            return JSONResponse([])
        found = await run_in_threadpool(files.listed)
        return JSONResponse([self._entry(each, own) for each in found if self._is_ours(each)])

    def _is_ours(self, each: Listed) -> bool:
        return each.about is None or each.about.agent == self._histories.agent

    def _entry(self, each: Listed, own: str | None) -> dict[str, object]:
        about = each.about
        return {
            "id": each.id,
            "used": each.used,
            "began": each.used if about is None else about.began,
            "title": "" if about is None else about.title,
            "model": "" if about is None else about.model,
            "readable": about is not None,
            "open": self._is_open(each.id),
            "own": each.id == own,
        }

    def _unreadable(self, error: Exception) -> Response:
        files = self._histories.files
        what = error.strerror if isinstance(error, OSError) else str(error)
        what = f"{what}".replace(f"{files.folder}{os.sep}" if files is not None else "", "")
        return PlainTextResponse(f"this session cannot be read: {what}", 422)

    async def open(self, request: Request) -> Response:
        """A token to continue it with; ``null``: the service cannot, and a new session may :meth:`join` it."""
        id = request.path_params["id"]
        history = self._histories.find(id)
        if self._is_open(id):
            return (
                IN_USE if history is None or history.token is None else JSONResponse({"token": history.token})
            )
        token = secrets.token_urlsafe(32)
        try:
            resumable = self._histories.reopen(id, session_key(token, None))
        except LookupError:
            return UNKNOWN_SESSION
        except (ValueError, OSError) as error:
            return self._unreadable(error)
        return JSONResponse({"token": token if resumable else None})

    async def join(self, request: Request) -> Response:
        """Let the page's own session continue below the conversation of this one."""
        own, id = _own(request), request.path_params["id"]
        if own is None or self._histories.find(own) is None or self._is_open(id):
            return UNKNOWN_SESSION
        try:
            self._histories.join(id, own)
        except LookupError:
            return UNKNOWN_SESSION
        except (ValueError, OSError) as error:
            return self._unreadable(error)
        return JSONResponse({})

    async def delete(self, request: Request) -> Response:
        """End a session and delete it."""
        files, id = self._histories.files, request.path_params["id"]
        history = self._histories.find(id)
        if history is not None and self._is_open(id):
            await self._end(history)
        self._histories.forget(id)
        if files is not None:
            files.delete(id)
        return JSONResponse({})

    async def past(self, request: Request) -> Response:
        """What was said before the page's own session began, and whether the model of that one knows it."""
        own = _own(request)
        history = None if own is None else self._histories.find(own)
        if history is None or not history.before:
            return await run_in_threadpool(conversation, [])
        return await run_in_threadpool(conversation, history.before, knows=history.resumed)

    async def recording(self, request: Request) -> Response:
        """What was said in the recording that is the body of the request."""
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_RECORDING:
                return PlainTextResponse(f"the recording has more than {MAX_RECORDING // 2**20} MiB", 413)
        try:
            return await run_in_threadpool(lambda: conversation(read_recording(bytes(body)), media=True))
        except ValueError as error:
            return PlainTextResponse(str(error), 422)

    async def replay(self, request: Request) -> Response:
        """What was said in the recording of ``--replay``."""
        if self._replay is None:
            return UNKNOWN_SESSION
        return await run_in_threadpool(conversation, self._replay.frames, self._replay.name, media=True)


def read_recording(data: bytes) -> list[Frame]:
    """The frames of a recording that is in memory. Raises ``ValueError`` that names the line that is not one of it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "recording.jsonl")
        file.write_bytes(data)
        try:
            frames = Recording.load(file).frames
        except ValueError as error:
            raise ValueError(str(error).replace(f"{file}:", "line ", 1)) from None
    if not frames:
        raise ValueError("this recording is empty")
    return frames


def conversation(
    frames: Iterable[Frame], name: str = "", *, knows: bool = False, media: bool = False
) -> Response:
    """What the page needs to show these frames as a conversation; with ``media``, to let it be heard as well."""
    frames = list(frames)
    slim = [
        {
            "time": frame.time,
            "direction": frame.direction,
            "connection": frame.connection,
            "frame": frame.message if media else without_media(frame.message),
        }
        for frame in frames
    ]
    facts = json.dumps({"name": name, "knows": knows, "frames": slim}).removesuffix("}")
    messages = ",".join(page_messages(frames))  # which are JSON already
    return Response(f'{facts}, "messages": [{messages}]}}', media_type="application/json")


def _own(request: Request) -> str | None:
    """The id of the session whose token is in the request's header."""
    token = request.headers.get(TOKEN)
    return session_key(token, None) if token else None
