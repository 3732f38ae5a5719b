"""Tells which empty turns only close an exchange of an earlier connection.

A session that is resumed from a handle may still wait for a call of the connection before. Measured on 3.8 by
pydantic-ai 2.68: an error as its answer closes the old exchange with an empty turn. If nobody sends that, because the
call was lost before it was read here, the next input does the same: it is spent on the old exchange, and goes
unanswered. Once a turn has ended on a connection, handles issued there no longer wait for the lost call.
"""

from __future__ import annotations

from msgspec import Struct


class AfterResumption(Struct, eq=False, gc=False):
    """What the open session may still wait for.

    ``untried``: it was resumed, and the model has done nothing yet. ``unseen``: the newest handle may restore a
    session that waits for a call which nobody has answered, for nobody has read it here.
    """

    untried: bool = False
    unseen: bool = True  # a handle of another process: nobody knows what that one was in the middle of
    _errors: bool = False  # were written on this connection for lost calls, and not confirmed yet

    @property
    def swallows(self) -> bool:
        """Whether the next input may be spent on a call that nobody has answered."""
        return self.untried and self.unseen

    @property
    def closes(self) -> bool:
        """Whether an empty turn only confirms the errors that were written for lost calls."""
        return self.untried and self._errors

    def began(self, restored: bool, errors: bool) -> None:
        """A session is open, resumed or new; with ``errors`` for lost calls, that are written first."""
        # A new session knows nothing of earlier calls. A resumed one may still wait for one, until a handle is free of
        # it.
        self.untried, self.unseen, self._errors = restored, restored and self.unseen, errors

    def closed(self) -> None:
        """An empty turn has ended, and is taken for that. If nothing follows, it was another."""
        # ``unseen``: should silence follow, that turn was no confirmation, and what was written next was spent.
        self._errors, self.unseen = False, True

    def saved(self) -> None:
        """A handle came, and a turn has ended on this connection."""
        # A turn has ended here, so a handle that came since waits for nothing old, unless it was only the empty turn,
        # which proves nothing.
        self.unseen = self.swallows

    def lost(self, busy: bool) -> None:
        """The connection is lost; ``busy``: the model may have been at work, and have called."""
        self.untried, self.unseen = False, self.unseen or busy
