"""Builds every frame that we send: pure functions from values to JSON in UTF-8 bytes.

Facts: the reply formats and ``scheduling`` beside ``response`` are those of the published API (the SDK's types, and
the service accepts them); audio is 16-bit little-endian mono PCM.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from pydantic_core import to_jsonable_python

#: Any JSON object: what the fields hold is the API's business.
JSONObject = Mapping[str, Any]

#: A value that is JSON already: ``encode`` copies it.
EncodedJSON = msgspec.Raw


def encode(message: JSONObject | Sequence[object]) -> bytes:
    """A message as one frame, or any other value as JSON.

    NaN and infinities become null: they are not JSON, and end sessions. Lone surrogates, which no UTF-8 can carry and
    the service closes for, become U+FFFD.
    """
    # Fast and strict first, then forgiving: an answer that is owed must go out in some form.
    try:
        # Nearly everything: it writes NaN as null too, and base64 for bytes.
        return msgspec.json.encode(message)
    except (TypeError, ValueError, RecursionError):
        # A value of another library's, or a lone surrogate: through UTF-16, which can hold that, it is replaced when it
        # is read back.
        written = json.dumps(message, ensure_ascii=False, default=_plain)
        clean = written.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.json.encode(json.loads(clean))


def _plain(value: object) -> Any:
    return msgspec.json.decode(value) if isinstance(value, EncodedJSON) else to_jsonable_python(value)


# The session's frames


def text(words: str, channel: str) -> bytes:
    """A text of the user's, which is answered: on the realtime channel, or as a complete turn."""
    # 3.1 takes clientContent only before the first turn (1007 later, adk#5018); 2.5 and 3.8 take a turn with a role.
    if channel == "realtime":
        return encode({"realtimeInput": {"text": words}})
    return client_content([{"role": "user", "parts": [{"text": words}]}], True)


def client_content(turns: Sequence[JSONObject], turn_complete: bool) -> bytes:
    """Turns for the history; ``turn_complete`` asks for an answer."""
    return encode({"clientContent": {"turns": list(turns), "turnComplete": turn_complete}})


def end_of_turn(complete: bool) -> bytes:
    """Content in which nothing was said, and which interrupts the model's turn. ``complete``: the model then speaks
    unprompted (3.8); else it is asked for no answer."""
    return encode({"clientContent": {"turnComplete": complete}})


def audio(pcm: bytes, rate: int = 16000) -> bytes:
    """Audio: ``pcm`` 16-bit little-endian mono, ``rate`` in Hz."""
    # Put together by hand: fifty a second, and Base64 needs no escapes.
    data = b64encode(pcm)
    return b'{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=%d","data":"%b"}}}' % (rate, data)


def video(image: bytes, mime_type: str = "image/jpeg") -> bytes:
    """One video frame (JPEG or PNG; the service reads about one a second)."""
    return encode({"realtimeInput": {"video": {"mimeType": mime_type, "data": b64encode(image).decode()}}})


def activity(start: bool) -> bytes:
    """Push-to-talk: the user begins, or ends, to speak."""
    return encode({"realtimeInput": {"activityStart" if start else "activityEnd": {}}})


def audio_stream_end() -> bytes:
    """The microphone is off; what is cached is heard now."""
    return encode({"realtimeInput": {"audioStreamEnd": True}})


def context_update(instructions: JSONObject | None, tools: Sequence[JSONObject] | None) -> bytes:
    """Other instructions or tools in the middle of a session, as a setup has them; ``None`` leaves what is there."""
    update: dict[str, object] = {}
    if instructions is not None:
        update["systemInstruction"] = instructions
    if tools is not None:
        update["tools"] = {"tools": list(tools)}
    return encode({"contextUpdate": update})


# Answers


def tool_response(responses: Sequence[JSONObject]) -> bytes:
    """Answers in the format made for them."""
    return b'{"toolResponse":{"functionResponses":%b}}' % encode(responses)


def content_response(responses: Sequence[JSONObject]) -> bytes:
    """Answers as one user turn of functionResponse parts, complete: the other documented format."""
    parts = [{"functionResponse": response} for response in responses]
    return client_content([{"role": "user", "parts": parts}], True)


def failure(text: str) -> dict[str, Any]:
    """The response object of a call that failed."""
    return {"error": text}
