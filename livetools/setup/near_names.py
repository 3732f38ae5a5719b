"""Finds the names that an unknown name may have been meant for."""

from __future__ import annotations

from collections.abc import Iterable


def near_names(name: str, known: Iterable[str], *, count: int = 1, cutoff: float) -> list[str]:
    """The nearest of the ``known`` names, nearest first: at most ``count``, each at least ``cutoff`` (0 to 1) alike."""
    from difflib import get_close_matches  # takes 2 ms to import, and only a mistake needs it

    return get_close_matches(name, list(known), n=count, cutoff=cutoff)
