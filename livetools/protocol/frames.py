"""The parser of server messages under its short name; ``messages.frames`` has it."""

from .messages.frames import parse

__all__ = ["parse"]
