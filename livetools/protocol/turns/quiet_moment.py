"""Decides when the conversation is quiet enough for the model to speak without being asked.

Background results and ``generate_reply`` wait for such a moment, so that nobody is talked over: a pause after the
last word of either side. They do not wait forever, because in a loud room there is no pause. Whether the model's turn
is under way is not known here; see ``expected_turns``.
"""

from __future__ import annotations

from math import inf

from msgspec import Struct

#: Seconds of silence after the last word that make a quiet moment.
QUIET_PAUSE = 2.0
#: Seconds that something waits for one, at most.
PATIENCE = 20.0


class QuietMoment(Struct, eq=False, gc=False):
    """Who spoke last, and until when. Before anything was said it is quiet at once."""

    _until: float = -inf  # the end of the last word of either side, and of the sound that still plays
    _user_speaks: bool = False

    def said(self, now: float, seconds: float = 0.0) -> None:
        """Something was said or typed; ``seconds`` of sound came with it, which plays after what came before."""
        self._until = max(self._until, now) + seconds

    def cut_off(self, now: float) -> None:
        """What still played does not any more: somebody has spoken up."""
        self._until = now

    def user(self, speaks: bool, now: float) -> None:
        """The user begins or ends to speak."""
        self._user_speaks = speaks
        self.said(now)

    def lost(self) -> None:
        """The connection is gone: nobody will tell when the user stops."""
        self._user_speaks = False

    def at(self, since: float) -> float:
        """When something that has waited since ``since`` may be said; a time in the past means now."""
        # PATIENCE counts from the request, not from the last word: in a loud room the pause never comes.
        return min(since + PATIENCE, inf if self._user_speaks else self._until + QUIET_PAUSE)
