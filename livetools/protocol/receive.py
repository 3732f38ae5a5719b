"""Handles one server message: emits events, updates calls, turns, the outbox and the connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import livetools.events as events
from livetools.events import AudioChunk, Event, InputTranscript, Interrupted, OutputTranscript, TurnComplete
from livetools.protocol.input.audio_format import SAMPLE, Samples
from livetools.protocol.input.resend import OutFrame
from livetools.protocol.messages.field_values import Fields
from livetools.protocol.messages.incoming import PlainCall, ServerMessage, parse
from livetools.protocol.messages.typed_decoders import LARGE, only_calls_or_words, only_media
from livetools.protocol.transcript.token_count import TokenCount
from livetools.protocol.turns.speech_times import PERCEIVED

from .messages.to_events import MARKERS, SPOKEN, events_of
from .send import Parts


@dataclass(eq=False, repr=False, slots=True)
class Reception(Parts):
    """One message after another, each field of it (3.x sends many together)."""

    tell: Callable[[Event], None]
    suppressed: bool = False  # the user has cut this turn off: the rest of it is not reported
    cuts_next: bool = False  # the next turn is cut off as soon as it begins
    turned: bool = False  # a turn has ended since the setup: the errors for lost calls have been read
    sound: Samples = field(default_factory=Samples)  # of the model's speech
    tokens: TokenCount = field(default_factory=TokenCount)
    _rate: int = 0  # of the sound
    #: What is known of the session.
    started: events.SessionStarted = field(default_factory=events.SessionStarted)

    def cut_off(self, next: bool = False) -> None:
        """The user has cut the model off: the rest of its turn is not reported. ``next``: as soon as it speaks, and
        nothing of that turn is reported."""
        self.suppressed, self.cuts_next = True, next

    def stalled(self) -> None:
        """The turn under way has no end: what comes now is reported, unless it was cut off before it began."""
        self.suppressed = self.cuts_next

    def lost(self, cut: bool, now: float) -> None:
        """The connection is lost, and the turn under way with it; ``cut``: there was one."""
        if cut:
            self.tell(Interrupted())
            self.speech.cut_off(now)
            self.tell(self._timed(TurnComplete(events.REPLACED)))
            self.tokens.ends()
        self.suppressed = False
        self.sound.clear()

    def completes_setup(self, data: bytes | str) -> bool:
        """Whether this frame opens the session; what it says about the session is kept."""
        completed = parse(data).fields.get("setupComplete")
        if completed is None:
            return False
        consent = completed.get("voiceConsentSignature", {})
        self.started = events.SessionStarted(completed.get("sessionId"), consent.get("signature"))
        self.turned = False
        return True

    def receive(self, link: int, data: bytes | str, now: float, overdue: bool = False) -> None:
        """Handle one frame. Never raises for what a server sends. ``overdue``: as for the machine."""
        # Before the frame is read: it came after the silence that settles a doubt, and must not count against it.
        if not overdue:
            self.turns.settle_doubts(now)
        read: Sequence[OutFrame] = ()
        # Nearly all messages are of three kinds (media, calls, one piece of text), for each of which there is a fast
        # reader. None: it is not such a message.
        said: list[PlainCall] | Event | None
        if len(data) < LARGE or (said := only_media(data)) is None:
            said = only_calls_or_words(data)
        # A plain call may be the last piece of one that comes in pieces: then the general way must join them.
        if type(said) is list and not self.calls.partial.growing:
            # What the model has read is judged before its calls are entered, by the turns that had ended until then.
            read = self.outbox.output(self.turns.ends)
            self._called(link, said, now)
        elif said is None or isinstance(said, list):
            self._whole_message(link, parse(data), now)
        else:
            # What the model says shows what it has read, a transcript of the user's shows nothing.
            if type(said) in SPOKEN:
                read = self.outbox.output(self.turns.ends)
            self._said(said, now)
        if read:
            self.calls.read(read)

    def _whole_message(self, link: int, message: ServerMessage, now: float) -> None:
        """Handle each field of a message that was read in full, in the order in which they must take effect."""
        told = events_of(message)
        read = self._read({type(event) for event in told if not _only_a_mark(event)}, bool(message.calls))
        # 3.x sends words, calls and turnComplete in one message: the words come first, then the calls, then what ends
        # the turn.
        for event in told:
            if type(event) not in MARKERS:
                self._said(event, now)
        if message.calls:
            self._called(link, self.calls.partial.whole(message.calls), now)
        # After the calls: a call and its cancellation may come in one message.
        if message.cancelled:
            runs = self.calls.cancel(message.cancelled, now)
            self.outbox.drop(runs)
            for run in runs:
                self.turns.taken_back(run, now)
        for event in told:
            if type(event) in MARKERS:
                self._marked(event, now)
        # A status beside turnComplete is read with that (TurnComplete.status). By itself IDLE may be the end of the
        # turn.
        alone = not message.content.get("turnComplete")
        if message.status is not None and alone and self.turns.status(message.status, now):
            self.tell(self._timed(TurnComplete(None, message.status)))
            self._ended(now)
        self.calls.read(read)  # only now: an answer that this very message takes back is void, and not paid
        if message.works or message.status is not None:
            self.turns.worked(now)
        self._handle(message.fields.get("sessionResumptionUpdate", {}))
        # Last, and after the handle: the move asks whether a handle has followed the turn.
        if (notice := message.fields.get("goAway")) is not None:
            self.tell(events.GoAway(notice.get("timeLeft")))
            self.connection.go_away(notice.get("timeLeft"), now)

    def _called(self, link: int, calls: Sequence[PlainCall], now: float) -> None:
        if self.tokens.over:
            self.tokens.begins()
        # Answers are written later, with the frames. So the turns hear of every call before its answer, refused ones
        # too.
        for record in self.calls.receive_calls(link, calls, now):
            self.turns.called(record.run, record.call, record.policy.ends_turn, now, record.blocks)

    def _read(self, kinds: set[type[Event]], calls: bool = False) -> list[OutFrame]:
        """What the model must have read to send a message with these kinds of events, or with ``calls``."""
        spoken = calls or not SPOKEN.isdisjoint(kinds)
        if self.turns.stale.closes and not spoken:
            return []  # a turn that only closes the exchange of lost calls proves nothing
        proof = spoken or not MARKERS.isdisjoint(kinds)
        # Interrupted alone: it was cut off by a text, not by an answer.
        return self.outbox.output(self.turns.ends, answers=proof) if proof or Interrupted in kinds else []

    def _said(self, event: Event, now: float) -> None:
        """Something was said, by either side, or was cut off; or an event that only has to be reported."""
        if type(event) in SPOKEN and not _only_a_mark(event):
            if self.tokens.over:
                self.tokens.begins()
            heard: Event | None = event
            seconds = 0.0
            if isinstance(event, AudioChunk) and (heard := self._whole(event)) is not None:
                seconds = len(heard.data) / SAMPLE / heard.rate
            self.turns.content(now, seconds)
            self.speech.said(now, seconds)
            # Suppressed or half a sample: the model has spoken all the same, and the turns must know.
            if heard is not None and not self.suppressed:
                if type(heard) in PERCEIVED:
                    self.speech.output(now)
                self.tell(heard)
        elif isinstance(event, Interrupted):
            self.sound.clear()
            self.turns.interrupted(now)
            self.speech.cut_off(now)
            self.speech.present(now)
            if not self.suppressed:
                self.tell(event)
        else:
            # Where the user marks speech, the activity is the prompt: it is counted when it is written.
            if isinstance(event, InputTranscript | events.VoiceActivity) and not self.input.manual:
                self.turns.heard_user()
            if isinstance(event, InputTranscript):
                self.speech.heard(event.text, now)
            elif isinstance(event, events.VoiceActivity):
                self.speech.user(event.kind == "start", now)
            elif isinstance(event, events.Grounding):  # it is not stuck
                self.turns.worked(now)
            self.tell(event)

    def _whole(self, chunk: AudioChunk) -> AudioChunk | None:
        """Its whole samples, with the half of one that the last chunk of this sound ended with; ``None`` while not
        one is complete."""
        # Half a sample of another sound cannot be completed.
        if chunk.rate != self._rate:
            self.sound, self._rate = Samples(), chunk.rate
        data = self.sound.whole(chunk.data)
        if data is chunk.data:
            return chunk
        return AudioChunk(data, chunk.rate) if data else None

    def _marked(self, event: Event, now: float) -> None:
        """A marker came: the end of a turn or of its generation, or a count of tokens."""
        if isinstance(event, TurnComplete):
            # Before the turns: their end may end the exchange, which must have heard this event.
            self.tell(self._timed(event))
            explained = event.reason is not None or event.waiting_for_input
            self.turns.complete(event.status, now, explained=explained)
            self._ended(now)
        elif isinstance(event, events.UsageUpdate):
            usage = replace(event.usage, model=self.calls.plan.model)
            # Equal counts are repeated by a model that is stuck (whisper-shortcut PR71); growing ones show that it
            # works.
            if self.tokens.count(usage):
                self.turns.worked(now)
            self.tell(events.UsageUpdate(usage))
        else:
            self.tell(event)

    def _timed(self, end: TurnComplete) -> TurnComplete:
        """With the times of the turn that ends, as far as they are known; a filler ends none."""
        times = None if end.status == "IN_PROGRESS" else self.speech.turn_ended()
        return end if times is None else replace(end, first_output=times[0], last_output=times[1])

    def _ended(self, now: float) -> None:
        self.connection.conversation_advanced(now)
        self.suppressed = self.cuts_next = False
        self.sound.clear()
        self.turned = True
        self.tokens.ends()
        # A turn that ended is the useful thing that resets the delays of dials.
        if self.connection.usable:
            self.connection.attempts.proved()

    def _handle(self, update: Fields) -> None:
        """An update that is not resumable erases nothing: the last handle is still good."""
        if update.get("resumable") and (handle := update.get("newHandle")):
            self.connection.handed(handle)
            unseen = self.outbox.unseen()
            # On 3.8 the end of a turn shows that the errors were read; elsewhere a handle that came behind their pong
            # does. Until then they are sent again on each resumption.
            read = not (self.calls.plan.closes_lost or any(entry.kind == "errors" for entry in unseen))
            # Only a handle that came after the errors for lost calls is rid of those calls.
            self.calls.handed(self.outbox.sent, unseen, self.turned or read)
            if self.turned:
                self.turns.stale.saved()
            self.tell(events.HandleUpdate(handle))
            # Transparent resumption: the last client message in the state of this handle.
            if (consumed := update.get("lastConsumedClientMessageIndex")) is not None:
                self.input.consumed(consumed)


def _only_a_mark(event: Event) -> bool:
    """Whether it only marks a transcript as finished. That may come behind the end of its turn, and begins no other."""
    return type(event) is OutputTranscript and not event.text
