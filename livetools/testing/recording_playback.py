"""Plays a recording as a server: sends what the server sent, and expects what the client sent."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncIterator

from websockets.http11 import Request

from .messages import client_schema
from .net.connection import Receiver, ServerConnection, SocketClosed
from .recordings.jsonl_file import Recording, differences, handles_in
from .service import Service
from .wire import Frame, Message, ServiceRefusal, encode, parse, utf8


class RecordingPlayback:
    """Plays the connections of a recording to the clients that dial, first to first.

    ``pace`` multiplies the recorded times; with 0 nothing waits.
    """

    def __init__(self, recording: Recording, pace: float = 0.0) -> None:
        self.pace = pace
        self.given = {
            holder[key]
            for frame in recording.frames
            if frame.direction == "server"
            for holder, key in handles_in(frame.message)
        }
        self._scripts = deque(
            deque(frame for frame in recording.frames if frame.connection == number)
            for number in recording.connections()
            if number  # 0 means REST
        )

    @contextlib.asynccontextmanager
    async def admit(
        self, service: Service, connection: ServerConnection, request: Request
    ) -> AsyncIterator[Receiver]:
        """Play the next connection to this client."""
        if not self._scripts:
            service.log.complaints.append(
                f"connection {connection.number}: the recording has no more of them"
            )
            await connection.close(1011, "The recording has no more connections.")
        player = _Player(self, service, connection, self._scripts.popleft() if self._scripts else deque())
        await player.go_on()
        try:
            yield player.hear
        finally:
            player.left()

    def unplayed(self) -> list[str]:
        """The connections of the recording that no client has dialled, in a line."""
        left = len(self._scripts)
        if not left:
            return []
        return [f"the recording was not played out: {left} of its connections were not dialled"]


class _Player:
    """One connection: the rest of its recording."""

    def __init__(
        self,
        playback: RecordingPlayback,
        service: Service,
        connection: ServerConnection,
        script: deque[Frame],
    ) -> None:
        self.service, self.connection, self.script = service, connection, script
        self.pace, self.given = playback.pace, playback.given
        self.heard = 0
        self.time = script[0].time if script else 0.0

    async def hear(self, data: bytes) -> None:
        """One frame of the client: compared with the recorded one; then the server's part continues."""
        try:
            message = parse(data)
        except ServiceRefusal as refusal:
            message = {"_text": refusal.why}
        self.service.record("client", self.connection.number, message)
        if _is_media(message):
            return
        self.heard += 1
        while self.script and _is_media(self.script[0].message):
            self.script.popleft()
        recorded = self.script.popleft().message if self.script else {}
        expected, said = _plain(recorded), _plain(message)
        for (was, key), (now, _) in zip(handles_in(expected), handles_in(said), strict=False):
            if was[key] not in self.given:  # a client's own from before: any handle will do
                now[key] = was[key]
        found = list(differences(expected, said))
        if found:
            await self._complain(found)
        else:
            await self.go_on()

    async def _complain(self, found: list[str]) -> None:
        text = f"connection {self.connection.number}: frame {self.heard} of the client is not as recorded:"
        self.service.log.complaints.append("\n  ".join([text, *found]))
        self.script.clear()
        await self.connection.close(1011, f"Not as recorded: {found[0]}")

    async def go_on(self) -> None:
        """Send what the server said up to the client's next word."""
        clock = self.service.clock
        while self.script and (self.script[0].direction == "server" or _is_media(self.script[0].message)):
            frame = self.script.popleft()
            if self.pace:
                await clock.sleep_until(clock.now() + (frame.time - self.time) * self.pace)
            self.time = frame.time
            if frame.direction == "server":
                await self._say(frame.message)

    async def _say(self, message: Message) -> None:
        self.service.record("server", self.connection.number, message)
        with contextlib.suppress(SocketClosed):
            if "_close" in message:
                close = message["_close"]
                await self.connection.close(int(close.get("code", 1000)), str(close.get("reason", "")))
            elif "_text" in message:
                await self.connection.send(utf8(str(message["_text"])), text=True)
            else:
                await self.connection.send(encode(message))

    def left(self) -> None:
        """The client has disconnected: was it its turn to send?"""
        due = [frame for frame in self.script if frame.direction == "client" and not _is_media(frame.message)]
        if due and self.connection.closed_by == "client":
            self.service.log.complaints.append(
                f"connection {self.connection.number}: the client left; it was to say {due[0]}"
            )


def _plain(message: Message) -> Message:
    """The message in camelCase, so that two spellings of one thing are equal."""
    return client_schema.read(message, vertex=True)[0]


def _is_media(message: Message) -> bool:
    """Whether it is sound or pictures of the client, which are never twice the same."""
    body = message.get("realtimeInput") or message.get("realtime_input") or {}
    return bool(set(body) & {"audio", "video", "mediaChunks", "media_chunks"})
