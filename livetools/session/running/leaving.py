"""How long leaving a session takes: every number, and the worst case.

Leaving waits for what can end in order. Each wait has a bound, and behind it the session is left all the same::

    LEAVE                        the end in order; then every task is cancelled
        LAST_WORDS               handlers, hooks and connections together
            HANDLERS_END         handlers that were asked to stop, and hooks; then the others are abandoned, and undone
            HANDLERS_END         what undoes them
            (transport)          the closing handshake, ``websocket_connection.CLOSE_TIMEOUT``, at the same time
    CANCELLED_END                what runs on though it is cancelled; then it is abandoned

The worst case is ``LEAVE + CANCELLED_END``, seven seconds: every bound is reached, and something swallows each
cancellation. A thread that never returns is not waited for beyond ``HANDLERS_END``: it is a daemon.

``attach`` has no connection of its own: there ``LAST_WORDS`` bounds the end in order.
"""

from __future__ import annotations

#: Seconds for the end in order, all of it.
LEAVE = 6.0
#: Seconds for the handlers and the closing handshakes.
LAST_WORDS = 5.0
#: Seconds for handlers to stop and for hooks to hear what was said last, and as much for what undoes the handlers.
HANDLERS_END = 2.0
#: Seconds in which what is cancelled must end.
CANCELLED_END = 1.0
#: Seconds between two cancellations of that, on asyncio; the last one comes when ``CANCELLED_END`` is over.
CANCELLED_AGAIN = 0.05
#: Seconds for the end of a session that could not be opened: it has no handlers, and no open connection.
LEAVE_UNOPENED = 1.0
