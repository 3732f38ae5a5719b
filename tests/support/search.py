"""Every order of inputs, breadth first: the first failure is the shortest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

Step: TypeAlias = tuple[str, ...]
Path: TypeAlias = tuple[Step, ...]


class Playable(Protocol):
    """A world that can be played: ``play`` raises ``AssertionError`` where an invariant breaks."""

    def play(self, step: Step) -> None: ...
    def key(self) -> object: ...  # what tells two worlds apart


def search(
    make: Callable[[], Playable],
    inputs: Sequence[Step],
    depth: int,
    beginning: Path = (),
    last: Callable[[Playable], None] | None = None,
) -> int:
    """Play every order of ``depth`` inputs after ``beginning``; ``last`` is done to each new world in the end.

    Returns the number of worlds seen.
    """
    seen: set[object] = set()
    frontier = [beginning]
    for _ in range(depth):
        following = []
        for path in frontier:
            for step in inputs:
                world = make()
                try:
                    for past in (*path, step):
                        world.play(past)
                    key = world.key()
                    if key in seen:
                        continue
                    seen.add(key)
                    if last is not None:
                        last(world)
                except AssertionError as failure:
                    raise AssertionError(f"{failure} after {[*path, step]}") from failure
                following.append((*path, step))
        frontier = following
    return len(seen)
