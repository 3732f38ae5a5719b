"""Whether what was handed to a socket has been read: by a pong where words could mislead, else by the words.

A socket takes a frame before anybody has read it, and what a dying one took is lost without a word. What tells:

- the model's words, where nothing but this frame can have caused them. They come at no price, and prove most;
- turn ends, counted, where other turns were to come first. The count is at times a guess: the service does not say
  whether it speaks of two answers in one turn or in two, and audio begins turns whenever it likes;
- the pong to a ping that was written behind the frame. A connection keeps its order, so that whoever answers the
  ping has received the frame (RFC 6455, 5.5.3), and what it said before the pong it said without having read it. So
  where the count may be wrong, only words behind the pong count. The pong is not waited for: on idle sessions it
  takes 28 to 42 ms, on busy ones 8 to 30 s were measured (sip-to-ai#14, 2026-09). Nor is it enough by itself: what
  was received may not have been read when a connection is cut.

What has not been read when its link is lost is written again, or its loss told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _not_yet() -> bool:
    return False


class Batch:
    """What is written in one go. The writer says when all of it was handed to a socket, and asks for a pong then.

    ``asks``: whether to send a ping behind it; ``pong``: whether what is being received came behind its pong,
    ``None`` where that cannot be told.
    """

    __slots__ = ("asks", "handed", "pong")

    def __init__(self) -> None:
        self.handed = False
        self.asks = False
        self.pong: Callable[[], bool] | None = None

    def ask(self) -> None:
        """Want a ping behind it: until that is answered it has not arrived."""
        self.asks, self.pong = True, _not_yet


@dataclass(slots=True, eq=False)
class Posted:
    """One message of a batch, and the turn ends that come before the model can have read it.

    ``after`` by the count, ``surely`` at most (``inf``: no count is to be trusted).
    """

    batch: Batch
    after: float = 0
    surely: float = 0
    read: bool = False

    def heard(self, ends: float) -> bool:
        """The model speaks, after so many turn ends. Whether this was read, as far as can be told."""
        if self.batch.handed and not self.read:  # of what is still being written nobody has read anything
            pong = self.batch.pong
            self.read = ends >= self.surely or (ends >= self.after and (pong is None or pong()))
        return self.read


def handed() -> Posted:
    """Something that a socket has already; any word of the model says that it was read."""
    batch = Batch()
    batch.handed = True
    return Posted(batch)
