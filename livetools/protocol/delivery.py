"""Whether what was handed to a socket has been read: by a pong where words could mislead, else by the words.

A socket takes a frame before anybody has read it, and what a dying one took is lost without a word. What tells:

- the model's words, where nothing but this frame can have caused them. They come at no price, and prove most;
- turn ends, counted, where other turns were to come first. The count is at times a guess: the service does not say
  whether it speaks of two answers in one turn or in two, and audio begins turns whenever it likes;
- the pong to a ping that was written behind the frame. A connection keeps its order, so that whoever answers the
  ping has received the frame (RFC 6455, 5.5.3), and what it said before the pong it said without having read it. So
  where the count may be wrong, words count only behind the pong, or the end of the turn that is counted to be the
  answer. Nobody but a planned move waits for a pong: on idle sessions it takes 28 to 42 ms, on busy ones 8 to 30 s
  were measured (sip-to-ai#14, 2026-09). It is enough by itself only where no words are due (a SILENT answer, a yield,
  content that ends no turn): else what was received may not have been read when a connection is cut.

What has not been read when its link is lost is written again, or its loss told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

#: Messages that were received behind a pong; ``None``: it has not come.
Pong: TypeAlias = Callable[[], int | None]


def _not_yet() -> int | None:
    return None


class Batch:
    """What is written in one go. The writer says when all of it was handed to a socket, and asks for a pong then.

    ``asks``: whether to send a ping behind it; ``pong``: what became of that, ``None`` where it cannot be told.
    """

    __slots__ = ("asks", "handed", "pong")

    def __init__(self) -> None:
        self.handed = False
        self.asks = False
        self.pong: Pong | None = None

    def ask(self) -> None:
        """Want a ping behind it: until that is answered it has not arrived."""
        self.asks, self.pong = True, _not_yet


@dataclass(slots=True, eq=False)
class Posted:
    """Messages of a batch, and the turn ends that come before the model can speak of them.

    ``after``: before its words can mean that it has read them, by the count; ``surely``: before they must, at most
    (``inf``: no count is to be trusted); ``answer``: before the turn that is their answer.
    """

    batch: Batch
    after: float = 0
    surely: float = 0
    answer: float = 0
    read: bool = False

    def heard(self, counted: float, ended: float) -> bool:
        """The model speaks, after so many turn ends, those included that do not come any more, and without them.

        Returns whether this was read, as far as can be told.
        """
        batch = self.batch
        if batch.handed and not self.read:  # of what is still being written nobody has read anything
            behind = counted >= self.after and (batch.pong is None or bool(batch.pong()))
            self.read = behind or ended >= self.surely
        return self.read

    def over(self, counted: float) -> bool:
        """Nothing more is said, after so many turn ends. Whether this was read, and its answer the last of them.

        Where no pong can be had, only what needs no answer is believed to have been read.
        """
        batch = self.batch
        if batch.handed and batch.asks and not self.read:
            if batch.pong is None:
                self.read = self.answer == -inf
            else:
                self.read = batch.pong() is not None and counted > self.answer
        return self.read

    @property
    def asked(self) -> bool:
        """Whether it was handed to a socket, and its pong is awaited."""
        batch = self.batch
        return batch.handed and not self.read and batch.pong is not None and batch.pong() is None


def handed() -> Posted:
    """Something that a socket has already; any word of the model says that it was read."""
    batch = Batch()
    batch.handed = True
    return Posted(batch)
