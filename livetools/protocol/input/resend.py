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

from collections.abc import Callable, Collection
from math import inf
from typing import TypeAlias

from msgspec import Struct

from livetools.protocol.turns.exchange import Expected

#: Messages that were received behind a pong; ``None``: it has not come.
Pong: TypeAlias = Callable[[], int | None]

#: Bytes kept for transparent replay, past which media goes: about 3 minutes of audio at 16 kHz.
REPLAY_BOUND = 8 * 1024 * 1024

#: After this many connections closed while one text was in flight, it is taken for what closes them.
ENDINGS_AT_MOST = 5
#: The same for media that the input block drops, where the close does not say that media met a call. Media is suspected
#: before text. Media that meets an open call closes the connection, and resent ahead of the same texts it meets that
#: call again.
MEDIA_ENDINGS_AT_MOST = 2


MEDIA_KINDS = frozenset({"audio", "video"})
#: What goes stale, and is nothing but a nuisance to a session in which a call is open.
STREAM = MEDIA_KINDS | {"end"}


#: What is written again as it was, if it was not read when its connection is lost: at worst the model reads it twice.
REPEATED = frozenset({"text", "content", "update"})
#: What is followed until it was read. An answer on another socket is ignored (2.5, 3.1, measured 2026-08): its loss is
#: reported, and the result follows as text; a yield stays with its call, the errors with the calls that were lost. What
#: is not here is forgotten: media is stale, and activity marks are invalid without their audio.
FOLLOWED = REPEATED | {"answer", "acknowledgement", "yield", "errors"}


class Write:
    """What is written in one go. The writer says when all of it was handed to a socket, and pings then, if asked.

    ``asks``: whether to send a ping behind it, ``at_once`` or within a second; ``pong``: what became of that, ``None``
    where no ping was wanted or can be had.
    """

    def __init__(self) -> None:
        self.handed = False
        self.asks = self.at_once = False
        self.pong: Pong | None = None

    def ask(self, at_once: bool = True) -> None:
        """Want a ping behind it: until that is answered it has not arrived."""
        self.asks, self.pong = True, _not_yet
        self.at_once = self.at_once or at_once

    def ends_with(self, frame: Frame) -> None:
        """The write is over when this frame is."""
        frame.write = self

    def hand_over(self) -> None:
        """A socket was handed all of it."""
        self.handed = True

    def pinged(self, pong: Pong | None) -> None:
        """A ping went behind it; ``None``: none did, and nothing is known of what arrived."""
        self.pong = pong

    @property
    def awaits_pong(self) -> bool:
        """Whether a socket has it, and the pong behind it has not come."""
        return self.handed and self.pong is not None and self.pong() is None


def _not_yet() -> int | None:
    return None


UNWRITTEN = Write()  # of what no writer has taken


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


class Frame:
    """What is written to which socket, who waits for that, what it holds, and the write that ends with it."""

    def __init__(
        self, link: int, data: bytes | None, receipt: Receipt | None = None, entry: Entry | None = None
    ) -> None:
        self.link, self.data, self.receipt, self.entry = link, data, receipt, entry
        self.write: Write | None = None

    def begin(self) -> None:
        """The writer begins it."""
        if self.entry is not None:
            self.entry.begin()

    def make(self) -> bytes | None:
        """The bytes, as they are now; ``None``: there is nothing left to write."""
        return self.data


class Entry:
    """Something that goes out, from "wanted" to "read".

    ``after_turn``: the turn that ends before the model's output can be about this (``None``: the next output is);
    ``at_latest``: once so many turns have ended, any output proves that it was read (``inf``: no count is to be
    trusted); ``answer``: the turn that is its answer (``None``: none is expected); ``endings``: connections that were
    handed it, and may have ended for it.
    """

    def __init__(self, kind: str, run: int | None = None) -> None:
        self.kind = kind
        self.run = run  # the call that it is for
        self.write = UNWRITTEN
        self.after_turn: Expected | None = None
        self.answer: Expected | None = None
        self.at_latest: float = inf
        self.begun = self.read = False
        self.endings = 0

    def begin(self) -> None:
        """The writer begins its frame."""
        self.begun = True

    def output(self, ends: float) -> bool:
        """The model produces output, after so many turn ends. Whether this has been read, as far as can be told."""
        write = self.write
        if self.read or not write.handed:
            return self.read
        if ends >= self.at_latest:
            # By the count of turn ends nothing but this frame can have caused the output: no pong is needed.
            self.read = True
        elif self.after_turn is None or self.after_turn.over:
            # Until a message has come behind the pong, the output may have been sent without knowledge of the frame.
            self.read = write.pong is None or bool(write.pong())
        return self.read

    def lost(self) -> bool:
        """The connection is lost: nothing more is said. Whether this had been read."""
        self.read = self.safe
        return self.read

    def suspect(self, turned: bool) -> bool:
        """Whether the connection may have ended for this: it was the model's next, or nothing has come of any.

        A frame that has begun counts: the service can have received all of it, and closed, before the writer runs
        again to say that it was handed over.
        """
        # Where turns have ended the model works through what it got: what it has not come to is not to blame. Where
        # none has, everything that was begun may be.
        reached = self.after_turn is None or self.after_turn.over
        return (self.begun or self.write.handed) and (reached or not turned)

    @property
    def safe(self) -> bool:
        """Whether it counts as read, were the connection lost now."""
        # Where an answer is expected, having been received is not enough: the model may not have read it when the line
        # is cut.
        if self.read or not (self.answer is None or self.answer.over):
            return self.read
        write = self.write
        # Without a pong it may have been swallowed, even if turns have ended. Only where a ping was wanted and none can
        # be had, and nobody expects an answer, is it believed.
        if write.pong is None:
            return write.handed and write.asks and self.answer is None
        return write.handed and write.pong() is not None


class Outbox:
    """What was written on this connection and is not known to have been read, in its order.

    ``transparent``: the service counts the messages that it has taken in, and says so. All after that is kept.
    """

    def __init__(self, transparent: bool = False) -> None:
        self.transparent = transparent
        self.index = 0  # of the last message that was taken, the setup being 0
        self.sent: list[Entry] = []
        # What the service may not have taken in, with its size.
        self._log: list[tuple[int, Entry, int]] = []
        self._logged = 0

    @property
    def writing(self) -> bool:
        """Whether something of it has not been handed to a socket yet."""
        return not all(entry.write.handed for entry in self.sent)

    @property
    def awaited(self) -> bool:
        """Whether a pong is awaited that will say more."""
        return any(entry.write.awaits_pong for entry in self.sent)

    def wrote(
        self,
        entry: Entry,
        write: Write,
        after_turn: Expected | None = None,
        answer: Expected | None = None,
        at_latest: float = inf,
    ) -> bool:
        """This goes out with that write. Whether it is followed: whether a dying socket must not swallow it."""
        entry.write, entry.begun, entry.read = write, False, False
        entry.after_turn, entry.answer, entry.at_latest = after_turn, answer, at_latest
        # Media and marks of activity are not followed: nothing is done about their loss.
        if follows := entry.kind in FOLLOWED:
            self.sent.append(entry)
        return follows

    def count(self, entry: Entry | None = None, size: int = 0) -> int:
        """Number a message; ``entry`` is kept to be written again, where the service says what it has taken in."""
        self.index += 1
        if self.transparent and entry is not None:
            self._log.append((self.index, entry, size))
            self._logged += size
            # Stops when only texts are left: those are never dropped.
            while self._logged > REPLAY_BOUND and self._forget():
                pass
        return self.index

    def unwritten(self, index: int) -> None:
        """The message of this number was not written after all: those behind it have other numbers."""
        self.index -= 1
        # The service counts what it gets. A number that is too high would drop a message as taken in that it never saw.
        self._log = [(n - (n > index), entry, size) for n, entry, size in self._log]

    def consumed(self, index: int) -> list[Entry]:
        """Transparent: the state of the handle holds all messages up to this one."""
        taken_in = [logged for logged in self._log if logged[0] <= index]
        del self._log[: len(taken_in)]
        self._logged -= sum(size for _, _, size in taken_in)
        return [entry for _, entry, _ in taken_in]

    def output(self, ends: float, answers: bool = True) -> list[Entry]:
        """The model produces output, after so many turn ends: what it has read by now.

        ``answers``: or it was cut off by a text that it has read, which says nothing of answers.
        """
        if not self.sent:
            return []  # nearly always: this is asked for each word
        read = [entry for entry in self.sent if (answers or entry.run is None) and entry.output(ends)]
        if read:
            self.sent = [entry for entry in self.sent if not entry.read]
            for entry in read:
                entry.endings = 0  # whatever will end the next connection, this did not
        return read

    def unseen(self) -> list[Entry]:
        """What the service may not have had when it gave the handle that came now."""
        # An entry whose pong has come but nothing behind it: the handle may have been issued before the frame was read.
        return [e for e in self.sent if not e.safe or (e.write.pong is not None and e.write.pong() == 0)]

    def drop(self, runs: Collection[int]) -> None:
        """The server took these calls back: what was written for them no longer matters."""
        if self.sent:
            self.sent = [entry for entry in self.sent if entry.run not in runs]

    def forget(self, entry: Entry) -> None:
        """It has been read, though nothing proved it."""
        self.sent = [sent for sent in self.sent if sent is not entry]

    def lost(self, *, crossed: bool = False, turned: bool = False) -> list[Entry]:
        """The connection is lost: what it may have swallowed, and where it is transparent, what was not taken in.

        ``crossed``: it has ended for media that met a call; ``turned``: a turn has ended on it.
        """
        unread = [entry for entry in self.sent if not entry.lost()]
        for entry in unread:
            # A connection that ended for media that met a call says nothing against the texts on it.
            entry.endings += not crossed and entry.suspect(turned)
        if self.transparent:
            # The service's own count decides what is sent again. Of the rest only answers and errors remain here.
            logged = [entry for _, entry, _ in self._log]
            for entry in logged:
                entry.endings += entry.kind in STREAM  # of what is followed they are counted above
            unread = [*(entry for entry in unread if entry.kind not in REPEATED), *logged]
        self.sent = []
        self._log.clear()
        # The next connection counts its messages from its own setup.
        self._logged = self.index = 0
        return unread

    def _forget(self) -> bool:
        """Past the bound media goes, oldest first; texts are kept. Whether there was some."""
        oldest = next((logged for logged in self._log if logged[1].kind in MEDIA_KINDS), None)
        if oldest is not None:
            self._log.remove(oldest)
            self._logged -= oldest[2]
        return oldest is not None
