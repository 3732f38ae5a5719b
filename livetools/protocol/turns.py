"""Whose move it is: what ends an exchange, and when silence is a stall.

The service never says "your turn" in so many words. ``turnComplete`` ends a turn, but a call may end its turn by
itself and bring another with its answer; with background reasoning ``turnComplete`` is not the end and ``IDLE`` is.
So what is *due* is counted:

``prompts``      turn ends until the last user turn that was written has been answered
``owed``         turn ends until the answers that went out have been spoken of (answers with nothing heard between
                 them count as one)
``open``         the model is in the middle of something: content came, or a call that will end its turn
``missing``      turn ends that a stall has given up: late ones come before those that are due
``forgiven``     those of them that count as come: a turn has ended since, and then it was quiet
``most``         turn ends that can come at most: each answer that the model did not stand still for may bring one

The move is the user's (``idle``) when none of these is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import inf

from .errors import ConcurrencyError
from .events import (
    AudioChunk,
    Event,
    OutputTranscript,
    TextChunk,
    ToolStarted,
    TurnComplete,
    UsageUpdate,
)

#: Seconds to wait for the spoken turn of an answer, when what was heard may have been it already: an answer that went
#: out before its call's turn had ended cannot be told apart from one that was spoken of in that same turn.
AMBIGUOUS = 2.0

BOUND = 64 * 1024 * 1024  # bytes of audio that an exchange keeps
FLAT = 200  # what a chunk weighs beside its data
KEPT = (
    TextChunk,
    OutputTranscript,
    AudioChunk,
    ToolStarted,
    UsageUpdate,
    TurnComplete,
)  # what a reply is made of


class Exchange:
    """One ``ask``: its prompt, what came of it, and whether it is over.

    ``events`` are those of this exchange alone that a reply is made of. Past :data:`BOUND` the oldest audio is
    emptied: ``dropped`` counts those chunks. ``notify`` is called when ``events`` or ``done`` changed.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.dropped = 0
        self._audio: deque[int] = deque()  # where the chunks stand that are not empty
        self._size = 0
        self.done = False
        self.interrupted = False
        self.began = False  # its text was written
        self.skip = 0  # earlier turns that end first
        self.calls: set[int] = set()  # runs whose answer is still owed
        self.notify: Callable[[], None] | None = None
        self.changed = False

    def hear(self, event: Event) -> None:
        """Keep what the reply needs of what was told."""
        if not isinstance(event, KEPT):
            return
        self.changed = True
        if isinstance(event, UsageUpdate) and self.events and type(self.events[-1]) is UsageUpdate:
            self.events[-1] = event  # the last count of a turn holds
            return
        self.events.append(event)
        if isinstance(event, AudioChunk):
            self._audio.append(len(self.events) - 1)
            self._size += FLAT + len(event.data)
            while self._size > BOUND and len(self._audio) > 1:
                self._empty(self._audio.popleft())

    def _empty(self, index: int) -> None:
        chunk = self.events[index]
        assert isinstance(chunk, AudioChunk)
        self._size -= FLAT + len(chunk.data)
        self.events[index] = replace(chunk, data=b"")
        self.dropped += 1

    def end(self, interrupted: bool = False) -> None:
        """Over, with what was heard."""
        self.done = self.changed = True
        self.interrupted = self.interrupted or interrupted


class Turns:
    """The count of what is due. Every method is an input; ``idle`` and ``exchange`` are what they come to."""

    def __init__(self, stall_timeout: float, status_signal: bool) -> None:
        self.stall_timeout = stall_timeout
        self.status_signal = status_signal
        self.prompts = 0
        self.owed = 0
        self.missing = self.forgiven = 0
        self.most = 0
        self.open = False
        self.thinking = False  # IN_PROGRESS was said, and no end since
        self.exchange: Exchange | None = None
        self.ends = 0
        self.ended_at = self._gave_up_at = -inf
        self._unspoken: set[int] = set()  # runs whose answers are still to be spoken of
        self._either = 0  # ends that were a missing one's, or a prompt's
        self._heard = False  # content since the last answer
        self._cutting = False  # an answer was sent that may itself cut the model off
        self._progress = 0.0
        self._playing = 0.0  # until when the audio that came would play
        self._patience = inf  # AMBIGUOUS runs out
        self._stalled = False

    @property
    def due(self) -> int:
        """Turn ends that are still to come, as far as is known."""
        return max(self.prompts, self.owed, self.open or self.thinking)

    @property
    def counted(self) -> int:
        """Turns that have ended, or will not any more."""
        return self.ends + self.forgiven

    @property
    def ahead(self) -> int:
        """Turn ends that come before the model can read what is written now."""
        return self.due + self.missing

    @property
    def upmost(self) -> int:
        """Turn ends that may still come: never less than what is due."""
        return max(self.most, self.ahead)

    @property
    def idle(self) -> bool:
        """Nothing is due from the model."""
        return not self.due

    def waiting_for(self) -> str:
        """What is due, in words."""
        if self.owed:
            return "the model's words on a function response"
        if self.open or self.thinking:
            return "the end of the model's turn"
        return "the model's answer to the user's turn" if self.prompts else ""

    # Inputs

    def ask(self) -> Exchange:
        """Begin an exchange; its prompt is still to be written. Raises ``ConcurrencyError`` while one is under way."""
        if self.exchange is not None:
            raise ConcurrencyError("ask() while another exchange is under way; await that one first")
        self.exchange = Exchange()
        return self.exchange

    def prompted(self, now: float, exchange: Exchange | None = None) -> None:
        """A complete user turn was written, for this exchange or for none."""
        if exchange is not None and exchange is self.exchange:
            exchange.began = True
            exchange.skip = self.due
        self.most = self.upmost + 1
        self.prompts = self.due + 1  # what is due already ends first, whatever began it
        self._moved(now)

    def content(self, now: float, seconds: float = 0.0) -> None:
        """The model said something; ``seconds`` of audio of it."""
        self.open = self._heard = True
        self._playing = max(self._playing, now) + seconds
        self._moved(now)

    def called(self, run: int, ends_turn: bool, now: float) -> None:
        """The model made a call; ``ends_turn``: its turn ends with it, and another begins at the answer."""
        if ends_turn and not self.status_signal:
            self.open = True
        if self.exchange is not None and self.exchange.began and not self.exchange.skip:
            self.exchange.calls.add(run)
        self._moved(now)

    def answered(
        self,
        run: int,
        ends_turn: bool,
        scheduling: str | None,
        now: float,
        *,
        stood_still: bool = False,
        last: bool = True,
    ) -> None:
        """An answer was written, the last one for its call or not.

        ``stood_still``: the model waited for it, in the turn that it goes on with now.
        """
        self.most = self.upmost + (ends_turn or not stood_still)
        if scheduling != "SILENT" or not ends_turn:
            before = 1 if ends_turn and not self.status_signal and (self.open or self.prompts) else 0
            self.owed = max(self.owed, before + 1)
            self._cutting = self._cutting or (scheduling == "INTERRUPT" and self.open)
            self._heard = False
            self._unspoken.add(run)
        self._moved(now)
        if last:
            self.closed(run, now)

    def taken_back(self, run: int, now: float) -> None:
        """The server has cancelled this call: it does not speak of an answer to it."""
        self._unspoken.discard(run)
        if not self._unspoken:
            self.owed = 0
        self.closed(run, now)

    def closed(self, run: int, now: float) -> None:
        """Nothing is owed for this call any more (answered, cancelled, lost)."""
        if self.exchange is not None:
            self.exchange.calls.discard(run)
        self._moved(now)
        self._settle()

    def interrupted(self, now: float) -> None:
        """``interrupted``: the model was cut off; the end of its turn follows."""
        exchange = self.exchange
        if self._cutting:
            self._cutting = self._heard = False  # what was heard is not what the answer brings
        elif exchange is not None and exchange.began and not exchange.skip:
            exchange.interrupted = True
        self._playing = now
        self._moved(now)

    def complete(self, status: str | None, now: float) -> None:
        """``turnComplete``, with the status that stood beside it."""
        if status == "IN_PROGRESS":
            self.open, self.thinking = False, True
            self._moved(now)
        else:
            self._end(now)

    def status(self, status: str, now: float) -> bool:
        """A status by itself. Whether it ended a turn: IDLE does, unless ``turnComplete`` has done so before."""
        if status == "IN_PROGRESS":
            self.thinking = True
        elif status == "IDLE" and (self.open or self.thinking):
            self._end(now)
            return True
        if status != "IDLE":  # which only repeats what turnComplete has said
            self._moved(now)
        return False

    def lost(self, now: float, again: bool) -> bool:
        """The connection is gone; ``again``: the exchange's prompt will be written again. Whether a turn was cut."""
        cut = self.open or self.thinking or self.owed > 0 or (self.prompts > 0 and not again)
        self.prompts = self.owed = self.most = self.missing = self._either = 0
        self.open = self.thinking = self._cutting = False
        self._patience, self._playing = inf, now
        self._unspoken.clear()
        exchange = self.exchange
        if exchange is not None and exchange.began:
            exchange.began, exchange.calls = False, set()
            if not again:
                self._over(interrupted=True)
        self._moved(now)
        return cut

    def quiet(self, now: float) -> None:
        """What a stall has given up is not to come any more, where a turn has ended since, and then it was quiet."""
        quiet = self.idle and self._progress <= now - AMBIGUOUS
        if self.missing and quiet and self.ended_at > self._gave_up_at:
            self.forgiven += self.missing + self._either
            self.missing = self._either = 0

    def tick(self, now: float, served: bool) -> float | None:
        """Seconds of silence, if it has become a stall; ``served``: a call is open that blocks the model."""
        if self._patience <= now:
            self._patience, self.owed = inf, 0
            self._unspoken.clear()
            self._settle()
        if served or self._stall_at() > now:
            return None
        self._stalled = True
        exchange = self.exchange
        if exchange is None or not exchange.calls:  # what did not come by now is not counted on
            self.missing, self._gave_up_at = self.ahead, now
            self.prompts = self.owed = 0
            self._unspoken.clear()
            self.open = self.thinking = False
            if exchange is not None and exchange.began:
                self._over()
        return now - self._progress

    def wake_at(self, served: Callable[[], bool]) -> float:
        """When ``tick`` has something to do; ``served`` is asked only where it matters."""
        at = self._stall_at()
        return self._patience if at >= self._patience or served() else at

    # Inside

    def _end(self, now: float) -> None:
        # the answer met the call's own IDLE; or two ends were due, but this may be the only one
        crossed = self.status_signal and self.owed > 0 and not self._heard
        waits = crossed or (self.owed > 1 and self._heard)
        self.most = max(0, self.upmost - 1)
        self._either += bool(self.missing and self.prompts)
        self.missing = max(0, self.missing - 1)
        self.prompts = max(0, self.prompts - 1)
        self.owed = self.owed if crossed else max(0, self.owed - 1)
        if not self.owed:
            self._unspoken.clear()
        self.open = self.thinking = self._cutting = False
        self.ends, self.ended_at = self.ends + 1, now
        self._moved(now)
        self._patience = now + AMBIGUOUS if waits else inf
        exchange = self.exchange
        if exchange is not None and exchange.skip:
            exchange.skip -= 1
        elif exchange is not None and exchange.interrupted:
            self._over()
        self._settle()

    def _settle(self) -> None:
        exchange = self.exchange
        if exchange is not None and exchange.began and not exchange.skip and self.idle and not exchange.calls:
            self._over()

    def _over(self, interrupted: bool = False) -> None:
        if self.exchange is not None:
            self.exchange.end(interrupted)
            self.exchange = None

    def _moved(self, now: float) -> None:
        self._progress = now
        self._stalled = False
        if self._patience < inf:
            self._patience = inf if self.open else now + AMBIGUOUS

    def _stall_at(self) -> float:
        if self._stalled or not (self.prompts or self.owed or self.open or self.thinking):
            return inf
        return (self._progress if self._progress > self._playing else self._playing) + self.stall_timeout
