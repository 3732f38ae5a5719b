"""Hears who spoke when: for quiet moments, for the limits of silence, and for latencies.

Background results and ``generate_reply`` wait for a quiet moment, so that nobody is talked over: a pause after the
last word of either side. They do not wait forever, because in a loud room there is no pause. Whether the model's turn
is under way is not known here; see ``expected_turns``.

Latencies count from the end of the user's speech or text to the model's first output, and to its last. Of several
things that the user says before the model answers, the last one counts. A turn that nobody has asked for is not
measured, nor the end of one that was cut off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import inf

from msgspec import Struct, field

from livetools.events import AudioChunk, OutputTranscript, TextChunk, VideoChunk

from .histogram import Histogram

#: Seconds of silence after the last word that make a quiet moment.
QUIET_PAUSE = 2.0
#: Seconds that something waits for one, at most.
PATIENCE = 20.0
#: What the user hears, sees or reads: thoughts and code are not part of it.
PERCEIVED = frozenset({AudioChunk, OutputTranscript, TextChunk, VideoChunk})
#: From the end of the user's input to the first output and to the last, and from a call to its answer.
MEASURED = ("first_output", "last_output", "call")


class SpeechTimes(Struct, eq=False):
    """Who spoke last, and until when. Before anything was said it is quiet at once.

    ``until``: the end of the last word of either side, and of the sound that still plays; ``user_seen``: when the user
    last gave a sign of life; ``measured``: the times of each of :data:`MEASURED`.
    """

    until: float = -inf
    user_seen: float = -inf
    user_ended: float | None = None  # before the turn under way, or the last one; None: nobody had spoken
    _user_speaks: bool = False
    _asked: float | None = None  # the user has spoken, and the model has not answered
    _first: float | None = None  # the first output of the turn under way
    _last: float = 0.0
    _cut: bool = False
    _told: bool = False  # the service said when the user ended, so it need not be guessed
    measured: defaultdict[str, Histogram] = field(default_factory=lambda: defaultdict(Histogram))

    def user(self, speaks: bool, now: float) -> None:
        """The user begins or ends to speak."""
        self._user_speaks = speaks
        self.said(now)
        self.present(now)
        self.asked(None if speaks else now)

    def present(self, now: float) -> None:
        """The user has spoken, typed, or pressed a key."""
        self.user_seen = now

    def asked(self, now: float | None) -> None:
        """The user has ended to speak, or has sent a text; ``None``: speaks on."""
        self._asked, self._told = now, now is not None

    def heard(self, words: str, now: float) -> None:
        """The service has heard these words of the user's. Transcripts may arrive in the middle of the answer too."""
        if words.strip():  # noise is transcribed as nothing, and is nobody's sign of life
            self.said(now)
            self.present(now)
        # Where nothing tells when the user ended, the last words before the answer count. While the model answers, a
        # late transcript is of what it answers already.
        if self._first is None and not self._told:
            self._asked = now

    def said(self, now: float, seconds: float = 0.0) -> None:
        """Something was said or typed; ``seconds`` of sound came with it, which plays after what came before."""
        self.until = max(self.until, now) + seconds

    def output(self, now: float) -> None:
        """The model said something that the user perceives."""
        self._last = now
        if self._first is None:
            self._first, self.user_ended, self._asked, self._told = now, self._asked, None, False
            if self.user_ended is not None:
                self.measured["first_output"].add(now - self.user_ended)

    def cut_off(self, now: float) -> None:
        """The turn under way is cut off: nothing plays any more, and when it would have ended is not known."""
        self.until = now
        self._cut = self._first is not None

    def lost(self) -> None:
        """The connection is gone: nobody will tell when the user stops."""
        self._user_speaks = False

    def quiet_at(self, since: float) -> float:
        """When something that has waited since ``since`` may be said; a time in the past means now."""
        # PATIENCE counts from the request, not from the last word: in a loud room the pause never comes.
        return min(since + PATIENCE, inf if self._user_speaks else self.until + QUIET_PAUSE)

    def turn_ended(self) -> tuple[float, float] | None:
        """The turn is over. Seconds from the end of what the user said to its first output and to its last; ``None``
        where the model said nothing in it, or nobody had spoken."""
        first, began, cut = self._first, self.user_ended, self._cut
        self._first, self._cut = None, False
        # A turn of the model's own (a greeting, a late result) answers nobody, and is not measured.
        if first is None or began is None:
            return None
        # A turn that was cut off would make the last outputs look early.
        if not cut:
            self.measured["last_output"].add(self._last - began)
        return first - began, self._last - began

    @property
    def awaited_since(self) -> float | None:
        """When the user ended the input that the model answers now, or has still to answer."""
        return self.user_ended if self._asked is None or self._first is not None else self._asked

    def latencies(self) -> Mapping[str, Mapping[str, float | int | None]]:
        """The three histograms by name, each as :meth:`Histogram.summary` returns it."""
        return {what: self.measured[what].summary() for what in MEASURED}
