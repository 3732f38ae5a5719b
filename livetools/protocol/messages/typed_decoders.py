"""Reads the messages that nearly all are, by typed decoders: calls alone, words alone, and a blob alone.

A decoder refuses a field that it does not know, so that whatever a new model adds is read the general way, and
reported; what it accepts means the same as there.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from livetools.events import Call, Event, InputTranscript, OutputTranscript, TextChunk

from .known_fields import base64
from .to_events import blob

LARGE = 1024  # bytes of a message from which on a blob in it is looked for
_HEAD = 24  # bytes in which the first name of a message is looked for
# {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "...", "data": "..."}}]}}}
_MEDIA_HEAD = re.compile(
    rb'\s*{\s*"serverContent"\s*:\s*{\s*"modelTurn"\s*:\s*{\s*"parts"\s*:\s*\[\s*{\s*"inlineData"\s*:\s*{'
    rb'\s*"mimeType"\s*:\s*"([ !#-\[\]-~]*)"\s*,\s*"data"\s*:\s*"'
)
_MEDIA_TAIL = re.compile(rb"\s*}\s*}\s*\]\s*}\s*}\s*}\s*\Z")
_Name: TypeAlias = Annotated[str, Meta(min_length=1)]

Words: TypeAlias = OutputTranscript | TextChunk | InputTranscript


class _Call(Struct, forbid_unknown_fields=True):
    # An empty id or name takes the general way, which makes one up or refuses the call.
    id: _Name
    name: _Name
    args: dict[str, Any]


class _PlainCalls(Struct, forbid_unknown_fields=True):
    functionCalls: Annotated[list[_Call], Meta(min_length=1)]


class _Calls(Struct, forbid_unknown_fields=True):
    toolCall: _PlainCalls


class _Text(Struct, forbid_unknown_fields=True, gc=False):
    text: _Name


class _Turn(Struct, forbid_unknown_fields=True):
    parts: Annotated[list[_Text], Meta(min_length=1, max_length=1)]


class _Content(Struct, forbid_unknown_fields=True):
    outputTranscription: _Text | None = None
    modelTurn: _Turn | None = None
    inputTranscription: _Text | None = None


class _Spoken(Struct, forbid_unknown_fields=True):
    serverContent: _Content


_read_calls = msgspec.json.Decoder(_Calls).decode
_read_words = msgspec.json.Decoder(_Spoken).decode
#: What these raise for any other message. The errors of msgspec are ``ValueError``s only from 0.21 on.
_REFUSED = (msgspec.MsgspecError, ValueError, RecursionError)


def only_calls(data: bytes | str) -> list[Call] | None:
    """The calls of a message that is calls and nothing else; ``None``: read it the general way."""
    # A look at the first bytes costs less than a decoder that fails.
    if not isinstance(data, bytes) or data.find(b'"toolCall"', 0, _HEAD) < 0:
        return None
    try:
        calls = _read_calls(data).toolCall.functionCalls
    # Anything else than calls: unknown fields, partialArgs, a second key. It is no error.
    except _REFUSED:
        return None
    return [Call(call.id, call.name, call.args) for call in calls]


def only_words(data: bytes | str) -> Words | None:
    """The event of a message that is one piece of text and nothing else; ``None``: read it the general way."""
    if not isinstance(data, bytes) or data.find(b'"serverContent"', 0, _HEAD) < 0:
        return None
    try:
        content = _read_words(data).serverContent
    except _REFUSED:
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
    if not isinstance(data, bytes) or len(data) < LARGE or (head := _MEDIA_HEAD.match(data)) is None:
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
