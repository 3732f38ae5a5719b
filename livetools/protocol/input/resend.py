"""Tracks frames that were handed to a socket: whether each was read, and its fate when the connection is lost.

A socket takes a frame before anybody has read it, and what a dying one took is lost without a word. Three things say
that a frame has been read:

- The model's output, when only this frame can have caused it. This costs nothing and is usually enough.
- The model's output after the turns that come first. That is a guess at times: the service does not say whether it
  speaks of two answers in one turn or in two, and audio begins turns whenever it likes.
- The pong to a ping that was written behind the frame. A connection keeps its order, so a peer that answers the ping
  has received the frame (RFC 6455, 5.5.3), and what it said before the pong it said without having read it. So where
  output could mislead, it counts only behind the pong. Nobody but a planned move waits for a pong: on idle sessions it
  takes 28 to 42 ms, on busy ones 8 to 30 s were measured (sip-to-ai#14, 2026-09). It is enough by itself only where no
  output is expected (a SILENT answer, a yield, content that ends no turn): else what was received may not have been
  read when a connection is cut.

What no socket has been handed was read by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import inf
from typing import TypeAlias

from msgspec import Struct

from livetools.protocol.turns.exchange import Expected

#: Messages that were received behind a pong; ``None``: it has not come.
PongCount: TypeAlias = Callable[[], int | None]

#: Bytes kept for transparent replay, past which media goes: about 3 minutes of audio at 16 kHz.
REPLAY_BOUND = 8 * 1024 * 1024

MEDIA_KINDS = frozenset({"audio", "video"})
#: What goes stale, and is nothing but a nuisance to a session in which a call is open.
STREAM = MEDIA_KINDS | {"end"}


#: What is written again as it was, if it was not read when its connection is lost: at worst the model reads it twice.
REPEATED = frozenset({"text", "content", "update"})
#: What is followed until it was read. An answer on another socket is ignored (2.5, 3.1, measured 2026-08): its loss is
#: reported, and the result follows as text; a yield stays with its call, the errors with the calls that were lost. What
#: is not here is forgotten: media is stale, and activity marks are invalid without their audio.
FOLLOWED = REPEATED | {"answer", "acknowledgement", "yield", "errors"}


class Write(Struct, eq=False):
    """What is written in one go. The writer says when all of it was handed to a socket, and pings then, if asked.

    ``asks``: whether to send a ping behind it, ``at_once`` or within a second; ``pong``: what became of that, ``None``
    where no ping was wanted or can be had.
    """

    handed: bool = False
    asks: bool = False
    at_once: bool = False
    pong: PongCount | None = None

    def ask(self, at_once: bool = True) -> None:
        """Want a ping behind it: until that is answered it has not arrived."""
        self.asks, self.pong = True, _not_yet
        self.at_once = self.at_once or at_once

    def ends_with(self, frame: OutFrame) -> None:
        """The write is over when this frame is."""
        frame.last_of = self

    def pinged(self, pong: PongCount | None) -> None:
        """A ping went behind it; ``None``: none did, and nothing is known of what arrived."""
        self.pong = pong

    @property
    def awaits_pong(self) -> bool:
        """Whether a socket has it, and the pong behind it has not come."""
        return self.handed and self.pong is not None and self.pong() is None


def _not_yet() -> int | None:
    return None


class Receipt(Struct, eq=False):
    """The fate of something that must not be lost: handed to a socket, or failed."""

    done: bool = False
    error: Exception | None = None
    notify: Callable[[], None] | None = None

    def watch(self, notify: Callable[[], None]) -> None:
        """Call this once, when ``done`` becomes true."""
        self.notify = notify

    def end(self, error: Exception | None = None) -> None:
        """It was handed to a socket, or will not be sent, for this reason. The first end counts."""
        if self.done:
            return
        self.done, self.error = True, error
        if self.notify is not None:
            self.notify()


class Delivery(Struct, eq=False, kw_only=True):
    """How far a message has come, from "wanted" to "read". The base of :class:`OutFrame`, whose own fields are given by
    position, and these by name.

    ``write``: what it is written with (``None``: no writer has taken it); ``last_of``: the write that is over with it.
    ``after_turn``: the turn that ends before the model's output can be about this (``None``: the next output is);
    ``at_latest``: once so many turns have ended, any output proves that it was read (``inf``: no count is to be
    trusted); ``answer``: the turn that is its answer (``None``: none is expected); ``endings``: connections that were
    handed it, and may have ended for it.
    """

    link: int = 0  # the connection that it is for
    run: int | None = None  # the call that it is for
    write: Write | None = None
    last_of: Write | None = None
    after_turn: Expected | None = None
    answer: Expected | None = None
    at_latest: float = inf
    begun: bool = False
    read: bool = False
    endings: int = 0

    def output(self, ends: float) -> bool:
        """The model produces output, after so many turn ends. Whether this has been read, as far as can be told."""
        write = self.write
        if write is None or not write.handed:
            return False
        # By the count of turn ends nothing but this frame can have caused the output: no pong is needed.
        if ends >= self.at_latest:
            return True
        # Until a message has come behind the pong, the output may have been sent without knowledge of the frame.
        reached = self.after_turn is None or self.after_turn.over
        return reached and (write.pong is None or bool(write.pong()))

    def suspect(self, turned: bool) -> bool:
        """Whether the connection may have ended for this: it was the model's next, or nothing has come of any.

        A frame that has begun counts: the service can have received all of it, and closed, before the writer runs
        again to say that it was handed over.
        """
        # Where turns have ended the model works through what it got: what it has not come to is not to blame. Where
        # none has, everything that was begun may be.
        reached = self.after_turn is None or self.after_turn.over
        written = self.begun or (self.write is not None and self.write.handed)
        return written and (reached or not turned)

    @property
    def safe(self) -> bool:
        """Whether it counts as read, were the connection lost now."""
        write = self.write
        # Where an answer is expected, having been received is not enough: the model may not have read it when the line
        # is cut.
        if write is None or not write.handed or not (self.answer is None or self.answer.over):
            return False
        # Without a pong it may have been swallowed, even if turns have ended. Only where a ping was wanted and none can
        # be had, and nobody expects an answer, is it believed.
        if write.pong is None:
            return write.asks and self.answer is None
        return write.pong() is not None


class OutFrame(Delivery, eq=False):
    """A message that goes out; ``receipt`` is of who waits until it is written."""

    kind: str
    data: bytes = b""
    receipt: Receipt | None = None

    @property
    def media(self) -> bool:
        """Whether it is sound or video."""
        return self.kind in MEDIA_KINDS

    def take(self, link: int, after_turn: Expected | None) -> None:
        """It is written on this connection, perhaps once more, after that turn of the model."""
        self.link, self.after_turn = link, after_turn
        self.last_of, self.begun, self.read = None, False, False

    def make(self) -> bytes | None:
        """The bytes, as they are now; ``None``: there is nothing left to write."""
        return self.data

    def end(self, error: Exception | None = None) -> None:
        """Nobody waits for it any more: a socket was handed it, or it will not be sent, for this reason."""
        if self.receipt is not None:
            self.receipt.end(error)

    def begin(self) -> None:
        """The writer begins it."""
        self.begun = True

    def hand_over(self) -> None:
        """A socket was handed it."""
        if self.receipt is not None:
            self.receipt.end()
        if self.last_of is not None:
            self.last_of.handed = True


class Outbox:
    """What was written on this connection and is not known to have been read, in its order.

    ``transparent``: the service counts the messages that it has taken in, and says so. All after that is kept.
    """

    def __init__(self, transparent: bool = False) -> None:
        self.transparent = transparent
        self.sent: list[OutFrame] = []
        # Transparent: by their numbers, the setup being 0, the user's messages that the service may not have taken in,
        # and the answers whose bytes are not made yet, or of which nothing was left to write.
        self._log: dict[int, OutFrame] = {}
        self._unmade: dict[int, OutFrame] = {}
        self._logged = 0  # bytes of media in the log
        self._last = 0  # the number of the last message
        self._unwritten = 0  # messages that had a number, and were not written after all

    @property
    def writing(self) -> bool:
        """Whether something of it has not been handed to a socket yet."""
        return not all(frame.write is not None and frame.write.handed for frame in self.sent)

    @property
    def awaited(self) -> bool:
        """Whether a pong is awaited that will say more."""
        return any(frame.write is not None and frame.write.awaits_pong for frame in self.sent)

    def wrote(
        self, frame: OutFrame, write: Write, answer: Expected | None = None, at_latest: float = inf
    ) -> bool:
        """This goes out with that write. Whether it is followed: whether a dying socket must not swallow it."""
        frame.write, frame.answer, frame.at_latest = write, answer, at_latest
        # Media and marks of activity are not followed: nothing is done about their loss.
        if follows := frame.kind in FOLLOWED:
            self.sent.append(frame)
        return follows

    def number(self, frames: Iterable[OutFrame]) -> None:
        """Transparent: number these messages, which are written in this order."""
        self._unmade = {number: answer for number, answer in self._unmade.items() if not answer.data}
        for frame in frames:
            self._last += 1
            kept = self._log if frame.run is None else self._unmade
            kept[self._last] = frame
            self._logged += len(frame.data) if frame.media else 0
        while self._logged > REPLAY_BOUND:  # the oldest media goes; texts are kept
            oldest = next(n for n, frame in self._log.items() if frame.media)
            self._logged -= len(self._log.pop(oldest).data)

    def consumed(self, index: int) -> list[OutFrame]:
        """Transparent: the state of the handle holds all messages up to this one."""
        # The service counts what it gets. A message all of whose answers were taken back was never written, and those
        # behind it have lower numbers there.
        for number in list(self._unmade):
            if number > index + self._unwritten:
                break
            if not self._unmade.pop(number).data:
                self._unwritten += 1
        taken_in = []
        for number in list(self._log):
            if number > index + self._unwritten:
                break
            frame = self._log.pop(number)
            self._logged -= len(frame.data) if frame.media else 0
            taken_in.append(frame)
        return taken_in

    def output(self, ends: float, answers: bool = True) -> list[OutFrame]:
        """The model produces output, after so many turn ends: what it has read by now.

        ``answers``: or it was cut off by a text that it has read, which says nothing of answers.
        """
        if not self.sent:
            return []  # nearly always: this is asked for each word
        read = [frame for frame in self.sent if (answers or frame.run is None) and frame.output(ends)]
        for frame in read:
            frame.read, frame.endings = True, 0  # whatever will end the next connection, this did not
            self.sent.remove(frame)
        return read

    def unseen(self) -> list[OutFrame]:
        """What the service may not have had when it gave the handle that came now."""
        # Where no message has come behind the pong yet, the handle may have been issued before the frame was read.
        return [f for f in self.sent if not f.safe or (f.write and f.write.pong and f.write.pong() == 0)]

    def drop(self, runs: Collection[int]) -> None:
        """The server took these calls back: what was written for them no longer matters."""
        if self.sent:
            self.sent = [frame for frame in self.sent if frame.run not in runs]

    def forget(self, frame: OutFrame) -> None:
        """It has been read, though nothing proved it."""
        self.sent = [sent for sent in self.sent if sent is not frame]

    def lost(self, *, crossed: bool = False, turned: bool = False) -> list[OutFrame]:
        """The connection is lost: what it may have swallowed, and where it is transparent, what was not taken in.

        ``crossed``: it has ended for media that met a call; ``turned``: a turn has ended on it.
        """
        for frame in self.sent:
            frame.read = frame.safe
        unread = [frame for frame in self.sent if not frame.read]
        for frame in unread:
            # A connection that ended for media that met a call says nothing against the texts on it.
            if not crossed and frame.suspect(turned):
                frame.endings += 1
        if self.transparent:
            # The service's own count decides what is sent again. Of the rest only answers and errors remain here.
            for frame in self._log.values():
                if frame.kind in STREAM:  # of what is followed the endings are counted above
                    frame.endings += 1
            unread = [*(frame for frame in unread if frame.kind not in REPEATED), *self._log.values()]
        self.sent = []
        self._log.clear()
        self._unmade.clear()
        # The next connection counts its messages from its own setup.
        self._logged = self._last = self._unwritten = 0
        return unread
