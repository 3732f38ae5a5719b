"""The parser of server messages under its short name; ``messages.frames`` has it."""

from .messages.incoming import parse

__all__ = ["parse"]
