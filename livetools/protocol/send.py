"""Decides what is sent next: the setup, what a session must hear first, answers, user input.

Each is put into the outbox with the turns that come before its answer, and with that answer.

What the model is to say without being asked (late results, greetings, reminders) waits until nobody is cut off. It goes
out one at a time, at a quiet moment, when no turn of the model is expected and no text of the user's waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Any

from livetools.events import Call
from livetools.protocol.calls import wording
from livetools.protocol.calls.call_states import Move
from livetools.protocol.calls.calls import Calls
from livetools.protocol.calls.responses import FINAL_KINDS, Response
from livetools.protocol.connection.connection_states import USABLE
from livetools.protocol.connection.dials_and_moves import Connection
from livetools.protocol.input.input_queue import InputQueue, Item
from livetools.protocol.input.resend import Outbox, OutFrame, Receipt, Write
from livetools.protocol.turns.exchange import Exchange
from livetools.protocol.turns.expected_turns import Turns
from livetools.protocol.turns.speech_times import SpeechTimes

from .messages import outgoing

# Every answer passes it: asked of its class, a member of an enum costs ten times as much.
_WRITE = Move.WRITE

#: Entries that may have been read, past which a pong is asked for at once: each is kept until it is known.
CROWDED = 8


@dataclass(eq=False, repr=False, slots=True)  # no repr: it would show the plan, the handle and texts
class Parts:
    """The parts of a session that sending and receiving work on."""

    calls: Calls
    turns: Turns
    input: InputQueue
    speech: SpeechTimes
    outbox: Outbox
    connection: Connection


@dataclass(eq=False, repr=False, slots=True)
class Dispatch(Parts):
    """The frames of a session. ``frames`` empties the queues: the writer is responsible for what was taken."""

    ahead: tuple[OutFrame, ...] = ()  # before all else: the setup, and what a session gets that is just open
    conversing: bool = False  # a turn was prompted: no more seeding on 3.1
    unasked: tuple[Item, ...] = ()  # what the model is to say, in its order
    since: float = inf  # something waits for a quiet moment; inf: nothing
    untried: tuple[Item, ...] = ()  # texts that a resumed session may spend on an earlier call

    def __bool__(self) -> bool:
        """Whether anything waits to be written."""
        calls = self.calls
        waiting = calls.replies.queue or self.input.queue or calls.texts or self.unasked
        return bool(waiting or self.ahead)

    def begin(self, link: int, frames: Iterable[bytes]) -> None:
        """Send these on this connection ahead of all else."""
        self.ahead = (*self.ahead, *(OutFrame("setup", data, link=link) for data in frames))

    def lost(self) -> None:
        """The connection is lost, and what was to be sent first on it."""
        self.ahead = ()

    # What the model is to say, asked or not

    def speak(self, item: Item, since: float = inf) -> None:
        """The model is to say this unasked, at the next quiet moment, as if that had been waited for ``since`` then."""
        self.unasked, self.since = (*self.unasked, item), min(self.since, since)

    def text(
        self, text: str, exchange: Exchange | None, *, shown: bool = True, results: tuple[Call, ...] = ()
    ) -> Item:
        """A user turn, on the channel that the model takes; ``shown``: it is a part of the conversation."""
        frame = outgoing.text(text, self.calls.plan.text_channel)
        said = ({"role": "user", "parts": [{"text": text}]},) if shown else ()
        blank = not text.strip()
        return Item("text", frame, Receipt(), exchange, True, blank, contents=said, results=results)

    def reply(self, instructions: str | None) -> Item:
        """A turn of nobody's, which the model answers. It does not stand in the conversation."""
        # turnComplete without turns makes 3.8 speak unprompted; other models need a user turn with words in it.
        if instructions is None and self.calls.plan.empty_turn == "honoured":
            return Item("content", outgoing.end_of_turn(True), Receipt(), prompts=True)
        return self.text(wording.SPEAK_NOW if instructions is None else instructions, None, shown=False)

    def take_back(self, receipt: Receipt) -> None:
        """The caller that asked for this reply no longer wants it; it may be too late."""
        self.unasked = tuple(item for item in self.unasked if item.receipt is not receipt)

    def wake_at(self, now: float) -> float:
        """When it will be quiet, for what waits for that; what waits for the model's turn is not woken by a clock."""
        at = self.speech.quiet_at(self.since)
        return at if at > now else inf

    def fail(self, error: Exception) -> None:
        """The session is over: nothing more will be said."""
        for item in self.unasked:
            item.end(error)
        self.unasked = ()

    # What is written

    def frames(self, now: float) -> list[OutFrame]:
        """What is written now, in this order."""
        calls, input, connection = self.calls, self.input, self.connection
        late = calls.texts or self.unasked
        if not late:
            self.since = inf
        if not (calls.replies.queue or input.queue or late or self.ahead):
            return []
        frames, self.ahead = list(self.ahead), ()
        # Only a setup may be written before setupComplete: audio before it is dropped, and other messages close with
        # 1007.
        if connection.state not in USABLE:
            return frames
        write = Write()
        if frames:
            connection.conversation_advanced(now)
            if calls.lost and not calls.plan.closes_lost:  # else an empty turn says that they were read
                self.outbox.wrote(OutFrame("errors"), write)
                write.ask()
        if input.queue:  # a change is written before the answers, after which the model continues
            frames += self._input(input.changes(), write, now)
        if calls.replies.queue:
            frames += self._answers(write, now)
        if input.queue:
            frames += self._input(input.take(calls.blocking()), write, now)
        # Last: a text of ours waits until what the user has sent is out, and goes only if no turn is expected then.
        if late and self._speaks(now):
            frames += self._input(input.take(calls.blocking()), write, now)
        if frames:
            write.ends_with(frames[-1])
            if self.outbox.transparent:
                self.outbox.number(frames)
        return frames

    def _answers(self, write: Write, now: float) -> Sequence[Response]:
        """Take the answers that are ready, and note for each what will prove that it was read."""
        turns, ledger = self.turns, self.calls.ledger
        # A blocking call is open, no other turn can come and no audio flows: any output proves the answer was read.
        own_ends = 0 if ledger.ending else 1
        alone = ledger.blocking and not self.input.streams and turns.ends_at_most <= own_ends
        at_latest = -inf if alone else inf
        messages, wrote = self.calls.replies.take(), self.outbox.wrote
        for first in messages:
            for answer in (first, *first.rest):
                record, last = answer.record, answer.kind in FINAL_KINDS
                # The other kinds leave the debt as it is: a yield or a word is no answer, and an acknowledged call is
                # DETACHED already.
                if answer.kind == "answer":
                    ledger.move(record, _WRITE)
                if last:
                    self.speech.measured["call"].add(now - record.since)
                scheduling, latest = answer.scheduling, at_latest
                turn = turns.answered(record.run, scheduling, now, last)
                if answer.kind == "yield" or scheduling == "SILENT":
                    # The model will not speak of it, so its output proves nothing: only the pong does.
                    turn, latest = None, inf
                if wrote(answer, write, turn, latest):
                    self.connection.conversation_advanced(now)
                    if latest > turns.ends and not write.at_once:
                        # Without a ping each entry is kept until output proves it. While audio flows a ping is put off
                        # for a second, except where a lost answer would cost more, or too many are kept.
                        crowded = len(self.outbox.sent) >= CROWDED
                        weighs = record.policy.undo or record.policy.approval
                        write.ask(at_once=crowded or not self.input.streams or weighs)
        return messages

    def _input(self, items: list[Item], write: Write, now: float) -> list[Item]:
        """Enter these items of the user's in the turns and in the outbox. Returns them."""
        turns, link = self.turns, self.connection.current
        for item in items:
            answer, latest = None, inf
            # No answer is expected: output after the turn that is under way shows that it was read.
            if not item.prompts:
                after_turn = turns.last()
            else:
                # Audio begins turns whenever it likes, so with it no count of turn ends proves that a text was read.
                latest = inf if self.input.streams else turns.ends + turns.ends_at_most
                self.conversing = True
                self.speech.said(now)
                after_turn, answer = turns.prompted(now, item.exchange, doubtful=item.doubtful)
                self.untried = (*self.untried, item) if item.turn and turns.stale.untried else ()
            item.take(link, after_turn)
            if self.outbox.wrote(item, write, answer, latest):
                self.connection.conversation_advanced(now)
                if latest > turns.ends:
                    write.ask()
            # audioStreamEnd flushes what the service has cached: it may answer that, and nobody waits for it.
            if item.kind == "end" and self.input.streams:
                turns.heard_out(now)
        return items

    def _speaks(self, now: float) -> bool:
        """Queue the late results, or else one unasked reply, if this is the moment for it. Whether one was queued."""
        self.since = min(self.since, now)
        # 3.1 and 3.8 cut their reply for any text (pydantic-ai 2.68): it waits for the end of the turn.
        prompted = any(item.prompts for item in self.input.queue)
        if not self.turns.idle or prompted or self.input.in_activity:
            return False  # it would cut somebody off
        # A lost call: somebody waits for it.
        awaited = any(not record.policy.background for record in self.calls.texts)
        if not awaited and self.speech.quiet_at(self.since) > now:
            return False
        self.since = inf
        # Late results go before unasked replies, all in one text: each text would be a turn of its own.
        if late := self.calls.late():
            results = tuple(call for call, _ in late)
            self.input.put(self.text("\n".join(text for _, text in late), None, results=results))
        else:
            self.input.put(self.unasked[0])
            self.unasked = self.unasked[1:]
        return bool(self.input.queue)


def says_something(contents: Iterable[Mapping[str, Any]]) -> bool:
    """Whether there is a word of the user's in it, or anything else that a model may answer."""
    users = (content.get("parts") or () for content in contents if content.get("role") != "model")
    # A part that is not text (an image, a function response) may be answered. Blank text starts no turn.
    return any(part.keys() - {"text"} or str(part.get("text") or "").strip() for part in chain(*users))
