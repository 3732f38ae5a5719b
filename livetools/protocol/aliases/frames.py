"""The parser of server messages under its short name, ``livetools.protocol.frames``, for programs outside."""

from livetools.protocol.messages.incoming import parse

__all__ = ["parse"]
