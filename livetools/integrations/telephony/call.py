"""One call: a provider's websocket on one side, a session of its own on the other."""

from __future__ import annotations

import contextlib
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from math import inf
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from livetools.errors import ConfigError, LiveToolsError
from livetools.events import AudioChunk, Event, GenerationComplete, Interrupted, TurnComplete
from livetools.integrations.relay.limits import close_reason
from livetools.integrations.relay.page import TRY_AGAIN
from livetools.integrations.relay.race import race
from livetools.log import get_logger
from livetools.session.agents import AgentLike, adjust, open_agent, somebody_is_there, went_idle
from livetools.session.session import Session
from livetools.transport.loop.wake import make_wake

from .caller import CallerSide
from .codec import Codec, codec_of
from .contract import (
    Heard,
    Key,
    Mark,
    Media,
    Message,
    Provider,
    Reader,
    Refused,
    Start,
    Stop,
    checked_provider,
)
from .options import Ended, Options, Reason, StartFrame
from .speech import Speech

log = get_logger("livetools.telephony")

#: Seconds to the start frame.
START_TIMEOUT = 10.0
#: Characters that a stranger may send before the start frame, and in it.
MAX_GREETING = 2**16
#: Seconds for the end of a call that is cut off: the closing handshake, and ``on_end``.
LAST_WORDS = 5.0


async def take_call(websocket: WebSocket, provider: Provider, agent: AgentLike, options: Options) -> None:
    """Take a call on a websocket that was accepted; return when it is over, with the websocket closed."""
    with contextlib.ExitStack() as place:
        try:
            checked_provider(provider)
            codec_of(provider.encoding, provider.rate)
            provider.check(websocket.headers)
            reader = Reader(provider)
            start = await _start(websocket, reader)
            if start is None:
                return
            codec = _codec(provider)
            place.enter_context(_place(type(provider), options.max_sessions))
            deps = None if options.deps is None else await _maybe(options.deps(start.frame))
            store = None if options.stores is None else options.stores(start.frame)
            session = open_agent(agent, deps=deps, handle_store=store)
            if store is not None and await store.load() is not None:
                options = replace(options, greeting=None)  # it goes on
        except Refused as refused:
            log.warning("a call was refused: %s", refused)
            await close(websocket, refused.code, str(refused))
        except PermissionError as error:
            log.info("a call was refused: %s", error)
            await close(websocket, 1008, "not allowed")
        except Exception:
            await close(websocket, 1011, "the call could not be taken")
            raise
        else:
            call = Call(websocket, start.frame, Messages(websocket, reader), provider, codec, options)
            try:
                with options.drain.holds(call):
                    await call.run(session)
            finally:
                call.over.set()


#: Calls that this process has, by the class of their provider.
_calls: Counter[type[Provider]] = Counter()


@contextlib.contextmanager
def _place(provider: type[Provider], most: int | None) -> Iterator[None]:
    """A place among the calls of a provider. Raises :class:`Refused` if there is none left."""
    if most is not None and _calls[provider] >= most:
        raise Refused(TRY_AGAIN, "too many calls: max_sessions is reached")
    _calls[provider] += 1
    try:
        yield
    finally:
        _calls[provider] -= 1
        if not _calls[provider]:
            del _calls[provider]


class Call:
    """A call that has started."""

    def __init__(
        self,
        websocket: WebSocket,
        start: StartFrame,
        messages: Messages,
        provider: Provider,
        codec: Codec,
        options: Options,
    ) -> None:
        self._websocket, self._start, self._messages = websocket, start, messages
        self._options, self._clock = options, options.clock
        self._speech = Speech(provider, codec, self._clock)
        self._caller = CallerSide(codec, provider.rate)
        self._gone = anyio.Event()  # the phone is
        self._marked = make_wake()  # a mark came back
        self._session: Session | None = None  # once it stands
        self._opening: anyio.CancelScope | None = None
        self._stop_by = inf  # the process ends
        self._stopping = anyio.Event()
        self.over = anyio.Event()

    async def park(self, within: float) -> None:
        """Let the call end, for so many seconds; with ``stores`` it is parked as soon as nobody speaks.

        Returns when it is over.
        """
        self._stop_by = min(self._stop_by, self._clock.now() + within)
        self._stopping.set()
        await self.over.wait()

    async def run(self, session: Session) -> None:
        """Hold the conversation, to its end. Raises what is nobody's word for the end of a session."""
        reason: Reason = "hangup"
        error: Exception | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._listen_to_phone)
                try:
                    reason = await self._converse(session)
                    await self._farewell()
                except Exception as failure:
                    reason, error = "failed", failure
                group.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(LAST_WORDS, shield=True):
                await self._end(Ended(self._start, reason, error, self._speech.heard, _contents(session)))
        if error is not None and not isinstance(error, LiveToolsError):
            raise error

    async def _end(self, ended: Ended) -> None:
        if isinstance(ended.error, LiveToolsError):
            log.error("a call failed: %s", ended.error)
        code = 1011 if ended.reason == "failed" else 1000
        await close(self._websocket, code, f"the call is over: {ended.reason}")
        if self._options.on_end is not None:
            await _maybe(self._options.on_end(ended))

    # The phone

    async def _listen_to_phone(self) -> None:
        """Take in every message until the phone is gone. Whatever it sends harms nobody."""
        async for said in self._messages:
            match said:
                case Media(sound, number):
                    self._caller.take(number, sound, self._clock.now())
                case Key(digit):
                    self._caller.press(digit, self._clock.now())
                    if self._session is not None:
                        somebody_is_there(self._session)
                case Mark(name):
                    self._speech.played(name)
                    self._marked.set()
                case Stop():
                    break
        self._gone.set()
        self._marked.set()
        if self._opening is not None:
            self._opening.cancel()

    async def _write(self, *messages: Message | None) -> None:
        try:
            for message in messages:
                if isinstance(message, str):
                    await self._websocket.send_text(message)
                elif message is not None:
                    await self._websocket.send_bytes(message)
        except (WebSocketDisconnect, RuntimeError):  # starlette's word for a socket that is closed
            self._gone.set()

    # The session

    async def _converse(self, session: Session) -> Reason:
        if self._options.idle is not None:
            adjust(session, idle=self._options.idle)  # in the place of the agent's own
        with anyio.CancelScope() as self._opening:
            async with session:
                self._opening, self._session = None, session
                if not self._gone.is_set():
                    return await self._both_ways(session)
        return "hangup"

    async def _both_ways(self, session: Session) -> Reason:
        first: list[Reason] = []  # why it is over

        def way(reason: Reason, run: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
            async def ends() -> None:
                await run()
                first.append("parked" if session.parked else "idle" if went_idle(session) else reason)

            return ends

        ways = [
            way("ended", lambda: self._listen_to_model(session)),
            way("hangup", self._gone.wait),
            way("stopped", lambda: self._stop(session)),
            lambda: self._caller.speak(session, self._clock),
        ]
        if self._options.greeting is not None:
            ways.append(lambda: self._greet(session))
        await race(*ways)
        return first[0]

    async def _stop(self, session: Session) -> None:
        """Return when the process has waited for the call for long enough."""
        await self._stopping.wait()
        if self._options.stores is None:
            return await self._clock.sleep_until(self._stop_by)
        await session.park(max(0.0, self._stop_by - self._clock.now()))
        return await anyio.sleep_forever()  # whoever listens knows when all was said

    async def _greet(self, session: Session) -> None:
        with contextlib.suppress(LiveToolsError):  # whoever reads the events is told why it is over
            await session.generate_reply(self._options.greeting)
        await anyio.sleep_forever()

    async def _listen_to_model(self, session: Session) -> None:
        async for event in session:
            await self._show(event)

    async def _show(self, event: Event) -> None:
        match event:
            case AudioChunk(data=pcm, rate=rate):
                await self._write(*self._speech.say(pcm, rate))
            case Interrupted():
                await self._write(self._speech.cut())
            case GenerationComplete() | TurnComplete():
                await self._write(*self._speech.pause())

    async def _farewell(self) -> None:
        """Wait until the caller has heard what was said, by the last mark, or until that can no longer be."""
        await self._write(*self._speech.pause())

        async def heard_all() -> None:
            while self._speech.waiting:
                await self._marked.wait()

        late = self._speech.heard_by
        await race(heard_all, self._gone.wait, lambda: self._clock.sleep_until(late))


async def _start(websocket: WebSocket, reader: Reader) -> Start | None:
    """The start of the call; ``None``: the phone was gone before. Nothing else is kept."""
    with anyio.move_on_after(START_TIMEOUT):
        async for said in Messages(websocket, reader, MAX_GREETING):
            if isinstance(said, Start):
                return said
        return None
    raise Refused(1002, f"no start frame came within {START_TIMEOUT:g} s")


def _codec(provider: Provider) -> Codec:
    """The codec, which the start frame may have changed. Raises :class:`Refused`."""
    try:
        return codec_of(provider.encoding, provider.rate)
    except ConfigError as error:
        raise Refused(1003, str(error)) from None


class Messages:
    """What a provider says, until its websocket is closed.

    Raises :class:`Refused` when more than ``most`` characters or bytes have come.
    """

    def __init__(self, websocket: WebSocket, reader: Reader, most: float = inf) -> None:
        self._websocket, self._reader, self._left = websocket, reader, most

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> Heard:
        while True:
            try:
                message = await self._websocket.receive()
            except RuntimeError:  # it is closed already
                raise StopAsyncIteration from None
            if message["type"] == "websocket.disconnect":
                raise StopAsyncIteration
            text = message.get("text")
            content = message.get("bytes") or b"" if text is None else text
            self._left -= len(content)
            if self._left < 0:
                raise Refused(1009, "too much came before the start frame")
            if (said := self._reader.read(content)) is not None:
                return said


def _contents(session: Session) -> list[dict[str, Any]]:
    return [dict(content) for content in session.transcript.contents]


async def close(websocket: WebSocket, code: int, reason: str) -> None:
    """Close a websocket that may be closed already."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await websocket.close(code, close_reason(reason))


async def _maybe(value: object) -> object:
    return await value if inspect.isawaitable(value) else value
