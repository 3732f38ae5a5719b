"""JSON and closes in the service's spelling, and frames printed for people."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, Literal, NoReturn, TypeAlias

Message: TypeAlias = dict[str, Any]  # a JSON object

_MEDIA = 1024  # characters: a longer string is sound or a picture
REASON_BYTES = 123  # a websocket close frame holds 125 bytes, two of them the code
_DEPTH = 100  # levels of JSON that the service reads
REQUEST_TIMEOUT = (
    30.0  # seconds in which a client has to send its request, all of it, and then its first message
)
EXCERPT = 200  # bytes of a frame that its refusal may show
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame that crossed the wire.

    ``time`` is the server's clock in seconds, ``direction`` who sent it, ``connection`` the number of the
    socket (from 1, over the life of the server), ``message`` the JSON as it was sent, in its casing.
    A frame that is not a JSON object is written as ``{"_text": …}``; a close as
    ``{"_close": {"code": …, "reason": …}}``.
    """

    time: float
    direction: Literal["client", "server"]
    connection: int
    message: Message

    def __str__(self) -> str:
        arrow = "→" if self.direction == "client" else "←"
        return f"{self.time:9.3f}  #{self.connection} {arrow} {readable(self.message)}"


class ServiceRefusal(Exception):
    """The service closes for this. ``reason`` is what it says, ``why`` what it means, for the log."""

    def __init__(self, code: int, reason: str, why: str = "") -> None:
        super().__init__(f"{code} {reason}")
        self.code, self.reason, self.why = code, reason, why


def utf8(text: str) -> bytes:
    """The text as UTF-8. A lone surrogate, which UTF-8 does not have, goes as its escape: JSON has that one."""
    return text.encode("utf-8", "backslashreplace")


def encode(message: Message) -> bytes:
    """Pretty-printed UTF-8 with a newline at the end, as the service sends it (2026-09)."""
    return utf8(f"{_pretty(message, chr(10))}\n")


def _pretty(value: object, margin: str) -> str:
    """What ``json.dumps(value, indent=2, ensure_ascii=False)`` makes, which is slow where sound goes out."""
    if isinstance(value, str):
        return _quoted(value) if len(value) > _MEDIA else encode_basestring(value)
    inner = margin + "  "
    if isinstance(value, dict) and value:
        entries = [
            f"{inner}{encode_basestring(str(key))}: {_pretty(item, inner)}" for key, item in value.items()
        ]
        return f"{{{','.join(entries)}{margin}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{','.join([inner + _pretty(item, inner) for item in value])}{margin}]"
    return json.dumps(value)


@functools.lru_cache(maxsize=16)
def _quoted(text: str) -> str:
    """The same chunk of a tone goes out again and again."""
    return encode_basestring(text)


def close_message(code: int, reason: str) -> Message:
    """A close as a recording and the log of frames have it."""
    return {"_close": {"code": code, "reason": reason}}


def decode(data: bytes) -> Message:
    """The JSON object of a client's frame. Raises :class:`ServiceRefusal` where the service would not accept it.

    NaN and infinities are not JSON, a lone surrogate is not text, and 100 levels are enough.
    """
    message = parse(data)
    if b"\\u" in data and _LONE_SURROGATE.search(json.dumps(message, ensure_ascii=False)):
        raise _unreadable(data, "a lone surrogate, which no text holds")
    return message


def parse(data: bytes) -> Message:
    """The JSON object of a frame, lone surrogates and all; :class:`ServiceRefusal` if it is not one."""
    try:
        message = json.loads(data.decode(), parse_constant=_no_constant)
    except ValueError as error:
        raise _unreadable(data, f"the frame is not JSON: {error}") from None
    except RecursionError:
        raise _too_deep() from None
    if data.count(b"{") + data.count(b"[") > _DEPTH and _depth(message) > _DEPTH:
        raise _too_deep()
    if not isinstance(message, dict):
        raise ServiceRefusal(
            1007,
            'Invalid JSON payload received. Unknown name "": Root element must be a message.',
            f"a frame is one JSON object, not a {type(message).__name__}",
        )
    return message


def _unreadable(data: bytes, why: str) -> ServiceRefusal:
    excerpt = cut(data[:EXCERPT].decode(errors="replace"), 40)
    return ServiceRefusal(1007, f"Invalid JSON payload received. Unexpected token.\n{excerpt}", why)


def _too_deep() -> ServiceRefusal:
    reason = "Invalid JSON payload received. Message too deep. Max recursion depth reached."
    return ServiceRefusal(1007, reason, f"a frame has at most {_DEPTH} levels")


def _depth(value: object) -> int:
    """How deep objects and lists are nested, found level by level: recursion would overflow on a deep one."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def clip_reason(reason: str) -> str:
    """The reason cut at 123 bytes, as the service cuts it, never inside a character."""
    return utf8(reason)[:REASON_BYTES].decode(errors="ignore")


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def readable(message: object, limit: int = 600) -> str:
    """One line for a person: media replaced by their size, the rest cut at ``limit`` characters."""
    return cut(json.dumps(without_media(message), ensure_ascii=False, default=str), limit)


def without_media(value: object) -> object:
    """The same JSON, with each base64 ``data`` longer than 40 characters replaced by ``<N bytes>``."""
    if isinstance(value, dict):
        return {
            key: _placeholder(item) if key == "data" else without_media(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_media(item) for item in value]
    return value


def _placeholder(data: object) -> object:
    return (
        f"<{len(data) * 3 // 4} bytes>" if isinstance(data, str) and len(data) > 40 else without_media(data)
    )


@functools.lru_cache(maxsize=4096)
def camel(name: str) -> str:
    """``session_resumption`` → ``sessionResumption``; what is camelCase already stays."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)


@functools.lru_cache(maxsize=4096)
def snake(name: str) -> str:
    """``sessionResumption`` → ``session_resumption``: the casing of the service's own error texts."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


def seconds(value: float) -> str:
    """A protobuf duration: ``"50s"``, ``"0.440s"``; whole seconds carry no decimals (measured 2026-09-10)."""
    return f"{int(value)}s" if value == int(value) else f"{value:.3f}s"
