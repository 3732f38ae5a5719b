"""What a process holds, but for the fake server and the tests."""

from __future__ import annotations

import asyncio
import gc
import os
import tracemalloc
from dataclasses import dataclass, field

import sniffio

ELSEWHERE = ("*/livetools/testing/*", "*/tests/*", "*/json/*", "*/base64.py", tracemalloc.__file__)


@dataclass
class Footprint:
    """What the process holds: bytes that are not the fake's, tasks, file descriptors."""

    elsewhere: tuple[str, ...] = ()  # files that do not count
    size: int = field(init=False)
    tasks: int = field(init=False)
    files: int = field(init=False)

    def __post_init__(self) -> None:
        gc.collect()
        filters = [
            tracemalloc.Filter(inclusive=False, filename_pattern=name)
            for name in (*ELSEWHERE, *self.elsewhere)
        ]
        snapshot = tracemalloc.take_snapshot().filter_traces(filters)
        self.size = sum(stat.size for stat in snapshot.statistics("filename"))
        self.tasks = _tasks()
        self.files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _tasks() -> int:
    if sniffio.current_async_library() == "asyncio":
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living
