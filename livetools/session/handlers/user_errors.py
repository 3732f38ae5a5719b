"""What code of the user's raises, and whose a cancellation is: the session's, or the user's own."""

from __future__ import annotations

import logging
import math

import anyio

from livetools.session.frame_log import detail
from livetools.setup.secrecy import place
from livetools.transport.loop.wake import on_trio

from .abandon import SERVING


def is_of_the_user(error: BaseException) -> bool:
    """Whether what a callable of the user's raised ends only that callable: anything but Ctrl-C, and the
    session's own cancellation of this task."""
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return _is_stray()
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_of_the_user, error.exceptions))
    return not isinstance(error, KeyboardInterrupt)


def excuse(log: logging.Logger, what: str, error: BaseException, level: int = logging.WARNING) -> None:
    """Log what ``what``, a callable of the user's, has raised: it costs the session nothing. Raise it where it is not
    the user's."""
    if not is_of_the_user(error):
        raise error
    log.log(level, "%s failed: %s", what, place(error), exc_info=detail(error))


async def turn_of_the_loop() -> None:
    """Let the others come round; a cancellation of this task that its handler has not waited for is over then."""
    try:
        await anyio.lowlevel.cancel_shielded_checkpoint()
    except anyio.get_cancelled_exc_class():
        if not _is_stray():
            raise


def _is_stray() -> bool:
    """Whether a cancellation is not the session's: it belongs to something that the handler waited for, or
    the handler cancelled its own task (asyncio alone has such)."""
    serving = SERVING.get()
    ours = anyio.current_effective_deadline() == -math.inf or (serving is not None and serving.cancelled)
    return not (on_trio() or ours)
