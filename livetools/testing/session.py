"""One conversation with a client, over its connections: what was said and called, and by whom."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator, Iterable
from typing import Any

from livetools.protocol.profiles import ModelProfile

from . import deeds, speech
from .calls import Book, FakeCall
from .connection import Connection, Gone
from .ears import Ears
from .faults import Fault, Faults
from .floor import Floor
from .roles import Server
from .said import History, Said
from .turn import Turn, TurnCancelled
from .wire import Message, seconds

ROUNDS = 3  # pongs after which an answer to a cancelled call is too late


class FakeSession:
    """The server's side of one conversation.

    ``setup`` is the client's (camelCase), ``profile`` the model's manners, ``history`` the conversation as
    ``contents``, ``connections`` the numbers of the sockets that carried it.
    """

    def __init__(self, server: Server, setup: Message, profile: ModelProfile) -> None:
        self.id = str(uuid.UUID(int=server.chance.getrandbits(128), version=4))
        self.server = server
        self.setup = setup
        self.profile = profile
        self.history = History()
        self.connections: list[int] = []
        self.connection: Connection | None = None
        self.ears = Ears(self)
        self.floor = Floor(self)
        self.said = Said()
        self.book = Book()
        self.ended_at: float | None = None  # when the last connection went; None while one stands

    # -- what the pretend model does

    async def ask(self, turn: Turn, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[FakeCall]:
        """Send one ``toolCall`` and enter its calls in the book."""
        connection = self._stands(turn)
        self.said.closed = False
        asked = [self._new_call(name, args, connection.number) for name, args in calls]
        self._enter(asked)
        entries = [
            {"name": call.name, "args": call.args} | ({"id": call.id} if call.id is not None else {})
            for call in asked
        ]
        message: Message = {"toolCall": {"functionCalls": entries}}
        self.history.append({"role": "model", "parts": [{"functionCall": entry} for entry in entries]})
        await self.send(message | speech.status(self))
        if "sessionResumption" in self.setup and self.profile.resumption:
            await self.send({"sessionResumptionUpdate": {}})  # not resumable while a call is open
        if self.profile.call_ends_turn and not turn.over:  # an interruption has ended it otherwise
            await self.send(speech.turn_complete(self))
        return asked

    def _enter(self, calls: Iterable[FakeCall]) -> None:
        for call in calls:
            self.book.add(call)
            self.server.calls.append(call)

    def _new_call(self, name: str, args: dict[str, Any], connection: int) -> FakeCall:
        number = self.server.chance.getrandbits(63)
        styles = {
            "function-call": f"function-call-{number}",
            "uuid": str(uuid.UUID(int=self.server.chance.getrandbits(128), version=4)),
            "call": f"call_{number % 10**6:06d}{len(self.server.calls)}",
            "none": None,
        }
        return FakeCall(styles[self.profile.call_ids], name, args, connection, self.blocks(name))

    def blocks(self, name: str) -> bool:
        """Whether the model waits in silence for this function's answer."""
        facts = self.profile
        behavior = self.declarations().get(name, {}).get("behavior")
        if behavior not in ("BLOCKING", "NON_BLOCKING"):
            behavior = facts.default_behavior
        if behavior == "NON_BLOCKING":
            return facts.non_blocking != "honoured"
        return facts.blocking == "honoured"

    def declarations(self) -> dict[str, Message]:
        """The declared functions, by name."""
        tools = [tool for tool in self.setup.get("tools") or [] if isinstance(tool, dict)]
        return {
            each.get("name", ""): each for tool in tools for each in tool.get("functionDeclarations") or []
        }

    def call(self, id: str) -> FakeCall:
        """The newest call of this id, or of this name where calls have no ids; else ``LookupError``."""
        known = self.book.with_id(id)
        if not known:
            raise LookupError(f"the pretend model made no call with the id {id!r}")
        return known[-1]

    async def answer(self, turn: Turn, call: FakeCall) -> Message:
        """Wait for one answer. A turn that waits for a ``NON_BLOCKING`` call gives up the floor meanwhile."""
        speaker = self.floor.speaker
        speaks = speaker is turn or (self.floor.user is not None and speaker is not None)
        self.floor.away.add(turn)
        try:
            if speaks and not call.done.is_set() and not call.blocking:
                await self.floor.leave()
            await call.done.wait()
            if call.state != "answered":
                raise TurnCancelled(f"{call} will not be answered")
            if self.floor.speaker is not turn:
                await self.floor.take_back(turn, call.scheduling)
        finally:
            self.floor.away.discard(turn)
        return call.response

    async def say(self, turn: Turn, text: str, audio: bytes | None) -> None:
        """Send an utterance, at the server's pace."""
        self._stands(turn)
        if turn.muted:
            return
        began = self.server.clock.now()
        async with self.together():
            for message in speech.messages(self.setup, self.profile, text, audio):
                self._stands(turn)  # it may have been interrupted meanwhile
                await self.send(message)
                if self.server.pace and (played := speech.seconds_of(message)):
                    await self.server.clock.sleep_until(self.server.clock.now() + played * self.server.pace)
            self._stands(turn)
            if self.profile.empty_frames:
                await self.send({})  # seen between content frames on 3.x (2026-09-17)
        played = self.said.add(self.setup, self.profile, text, audio)
        self.said.until = max(self.said.until, began) + played * self.server.hold
        self.history.append({"role": "model", "parts": [{"text": text}]})

    async def send_raw(self, turn: Turn, frame: Message | str | bytes) -> None:
        """Send any frame; what an object calls and cancels is counted."""
        connection = self._stands(turn)
        if isinstance(frame, dict):
            self._count(frame, connection.number)
        await self.send(frame)

    def _count(self, frame: Message, connection: int) -> None:
        """Enter what a raw frame calls and cancels in the book."""
        for entry in (frame.get("toolCall") or {}).get("functionCalls") or []:
            id_ = entry.get("id")
            if not any(call.connection == connection for call in self.book.with_id(id_ or "")):
                name = entry.get("name") or ""
                call = FakeCall(id_, name, entry.get("args") or {}, connection, self.blocks(name))
                self._enter([call])
        for id_ in (frame.get("toolCallCancellation") or {}).get("ids") or []:
            for call in self.book.with_id(id_):
                self._void(call)

    def _void(self, call: FakeCall) -> None:
        if call.state == "open":
            call.crossing = True
            call.end("cancelled")

    async def cancel(self, turn: Turn | None, ids: Iterable[str] = ()) -> None:
        """Send ``toolCallCancellation`` for these ids, or for every open call of this connection."""
        if turn is not None:
            self._stands(turn)
        wanted = set(ids)
        calls = [each for id_ in wanted for each in self.book.with_id(id_)] if wanted else self.open_calls()
        for call in calls:
            self._void(call)
        named = sorted(wanted) or [call.id for call in calls if call.id is not None]
        if named and (connection := self.connection) is not None:
            await self.send({"toolCallCancellation": {"ids": named}})
            self.server.listener.start_task(_until_read, connection, calls)  # which may have gone meanwhile
            await self.floor.settle()

    async def say_interrupted(self, turn: Turn | None = None) -> None:
        """Send ``interrupted``, and the ``turnComplete`` that ends the turn."""
        if turn is not None:
            self._stands(turn)
        await self.send({"serverContent": {"interrupted": True}})
        await self.send(speech.turn_complete(self))
        self.said = Said(closed=True)

    async def go_away(self, left: float | None) -> None:
        """Announce the end of the connection; a client that leaves after it owes nothing."""
        await self.send({"goAway": {} if left is None else {"timeLeft": seconds(left)}})
        if self.connection is not None:
            self.connection.told_to_go = True

    async def close(self, code: int, reason: str) -> None:
        """Close the connection, if one stands."""
        if self.connection is not None:
            connection = self.connection
            self.server.record("server", connection.number, {"_close": {"code": code, "reason": reason}})
            self.detach(connection)
            await connection.close(code, reason)

    async def drop(self) -> None:
        """Cut the connection, if one stands."""
        if self.connection is not None:
            connection = self.connection
            self.server.record("server", connection.number, {"_close": {"code": 1006, "reason": ""}})
            self.detach(connection)
            await connection.drop()

    async def fault(self, turn: Turn, kind: Fault) -> None:
        """Misbehave once, now."""
        await deeds.commit(kind, self, self._stands(turn), None)

    # -- the wire

    def _stands(self, turn: Turn) -> Connection:
        if turn.over:
            raise TurnCancelled("the client has interrupted this turn, or its connection is gone")
        if self.connection is None or not self.connection.open:
            raise TurnCancelled("the connection of this turn is gone")
        return self.connection

    async def send(self, frame: Message | str | bytes) -> None:
        """One frame to the client; :class:`TurnCancelled` if no connection stands."""
        if self.connection is None:
            raise TurnCancelled("no connection stands")
        try:
            await deeds.deliver(self, self.connection, frame)
        except Gone as error:
            raise TurnCancelled(str(error)) from None

    @contextlib.asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Frames that may leave in one write, unless they keep time or something may befall them."""
        connection = self.connection
        if (
            connection is None
            or connection.silent_until
            or self.server.pace
            or self.server.hold
            or self.server.faults != Faults()
        ):
            yield
            return
        try:
            async with connection.together():
                yield
        except Gone as error:
            raise TurnCancelled(str(error)) from None

    def open_calls(self) -> list[FakeCall]:
        """The calls of this connection that wait for an answer."""
        return [] if self.connection is None else self.book.open(self.connection.number)

    # -- what the client does

    @property
    def forsaken(self) -> bool:
        """Whether a script waits here for a client that has gone."""
        user = self.floor.user
        return user is not None and not user.done and self.connection is None

    def resume(self, setup: Message, profile: ModelProfile) -> None:
        """Another setup for the same conversation: all but what was said begins anew."""
        self.setup, self.profile = setup, profile
        self.ears = Ears(self)
        self.ears.seeding = self.ears.seeding and not self.history

    async def attach(self, connection: Connection) -> None:
        """A socket for this conversation, new or resumed: complete the setup."""
        self.connection = connection
        self.connections.append(connection.number)
        self.ended_at = None
        self.floor.since = self.server.clock.now()
        switches = self.server.faults
        if switches.early_content:
            await self.send(deeds.UNKNOWN)
        if switches.never_setup:
            return
        complete = {"sessionId": self.id} if self.profile.vertex else {}
        await self.send({"setupComplete": complete})
        if connection.number <= switches.flapping:
            await self.drop()
            return
        at_setup = self.profile.handle_at_setup
        if at_setup == "always" or (at_setup == "asked" and "sessionResumption" in self.setup):
            await self.send_handle()

    async def send_handle(self) -> None:
        """A handle for the state of now; in transparent mode with the last message that is part of it."""
        update: Message = {"newHandle": self.server.lobby.new_handle(self), "resumable": True}
        if (self.setup.get("sessionResumption") or {}).get("transparent"):
            update["lastConsumedClientMessageIndex"] = str(self.ears.heard)
        await self.send({"sessionResumptionUpdate": update})

    def detach(self, connection: Connection) -> None:
        """The socket is gone, or about to go: its open calls cannot be answered any more."""
        if self.connection is not connection:
            return
        left = connection.closed_by == "client" and not connection.told_to_go
        for call in self.open_calls():
            self.book.lost.append(call)
            if left:  # on its own account: it owed the answer, and still does
                call.done.set()
            else:
                call.end("lost")
        self.connection = None
        self.ended_at = self.server.clock.now()
        self.said = Said()
        self.floor.line_gone()

    async def hear(self, kind: str, body: Message) -> None:
        """One message of the client after the setup."""
        self.ears.heard += 1
        if kind == "toolResponse":
            await self.take_responses(body.get("functionResponses") or [])
        elif kind == "clientContent":
            await self.ears.content(body)
        elif kind == "realtimeInput":
            await self.ears.realtime(body)
        elif kind == "contextUpdate":
            self._update(body)

    def _update(self, body: Message) -> None:
        if "systemInstruction" in body:
            self.setup["systemInstruction"] = body["systemInstruction"]
        if "tools" in body:
            self.setup["tools"] = body["tools"].get("tools") or []

    async def take_responses(self, responses: Iterable[Message]) -> None:
        if self.connection is None:
            return  # the line was cut since: nobody hears them
        for response in responses:
            call = self.book.find(response, self.connection.number)
            self.book.lost = [each for each in self.book.lost if each is not call]
            if call is None:
                self.server.note(f"an answer to no call, ignored: {response}")
            elif call.state == "open":
                call.responses.append(self._as_read(call, response))
                if not (response.get("willContinue") and self._streams(call)):
                    part = {"functionResponse": {"id": call.id, "name": call.name, "response": call.response}}
                    self.history.append({"role": "user", "parts": [part]})
                    call.end("answered")
            else:
                self._late(call, response)
        await self.floor.settle()

    def _streams(self, call: FakeCall) -> bool:
        return not call.blocking and self.profile.will_continue == "honoured"

    def _as_read(self, call: FakeCall, response: Message) -> Message:
        """The answer as the model reads it: some take one without a name for a failed call (2026-09-18)."""
        if response.get("name") or not self.profile.needs_name:
            return response
        self.server.note(f"an answer without a name, which this model reads as a failure: {call}")
        return {**response, "response": {"error": "a system error occurred"}}

    def _late(self, call: FakeCall, response: Message) -> None:
        self.server.note(f"an answer to a call that is {call.state}, ignored: {call}: {response}")
        if call.state == "cancelled" and not call.crossing:
            self.server.journal.late.append(call)

    async def interrupt_floor(self) -> None:
        """The client cuts in: `interrupted`, `turnComplete`, and then the calls that fall with the turn."""
        turn, self.floor.speaker = self.floor.speaker, None
        if turn is None:
            return
        turn.over = True
        if turn.scope is not None:
            turn.scope.cancel()
        if self.connection is not None:
            await self.say_interrupted()
            fallen = [call.id for call in self.open_calls() if call.blocking and call.id is not None]
            if fallen:
                await self.cancel(None, fallen)


async def _until_read(connection: Connection, calls: Iterable[FakeCall]) -> None:
    """Wait until the client must have read past a cancellation: whatever it answers then, it knows better.

    A pong says that its library has read so far, the next ones that its event loop has gone round since.
    """
    for _ in range(ROUNDS):
        if not await connection.ping():
            return
    for call in calls:
        call.crossing = False
