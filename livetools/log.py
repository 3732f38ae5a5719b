"""The loggers of this package. An entry is one line, also where a stranger wrote its words."""

from __future__ import annotations

import logging


def get_logger(name: str) -> logging.Logger:
    """The logger of this name, whose entries are made one line each.

    Ids, names and reasons come from the service, from callers and from tools. A line break in one would begin an entry
    that nobody wrote. Characters that print nothing are written as escapes.
    """
    logger = logging.getLogger(name)
    if _one_line not in logger.filters:
        logger.addFilter(_one_line)
    return logger


def _one_line(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    if not message.isprintable():
        record.msg, record.args = escaped(message), None
    return True


def escaped(text: str) -> str:
    """The text with every character that shows nothing, or moves others, as its escape: ``\\u202e``, ``\\u000a``.

    Line breaks, control characters, characters without a width, those that turn the direction of text, and halves of
    surrogate pairs. Letters of every script stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escape(ord(each)) for each in text)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
