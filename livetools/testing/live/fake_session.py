"""``FakeSession``: one conversation with a client, over its connections.

The client's messages come in by :meth:`FakeSession.hear`; what a pretend model does comes in by the verbs that a
:class:`~livetools.testing.Turn` calls. Both meet in the :class:`~livetools.testing.live.turn_queue.TurnQueue`.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from typing import Any

import anyio

from livetools.setup.model_profiles import ModelProfile
from livetools.testing.messages import output
from livetools.testing.messages.output import GENERATION_COMPLETE, INTERRUPTED, History, Moment, OutputSoFar
from livetools.testing.model.fake_call import CallRegistry, FakeCall, blocks, declarations, new_id, until_read
from livetools.testing.model.turn import Turn, TurnCancelled
from livetools.testing.net.connection import ServerConnection, SocketClosed
from livetools.testing.service import Service
from livetools.testing.settings.fault_switches import Fault, Faults
from livetools.testing.wire import Message, ServiceRefusal, seconds

from . import call_answers
from .fault_injection import UNKNOWN, deliver, inject
from .turn_queue import TurnQueue
from .user_input import USER_RATE, ContentAdded, Heard, NothingSaid, Responses, SpeechChange, UserInput


class FakeSession:
    """The server's side of one conversation.

    ``setup`` is the client's (camelCase), ``profile`` how the model behaves, ``history`` the conversation as
    ``contents``, ``connections`` the numbers of the sockets that carried it. ``script``, where there is one, hears
    the user's turns in the model's place.
    """

    def __init__(self, service: Service, setup: Message, profile: ModelProfile) -> None:
        self.id = str(uuid.UUID(int=service.chance.getrandbits(128), version=4))
        self.service = service
        self.setup = setup
        self.profile = profile
        self.history = History()
        self.connections: list[int] = []
        self.connection: ServerConnection | None = None
        self.script: Callable[[Turn], Awaitable[None]] | None = None
        self.input = UserInput(setup, service.detector, self.history)
        self.queue = TurnQueue()
        self.calls = CallRegistry()
        self.handles: dict[str, Moment] = {}  # what each one leads back to
        self.so_far = OutputSoFar()
        self.thinking = False  # IN_PROGRESS was said, and not IDLE
        self.since = service.clock.now()  # a turn began or ended, or the connection did
        self.ended_at: float | None = None  # when the last connection ended; None while one is open

    # -- its connections

    async def attach(self, connection: ServerConnection) -> None:
        """A socket for this conversation, new or resumed: complete the setup."""
        self.connection = connection
        self.connections.append(connection.number)
        self.ended_at = None
        self.since = self.service.clock.now()
        switches = self.service.faults
        if switches.early_content:
            await self.send(UNKNOWN)
        if switches.never_setup:
            return
        await self.send({"setupComplete": {"sessionId": self.id} if self.profile.vertex else {}})
        if connection.number <= switches.flapping:
            await self.drop()
            return
        at_setup = self.profile.handle_at_setup
        if at_setup == "always" or (at_setup == "asked" and "sessionResumption" in self.setup):
            await self.send_handle()

    def resume(self, setup: Message, profile: ModelProfile) -> None:
        """Another setup for the same conversation: only the conversation is kept."""
        self.setup, self.profile = setup, profile
        self.input = UserInput(setup, self.service.detector, self.history)

    def detach(self, connection: ServerConnection) -> None:
        """The socket is closed, or about to be: its open calls can no longer be answered."""
        if self.connection is not connection:
            return
        left = connection.closed_by == "client" and not connection.told_to_go
        for call in self.open_calls():
            self.calls.lost.append(call)
            if left:  # on its own account: it owed the answer, and still does
                call.done.set()
            else:
                call.end("lost")
        self.connection = None
        self.ended_at = self.service.clock.now()
        self.so_far = OutputSoFar()
        self.thinking = False
        if self.script is None:
            self.queue.clear()
        else:
            self.queue.speaker = None

    async def close(self, code: int, reason: str) -> None:
        """Close the connection, if one is open."""
        if (connection := self.connection) is not None:
            self._end(connection, code, reason)
            await connection.close(code, reason)

    async def drop(self) -> None:
        """Cut the connection, if one is open."""
        if (connection := self.connection) is not None:
            self._end(connection, 1006, "")
            await connection.drop()

    def _end(self, connection: ServerConnection, code: int, reason: str) -> None:
        self.service.record_close(connection.number, code, reason)
        self.detach(connection)

    async def fail(self, error: Exception, who: str = "the pretend model") -> None:
        """The model or the script (``who``) raised: the client sees what a failing service shows, the test the error.

        Later connections are refused with the error's text; otherwise a client would reconnect without end.
        """
        self.service.log.fail(who, error, scripted=self.script is not None)
        await self.close(1011, "Internal error encountered.")

    # -- the wire

    def _stands(self, turn: Turn) -> ServerConnection:
        if turn.over:
            raise TurnCancelled("the client has interrupted this turn, or its connection is lost")
        if self.connection is None or not self.connection.open:
            raise TurnCancelled("the connection of this turn is lost")
        return self.connection

    async def send(self, frame: Message | str | bytes) -> None:
        """Send one frame to the client. Raises :class:`TurnCancelled` if its connection is lost, or was replaced."""
        if (connection := self.connection) is None:
            raise TurnCancelled("no connection is open")
        try:
            await deliver(self.service, connection, frame)
        except SocketClosed as error:
            raise TurnCancelled(str(error)) from None
        finally:
            self._cut(connection)
        if self.connection not in (connection, None):  # it stalled: what follows belongs to it
            raise TurnCancelled("another connection has taken the place of this one")

    def _cut(self, connection: ServerConnection) -> None:
        """A fault may have cut the line."""
        if connection.closed_by == "server":
            self.detach(connection)

    @contextlib.asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Frames that may leave in one write, unless they keep time or a fault may be injected."""
        connection, service = self.connection, self.service
        keeps_time = service.pace or service.hold or (connection is not None and connection.silent_until)
        if connection is None or keeps_time or service.faults != Faults():
            yield
            return
        try:
            async with connection.together():
                yield
        except SocketClosed as error:
            raise TurnCancelled(str(error)) from None

    async def send_handle(self) -> None:
        """A handle for the state of now; in transparent mode with the last message that is part of it."""
        update: Message = {"newHandle": self.new_handle(), "resumable": True}
        if (self.setup.get("sessionResumption") or {}).get("transparent"):
            update["lastConsumedClientMessageIndex"] = str(self.input.heard)
        await self.send({"sessionResumptionUpdate": update})

    def new_handle(self) -> str:
        """A handle that resumes this conversation as it is now, without what follows."""
        digits = f"{self.service.chance.getrandbits(128):032x}"
        handle = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        self.handles[handle] = self.history.mark()
        return handle

    # -- what the client says

    async def hear(self, kind: str, body: Message) -> None:
        """One message of the client after the setup."""
        self.input.heard += 1
        if kind == "toolResponse":
            await self._take_responses(body.get("functionResponses") or [])
        elif kind == "clientContent":
            for heard in self.input.content(body):
                await self._heard(heard)
        elif kind == "realtimeInput":
            for heard in self.input.realtime(body):
                await self._heard(heard)
        elif kind == "contextUpdate":
            self._update(body)

    def _update(self, body: Message) -> None:
        if "systemInstruction" in body:
            self.setup["systemInstruction"] = body["systemInstruction"]
        if "tools" in body:
            self.setup["tools"] = body["tools"].get("tools") or []

    async def _heard(self, heard: Heard) -> None:
        if isinstance(heard, Responses):
            await self._take_responses(heard.responses, heard.restored)
        elif isinstance(heard, NothingSaid):
            if self.profile.empty_turn == "honoured":
                await self._begin(Turn(self), interrupts=True)
        elif isinstance(heard, ContentAdded):
            if self.profile.text_interrupts and self.script is None:
                await self._cut_in()
        elif not isinstance(heard, SpeechChange):
            await self._user_turn(interrupts=self.profile.text_interrupts)
        elif heard.kind == "START":
            await self._acknowledge(heard)
            handling = (self.setup.get("realtimeInputConfig") or {}).get("activityHandling")
            if handling != "NO_INTERRUPTION" and self.script is None:
                await self.interrupt()
        elif self.profile.turn_complete:
            if heard.by_stream and not self.profile.stream_end_ends_turn:
                self.service.note(
                    "audioStreamEnd began a turn; the service's 3.8 waits for silence behind it (openclaw#152830)"
                )
            await self._acknowledge(heard)
            await self._user_turn(interrupts=True)
        else:
            await self._transcribe_only(heard)

    async def _acknowledge(self, speech: SpeechChange) -> None:
        for message in output.voice_activity(self.setup, speech.kind, speech.offset):
            await self.send(message)

    async def _transcribe_only(self, speech: SpeechChange) -> None:
        """A model that only transcribes: the words, generationComplete, and then the end (2026-09-10)."""
        if self.input.manual and self.input.empty and self.service.strict:
            await self.send({"serverContent": {"turnComplete": True}, "usageMetadata": {}})
            raise ServiceRefusal(1007, "Precondition check failed.", "an activity without sound")
        await self._transcribe()
        await self.send(GENERATION_COMPLETE)
        await self._acknowledge(speech)
        self.input.forget()

    async def _transcribe(self) -> str:
        """What the sound says, by the server's hook; sent to a client that asked for it."""
        hook, audio = self.service.transcriber, self.input.audio
        text = hook(bytes(audio), self.input.rate or USER_RATE) if hook is not None and audio else ""
        if text and "inputAudioTranscription" in self.setup:
            await self.send({"serverContent": {"inputTranscription": {"text": text}}})
        return text

    async def _user_turn(self, *, interrupts: bool) -> None:
        """A user turn is complete: run the model for it, now or when its turn comes."""
        text, sound = self.input.take(await self._transcribe())
        if text.strip() or sound:
            await self._begin(Turn(self, text, sound), interrupts=interrupts)

    async def _begin(self, turn: Turn, *, interrupts: bool) -> None:
        """A user turn has ended: the script, or the pretend model, answers it."""
        if self.script is not None:
            return await self.script(turn)
        if self.profile.answers_lost and self.calls.lost:
            lost = ", ".join(str(call) for call in self.calls.lost)
            self.service.note(f"{turn.text!r} was swallowed: nobody told the model of the lost {lost}")
            return await self._close_lost()
        if interrupts:
            await self._cut_in()
        if self.connection is not None:  # else it ended meanwhile; its turn does not continue on the next one
            self.queue.waiting.append(turn)
        return self._next()

    async def _cut_in(self) -> None:
        """The client interrupts the turn under way, unless that is ending on the wire."""
        if not self.queue.ending:
            await self.interrupt()

    async def _close_lost(self) -> None:
        """A resumed model closes the exchange of its lost calls, with an empty turn."""
        self.calls.lost.clear()
        await self.send(self._turn_complete())

    async def speak(self, text: str, audio: bytes | None = None) -> None:
        """Say something without a user turn, in a turn of its own; returns when that has ended.

        It waits until nobody else speaks (within a turn of the model this never happens: use ``turn.say`` there).
        Raises :class:`TurnCancelled` if no connection is open, or if the client interrupts. Cancelling does not leave
        half a turn behind: it runs in a task of its own.
        """
        if self.connection is None:
            raise TurnCancelled("no connection is open")
        if self.script is not None and self.queue.speaker is not None:
            await self.end_turn()  # as the script's next step would
        turn, ended = Turn(self), anyio.Event()

        async def say() -> None:
            try:
                await self.turn_comes(turn)
                await self.run(turn, lambda turn: turn.say(text, audio))
            except TurnCancelled:
                turn.over = True
            finally:
                ended.set()

        self.service.start_task(say)
        await ended.wait()
        if turn.over:
            raise TurnCancelled("the client has interrupted this turn, or its connection is lost")

    # -- whose turn it is

    async def turn_comes(self, turn: Turn) -> None:
        """Wait until nobody else speaks, and this turn may."""
        turn.wake = anyio.Event()
        self.queue.waiting.append(turn)
        self._next()
        try:
            await turn.wake.wait()
        finally:
            turn.wake = None
        if turn.over:
            raise TurnCancelled("the connection of this turn is lost")

    def start(self, turn: Turn) -> None:
        """This turn speaks now."""
        self.queue.start(turn)
        self.since = self.service.clock.now()
        self.so_far = OutputSoFar()

    def _next(self) -> None:
        """Let the next in line speak, if nobody does."""
        if self.connection is None or (turn := self.queue.next()) is None:
            return
        self.start(turn)
        if turn.wake is not None:
            turn.wake.set()
        else:
            self.service.start_task(self.run, turn)

    async def run(self, turn: Turn, model: Callable[[Turn], Awaitable[None]] | None = None) -> None:
        """Let a model answer in this turn, the server's if none is given, and end it."""
        with anyio.CancelScope() as turn.scope:
            try:
                await (model or self.service.model)(turn)
                if self.queue.speaker is turn:
                    await self.end_turn()
            except TurnCancelled:
                pass
            except Exception as error:
                await self.fail(error)
        if self.queue.speaker is turn:
            self.queue.speaker = None
        self._next()
        with contextlib.suppress(TurnCancelled):
            await self._settle()

    async def end_turn(self) -> None:
        """End the turn on the wire: generationComplete, turnComplete with usage, a handle; then the next.

        turnComplete is held back until the sound would have been played, if the server holds it back. Nothing is
        sent where an interruption was the last word: it has ended the turn.
        """
        so_far, speaker = self.so_far, self.queue.speaker
        try:
            async with self.together():
                if not so_far.closed and (so_far.text or so_far.seconds or self.open_calls()):
                    await self.send(GENERATION_COMPLETE)
                if not so_far.closed and self.profile.turn_complete:
                    await self._played(speaker)
                    self.queue.ending = True  # what the client says from now on begins a turn of its own
                    await self.send(self._turn_complete())
                self.queue.ending = True
                self.so_far = OutputSoFar()
                asked = self.profile.resumption and "sessionResumption" in self.setup
                if asked and not self.open_calls():
                    await self.send_handle()
        finally:
            self.queue.ending = False
        self.queue.speaker = None
        self.since = self.service.clock.now()
        self._next()

    async def _played(self, speaker: Turn | None) -> None:
        """Wait until what was said would have been played. The client may cut in meanwhile, or have done so."""
        clock, at = self.service.clock, self.so_far.played_at
        if at > clock.now():
            await clock.sleep_until(at)
        if self.queue.speaker is not speaker:
            raise TurnCancelled("the client has interrupted this turn, or its connection is lost")

    async def _take_back(self, turn: Turn, scheduling: str) -> None:
        """The answer to a non-blocking call has come: speak about it now, when it is quiet, or never."""
        if self.script is not None:  # a script decides itself what the model says, and when
            if self.queue.speaker is None:
                self.start(turn)
            return
        if turn.over:
            raise TurnCancelled("the client has interrupted this turn")
        honoured = self.profile.scheduling == "honoured"
        if scheduling == "SILENT" and honoured:
            turn.suppressed = True
            return
        if scheduling == "INTERRUPT" and honoured and not self.input.user_speaks:
            await self.interrupt()
        await self.turn_comes(turn)

    async def interrupt(self) -> None:
        """The client cuts in: `interrupted`, `turnComplete`, and then the calls that fall with the turn."""
        turn, self.queue.speaker = self.queue.speaker, None
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

    @property
    def busy(self) -> bool:
        """Whether a call is open, or the model owes words about its answer: then the end of a turn ends nothing."""
        return bool(self.queue.away or self.open_calls())

    @property
    def quiet(self) -> bool:
        """Whether nothing is in progress."""
        return self.queue.empty and not self.busy

    async def _settle(self) -> None:
        """Say IDLE by itself, where the last of an interaction was an answer or a cancellation."""
        if self.thinking and self.quiet and self.connection is not None:
            await self.send({"serverContent": self._status()})

    def _status(self) -> Message:
        """``interactionStatus``, from models that send it."""
        if not self.profile.idle_signal:
            return {}
        self.thinking = self.busy
        return output.status(busy=self.busy)

    def _turn_complete(self) -> Message:
        usage = output.usage(self.setup, self.profile, self.history, self.so_far)
        return output.turn_complete(usage, self._status())

    # -- what the pretend model does

    async def ask(self, turn: Turn, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[FakeCall]:
        """Send one ``toolCall`` and enter its calls in the registry."""
        connection = self._stands(turn)
        self.so_far.closed = False
        asked = [self._new_call(name, args, connection.number) for name, args in calls]
        self._enter(asked)
        entries = [
            {"name": call.name, "args": call.args} | ({"id": call.id} if call.id is not None else {})
            for call in asked
        ]
        message: Message = {"toolCall": {"functionCalls": entries}}
        self.history.append({"role": "model", "parts": [{"functionCall": entry} for entry in entries]})
        await self.send(message | self._status())
        if "sessionResumption" in self.setup and self.profile.resumption:
            await self.send({"sessionResumptionUpdate": {}})  # not resumable while a call is open
        if self.profile.call_ends_turn and not turn.over:  # an interruption has ended it otherwise
            await self.send(self._turn_complete())
        return asked

    def _enter(self, calls: Iterable[FakeCall]) -> None:
        for call in calls:
            self.calls.add(call)
            self.service.log.calls.append(call)

    def _new_call(self, name: str, args: dict[str, Any], connection: int) -> FakeCall:
        id_ = new_id(self.profile.call_ids, self.service.chance, len(self.service.log.calls))
        return FakeCall(id_, name, args, connection, self.blocks(name))

    def blocks(self, name: str) -> bool:
        """Whether the model waits in silence for this function's answer."""
        return blocks(self.setup, self.profile, name)

    def declarations(self) -> dict[str, Message]:
        """The declared functions, by name."""
        return declarations(self.setup)

    def open_calls(self) -> list[FakeCall]:
        """The calls of this connection that wait for an answer."""
        return [] if self.connection is None else self.calls.open(self.connection.number)

    def call(self, id: str) -> FakeCall:
        """The newest call of this id, or of this name where calls have no ids; else ``LookupError``."""
        return self.calls.newest(id)

    async def answer(self, turn: Turn, call: FakeCall) -> Message:
        """Wait for one answer. A turn that waits for a ``NON_BLOCKING`` call lets others speak meanwhile."""
        speaker = self.queue.speaker
        speaks = speaker is turn or (self.script is not None and speaker is not None)
        self.queue.away.add(turn)
        try:
            if speaks and not call.done.is_set() and not call.blocking:
                await self.end_turn()
            await call.done.wait()
            if call.state != "answered":
                raise TurnCancelled(f"{call} will not be answered")
            if self.queue.speaker is not turn:
                await self._take_back(turn, call.scheduling)
        finally:
            self.queue.away.discard(turn)
        return call.response

    async def say(self, turn: Turn, text: str, audio: bytes | None) -> None:
        """Send an utterance, at the server's pace."""
        self._stands(turn)
        if turn.suppressed:
            return
        clock, pace = self.service.clock, self.service.pace
        began = clock.now()
        async with self.together():
            for message in output.messages(self.setup, self.profile, text, audio):
                self._stands(turn)  # it may have been interrupted meanwhile
                await self.send(message)
                if pace and (played := output.seconds_of(message)):
                    await clock.sleep_until(clock.now() + played * pace)
            self._stands(turn)
            if self.profile.empty_frames:
                await self.send({})  # seen between content frames on 3.x (2026-09-17)
        played = self.so_far.add(self.setup, self.profile, text, audio)
        self.so_far.played_at = max(self.so_far.played_at, began) + played * self.service.hold
        self.history.append({"role": "model", "parts": [{"text": text}]})

    async def send_raw(self, turn: Turn, frame: Message | str | bytes) -> None:
        """Send any frame; what an object calls and cancels is counted."""
        connection = self._stands(turn)
        if isinstance(frame, dict):
            self._count(frame, connection.number)
        await self.send(frame)

    def _count(self, frame: Message, connection: int) -> None:
        """Enter what a raw frame calls and cancels in the registry."""
        for entry in (frame.get("toolCall") or {}).get("functionCalls") or []:
            id_ = entry.get("id")
            piece = not (id_ or entry.get("name"))  # of a call that was entered with its first one
            if not piece and all(call.connection != connection for call in self.calls.with_id(id_ or "")):
                name = entry.get("name") or ""
                call = FakeCall(id_, name, entry.get("args") or {}, connection, self.blocks(name))
                self._enter([call])
        for id_ in (frame.get("toolCallCancellation") or {}).get("ids") or []:
            for call in self.calls.with_id(id_):
                call.cancel()

    async def cancel(self, turn: Turn | None, ids: Iterable[str] = ()) -> None:
        """Send ``toolCallCancellation`` for these ids, or for every open call of this connection."""
        if turn is not None:
            self._stands(turn)
        wanted = set(ids)
        calls = [each for id_ in wanted for each in self.calls.with_id(id_)] if wanted else self.open_calls()
        for call in calls:
            call.cancel()
        named = sorted(wanted) or [call.id for call in calls if call.id is not None]
        if named and (connection := self.connection) is not None:
            await self.send({"toolCallCancellation": {"ids": named}})
            self.service.start_task(until_read, connection.ping, calls)  # which may have gone meanwhile
            await self._settle()

    async def say_interrupted(self, turn: Turn | None = None) -> None:
        """Send ``interrupted``, and the ``turnComplete`` that ends the turn."""
        if turn is not None:
            self._stands(turn)
        await self.send(INTERRUPTED)
        await self.send(self._turn_complete())
        self.so_far = OutputSoFar(closed=True)

    async def go_away(self, left: float | None) -> None:
        """Announce the end of the connection; a client that leaves after it owes nothing."""
        await self.send({"goAway": {} if left is None else {"timeLeft": seconds(left)}})
        if self.connection is not None:
            self.connection.told_to_go = True

    async def fault(self, turn: Turn, kind: Fault) -> None:
        """Misbehave once, now."""
        connection = self._stands(turn)
        try:
            await inject(kind, self.service, connection, None)
        finally:
            self._cut(connection)

    async def _take_responses(self, given: Iterable[Message], restored: Collection[str] = ()) -> None:
        if self.connection is None:
            return  # the connection was cut since: nobody reads them
        waited = self.profile.closes_lost and bool(self.calls.lost)
        for response in self.calls.answers(given, restored, self.connection.number):
            call = call_answers.take(self.calls, response, self.connection.number, self.profile, self.service)
            if call is not None:
                part = {"functionResponse": {"id": call.id, "name": call.name, "response": call.response}}
                self.history.append({"role": "user", "parts": [part]})
        if waited and not self.calls.lost and self.queue.speaker is None and self.script is None:
            await self._close_lost()
        await self._settle()
