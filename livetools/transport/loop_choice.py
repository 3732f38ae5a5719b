"""Chooses the client of ``websockets`` for a dial, and its adapter: one for each event loop.

The adapters are two because the loops differ in what a cancelled send leaves behind, and in how they read.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from livetools.errors import ConfigError
from livetools.setup.install_hints import install
from livetools.transport.loop.wake import on_trio

from .contract import Transport
from .websocket_connection import CLOSE_TIMEOUT, Limits

NO_TRIO = f"a session on trio needs websockets 17 or newer: {install('trio')}"


def client(
    url: str, limits: Limits, options: dict[str, Any]
) -> tuple[AbstractAsyncContextManager[Any], Callable[[Any], Transport]]:
    """The client of the loop that runs, and what makes a transport of its connection.

    ``Any``: the two connections have no common type.
    """
    options = {"close_timeout": CLOSE_TIMEOUT, "max_size": limits.max_message, **options}
    if on_trio():
        try:
            from .on_trio import TrioAdapter, TrioConnection, TrioDial
        except ImportError:
            raise ConfigError(NO_TRIO) from None
        options["create_connection"] = partial(TrioConnection, limits=limits)
        return TrioDial(url, **options), TrioAdapter
    from websockets.asyncio.client import connect

    from .on_asyncio import AsyncioAdapter, PushConnection

    # write_limit 1: a send returns when the kernel has the frame, not when a buffer of ours has it. 0 says
    # the same over TCP, but over TLS asyncio takes an empty buffer for a full one, and a send waits without end.
    options["create_connection"] = partial(PushConnection, limits=limits)
    return connect(url, write_limit=1, **options), AsyncioAdapter
