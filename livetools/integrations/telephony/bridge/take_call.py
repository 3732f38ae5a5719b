"""One call: a provider's websocket on one side, a session of its own on the other."""

from __future__ import annotations

import contextlib
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import anyio
import anyio.lowlevel
from starlette.websockets import WebSocket, WebSocketDisconnect

from livetools.errors import ConfigError, LiveToolsError
from livetools.events import AudioChunk, Event, GenerationComplete, Interrupted, ToolStarted, TurnComplete
from livetools.integrations.shared.closing import TRY_AGAIN, close_reason
from livetools.integrations.shared.last_handle import resumed_session
from livetools.integrations.telephony.call_control.phone_call import PhoneCall, set_current
from livetools.integrations.telephony.providers.provider import (
    CallMessage,
    CallRefused,
    Key,
    Mark,
    Media,
    Provider,
    ProviderReader,
    RawMessage,
    Start,
    StartFrame,
    Stop,
    checked_provider,
)
from livetools.integrations.telephony.sound.call_recording import begun
from livetools.integrations.telephony.sound.codec import Codec, codec_of
from livetools.log import get_logger
from livetools.session.agents import AgentLike, adjust, open_agent, somebody_is_there, went_idle
from livetools.session.listening.frame_tap import listen
from livetools.session.session import Session
from livetools.transport.loop.race import race

from .call_options import Ended, Options, Reason
from .caller_side import CallerSide
from .hold import Hold, sound_of
from .model_speech import ModelSpeech

log = get_logger("livetools.telephony")

#: Seconds to the start frame.
START_TIMEOUT = 10.0
#: Characters that a stranger may send before the start frame, and in it.
MAX_GREETING = 2**16
#: Seconds for the end of a call that is cut off: the closing handshake, and ``on_end``.
_LAST_WORDS = 5.0
#: Seconds that a session continues after its caller was transferred: the tool that did it answers.
MOVED = 0.5


async def take_call(websocket: WebSocket, provider: Provider, agent: AgentLike, options: Options) -> None:
    """Take a call on a websocket that was accepted; return when it is over, with the websocket closed."""
    with contextlib.ExitStack() as place:
        try:
            checked_provider(provider)
            codec_of(provider.encoding, provider.rate)
            provider.check(websocket.headers)
            reader = ProviderReader(provider)
            start = await _start(websocket, reader)
            if start is None:
                return
            codec = _codec(provider)
            place.enter_context(_place(type(provider), options.max_sessions))
            deps = None if options.deps is None else await _maybe(options.deps(start.frame))
            store = None if options.stores is None else options.stores(start.frame)
            again = partial(open_agent, agent, deps=deps, handle_store=store)
            session = again()
            continues = store is not None and await store.load() is not None
            if continues:
                options = replace(options, greeting=None)
            sound = CallSound(provider, codec, start, options)
        except CallRefused as refused:
            log.warning("a call was refused: %s", refused)
            await close(websocket, refused.code, str(refused))
        except PermissionError as error:
            log.info("a call was refused: %s", error)
            await close(websocket, 1008, "not allowed")
        except Exception:
            await close(websocket, 1011, "the call could not be taken")
            raise
        else:
            call = ActiveCall(websocket, start.frame, Messages(websocket, reader), sound, options)
            try:
                with options.drain.holds(call):
                    await call.run(session, again if continues else None)
            finally:
                call.over.set()


#: Calls that this process has, by the class of their provider.
_calls: Counter[type[Provider]] = Counter()


@contextlib.contextmanager
def _place(provider: type[Provider], most: int | None) -> Iterator[None]:
    """A place among the calls of a provider. Raises :class:`CallRefused` if no place is left."""
    if most is not None and _calls[provider] >= most:
        raise CallRefused(TRY_AGAIN, "too many calls: max_sessions is reached")
    _calls[provider] += 1
    try:
        yield
    finally:
        _calls[provider] -= 1
        if not _calls[provider]:
            del _calls[provider]


class CallSound:
    """The sound of a call: what the caller says and hears, what plays while a tool runs, and the recording."""

    def __init__(self, provider: Provider, codec: Codec, start: Start, options: Options) -> None:
        rate, clock = provider.rate, options.clock
        sound = sound_of(options.hold_sound, codec, rate)
        self.recording = None if options.record is None else begun(options.record, start.id, rate, clock)
        self.speech = ModelSpeech(provider, codec, clock, self.recording)
        self.hold = Hold(sound, self.speech, clock) if sound else None
        self.caller = CallerSide(codec, rate, self.recording)


class ActiveCall:
    """A call from its start frame to its end: the phone's websocket on one side, a session on the other."""

    def __init__(
        self, websocket: WebSocket, start: StartFrame, messages: Messages, sound: CallSound, options: Options
    ) -> None:
        self._websocket, self._start, self._messages = websocket, start, messages
        self._options, self._clock = options, options.clock
        self._speech, self._caller, self._hold = sound.speech, sound.caller, sound.hold
        self._recording = sound.recording
        self._phone = PhoneCall(start, options.account, self._until_all_heard, self._press)
        self._started, self._shown = 0, 0  # tools: those that have started, and those that were heard of here
        self._writing = anyio.Lock(fast_acquire=True)
        self._gone = anyio.Event()  # the phone is
        self._news = anyio.Event()  # a mark came back, or a tool was shown; the next news have another
        self._session: Session | None = None  # once it is open
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

    async def run(self, session: Session, again: Callable[[], Session] | None) -> None:
        """Hold the conversation, to its end. Raises any error but a ``LiveToolsError``: those end a session.

        ``again``: the conversation is continued, and this makes another session for a handle that is saved meanwhile.
        """
        reason: Reason = "hangup"
        error: Exception | None = None
        leave = set_current(self._phone)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._listen_to_phone)
                try:
                    reason = await self._converse(session, again)
                    if reason != "transferred":
                        await self._until_heard()
                    if reason in ("ended", "idle"):
                        await self._hang_up()
                except Exception as failure:
                    reason, error = "failed", failure
                group.cancel_scope.cancel()
        finally:
            leave()
            self._phone.end()
            with anyio.move_on_after(_LAST_WORDS, shield=True):
                await self._end(reason, error, self._session or session)
        if error is not None and not isinstance(error, LiveToolsError):
            raise error

    async def _end(self, reason: Reason, error: Exception | None, session: Session) -> None:
        if isinstance(error, LiveToolsError):
            log.error("a call failed: %s", error)
        if self._recording is not None:
            self._recording.close()
        code = 1011 if reason == "failed" else 1000
        await close(self._websocket, code, f"the call is over: {reason}")
        if self._options.on_end is not None:
            file = None if self._recording is None else self._recording.path
            heard, contents = self._speech.heard, _contents(session)
            await _maybe(self._options.on_end(Ended(self._start, reason, error, heard, contents, file)))

    async def _hang_up(self) -> None:
        """End the call at the provider, if there is an account for that. An error of the provider is only logged."""
        account = self._options.account
        if account is None or self._gone.is_set():
            return
        try:
            await account.hang_up(self._start)
        except LiveToolsError as error:
            log.error("a call was not hung up: %s", error)

    # The phone

    async def _listen_to_phone(self) -> None:
        """Read every message until the phone hangs up. No message can end the process or another call."""
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
                    self._tell()
                case Stop():
                    break
        self._gone.set()
        self._tell()
        if self._opening is not None:
            self._opening.cancel()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def _press(self, keys: str) -> None:
        await self._until_sent()
        await self._write(self._speech.press(keys))

    async def _until_sent(self) -> None:
        """Wait until what the model said before this tool was called is on the line: tools start before the events that
        came ahead of them are read."""
        await anyio.lowlevel.checkpoint()
        started = self._started
        while self._shown < started and not self._gone.is_set():
            await self._news.wait()

    async def _write(self, messages: Iterable[RawMessage | None]) -> None:
        """Send these. They are made under the lock of sending, because making them reads the connection's state."""
        try:
            async with self._writing:
                for message in messages:
                    if isinstance(message, str):
                        await self._websocket.send_text(message)
                    elif message is not None:
                        await self._websocket.send_bytes(message)
        except (WebSocketDisconnect, RuntimeError):  # what starlette raises for a closed socket
            self._gone.set()

    # The session

    async def _converse(self, session: Session, again: Callable[[], Session] | None) -> Reason:
        session = self._adjusted(session)
        entering: AbstractAsyncContextManager[Session] = session
        if again is not None:
            entering = resumed_session(session, lambda: self._adjusted(again()), self._clock)
        with anyio.CancelScope() as self._opening:
            async with entering as session:
                self._opening, self._session = None, session
                if not self._gone.is_set():
                    return await self._both_ways(session)
        return "hangup"

    def _adjusted(self, session: Session) -> Session:
        """The session with what the bridge says in the place of the agent's own."""
        return session if self._options.idle is None else adjust(session, idle=self._options.idle)

    async def _both_ways(self, session: Session) -> Reason:
        listen(session, self._count)
        first: list[Reason] = []  # why it is over

        def way(reason: Reason, run: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
            async def ends() -> None:
                await run()
                parked, idle, moved = session.parked, went_idle(session), self._phone.transferred
                first.append("transferred" if moved else "parked" if parked else "idle" if idle else reason)

            return ends

        ways = [
            way("ended", lambda: self._listen_to_model(session)),
            way("hangup", self._gone.wait),
            way("stopped", lambda: self._stop(session)),
            way("transferred", self._leave),
            lambda: self._caller.speak(session, self._clock),
        ]
        if self._hold is not None:
            hold = self._hold
            ways.append(lambda: hold.play(self._write))
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
        return await anyio.sleep_forever()  # the reader of the events knows when everything was said

    async def _leave(self) -> None:
        """Return when the caller is somebody else's, and the tool that did it has answered."""
        await self._phone.moved.wait()
        await self._clock.sleep_until(self._clock.now() + MOVED)

    async def _greet(self, session: Session) -> None:
        with contextlib.suppress(LiveToolsError):  # the reader of the events gets the error
            await session.generate_reply(self._options.greeting)
        await anyio.sleep_forever()

    async def _listen_to_model(self, session: Session) -> None:
        async for event in session:
            await self._show(event)
            if isinstance(event, ToolStarted):
                self._shown += 1
                self._tell()

    def _count(self, event: Event) -> None:
        self._started += isinstance(event, ToolStarted)

    async def _show(self, event: Event) -> None:
        if self._hold is not None:
            await self._write(self._hold.take(event))
        match event:
            case AudioChunk(data=pcm, rate=rate):
                await self._write(self._speech.say(pcm, rate))
            case Interrupted():
                await self._write([self._speech.cut()])
            case GenerationComplete() | TurnComplete():
                await self._write(self._speech.pause())

    async def _until_all_heard(self) -> None:
        """As :meth:`_until_heard`, in a tool."""
        await self._until_sent()
        await self._until_heard()

    async def _until_heard(self) -> None:
        """Wait until the caller has heard what was said, by the last mark, or until that can no longer be."""
        await self._write(self._speech.pause())

        async def heard_all() -> None:
            while self._speech.waiting:
                await self._news.wait()

        late = self._speech.heard_by
        await race(heard_all, self._gone.wait, lambda: self._clock.sleep_until(late))


async def _start(websocket: WebSocket, reader: ProviderReader) -> Start | None:
    """The start of the call; ``None``: the phone was gone before. Nothing else is kept."""
    with anyio.move_on_after(START_TIMEOUT):
        async for said in Messages(websocket, reader, MAX_GREETING):
            if isinstance(said, Start):
                return said
        return None
    raise CallRefused(1002, f"no start frame came within {START_TIMEOUT:g} s")


def _codec(provider: Provider) -> Codec:
    """The codec, which the start frame may have changed. Raises :class:`CallRefused`."""
    try:
        return codec_of(provider.encoding, provider.rate)
    except ConfigError as error:
        raise CallRefused(1003, str(error)) from None


class Messages:
    """The messages of a provider, until its websocket is closed.

    Raises :class:`CallRefused` when more than ``most`` characters or bytes have come.
    """

    def __init__(self, websocket: WebSocket, reader: ProviderReader, most: float = inf) -> None:
        self._websocket, self._reader, self._left = websocket, reader, most

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> CallMessage:
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
                raise CallRefused(1009, "too much came before the start frame")
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
