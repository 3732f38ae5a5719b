"""Queues user input: it is written at once, held while it cannot be, and sent again if it may have been lost.

Text is never lost: it is written, or its receipt fails. Media is worth nothing late: while the line is away, or slow,
the newest is kept within bounds, and while a blocking call is open on a model that closes for it it is dropped (the
input block; js-genai#1236). What is dropped is counted and reported.

With transparent resumption (Vertex) the service says how much of what was sent it has taken in; all after that is kept
and written again, in order, to a session that is resumed; a new one gets only what was not read. The index
counts client messages, the setup being 0: a guess, nobody has measured it.

Push-to-talk: an activity is written with its first audio (or text, on 3.1), and again on each new connection. One
that ends without any, be it dropped or lost, is not written: the service closes for an empty pair, and for audio
outside one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from livetools.events import Call, Event, InputDropped, ToolLost
from livetools.protocol.calls.driver_actions import Close
from livetools.protocol.connection import close_codes
from livetools.protocol.turns.exchange import Exchange
from livetools.setup.plan_fields import Plan

from .resend import REPEATED, STREAM, Outbox, OutFrame, Receipt

#: Bytes of frames of media that wait for the line: about 45 s of audio at 16 kHz.
MEDIA_BOUND = 2 * 1024 * 1024

#: After this many connections closed while one text was in flight, it is taken for what closes them.
ENDINGS_AT_MOST = 5
#: The same for media that the input block drops, where the close does not say that media met a call. Media is suspected
#: before text. Media that meets an open call closes the connection, and resent ahead of the same texts it meets that
#: call again.
MEDIA_ENDINGS_AT_MOST = 2

INPUT_BLOCKED = "a blocking function call is open"
AWAY = "the connection is away"
SLOW = "the line is slow: more than 2 MiB of audio and video were waiting"
OUTSIDE = "no activity() is open, and the config turns automatic activity detection off"
FATAL = "the service closed every connection on which it was sent"
#: The kinds of items between which an activity is open.
ACTIVITY_MARKS = frozenset({"activity_start", "activity_end"})


class Item(OutFrame, eq=False):
    """One frame of the user's: text, content, update, cut, audio, video, activity_start, activity_end, or end (of
    the audio stream)."""

    exchange: Exchange | None = None
    prompts: bool = False  # a complete user turn: an answer is expected
    doubtful: bool = False  # it says nothing, and may start no turn of the model
    contents: tuple[Mapping[str, Any], ...] = ()  # its part of the conversation
    inside: bool = False  # sent while an activity was open
    event: Event | None = None  # told when it is handed to a socket for the first time
    results: tuple[Call, ...] = ()  # the calls whose results it carries

    @property
    def turn(self) -> bool:
        """Whether it is a turn of the conversation."""
        return self.kind in ("text", "content")

    @property
    def owed(self) -> bool:
        """Whether to send it again to a session that has it in its history: it waits, or its answer is awaited."""
        # The seed of a new session holds what was read; but a question that somebody still waits for must be asked
        # again.
        return self.kind in REPEATED and not (self.read and (self.exchange is None or self.exchange.done))


class InputQueue:
    """The queue of what the user sends. ``take`` empties it: the writer is responsible for what was taken.

    ``manual``: the user marks speech (``activity``). ``realtime``: texts are realtime input, and may be a part of it.
    """

    def __init__(self, plan: Plan, outbox: Outbox, tell: Callable[[Event], None]) -> None:
        self.input_block, self.outbox, self._tell = plan.input_block, outbox, tell
        self.manual, self.realtime = plan.manual, plan.text_channel == "realtime"
        self.backlog = 0  # bytes of media that wait
        self._large = 0  # of them, those in frames that are larger than the bound
        self.dropped = 0  # in the whole session
        self.queue: list[Item] = []
        self.streams = False  # media went out on this link: it begins turns whenever it likes
        self._untold: dict[str, int] = {}  # by their reasons
        self.untold = False  # something was dropped and not told yet: that is done once it is over
        self._outside = False  # audio comes outside an activity, and that was reported
        self.in_activity = False  # as the user has it
        self._start: Item | None = None  # of the activity that was taken last and has not ended
        self._begun = False  # it was written on this link
        # Transparent: of the activity that is open in the state of the handle.
        self._consumed: Item | None = None

    def without(self, contents: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The conversation so far, less the texts that wait: they follow by themselves."""
        kept: list[Mapping[str, Any]] = []
        waiting = [content for item in self.queue for content in item.contents]
        # From the end: the texts that wait are the last that were said.
        for content in reversed(contents):
            parts = list(content["parts"])  # those of texts in a row stand in one content
            while waiting and _ends_with(content, parts, waiting[-1]):
                del parts[-len(waiting.pop()["parts"]) :]
            if parts:
                kept.append({**content, "parts": parts})
        return kept[::-1]

    @property
    def flowing(self) -> bool:
        """Whether media went out on this link, and more of it changes nothing: no activity begins, nothing is kept."""
        # Asked for each piece of sound: if nothing changes by another one, it goes to the socket past the queues.
        begun = self._begun if self.in_activity else not self.manual
        return self.streams and not self.outbox.transparent and begun

    def put(self, item: Item) -> None:
        """Queue what is not media."""
        item.inside = self.in_activity
        self.queue.append(item)

    def media(self, item: Item, blocked: bool, away: bool = False) -> bool:
        """Queue audio or video; False if it is dropped: by the input block, or as audio outside an activity.

        ``away``: there is no connection that it could be written to.
        """
        # Audio outside an activity closes the session with 1007. Video does not.
        if item.kind == "audio" and self.manual and not self.in_activity:
            self._drop(OUTSIDE)
            return False
        # 2.5 closes with 1008 for it (js-genai#1236, 2026-01); on 3.1 the call is cancelled after 12 s and made again
        # (livekit#5556, 2026-04). It is dropped, not kept: sound is worth nothing later.
        if blocked and self.input_block:
            self._drop(INPUT_BLOCKED)
            return False
        item.inside = self.in_activity
        self.queue.append(item)
        self.backlog += len(item.data)
        if self.backlog > MEDIA_BOUND:
            self._large += len(item.data) if len(item.data) > MEDIA_BOUND else 0
            self._shed(away)
        return True

    def activity(self, start: bool, frame: bytes) -> None:
        """Push-to-talk begins or ends. It is written once there is input, and without any it is not."""
        self.in_activity = start
        if start:
            # Audio outside an activity was reported when it began. It is over now, so its count is reported.
            self._outside = False
            self.untold = bool(self._untold)
        # Nothing was said in between: an empty pair closes the session.
        elif self.queue and self.queue[-1].kind == "activity_start":
            self.queue.pop()
            return
        self.queue.append(Item("activity_start" if start else "activity_end", frame, prompts=not start))

    def held_back(self, receipt: Receipt) -> bool:
        """Whether it waits for the end of the activity that is open."""
        held = self.in_activity and not self.realtime
        return held and any(i.receipt is receipt and i.inside and i.turn for i in self.queue)

    def take(self, blocked: bool) -> list[Item]:
        """What may be written now, in order; while input is blocked, only the end of an activity."""
        if blocked and self.input_block:
            items = self._closing()
        else:
            items, self.queue = self.queue, []
        waiting: list[Item] = []
        taken = list(self._arranged(items, waiting))
        self.queue[:0] = waiting
        self._weigh()
        for item in taken:
            self._remember(item)
        return taken

    def changes(self) -> list[Item]:
        """Changes of instructions and tools; they are written before everything else."""
        # They do not wait for the end of an activity: a change is no input of the user's.
        items = [item for item in self.queue if item.kind == "update"]
        self.queue = [item for item in self.queue if item.kind != "update"]
        for item in items:
            self._remember(item)
        return items

    def consumed(self, index: int) -> None:
        """Transparent: the state holds all messages up to this one."""
        for item in self.outbox.consumed(index):
            if isinstance(item, Item) and item.kind in ACTIVITY_MARKS:
                self._consumed = item if item.kind == "activity_start" else None

    def crossed(self, close: Close) -> bool:
        """Whether the connection has ended for media that met a call, and for nothing else that was sent."""
        # The same reason is given for other causes. Only where media went out, on a model that closes for it, is it
        # this one.
        return self.input_block and self.streams and close_codes.crossed(close.code, close.reason)

    def lose(self, unread: Iterable[OutFrame], *, crossed: bool = False) -> None:
        """The connection is lost: what it may have swallowed is queued again, but for the media that it has ended
        for."""
        # What closes every connection is sorted out first, or the session would reconnect with it without end. What was
        # written twice is queued once.
        items = [item for item in dict.fromkeys(unread) if isinstance(item, Item)]
        again = self._without_fatal(items, crossed)
        transparent = self.outbox.transparent
        # With transparent resumption the frames of an activity are written again one by one, so the activity that is
        # open is that of the handle's state. One that was taken and not written yet waits as before.
        if transparent:
            if self._start is not None and not self._begun:
                self.queue.insert(0, self._start)
            self._start = self._consumed
        # Elsewhere an activity that is open begins again on the next connection, with its first audio there.
        self._begun = transparent and self._start is not None
        # Ahead of what waits: it was sent first.
        self.queue[:0] = again
        self._weigh()
        self.streams = False

    def again(self, text: Item) -> None:
        """Queue a text again that was read for nothing, ahead of what waits."""
        self.outbox.forget(text)
        text.read = False
        self.queue.insert(0, text)

    def new_session(self) -> None:
        """The next session is a new one, seeded with the conversation so far: what was read is in it."""
        kept: list[Item] = []
        for item in self.queue:
            # What was read is in the seed. Media that was sent is stale, and the activity that it belonged to is opened
            # again.
            if item.write is None or item.owed:
                kept.append(item)
            elif item.kind in ACTIVITY_MARKS:
                self._start = item if item.kind == "activity_start" else None
        self.queue, self._begun, self._consumed = kept, False, None
        self._weigh()

    def tell(self) -> None:
        """Emit ``InputDropped`` for what was dropped since the last one."""
        for reason, count in self._untold.items():
            self._tell(InputDropped(count, reason))
        self._untold.clear()
        self.untold = False

    def fail(self, error: Exception) -> None:
        """The session is over: what waits will not be sent."""
        for item in (*self.queue, *self.outbox.lost()):  # of what was taken, those that no socket was handed
            item.end(error)
        self.queue.clear()
        self.backlog = self._large = 0
        self.untold = bool(self._untold)

    def _arranged(self, items: list[Item], waiting: list[Item]) -> Iterator[Item]:
        """What is written of these, in which order; what stays in the queue is left in ``waiting``.

        On each link an activity begins with its first audio, and ends only if it has begun. Until then its
        video waits. Its text is a part of it on the realtime channel; on the other it would be a turn of its own,
        and waits for the end.
        """
        for item in items:
            if item.kind == "activity_start":
                self._start, self._begun = item, False
            elif item.kind == "activity_end":
                begun, self._start, self._begun = self._begun, None, False
                for late in (*self.outbox.sent, *waiting):
                    if isinstance(late, Item):
                        late.inside = False  # written again, it is a turn of its own
                if begun:
                    yield item
                yield from waiting
                waiting.clear()
            # Outside of any activity, or written again after its own has ended: a turn by itself.
            elif self._start is None or not item.inside:
                item.prompts = item.prompts or item.kind == "text"
                yield item
            elif (item.kind == "video" and not self._begun) or (item.turn and not self.realtime):
                waiting.append(item)
            else:
                # The first audio or visible text opens the activity on the wire. A blank text does not: the pair would
                # be empty.
                visible = item.kind == "text" and not item.doubtful
                if not self._begun and (item.kind == "audio" or visible):
                    self._begun = True
                    yield self._start
                    yield from [early for early in waiting if early.media]
                    waiting[:] = [late for late in waiting if not late.media]
                # A text inside an activity asks for no answer of its own: the end of the activity does.
                item.prompts = item.prompts and item.kind != "text"
                yield item

    def _closing(self) -> list[Item]:
        """While input is blocked: the end of an activity that was begun. What its user said before that is dropped."""
        # Only an end whose beginning was written goes through: else that activity would be open until after the answer.
        end = next((item for item in self.queue if item.kind == "activity_end"), None)
        if end is None or not self._begun:
            return []
        for item in self.queue[: self.queue.index(end)]:
            if item.media:
                self._remove(item, INPUT_BLOCKED)
        self.queue.remove(end)
        return [end]

    def _without_fatal(self, items: list[Item], crossed: bool) -> list[Item]:
        """Drop (and report) what closes every connection; otherwise we would reconnect forever. Returns the rest."""
        kept = []
        for item in items:
            # Media is blamed where the close says that it met a call, and after two connections in a row with it.
            ends_it = crossed or item.endings >= MEDIA_ENDINGS_AT_MOST
            if item.kind in STREAM and self.input_block and ends_it:
                if item.media:
                    self._drop(INPUT_BLOCKED)
            # A text is kept for longer: five closes in a row with the same text in flight are hardly chance.
            elif item.endings < ENDINGS_AT_MOST:
                kept.append(item)
            else:
                self._tell(InputDropped(1, FATAL))
                item.end()  # the service had it, even if each connection ended in the middle of the write
                for call in item.results:
                    self._tell(ToolLost(call, "dropped"))
        return kept

    def _remember(self, item: Item) -> None:
        self.streams = self.streams or item.media or item.kind in ACTIVITY_MARKS
        if item.event is not None:
            self._tell(item.event)
            item.event = None

    def _weigh(self) -> None:
        """Count the bytes of media that wait."""
        sizes = [len(item.data) for item in self.queue if item.media]
        self.backlog, self._large = sum(sizes), sum(size for size in sizes if size > MEDIA_BOUND)

    def _shed(self, away: bool) -> None:
        """Past the bound the oldest media goes, until the rest is within it.

        A frame that is larger than the bound by itself is sent all the same while the line is open: it is beside the
        bound, and only another one as large takes its place. While the line is away it is not kept.
        """
        reason = AWAY if away else SLOW
        large = [i for i in self.queue if i.media and len(i.data) > MEDIA_BOUND] if self._large else []
        for item in large if away else large[:-1]:
            self._remove(item, reason)
        while self.backlog - self._large > MEDIA_BOUND:
            self._remove(next(i for i in self.queue if i.media and len(i.data) <= MEDIA_BOUND), reason)

    def _remove(self, item: Item, reason: str) -> None:
        self.queue.remove(item)
        self.backlog -= len(item.data)
        self._large -= len(item.data) if len(item.data) > MEDIA_BOUND else 0
        self._drop(reason)

    def _drop(self, reason: str) -> None:
        """Count it. A microphone that stays open outside activities is reported at once, and again at its end."""
        self.dropped += 1
        self._untold[reason] = self._untold.get(reason, 0) + 1
        if reason != OUTSIDE or not self._outside:
            self.untold = True
        self._outside = self._outside or reason == OUTSIDE


def _ends_with(content: Mapping[str, Any], parts: list[Any], last: Mapping[str, Any]) -> bool:
    """Whether what is left of a content, ``parts``, ends with what was said last."""
    said = list(last.get("parts") or ())
    return bool(said) and content.get("role") == last.get("role") and parts[-len(said) :] == said
