"""Reads the messages that nearly all are, by a typed decoder: calls alone, words alone, and a blob alone.

The decoder refuses a field that it does not know, so that whatever a new model adds is read the general way, and
reported; what it accepts means the same as there.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from livetools.events import Event, InputTranscript, OutputTranscript, TextChunk

from .field_values import base64
from .incoming import PlainCall
from .to_events import blob

LARGE = 1024  # bytes of a message from which on a blob in it is looked for
# {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "...", "data": "..."}}]}}}
_MEDIA_HEAD = re.compile(
    rb'\s*{\s*"serverContent"\s*:\s*{\s*"modelTurn"\s*:\s*{\s*"parts"\s*:\s*\[\s*{\s*"inlineData"\s*:\s*{'
    rb'\s*"mimeType"\s*:\s*"([ !#-\[\]-~]*)"\s*,\s*"data"\s*:\s*"'
)
_MEDIA_TAIL = re.compile(rb"\s*}\s*}\s*\]\s*}\s*}\s*}\s*\Z")


class _Calls(Struct, forbid_unknown_fields=True):
    functionCalls: Annotated[list[PlainCall], Meta(min_length=1)]


class _Words(Struct, forbid_unknown_fields=True, gc=False):
    text: Annotated[str, Meta(min_length=1)]


class _Turn(Struct, forbid_unknown_fields=True):
    parts: Annotated[list[_Words], Meta(min_length=1, max_length=1)]


class _Content(Struct, forbid_unknown_fields=True):
    outputTranscription: _Words | None = None
    modelTurn: _Turn | None = None
    inputTranscription: _Words | None = None


class _Message(Struct, forbid_unknown_fields=True):
    toolCall: _Calls | None = None
    serverContent: _Content | None = None


_read = msgspec.json.Decoder(_Message).decode


def only_calls_or_words(data: bytes | str) -> list[PlainCall] | Event | None:
    """The calls of a message that is calls and nothing else, or the event of one that is one piece of text; ``None``:
    read it the general way.
    """
    try:
        message = _read(data)
    # Anything else: unknown fields, partialArgs, a second key. It is no error. The errors of msgspec are
    # ``ValueError``s only from 0.21 on.
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    content = message.serverContent
    if message.toolCall is not None:
        return message.toolCall.functionCalls if content is None else None
    if content is None:
        return None
    spoken, turn, heard = content.outputTranscription, content.modelTurn, content.inputTranscription
    # Two kinds in one message take the general way, which knows their order.
    if spoken is not None:
        return OutputTranscript(spoken.text) if turn is None and heard is None else None
    if turn is not None:
        return TextChunk(turn.parts[0].text) if heard is None else None
    return None if heard is None else InputTranscript(heard.text)


def only_media(data: bytes | str) -> Event | None:
    """The event of a message that is one blob and nothing else, as all are while the model speaks; ``None``: read it
    the general way.

    Reading the JSON around the blob costs more than the blob, whose Base64 ends at the next quotation mark.
    """
    if not isinstance(data, bytes) or (head := _MEDIA_HEAD.match(data)) is None:
        return None
    # With both quotation marks, since the validator reads JSON.
    begin, end = head.end() - 1, data.find(b'"', head.end()) + 1
    if not _MEDIA_TAIL.match(data, end):
        return None
    try:
        decoded = base64(data[begin:end])
    except ValueError:
        return None
    # An empty blob says nothing: the general way drops it.
    return blob(decoded, head[1].decode()) if decoded else None
