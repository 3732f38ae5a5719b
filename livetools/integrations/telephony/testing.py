"""Calls an app in a test: a telephone without a provider, a network or a key.

::

    async with Caller(app, "/call", provider="plivo") as caller:
        await caller.hear()  # the greeting
        await caller.speak()
        await caller.hear()
        await caller.press("1")
        await caller.hang_up()

With the fixture ``live_server`` the model is a script, so speech is a tone, and the test decides what it means.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel

from livetools.audio.pcm import INPUT_RATE, Resampler
from livetools.errors import ConfigError

from .fakes.phones import PHONES, Clear, Phone, PlivoPhone, TelnyxPhone, TwilioPhone
from .fakes.rest_apis import FakeRest, RestRequest
from .providers.provider import Key, Mark, Media, RawMessage
from .sound.codec import Codec, codec_of
from .sound.tones import keys_in

__all__ = [
    "Caller",
    "Clear",
    "FakeRest",
    "Phone",
    "PlivoPhone",
    "RestRequest",
    "TelnyxPhone",
    "TwilioPhone",
]

App: TypeAlias = Callable[..., Awaitable[None]]

#: Seconds of a message of the caller's sound, and of the silence behind what they say.
_FRAME, _SILENCE = 0.02, 0.8
#: Seconds between two messages of sound: ten times as fast as a voice.
_PACE = 0.002
#: Seconds that the app has to say something, or to end the call.
CALLER_PATIENCE = 10.0


class Caller:
    """Somebody who calls an ASGI app (FastAPI, Starlette) on the websocket ``path``; hangs up when it is left.

    ``provider``: ``"twilio"``, ``"telnyx"``, ``"plivo"``, or a :class:`Phone`. What the app says is played at once, so
    its marks come back as they are sent. What the app raises is raised when the context is left.

    ``heard``: all that was said to the caller, 16-bit PCM of ``rate`` Hz. ``cleared``: how often the app dropped what
    it had sent: the caller cut in. ``code``: how the app closed the websocket; ``None``: it has not.

    ::

        async with Caller(app, "/call") as caller:
            await caller.speak()
            print(len(await caller.hear()) > 0)
    """

    def __init__(self, app: App, path: str = "/", *, provider: str | Phone = "twilio") -> None:
        if isinstance(provider, str) and provider not in PHONES:
            raise ConfigError(f"provider {provider!r} is not known: {', '.join(PHONES)}, or a Phone")
        self.heard = b""
        self.cleared = 0
        self.code: int | None = None
        self._app, self._path = app, path
        self._phone = PHONES[provider]() if isinstance(provider, str) else provider
        self._codec: Codec = codec_of(self._phone.encoding, self._phone.rate)
        self._keys = ""
        self._told = 0  # bytes of `heard` that `hear` has returned
        self._news = anyio.Event()
        self._over = anyio.Event()
        self._stack = AsyncExitStack()

    @property
    def rate(self) -> int:
        """Hz of ``heard``, and of what :meth:`hear` returns."""
        return self._phone.rate

    @property
    def pressed(self) -> str:
        """The keys that the app has pressed: those of the provider's own messages, and the tones in ``heard``."""
        return self._keys + keys_in(self.heard, self.rate)

    async def __aenter__(self) -> Caller:
        """Open the websocket and begin the call. Raises ``ConnectionError`` where the app does not accept it."""
        try:
            await self._open()
        except BaseException as error:
            await self._leave(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hang up, and wait for the app."""
        if kind is None:
            try:
                await self.hang_up()
            except (
                BaseException
            ) as cut:  # the app has raised meanwhile, which ``_leave`` raises; or we are cancelled
                await self._leave(type(cut), cut, cut.__traceback__)
                raise
        await self._leave(kind, error, trace)

    async def _open(self) -> None:
        self._to_app, self._app_receives = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        self._app_sends, self._from_app = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        for stream in (self._to_app, self._app_receives, self._app_sends, self._from_app):
            self._stack.callback(stream.close)
        self._group = await self._stack.enter_async_context(anyio.create_task_group())
        self._to_app.send_nowait({"type": "websocket.connect"})
        self._group.start_soon(self._run)
        first = await self._from_app.receive()
        if first["type"] != "websocket.accept":
            raise ConnectionError(
                f"the app closed the websocket without accepting it: {first.get('code', 1000)}"
            )
        self._group.start_soon(self._listen)
        for message in self._phone.begin():
            self._send(message)

    async def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything. Raises what the app has raised, or what went wrong before."""
        self._over.set()
        self._group.cancel_scope.cancel()
        try:
            await self._stack.__aexit__(kind, error, trace)
        except* Exception as group:
            raise _only(group) from None

    async def speak(self, sound: float | bytes = 0.5) -> None:
        """Say something, and be silent for a moment: seconds of a tone, or 16-bit mono PCM of 16 kHz."""
        pcm = sound if isinstance(sound, bytes) else _tone(sound)
        pcm += bytes(round(_SILENCE * INPUT_RATE) * 2)
        line = self._codec.encode(Resampler(INPUT_RATE, self.rate)(pcm, last=True))
        step = round(_FRAME * self.rate) * self._codec.width
        for at in range(0, len(line), step):
            self._send(self._phone.media(line[at : at + step]))
            await anyio.sleep(_PACE)

    async def press(self, keys: str) -> None:
        """Press these keys of the phone, ``0-9*#``. ``#`` tells them at once, without it they wait for a second."""
        for digit in keys:
            self._send(self._phone.key(digit))
        await anyio.lowlevel.checkpoint()

    async def hear(self, quiet: float = 0.3) -> bytes:
        """What the caller hears since the last :meth:`hear`, until there is silence for ``quiet`` seconds,
        or the call ends: 16-bit mono PCM of ``rate`` Hz.

        Raises ``TimeoutError`` if there is no sound within 10 s.
        """
        with anyio.move_on_after(CALLER_PATIENCE) as patience:
            while len(self.heard) == self._told and not self._over.is_set():
                await self._news.wait()
        if patience.cancelled_caught:
            raise TimeoutError(f"nothing was said to the caller within {CALLER_PATIENCE:g} s")
        heard = -1
        while heard != len(self.heard) and not self._over.is_set():
            heard = len(self.heard)
            await anyio.sleep(quiet)
        said, self._told = self.heard[self._told :], len(self.heard)
        return said

    async def ended(self) -> int:
        """Wait until the app ends the call; the code that it closed the websocket with.

        Raises ``TimeoutError`` if it does not within 10 s.
        """
        with anyio.move_on_after(CALLER_PATIENCE):
            await self._over.wait()
        if self.code is None:
            raise TimeoutError(f"the app did not end the call within {CALLER_PATIENCE:g} s")
        return self.code

    async def hang_up(self) -> None:
        """End the call, and wait until the app has done all that it does then (``on_end``)."""
        if not self._over.is_set():
            if (message := self._phone.end()) is not None:
                self._send(message)
            self._to_app.send_nowait({"type": "websocket.disconnect", "code": 1000})
            with anyio.move_on_after(CALLER_PATIENCE):
                await self._over.wait()

    async def _run(self) -> None:
        host = "testserver"
        headers = {"host": host, **self._phone.headers()}
        path = urlsplit(self._path)
        scope = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "scheme": "ws",
            "path": path.path,
            "raw_path": path.path.encode(),
            "root_path": "",
            "query_string": path.query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 40000),
            "server": (host, 80),
            "subprotocols": [],
            "state": {},
        }
        try:
            await self._app(scope, self._app_receives.receive, self._app_sends.send)
        finally:
            self._app_sends.close()  # what it has sent is still read

    async def _listen(self) -> None:
        async for message in self._from_app:
            if message["type"] == "websocket.close":
                self.code = message.get("code", 1000)
                self._to_app.send_nowait({"type": "websocket.disconnect", "code": self.code})
            elif message["type"] == "websocket.send":
                text = message.get("text")
                self._take(self._phone.read(message["bytes"] if text is None else text))
            self._wake()
        self._over.set()
        self._wake()

    def _take(self, said: Media | Mark | Key | Clear | None) -> None:
        match said:
            case Media(sound):
                self.heard += self._codec.decode(sound)
            case Mark(name):
                if (message := self._phone.played(name)) is not None:
                    self._send(message)
            case Key(keys):
                self._keys += keys
            case Clear():
                self.cleared += 1

    def _send(self, message: RawMessage) -> None:
        kind = "text" if isinstance(message, str) else "bytes"
        self._to_app.send_nowait({"type": "websocket.receive", kind: message})

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def _tone(seconds: float) -> bytes:
    """A tone of 300 Hz."""
    step = 2 * math.pi * 300 / INPUT_RATE
    return array(
        "h", (round(8000 * math.sin(step * n)) for n in range(round(seconds * INPUT_RATE)))
    ).tobytes()


def _only(group: BaseExceptionGroup[Exception]) -> Exception:
    """The first error in a group."""
    first = group.exceptions[0]
    return _only(first) if isinstance(first, BaseExceptionGroup) else first
