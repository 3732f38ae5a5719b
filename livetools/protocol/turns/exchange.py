"""The turn that is expected of the model, and the exchange of an ``ask`` that waits for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from math import inf

import msgspec
from msgspec import Struct

import livetools.events as events
from livetools.errors import NoAnswer
from livetools.events import AudioChunk, Call, Event, ToolStarted, TurnComplete, UsageUpdate
from livetools.protocol.messages.outgoing import encode

# Speech at 24 kHz is 48 kB a second: about 23 minutes. It is also the bound of the buffer between reader and iterator.
MAX_ASK_AUDIO = 64 * 1024 * 1024  # bytes of audio that an exchange keeps
CHUNK_OVERHEAD = 200  # what a chunk weighs beside its data
#: What a reply is made of, beside the calls.
KEPT = frozenset({events.TextChunk, events.OutputTranscript, AudioChunk, UsageUpdate, TurnComplete})
#: The same outside of an exchange, with the calls and with what has cut a turn short.
SAID = KEPT | {ToolStarted, events.Interrupted, events.Stalled}
#: Bytes of what was said outside of an exchange that are kept: 80 s of speech.
SAID_BOUND = 4 * 1024 * 1024
#: The same where a loop reads it all and nobody has ever asked: words and calls, no sound.
WORDS_BOUND = 512 * 1024


class Expected(Struct, eq=False, gc=False, kw_only=True):
    """One turn of the model that is to come.

    ``prompt``: it answers a user turn; ``answer``: it speaks of function responses; neither: it is under way.
    ``until``: nobody waits for it, and from then on it is not expected any more (``inf``: somebody does).
    ``doubtful``: the last turn that ended may have been this one too. ``over``: it has ended, or will not come.
    ``spent``: a resumed session has taken its prompt for an earlier call's, and will not answer it.
    """

    prompt: bool = False
    answer: bool = False
    until: float = inf
    doubtful: bool = False
    over: bool = False
    spent: bool = False

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for it."""
        return self.until == inf

    @property
    def shares(self) -> bool:
        """Whether the turn before it may have covered this one too. Not so for a turn about function responses that
        certainly comes.
        """
        may_not_come = not self.wanted or (self.doubtful and not self.prompt)
        return may_not_come or (self.prompt and not self.answer)


class Exchange:
    """One ``ask``: its prompt, what came of it, and whether it is over.

    ``events`` are those that a reply is made of: until ``sure`` they are those of the last turn, which may have
    answered another question, and are replaced if a further one comes; ``next`` takes them in their order. Past
    :data:`MAX_ASK_AUDIO` the oldest audio is emptied: all that comes before the place ``emptied``. ``error`` is
    ``NoAnswer`` where nothing came of it.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._taken = 0
        self.emptied = 0
        self._size = 0
        self.turn: Expected | None = None  # its answer; None: its text is still to be written
        self.sure = False
        self.listens = False  # what the model does now is, or may be, the answer
        self.heard = False  # and the model said something, or made a call
        self.done = False
        self.interrupted = False
        self.resent = False  # a lost connection has left it without an answer
        self.stalled: events.Stalled | None = None  # the model fell silent in it
        self.calls: set[int] = set()  # runs whose answer is still owed
        self._called: set[int] = set()
        self.notify: Callable[[], None] | None = None
        self.changed = False

    def watch(self, notify: Callable[[], None]) -> None:
        """Call this when any of it has changed."""
        self.notify = notify

    def report(self) -> None:
        """Tell who watches it what has changed."""
        self.changed = False
        if self.notify is not None:
            self.notify()

    @property
    def error(self) -> NoAnswer | None:
        """Why there is no answer: the model fell silent before it said anything."""
        if self.stalled is None or self.heard:
            return None
        return NoAnswer(
            f"nothing came for {self.stalled.seconds:.3g} s, and {self.stalled.waiting_for} was expected. The model may"
            " ignore a turn now and then: ask again, or give it longer with stall_timeout="
        )

    def listen(self, sure: bool, *, calls: bool = False) -> None:
        """A turn begins that is, or may be, the answer; what came before was not, but for ``calls``."""
        # Calls made in a turn that turns out to have been the question's stay with it; the words of that turn do not.
        kept = [event for event in self.events if calls and isinstance(event, ToolStarted)]
        self.events[:] = kept
        self.emptied = self._size = self._taken = 0
        self.calls.clear()
        if not kept:
            self._called.clear()
        self.heard = False
        self.listens, self.sure = True, sure

    def unanswered(self) -> None:
        """A lost connection has left it without an answer: its text is to be written again."""
        # The events are kept until the next turn begins: if none does, they are all there is to return.
        self.turn, self.listens, self.sure = None, False, False
        self.calls.clear()
        self.resent = True

    def next(self) -> Event | None:
        """The next event of the answer, each once; ``None``: nothing yet, or it is not sure whose it is."""
        if not self.sure or self._taken == len(self.events):
            return None
        self._taken += 1
        return self.events[self._taken - 1]

    def call(self, run: int, call: Call) -> None:
        """The model makes a call, or asks again for one on another connection."""
        self.heard = self.changed = True
        self.calls.add(run)
        if run not in self._called:
            self._called.add(run)
            self.events.append(ToolStarted(call))

    def called(self, runs: Collection[int]) -> bool:
        """Whether one of these calls was made in what it listens to."""
        return self.listens and not self._called.isdisjoint(runs)

    def hear(self, event: Event) -> None:
        """Keep what the reply needs of the events."""
        if type(event) not in KEPT:
            return
        self.changed = True
        # The service counts a turn more than once (several snapshots, each including the one before).
        if isinstance(event, UsageUpdate) and self.events and type(self.events[-1]) is UsageUpdate:
            self.events[-1] = event  # the last count of a turn holds
            return
        self.events.append(event)
        if isinstance(event, AudioChunk):
            self._size += _weight(event)
            # The newest always stays whole.
            while self._size > MAX_ASK_AUDIO and self.emptied < len(self.events) - 1:
                oldest = self.events[self.emptied]
                # Emptied and not removed: next() counts positions, and the order of words and calls stays.
                if isinstance(oldest, AudioChunk):
                    self._size -= _weight(oldest)
                    self.events[self.emptied] = replace(oldest, data=b"")
                self.emptied += 1

    def end(self, interrupted: bool = False) -> None:
        """Over, with what was heard.

        An empty turn that answers a question which was sent again is what a lost connection made of the answer.
        """
        # ``sure``, so that next() hands out what may have been another's: nothing better will come.
        self.done = self.changed = self.sure = True
        self.interrupted = self.interrupted or interrupted or (self.resent and not self.heard)


class OutputSinceAsk:
    """What was said outside of any ``ask`` since the last one was over, for ``wait_until_settled``.

    Past :data:`SAID_BOUND` (without sound :data:`WORDS_BOUND`) the oldest goes. Sound is not kept where a loop reads it
    and nobody has ever asked.
    """

    def __init__(self) -> None:
        # Calls as JSON: a long session makes thousands, and hardly one is read.
        self._kept: list[Event | bytes] = []
        self._size = 0
        self._wanted = False  # somebody has asked or waited
        self._sound = True

    def hear(self, event: Event) -> None:
        """Keep this, which is one of :data:`SAID`."""
        kept: Event | bytes = event
        if isinstance(event, ToolStarted):
            call = event.call
            kept = encode((call.id, call.name, call.args))
        # A loop plays the sound as it comes: kept here as well, it would push the words past the bound.
        elif not self._sound and isinstance(event, AudioChunk):
            return
        self._kept.append(kept)
        self._size += _weight(kept)
        # A quarter of it at once: to remove the head of a list is expensive.
        if self._size > (SAID_BOUND if self._sound else WORDS_BOUND):
            self._keep(self._kept[len(self._kept) // 4 + 1 :])

    def read_by_loop(self) -> None:
        """A loop reads the events."""
        if not self._wanted:
            self._sound = False
            self._keep([kept for kept in self._kept if not isinstance(kept, AudioChunk)])

    def keep_sound(self) -> None:
        """Somebody asks, or waits: sound is kept from now on."""
        self._wanted = self._sound = True

    def clear(self) -> None:
        """A question was answered."""
        self._keep([])

    @property
    def events(self) -> list[Event]:
        """What was said, in order."""
        return [
            ToolStarted(Call(*msgspec.json.decode(kept))) if isinstance(kept, bytes) else kept
            for kept in self._kept
        ]

    def ending(self) -> tuple[bool, bool]:
        """Whether the last turn was cut off, and whether the model fell silent in it."""
        # What follows the last TurnComplete belongs to a turn that has not ended: it counts, and so does the turn
        # before it. An empty turn completes nothing: then the turn before it counts as well.
        ends = [at for at, event in enumerate(self._kept) if isinstance(event, TurnComplete)]
        last: set[type] = set()
        for end in (*ends[-2::-1], -1):
            last = set(map(type, self._kept[end + 1 :]))
            if last - {TurnComplete, UsageUpdate}:
                break
        return events.Interrupted in last, events.Stalled in last

    def _keep(self, kept: list[Event | bytes]) -> None:
        self._kept, self._size = kept, sum(map(_weight, kept))


def _weight(kept: Event | bytes) -> int:
    if isinstance(kept, bytes):
        return CHUNK_OVERHEAD + len(kept)
    if isinstance(kept, AudioChunk):
        return CHUNK_OVERHEAD + len(kept.data)
    return CHUNK_OVERHEAD + len(getattr(kept, "text", ""))
