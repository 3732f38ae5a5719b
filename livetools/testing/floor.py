"""Whose turn it is: one speaks, the others wait."""

from __future__ import annotations

import contextlib
from collections import deque

import anyio

from . import speech
from .roles import Script, Session
from .said import Said
from .turn import Turn, TurnCancelled


class Floor:
    """Whose turn it is: one turn speaks, others wait for it to end.

    A turn leaves the floor when it ends, when it waits for a ``NON_BLOCKING`` call, and when the client
    interrupts.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.speaker: Turn | None = None
        self.waiting: deque[Turn] = deque()
        self.away: set[Turn] = set()  # they wait for an answer, and will speak of it
        self.thinking = False  # IN_PROGRESS was said, and not IDLE
        self.user: Script | None = None  # of a script, which hears the turns instead of a model
        self.begun = False  # the model had a turn
        self.since = session.server.clock.now()  # a turn began or ended, or the connection did
        self.leaving = False  # its turn is ending on the wire: there is nothing left to interrupt

    async def user_spoke(self, turn: Turn, *, interrupts: bool) -> None:
        """A user turn is complete: run the model for it, now or when the floor is free."""
        if self.user is not None:
            await self.user.hear(turn)
            return
        if self.session.profile.answers_lost and self.session.book.lost:
            await self._swallow(turn)
            return
        connection = self.session.connection
        if self.speaker is not None and interrupts and not self.leaving:
            await self.session.interrupt_floor()
        if connection is None or self.session.connection is not connection:
            return  # the line went meanwhile, and no turn of it goes on with the next
        self.waiting.append(turn)
        self.next()

    async def _swallow(self, turn: Turn) -> None:
        """A resumed model that still waits for a lost call spends a user's turn on closing the old exchange."""
        lost = ", ".join(str(call) for call in self.session.book.lost)
        self.session.server.note(f"{turn.text!r} was swallowed: nobody told the model of the lost {lost}")
        self.session.book.lost.clear()
        await self.session.send(speech.turn_complete(self.session))

    def next(self) -> None:
        """Give the floor to the next in line, if it is free."""
        if self.speaker is not None or not self.waiting or self.session.connection is None:
            return
        turn = self.waiting.popleft()
        self.take(turn)
        if turn.wake is not None:
            turn.wake.set()
        else:
            self.session.server.listener.start_task(self._run, turn)

    def take(self, turn: Turn) -> None:
        """This turn speaks now."""
        self.speaker, self.begun = turn, True
        self.since = self.session.server.clock.now()
        self.session.said = Said()

    async def _run(self, turn: Turn) -> None:
        session = self.session
        with anyio.CancelScope() as turn.scope:
            try:
                await session.server.answer_turn(turn)
                if self.speaker is turn:
                    await self.leave()
            except TurnCancelled:
                pass
            except Exception as error:
                await session.server.model_failed(session, error)
        if self.speaker is turn:
            self.speaker = None
        self.next()
        with contextlib.suppress(TurnCancelled):
            await self.settle()

    async def leave(self) -> None:
        """End the turn on the wire: generationComplete, turnComplete with usage, a handle; then the next.

        turnComplete is held back until the sound would have been played, if the server holds it back.
        """
        session, speaker = self.session, self.speaker
        try:
            async with session.together():
                for message in speech.endings(session):
                    if "turnComplete" in message["serverContent"]:
                        await self._played(speaker)
                        self.leaving = True  # what the client says from now on begins a turn of its own
                    await session.send(message)
                self.leaving = True
                session.said = Said()
                asked = session.profile.resumption and "sessionResumption" in session.setup
                if asked and not session.open_calls():
                    await session.send_handle()
        finally:
            self.leaving = False
        self.speaker = None
        self.since = session.server.clock.now()
        self.next()

    async def _played(self, speaker: Turn | None) -> None:
        """Wait until what was said would have been played. The client may cut in meanwhile."""
        clock, until = self.session.server.clock, self.session.said.until
        if until > clock.now():
            await clock.sleep_until(until)
            if self.speaker is not speaker:
                raise TurnCancelled("the client has interrupted this turn, or its connection is gone")

    @property
    def busy(self) -> bool:
        """Whether a call is open, or its answer not spoken of: the interaction goes on, whoever's turn ends."""
        return bool(self.away or self.session.open_calls())

    @property
    def quiet(self) -> bool:
        """Whether nothing is under way."""
        return self.speaker is None and not self.waiting and not self.busy

    async def settle(self) -> None:
        """Say IDLE by itself, where the last of an interaction was an answer or a cancellation."""
        if self.thinking and self.quiet and self.session.connection is not None:
            await self.session.send({"serverContent": speech.status(self.session)})

    async def take_back(self, turn: Turn, scheduling: str) -> None:
        """The answer to a call that did not block is there: speak of it now, when it is quiet, or never."""
        if self.user is not None:  # a script says itself what is said when
            if self.speaker is None:
                self.take(turn)
            return
        if turn.over:
            raise TurnCancelled("the client has interrupted this turn")
        honoured = self.session.profile.scheduling == "honoured"
        if scheduling == "SILENT" and honoured:
            turn.muted = True
            return
        if scheduling == "INTERRUPT" and honoured and not self.session.ears.user_speaks:
            await self.session.interrupt_floor()
        turn.wake = anyio.Event()
        self.waiting.append(turn)
        self.next()
        try:
            await turn.wake.wait()
        finally:
            turn.wake = None
        if turn.over:
            raise TurnCancelled("the connection of this turn is gone")

    def line_gone(self) -> None:
        """Nobody is there to speak to: every turn is over, and hears of it when it next does something."""
        self.thinking = False
        if self.user is not None:
            self.speaker = None
            return
        for turn in [*self.waiting, *filter(None, [self.speaker])]:
            turn.over = True
            if turn.wake is not None:
                turn.wake.set()
        self.waiting.clear()
        self.speaker = None
