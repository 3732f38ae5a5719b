"""Imports files that a test has written, and forgets them after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def forgotten(folder: Path) -> Iterator[None]:
    """Modules that are imported from ``folder`` inside of this are unknown after it, and ``sys.path`` is as before.

    ``sys.modules`` stays the same dict: an import that finds another one there sees packages without their modules.
    """
    path, before = [*sys.path], {**sys.modules}
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in [*sys.modules.items()]:
            if before.get(name) is not module and _is_in(module, folder):
                del sys.modules[name]
                if name in before:
                    sys.modules[name] = before[name]


def _is_in(module: ModuleType, folder: Path) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place and Path(place).resolve().is_relative_to(folder.resolve()) for place in places)
