"""Programs outside import the transport in memory from where it was."""

from __future__ import annotations

from importlib import import_module

from livetools.testing.memory import MemoryTransport


def test_the_transport_in_memory_is_found_in_the_session_s_package() -> None:
    assert import_module("livetools.session.memory").MemoryTransport is MemoryTransport
