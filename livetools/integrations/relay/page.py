"""One websocket of a page: reading within bounds, writing, closing."""

from __future__ import annotations

import contextlib
from collections import deque

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from livetools.integrations.shared.closing import SERVER_STOPS, close_reason
from livetools.log import get_logger
from livetools.session.running.clock import Clock
from livetools.transport.loop.wake import make_wake

from .event_log import EventLog
from .limits import HEARTBEAT, MAX_AUDIO, MAX_MESSAGE, MAX_NOTICES, WRITE_TIMEOUT
from .messages import ErrorCode, PageMessage, Refused, closing, encode, ending

log = get_logger("livetools.relay")

# Close codes of our own, told in the protocol.
NOT_A_RESUME = 4400
TOO_SLOW = 4408
REPLACED_BY_PAGE = 4409


class Page:
    """Reads messages within bounds, and writes from one task: notices first, then the log."""

    def __init__(self, websocket: WebSocket, write_timeout: float = WRITE_TIMEOUT) -> None:
        self._websocket = websocket
        self._write_timeout = write_timeout
        self._notices: deque[str] = deque()
        self._changed = make_wake()  # there may be something to write
        self._room = anyio.Event()  # notices were written
        self._closing: tuple[int, str] | None = None
        self.server_stops = False
        self._wrote = False  # since the last beat

    async def receive(self) -> str | bytes | None:
        """The next message; ``None`` when the page has left. Messages past the bounds are refused and skipped."""
        while True:
            while len(self._notices) >= MAX_NOTICES:
                self._room = anyio.Event()
                await self._room.wait()
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                self.server_stops = message.get("code") == SERVER_STOPS
                return None
            if (text := message.get("text")) is not None:
                content: str | bytes = str(text)
                bound = MAX_MESSAGE
            else:
                content, bound = bytes(message.get("bytes") or b""), MAX_AUDIO
            if len(content) <= bound:
                return content
            self.refuse("too_large", f"a message of {len(content):,} bytes came: {bound:,} are taken at most")

    def tell(self, message: PageMessage) -> None:
        """Queue a message that is written before what the log holds."""
        self._notices.append(encode(message))
        self._changed.set()

    def refuse(self, code: ErrorCode, message: str, ref: str | None = None) -> None:
        """Queue an ``error``: something that the page sent was not accepted."""
        refused: Refused = {"type": "error", "code": code, "message": message}
        if ref is not None:
            refused["ref"] = ref
        self.tell(refused)

    def end(self, error: Exception, debug: bool = False) -> None:
        """Tell the page that no session could be opened for it, and close it."""
        ended = ending(error, debug)
        self.tell(ended)
        self.close(*closing(ended))

    def wake(self) -> None:
        """Wake the writer: the log has grown."""
        self._changed.set()

    def close(self, code: int, reason: str) -> None:
        """Close the websocket after everything was written. Only the first call counts."""
        self._closing = self._closing or (code, reason)
        self._changed.set()

    async def beat(self, clock: Clock) -> None:
        """Write something every ``HEARTBEAT`` seconds or sooner, so that a page notices a dead line. Never returns."""
        while True:
            self._wrote = False
            # Where nothing was written in one half, something is by the end of the next.
            await clock.sleep_until(clock.now() + HEARTBEAT / 2)
            if not self._wrote and not self._notices:
                self.tell({"type": "alive"})

    async def write(self, events: EventLog, after: int) -> None:
        """Write notices and the log from event ``after`` on. Returns when the websocket is closed."""
        try:
            while True:
                after = await self._flush(events, after)
                if self._closing is not None:
                    return await self._close(*self._closing)
                await self._changed.wait()
        except TimeoutError:
            log.warning("a page did not read for %g s, and was closed", self._write_timeout)
            await self._close(TOO_SLOW, f"the page did not read for {self._write_timeout:g} s")
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass  # it has left; its reader sees that as well

    async def _flush(self, events: EventLog, after: int) -> int:
        while True:
            if self._notices:
                message: str | bytes = self._notices.popleft()
                self._room.set()
            elif self._closing is not None and self._closing[0] == REPLACED_BY_PAGE:
                return after  # the rest is the other page's
            elif (following := events.next(after)) is not None:
                after, message = following
            else:
                return after
            self._wrote = True
            with anyio.move_on_after(self._write_timeout) as scope:
                if isinstance(message, str):
                    await self._websocket.send_text(message)
                else:
                    await self._websocket.send_bytes(message)
            if scope.cancelled_caught:
                raise TimeoutError

    async def _close(self, code: int, reason: str) -> None:
        with anyio.move_on_after(self._write_timeout, shield=True):
            with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
                await self._websocket.close(code, close_reason(reason))
