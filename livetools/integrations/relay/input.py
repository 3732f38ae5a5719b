"""Carries out what a page sends: sound, pictures, texts, decisions about calls."""

from __future__ import annotations

from collections import deque
from contextlib import AsyncExitStack
from typing import Protocol

import anyio

from livetools.errors import ConfigError, LocalProtocolError, ToolError
from livetools.events import ApprovalRequested, Call, Event, ToolCancelled, ToolFinished, ToolStarted
from livetools.integrations.shared.sound_ahead import MAX_AHEAD, SoundAhead
from livetools.session.running.clock import Clock, SystemClock
from livetools.session.session import Session

from . import messages
from .limits import MAX_PICTURE, MAX_TEXTS
from .messages import INPUT_RATE, Approve, Command, ErrorCode, Ping, Text, read_command, reference


class Rejected(Exception):
    """A message of a page was not accepted; the text says why. The conversation continues.

    ``ref`` is the name that the page gave to the message, if it did.
    """

    def __init__(self, code: ErrorCode, message: str, ref: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.ref = ref


class RefusalCallback(Protocol):
    """Tells the page that something it sent was not accepted, later than the message was taken."""

    def __call__(self, code: ErrorCode, message: str, ref: str | None = None) -> None: ...


class PageInput:
    """Hands the messages of pages to one session. ``ended`` is set when a page asks for the end."""

    def __init__(self, session: Session, refuse: RefusalCallback, clock: Clock | None = None) -> None:
        self.ended = anyio.Event()
        self._session = session
        self._clock = clock or SystemClock()
        self._ahead = SoundAhead()
        self._refuse = refuse
        self._calls: dict[str, Call] = {}  # those that are open
        self._texts: deque[Text | None] = deque()  # None: what was typed before it is cut off
        self._sent = anyio.Event()  # a text was, or could not be
        self.spoke = False  # a page has said, shown or decided something
        self.parking = False  # text is refused now: the page sends it again elsewhere
        self._typed = anyio.Event()
        self._activity: AsyncExitStack | None = None

    @property
    def manual(self) -> bool:
        """Whether the config turns automatic activity detection off, so that the page marks speech."""
        config = self._session.plan.setup.get("realtimeInputConfig") or {}
        return bool((config.get("automaticActivityDetection") or {}).get("disabled"))

    def tap(self, event: Event) -> None:
        """Remember which calls are open, so that a page can name them by id."""
        match event:
            case ToolStarted(call) | ApprovalRequested(call):
                self._calls[call.id] = call
            case ToolFinished(call=call) | ToolCancelled(call):
                self._calls.pop(call.id, None)

    async def take(self, message: str | bytes) -> Text | Approve | Ping | None:
        """Carry out a message. Returns the command if the page gets a reply to it.

        Raises :class:`Rejected`, and what ended the session.
        """
        try:
            if isinstance(message, bytes):
                await self._sound(message)
                return None
            try:
                command = read_command(message)
            except ValueError as error:
                raise Rejected("bad_message", str(error), reference(message)) from None
            if isinstance(command, Text) and self.parking:
                return None
            if isinstance(command, Text):
                self._type(command)
                return command
            await self._do(command)
            if isinstance(command, Approve | Ping):
                return command
        except ConfigError as error:
            raise Rejected("bad_message", str(error)) from None
        except LocalProtocolError as error:
            raise Rejected("refused", str(error)) from None
        return None

    async def send_texts(self) -> None:
        """Send the typed texts in order, each when the connection takes it. Runs until it is cancelled."""
        while True:
            self._typed = anyio.Event()
            while self._texts:
                text = self._texts[0]
                try:
                    await (self._session.interrupt() if text is None else self._session.send_text(text.text))
                except (ConfigError, LocalProtocolError) as error:
                    self._refuse("refused", str(error), None if text is None else text.ref)
                self._texts.popleft()
                self._sent.set()
            await self._typed.wait()

    async def texts_sent(self) -> None:
        """Wait until every text that was taken has been sent."""
        while self._texts:
            self._sent = anyio.Event()
            await self._sent.wait()

    async def page_left(self) -> None:
        """End an activity that the page has left open, so that the model answers what was said."""
        if self._activity is not None:
            await self._end_activity()

    async def _sound(self, pcm: bytes) -> None:
        if len(pcm) % 2:
            raise Rejected("bad_message", f"{len(pcm)} bytes are not 16-bit PCM: a sample has two")
        if not self._ahead.allows(len(pcm) / 2 / INPUT_RATE, self._clock.now()):
            raise Rejected(
                "busy", f"{MAX_AHEAD:g} s of sound came ahead of their time: send it as it is spoken"
            )
        if pcm:
            self.spoke = True
            await self._session.send_audio(pcm, INPUT_RATE)

    def _type(self, text: Text) -> None:
        if len(self._texts) >= MAX_TEXTS:
            raise Rejected(
                "busy",
                f"{MAX_TEXTS} texts wait for the connection already: send this one again later",
                text.ref,
            )
        self.spoke = True
        self._texts.append(text)
        self._typed.set()

    async def _do(self, command: Command) -> None:
        session = self._session
        match command:
            case messages.Video(data=picture):
                await self._picture(picture)
            case messages.AudioEnd():
                await session.end_audio()
            case messages.ActivityStart():
                await self._start_activity()
            case messages.ActivityEnd():
                await self._end_activity()
            case messages.Interrupt():
                if self._texts:  # they are stopped too, once they are sent
                    self._texts.append(None)
                await session.interrupt()
            case Approve(id=call_id):
                await session.approve(self._call(call_id))
            case messages.Refuse(id=call_id, reason=reason):
                await session.refuse(self._call(call_id), reason)
            case messages.Respond(id=call_id, value=value, error=error):
                await session.respond(self._call(call_id), value if error is None else ToolError(error))
            case messages.End():
                self.ended.set()
            case messages.Resume():
                raise Rejected(
                    "bad_message", f"resume must be the first message, with the subprotocol {messages.RESUME}"
                )

    async def _picture(self, picture: bytes) -> None:
        if len(picture) > MAX_PICTURE:
            raise Rejected(
                "too_large", f"a picture has {len(picture):,} bytes: {MAX_PICTURE:,} are taken at most"
            )
        self.spoke = True
        await self._session.send_video(picture)

    async def _start_activity(self) -> None:
        self.spoke = True
        stack = AsyncExitStack()
        await stack.enter_async_context(self._session.activity())
        self._activity = stack

    async def _end_activity(self) -> None:
        if self._activity is None:
            raise Rejected("refused", "no activity is open")
        stack, self._activity = self._activity, None
        await stack.aclose()

    def _call(self, call_id: str) -> Call:
        if (call := self._calls.get(call_id)) is None:
            raise Rejected("refused", f"no call with the id {call_id[:100]!r} is open")
        self.spoke = True
        return call
