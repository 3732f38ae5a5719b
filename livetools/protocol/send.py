"""Decides what is sent next: the setup, what a session must hear first, answers, user input.

Each is put into the outbox with the turns that come before its answer, and with that answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import inf
from typing import Any

from livetools.protocol.calls.reply_batching import FINAL_KINDS, AnswerFrame
from livetools.protocol.connection.connection import Connection
from livetools.protocol.connection.connection_states import USABLE
from livetools.protocol.input.input_queue import Item
from livetools.protocol.input.resend import Entry, Frame, Outbox, Write

from .unprompted import Unprompted

#: Entries that may have been read, past which a pong is asked for at once: each is kept until it is known.
CROWDED = 8


@dataclass(eq=False, repr=False, slots=True)  # no repr: it would show the plan, the handle and texts
class Dispatch(Unprompted):
    """The frames of a session. ``frames`` empties the queues: the writer is responsible for what was taken."""

    outbox: Outbox
    connection: Connection
    ahead: tuple[Frame, ...] = ()  # before all else: the setup, and what a session gets that is just open
    conversing: bool = False  # a turn was prompted: no more seeding on 3.1

    def __bool__(self) -> bool:
        calls = self.calls
        waiting = calls.replies.queue or self.input.queue or calls.texts or self.unasked
        return bool(waiting or self.ahead)

    def begin(self, link: int, frames: Iterable[bytes]) -> None:
        """Send these on this connection ahead of all else."""
        self.ahead = (*self.ahead, *(Frame(link, data) for data in frames))

    def lost(self) -> None:
        """The connection is lost, and what was to be sent first on it."""
        self.ahead = ()

    def frames(self, now: float) -> list[Frame]:
        """What is written now, in this order."""
        calls, input, connection = self.calls, self.input, self.connection
        late = calls.texts or self.unasked or self.since < inf
        frames: list[Frame] = [*self.ahead]
        if not (calls.replies.queue or input.queue or late or frames):
            return frames
        self.ahead = ()
        # Only a setup may be written before setupComplete: audio before it is dropped, and other messages close with
        # 1007.
        if connection.state not in USABLE:
            return frames
        link, write = connection.current, Write()
        if frames:
            connection.conversation_advanced(now)
            if calls.lost and not calls.plan.closes_lost:  # else an empty turn says that they were read
                self.outbox.wrote(Entry("errors"), write)
                write.ask()
            if self.outbox.transparent:
                self._number(frames)
        if input.queue:  # a change is written before the answers, after which the model continues
            frames += self._input(input.changes(), link, write, now)
        if calls.replies.queue:
            replies = self._answers(write, now)
            frames += replies
            if self.outbox.transparent:
                self._number(replies)
        if input.queue:
            frames += self._input(input.take(calls.blocking()), link, write, now)
        # Last: a text of ours waits until what the user has sent is out, and goes only if no turn is expected then.
        if late and self.speaks(now):
            frames += self._input(input.take(calls.blocking()), link, write, now)
        if frames:
            write.ends_with(frames[-1])
        return frames

    def _number(self, frames: Sequence[Frame]) -> None:
        """Count the messages that are not the user's, for transparent replay."""
        for frame in frames:
            # A message all of whose answers are taken back is never written: then the numbers behind it move up.
            number = self.outbox.count()
            if isinstance(frame, AnswerFrame):
                frame.if_dropped(partial(self.outbox.unwritten, number))

    def _answers(self, write: Write, now: float) -> list[AnswerFrame]:
        turns, ledger = self.turns, self.calls.ledger
        stood_still = ledger.blocking > 0
        # A blocking call is open, no other turn can come and no audio flows: any output proves the answer was read.
        alone = stood_still and not self.input.streams and turns.upmost <= (0 if ledger.ending else 1)
        at_latest = -inf if alone else inf
        replies, wrote = self.calls.replies.take(), self.outbox.wrote
        for reply in replies:
            for answer in reply.answers:
                record, last = answer.record, answer.kind in FINAL_KINDS
                if last:
                    self.speech.measure("call", now - record.since)
                scheduling, latest = answer.scheduling, at_latest
                # BLOCKING calls are spoken of in the same turn, even where they end the generation that made them.
                apart = record.policy.ends_turn and not record.blocks
                turn = turns.answered(record.run, apart, scheduling, now, stood_still, last)
                if answer.kind == "yield" or scheduling == "SILENT":
                    # the model's words will not say that it was read: the pong must do
                    turn, latest = None, inf
                if wrote(answer, write, None, turn, latest):
                    self.connection.conversation_advanced(now)
                    if latest > turns.ends:
                        # Without a ping each entry is kept until output proves it. While audio flows a ping is put off
                        # for a second, except where a lost answer would cost more, or too many are kept.
                        crowded = len(self.outbox) >= CROWDED
                        weighs = record.policy.undo or record.policy.approval
                        write.ask(at_once=crowded or not self.input.streams or weighs)
        return replies

    def _input(self, items: list[Item], link: int, write: Write, now: float) -> list[Frame]:
        turns = self.turns
        for item in items:
            answer, latest = None, inf
            # No answer is expected: output after the turn that is under way shows that it was read.
            if not item.prompts:
                after_turn = turns.last()
            else:
                # Audio begins turns whenever it likes, so with it no count of turn ends proves that a text was read.
                latest = inf if self.input.streams else turns.ends + turns.upmost
                self.conversing = True
                self.speech.said(now)
                after_turn, answer = turns.prompted(now, item.exchange, doubtful=item.doubtful)
            if self.outbox.wrote(item, write, after_turn, answer, latest):
                self.connection.conversation_advanced(now)
                if latest > turns.ends:
                    write.ask()
            # audioStreamEnd flushes what the service has cached: it may answer that, and nobody waits for it.
            if item.kind == "end" and self.input.streams:
                turns.heard_out(now)
        return [Frame(link, item.frame, item.receipt, item) for item in items]


def says_something(contents: Iterable[Mapping[str, Any]]) -> bool:
    """Whether there is a word of the user's in it, or anything else that a model may answer."""
    users = (content.get("parts") or () for content in contents if content.get("role") != "model")
    # A part that is not text (an image, a function response) may be answered. Blank text starts no turn.
    return any(part.keys() - {"text"} or str(part.get("text") or "").strip() for part in chain(*users))
