"""The state table of the connection: dialling, setup, goAway, the old and the next socket, giving up.

A link is one socket, numbered. Facts: the service cuts a connection after about ten minutes (1008 at 590 s, measured
2026-09-10 and 2026-10-09) and announces it with ``goAway`` 50 s before; a resume is refused while the old socket of the
session is still open; a handle restores the conversation, never a generation that was under way.

==========  ==========================================================  =============================
state       the current socket                                          what DUE means in it
==========  ==========================================================  =============================
NEW         nothing yet
DIALING     is being opened; there is no other                          no session in time
SETUP       is open; the setup was sent, setupComplete is awaited       no session in time
LIVE        is open and usable
LEAVING     live, but will be cut: moves when quiet, if a dial is left  no more time to wait for one
MOVING      still live; the next is being opened, in a quiet moment     the next did not open in time
FORCED      the same where no quiet moment came                         the next did not open in time
SWAPPING    is closing; the next is open                                it did not close in time
BROKEN      has ended: it is decided at once what follows
WAITING     none                                                        another dial
CLOSED      none: the end
==========  ==========================================================  =============================
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto


class LinkState(Enum):
    """The state of the connection."""

    __hash__ = object.__hash__  # Enum's own is Python code, and every drain asks whether the line is usable

    NEW = auto()
    DIALING = auto()
    SETUP = auto()
    LIVE = auto()
    LEAVING = auto()
    MOVING = auto()
    FORCED = auto()
    SWAPPING = auto()
    BROKEN = auto()
    WAITING = auto()
    CLOSED = auto()


class LinkEvent(Enum):
    """What can happen to it, and what an effect can decide."""

    CONNECT = auto()  # the user wants a session
    OPENED = auto()  # the current socket is open
    COMPLETE = auto()  # the service has completed the setup
    GONE = auto()  # the current socket has closed, or could not be opened
    NEXT_OPENED = auto()  # the successor's socket is open
    NEXT_GONE = auto()  # the successor's socket has closed, or could not be opened
    GO_AWAY = auto()  # the service will cut the connection, or the user wants another one
    QUIET = auto()  # no call is open and no turn is expected: moving loses nothing
    SPOKEN = auto()  # a call is open or a turn is expected, since the successor was dialled
    AGAIN = auto()  # dial again: the close and the policy allow it
    GIVE_UP = auto()  # no other dial: the close or the policy rules it out
    DUE = auto()  # the deadline of the state has passed
    CLOSE = auto()  # the user closes the session


class LinkEffect(Enum):
    """What follows. An effect that decides is the last of its line; the table continues with its decision."""

    DIAL = auto()  # open a socket for the successor, beside the current one if there is one
    SEND_SETUP = auto()  # write the setup, with the newest handle
    BEGIN = auto()  # the session is open: reset the attempts, and write what waits
    PLAN = auto()  # set how long the move may wait for a quiet moment
    PUT_OFF = auto()  # the successor could not be opened: set when to try again
    WAIT = auto()  # wait for the next quiet moment
    HANGUP = auto()  # close the current socket
    HANGUP_NEXT = auto()  # close the successor's socket
    LOSE = auto()  # tell calls, turns and outbox that the current socket is lost
    ADOPT = auto()  # make the successor the current link
    CHECK = auto()  # decide QUIET or SPOKEN: by what the session is in the middle of
    JUDGE = auto()  # decide AGAIN or GIVE_UP: by the close and the policy
    RETRY = auto()  # set when to dial again
    END = auto()  # close every socket and end the session


S, V, E = LinkState, LinkEvent, LinkEffect

_END = (S.CLOSED, (E.END,))

#: Where each input leads, and what is done on the way.
TABLE: Mapping[tuple[LinkState, LinkEvent], tuple[LinkState, tuple[LinkEffect, ...]]] = {
    **{(state, V.CLOSE): _END for state in S if state not in (S.BROKEN, S.CLOSED)},
    (S.NEW, V.CONNECT): (S.DIALING, (E.DIAL, E.ADOPT)),
    (S.DIALING, V.OPENED): (S.SETUP, (E.SEND_SETUP,)),
    # It does not become BROKEN, which would lose something: no session was open on this socket.
    (S.DIALING, V.GONE): (S.DIALING, (E.JUDGE,)),
    # HANGUP also sets the earliest time of the next dial, which RETRY keeps: this socket may still open until then.
    (S.DIALING, V.DUE): (S.DIALING, (E.HANGUP, E.JUDGE)),
    (S.DIALING, V.AGAIN): (S.WAITING, (E.RETRY,)),
    (S.DIALING, V.GIVE_UP): _END,
    (S.SETUP, V.COMPLETE): (S.LIVE, (E.BEGIN,)),
    # The usual place of a refusal: a bad key, an unknown model or handle are answered with 101 and then a close.
    (S.SETUP, V.GONE): (S.BROKEN, (E.JUDGE,)),
    (S.SETUP, V.DUE): (S.BROKEN, (E.HANGUP, E.JUDGE)),
    **{(state, V.GONE): (S.BROKEN, (E.JUDGE,)) for state in (S.LIVE, S.LEAVING)},
    # A goAway may come between any two frames, twice as well: the earlier deadline holds (PLAN).
    **{(state, V.GO_AWAY): (S.LEAVING, (E.PLAN,)) for state in (S.LIVE, S.LEAVING)},
    # The next socket is opened beside the current one, but shows no handle: a resume is refused with 1011 while the old
    # socket of the session is open (sip-to-ai#14, 2026-09).
    (S.LEAVING, V.QUIET): (S.MOVING, (E.DIAL,)),
    # No quiet moment came: the service cuts the line anyway, so an open call is lost either way.
    (S.LEAVING, V.DUE): (S.FORCED, (E.DIAL,)),
    # To open a socket takes time in which the user may speak: the moment is looked at again before anything is closed.
    (S.MOVING, V.NEXT_OPENED): (S.MOVING, (E.CHECK,)),
    (S.MOVING, V.QUIET): (S.SWAPPING, (E.HANGUP,)),
    (S.MOVING, V.SPOKEN): (S.LEAVING, (E.HANGUP_NEXT, E.WAIT)),
    # No CHECK: nobody is waited for any longer.
    (S.FORCED, V.NEXT_OPENED): (S.SWAPPING, (E.HANGUP,)),
    # The current socket is still usable: the failed dial costs nothing but time, and JUDGE is not asked.
    **{(state, V.NEXT_GONE): (S.LEAVING, (E.PUT_OFF,)) for state in (S.MOVING, S.FORCED)},
    **{(state, V.DUE): (S.LEAVING, (E.HANGUP_NEXT, E.PUT_OFF)) for state in (S.MOVING, S.FORCED)},
    # The current socket is lost before it was left: the dial that is under way becomes an ordinary one.
    **{(state, V.GONE): (S.DIALING, (E.LOSE, E.ADOPT)) for state in (S.MOVING, S.FORCED)},
    # Only now that the old socket has closed, or has had its second, is the handle shown. LOSE comes first: it queues
    # unread texts again, and the seed of a new session must leave those out. The setup goes to the link that ADOPT
    # makes current.
    **{(S.SWAPPING, event): (S.SETUP, (E.LOSE, E.ADOPT, E.SEND_SETUP)) for event in (V.GONE, V.DUE)},
    # Both sockets are gone now: an ordinary loss.
    (S.SWAPPING, V.NEXT_GONE): (S.BROKEN, (E.JUDGE,)),
    # The new attempt is reported before what was lost; at the end calls are closed first, and none is reported as lost.
    (S.BROKEN, V.AGAIN): (S.WAITING, (E.RETRY, E.LOSE)),
    (S.BROKEN, V.GIVE_UP): (S.CLOSED, (E.END, E.LOSE)),
    (S.WAITING, V.DUE): (S.DIALING, (E.DIAL, E.ADOPT)),
}

del S, V, E

#: States in which frames may be written to the current socket.
USABLE = frozenset({LinkState.LIVE, LinkState.LEAVING, LinkState.MOVING, LinkState.FORCED})
#: States in which the current socket is open, and what comes from it counts.
READABLE = USABLE | {LinkState.SETUP, LinkState.SWAPPING}
