"""The transport in memory under the name that it had, ``livetools.session.memory``, for programs outside."""

from livetools.session import MemoryTransport

__all__ = ["MemoryTransport"]
