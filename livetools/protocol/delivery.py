"""Whether what was handed to a socket has been read: by a pong where words could mislead, else by the words.

A socket takes a frame before anybody has read it, and what a dying one took is lost without a word. What tells:

- the model's words, where nothing but this frame can have caused them. They come at no price, and prove most;
- turn ends, counted, where other turns were to come first. The count is at times a guess: the service does not say
  whether it speaks of two answers in one turn or in two, and audio begins turns whenever it likes;
- the pong to a ping that was written behind the frame. A connection keeps its order, so that whoever answers the
  ping has received the frame (RFC 6455, 5.5.3). So where the count may be wrong, the words count only with the pong.
  It is not waited for: on idle sessions it takes 28 to 42 ms, on busy ones 8 to 30 s were measured
  (sip-to-ai#14, 2026-09). Nor is it enough: what was received may not have been read when a session is cut off.

What has not been read when its link is lost is written again, or its loss told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _not_yet() -> bool:
    return False


class Batch:
    """What is written in one go. The writer says when all of it was handed to a socket, and asks for a pong then.

    ``asks``: whether to send a ping behind it; ``pong``: whether its pong came, ``None`` where none can be had.
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
    counted: bool = False
    certain: bool = False

    def heard(self, ends: float) -> bool:
        """The model spoke, after so many turn ends. Whether this was read, as far as can be told."""
        if self.batch.handed:  # of what is still being written nobody has read anything
            self.counted = self.counted or ends >= self.after
            self.certain = self.certain or ends >= self.surely
        return self.read

    @property
    def arrived(self) -> bool:
        """Whether it was received, by its pong; where none can be had, whether a socket took it."""
        return self.batch.handed and (self.batch.pong is None or self.batch.pong())

    @property
    def read(self) -> bool:
        """Whether it was read, by what was heard and by the pong."""
        return self.certain or (self.counted and self.arrived)


def handed() -> Posted:
    """Something that a socket has already; any word of the model says that it was read."""
    batch = Batch()
    batch.handed = True
    return Posted(batch)
