"""How many sessions a relay keeps at once: in all, and for each caller."""

from __future__ import annotations

from collections import Counter

from .option_checks import checked_bound

#: Sessions that a bridge has at once, lingering ones too, and those of one caller, unless told otherwise.
MAX_SESSIONS, MAX_PER_CALLER = 100, 4


class Places:
    """Places for at most ``most`` sessions, of which one caller may have ``most_per_caller``. ``None``: no bound."""

    def __init__(self, most: int | None, most_per_caller: int | None) -> None:
        for name, bound in (("max_sessions", most), ("max_per_caller", most_per_caller)):
            checked_bound(bound, name)
        self._most, self._most_per_caller = most, most_per_caller
        self._taken = 0
        self._callers: Counter[str] = Counter()

    def take(self, caller: str | None) -> Place | None:
        """A place for a session of this caller; ``None`` if all are taken.

        Callers who cannot be distinguished (``caller=None``) share the bound of all.
        """
        if self._most is not None and self._taken >= self._most:
            return None
        bound = self._most_per_caller
        if caller is not None and bound is not None and self._callers[caller] >= bound:
            return None
        self._taken += 1
        if caller is not None:
            self._callers[caller] += 1
        return Place(self, caller)

    def give_back(self, caller: str | None) -> None:
        """A place is free again."""
        self._taken -= 1
        if caller is not None:
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]


class Place:
    """A place that is taken, until it is left. Leaving it twice changes nothing."""

    def __init__(self, places: Places, caller: str | None) -> None:
        self._places: Places | None = places
        self._caller = caller

    def leave(self) -> None:
        """Give the place back."""
        if self._places is not None:
            self._places.give_back(self._caller)
            self._places = None
