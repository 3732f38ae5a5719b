"""One call: a provider's websocket on one side, a session of its own on the other."""

from __future__ import annotations

import contextlib
import inspect
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, TypeAlias

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from livetools.audio.pcm import INPUT_RATE, Resampler
from livetools.errors import LiveToolsError
from livetools.events import AudioChunk, Event, GenerationComplete, Interrupted, TurnComplete
from livetools.integrations.drain import Drain
from livetools.integrations.relay.limits import MAX_AHEAD, MAX_SESSIONS, close_reason
from livetools.integrations.relay.page import TRY_AGAIN
from livetools.integrations.relay.places import checked_bound
from livetools.integrations.relay.race import race
from livetools.log import get_logger
from livetools.session.agents import AgentLike, adjust, open_agent, somebody_is_there, went_idle
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock
from livetools.session.session import Session
from livetools.transport.loop.wake import make_wake

from .order import Reorder
from .provider import Key, Mark, Media, Provider, Refused, Start, Stop, heard, read
from .speech import RATE, Speech

log = get_logger("livetools.telephony")

#: Seconds to the start frame.
START_TIMEOUT = 10.0
#: Frames of the caller's sound that wait for the session to open, or for its line: two seconds.
WAITING = 100
#: Bytes of sound that are sent at once, when more than one frame waits: 100 ms.
_TOGETHER = 3200
#: Seconds without a key after which the keys that were pressed are told, in one text.
KEYS = 1.0
#: Keys that wait to be told; what is pressed beyond is dropped.
MAX_KEYS = 64
#: Characters that a stranger may send before the start frame, and in it.
MAX_GREETING = 2**16
#: Seconds that a provider has to play more than the sound lasts, before we believe that it has.
SLOW = 2.0
#: Seconds for the end of a call that is cut off: the closing handshake, and ``on_end``.
LAST_WORDS = 5.0

#: The start frame of a call, with the fields of its ``start`` object beside it.
StartFrame: TypeAlias = Mapping[str, Any]
Reason: TypeAlias = Literal["hangup", "ended", "idle", "parked", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that is over.

    ``start``: its start frame (ids for the provider's REST API). ``reason``: ``"hangup"`` (the caller, or the
    provider, ended the stream), ``"ended"`` (the session did: a tool said ``ends_session``), ``"idle"``, ``"parked"``
    (the process ends; the conversation goes on with the next stream of this call), ``"stopped"`` (the process ends,
    and the call has not ended in time), or ``"failed"`` with the ``error``. ``heard``: seconds of the model's speech
    that the caller has heard. ``contents``: the conversation.
    """

    start: StartFrame
    reason: Reason
    error: Exception | None = None
    heard: float = 0.0
    contents: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user says of the calls of one number."""

    agent: AgentLike
    deps: Callable[[StartFrame], object] | None = None
    greeting: str | None = None
    idle: float | None = None
    on_end: Callable[[Ended], object] | None = None
    stores: Callable[[StartFrame], HandleStore] | None = None
    drain: Drain = field(default_factory=Drain)
    max_sessions: int | None = MAX_SESSIONS

    def __post_init__(self) -> None:
        checked_bound(self.max_sessions, "max_sessions")


async def serve(websocket: WebSocket, provider: Provider, options: Options, clock: Clock) -> None:
    """Take a call on a websocket that was accepted; return when it is over, with the websocket closed."""
    with contextlib.ExitStack() as place:
        try:
            provider.check(websocket.headers)
            start = await _start(websocket, provider)
            if start is None:
                return
            place.enter_context(_place(type(provider), options.max_sessions))
            deps = None if options.deps is None else await _maybe(options.deps(start.frame))
            store = None if options.stores is None else options.stores(start.frame)
            session = open_agent(options.agent, deps=deps, handle_store=store)
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
            call = Call(websocket, start, options, clock, provider.ordered)
            try:
                with options.drain.holds(call):
                    await call.run(session)
            finally:
                call.over.set()


#: Calls that this process has, by their provider.
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


class Call:
    """A call that has started."""

    def __init__(
        self, websocket: WebSocket, start: Start, options: Options, clock: Clock, ordered: bool
    ) -> None:
        self._websocket, self._start, self._options, self._clock = websocket, start, options, clock
        self._speech = Speech(start, clock)
        self._caller = Caller(start, ordered)
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
                await self._end(
                    Ended(self._start.frame, reason, error, self._speech.heard, _contents(session))
                )
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
        """Take in every frame until the phone is gone. Whatever it sends harms nobody."""
        async for frame in Frames(self._websocket):
            match heard(frame):
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

    async def _write(self, *frames: str) -> None:
        try:
            for frame in frames:
                await self._websocket.send_text(frame)
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

        late = self._speech.plays_until + SLOW
        await race(heard_all, self._gone.wait, lambda: self._clock.sleep_until(late))


class Caller:
    """Queues what the caller says and presses for the model. It never waits; when it is full the oldest sound is
    dropped."""

    def __init__(self, start: Start, ordered: bool) -> None:
        self._codec = start.codec
        self._order = None if ordered else Reorder()
        self._resample = Resampler(RATE, INPUT_RATE, prompt=True)
        self._sound: deque[bytes] = deque(maxlen=WAITING)
        self._spoken_until = -inf  # had the sound that came been spoken in its time
        self._ahead = False  # sound came too far ahead of its time: told once
        self._keys = ""
        self._told_at = 0.0
        self._came = make_wake()
        self._pressed = make_wake()

    def take(self, number: int | None, sound: bytes, now: float) -> None:
        """A frame of sound came. More than ``MAX_AHEAD`` seconds ahead of its time it is dropped: each second costs."""
        until = max(self._spoken_until, now) + len(sound) / RATE
        if until > now + MAX_AHEAD:
            if not self._ahead:
                log.warning("sound that came more than %g s ahead of its time is dropped", MAX_AHEAD)
            self._ahead = True
            return
        self._spoken_until = until
        self._sound.extend([sound] if self._order is None else self._order.take(number, sound))
        self._came.set()

    def press(self, digit: str, now: float) -> None:
        """A key was pressed."""
        self._keys = (self._keys + digit)[:MAX_KEYS]
        self._told_at = now if digit == "#" else now + KEYS
        self._pressed.set()

    async def speak(self, session: Session, clock: Clock) -> None:
        """Send all of it. Never returns: the reader of the events knows when the session is over."""
        with contextlib.suppress(LiveToolsError):
            await race(lambda: self._send_sound(session), lambda: self._send_keys(session, clock))
        await anyio.sleep_forever()

    async def _send_sound(self, session: Session) -> None:
        while True:
            await self._came.wait()
            while self._sound:
                pcm = b""
                while self._sound and len(pcm) < _TOGETHER:
                    pcm += self._resample(self._codec.decode(self._sound.popleft()))
                if pcm:
                    await session.send_audio(pcm, INPUT_RATE)

    async def _send_keys(self, session: Session, clock: Clock) -> None:
        while True:
            await self._pressed.wait()
            while clock.now() < self._told_at:  # another key may come, and tell sooner or later
                await race(lambda: clock.sleep_until(self._told_at), self._pressed.wait)
            keys, self._keys = self._keys, ""
            if keys:
                await session.send_text(f"(The caller pressed {keys} on the phone.)")


async def _start(websocket: WebSocket, provider: Provider) -> Start | None:
    """The call, from its start frame; ``None``: the phone was gone before. Nothing else is kept."""
    with anyio.move_on_after(START_TIMEOUT):
        async for frame in Frames(websocket, MAX_GREETING):
            if frame["event"] == "start":
                return provider.begin(frame)
            provider.greet(frame)
        return None
    raise Refused(1002, f"no start frame came within {START_TIMEOUT:g} s")


class Frames:
    """The frames that can be read, until the websocket is closed.

    Raises :class:`Refused` when more than ``most`` characters or bytes have come.
    """

    def __init__(self, websocket: WebSocket, most: float = inf) -> None:
        self._websocket, self._left = websocket, most

    def __aiter__(self) -> Frames:
        return self

    async def __anext__(self) -> Mapping[str, Any]:
        while True:
            try:
                message = await self._websocket.receive()
            except RuntimeError:  # it is closed already
                raise StopAsyncIteration from None
            if message["type"] == "websocket.disconnect":
                raise StopAsyncIteration
            text = message.get("text")
            self._left -= len(text if text is not None else message.get("bytes") or b"")
            if self._left < 0:
                raise Refused(1009, "too much came before the start frame")
            if text is not None and (frame := read(text)) is not None:  # no provider sends binary messages
                return frame


def _contents(session: Session) -> list[dict[str, Any]]:
    return [dict(content) for content in session.transcript.contents]


async def close(websocket: WebSocket, code: int, reason: str) -> None:
    """Close a websocket that may be closed already."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await websocket.close(code, close_reason(reason))


async def _maybe(value: object) -> object:
    return await value if inspect.isawaitable(value) else value
