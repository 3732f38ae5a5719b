"""Builds responses of ``generateContent``: texts, function calls, refusals, errors, streams.

What comes out is what the service sends (camelCase, ``STOP`` for calls too, usage in every chunk,
``finishReason`` in the last), and what :mod:`livetools.formats.checks.generated_responses` finds nothing to say about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from livetools.protocol.messages.lenient_json import Json

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def usage(prompt: int = 0, answer: int = 0, thoughts: int = 0) -> dict[str, Json]:
    """``usageMetadata``, its total included. All are tokens."""
    counts: dict[str, Json] = {"promptTokenCount": prompt, "candidatesTokenCount": answer}
    if thoughts:
        counts["thoughtsTokenCount"] = thoughts
    return counts | {"totalTokenCount": prompt + answer + thoughts}


def response(
    parts: Sequence[Mapping[str, Json]],
    *,
    finish_reason: str | None = "STOP",
    usage_metadata: Mapping[str, Json] | None = None,
    model: str | None = None,
    response_id: str | None = None,
) -> dict[str, Json]:
    """A response with these parts; ``finish_reason=None`` makes it a chunk that is followed by others."""
    content = {"role": "model", "parts": [dict(part) for part in parts]}
    candidate: dict[str, Json] = {"content": content, "index": 0}
    if finish_reason is not None:
        candidate["finishReason"] = finish_reason
    told: dict[str, Json] = {"candidates": [candidate], "usageMetadata": dict(usage_metadata or usage())}
    if model is not None:
        told["modelVersion"] = model
    if response_id is not None:
        told["responseId"] = response_id
    return told


def text_response(text: str, **more: Json) -> dict[str, Json]:
    """A response that says ``text``; ``more`` as in :func:`response`."""
    return response([{"text": text}], **more)


def call_response(*calls: Mapping[str, Json], text: str = "", **more: Json) -> dict[str, Json]:
    """A response that calls functions (``{"name", "args", "id"?}`` each), after ``text`` if there is any.

    ::

        print(call_response({"name": "get_weather", "args": {"city": "Oslo"}}))
    """
    said: list[Mapping[str, Json]] = [{"text": text}] if text else []
    return response([*said, *({"functionCall": {"args": {}, **call}} for call in calls)], **more)


def blocked_response(reason: str = "SAFETY", *, prompt: int = 0) -> dict[str, Json]:
    """The response to a prompt that is refused: no candidates, and why."""
    return {"promptFeedback": {"blockReason": reason}, "usageMetadata": usage(prompt)}


def error_body(
    code: int, message: str, status: str | None = None, details: Sequence[Mapping[str, Json]] = ()
) -> dict[str, Json]:
    """The body of an HTTP error; ``status`` follows from ``code`` where that is one of the usual ones."""
    error: dict[str, Json] = {
        "code": code,
        "message": message,
        "status": status or _STATUS.get(code, "UNKNOWN"),
    }
    if details:
        error["details"] = [dict(detail) for detail in details]
    return {"error": error}


def stream_chunks(
    parts: Sequence[Mapping[str, Json]],
    *,
    finish_reason: str = "STOP",
    usage_metadata: Mapping[str, Json] | None = None,
    model: str | None = None,
    response_id: str | None = None,
) -> list[dict[str, Json]]:
    """A stream: each part in a chunk of its own, ``finishReason`` in the last. No parts give one empty chunk."""
    pieces = [[part] for part in parts] or [[]]
    return [
        response(
            piece,
            finish_reason=finish_reason if number == len(pieces) else None,
            usage_metadata=usage_metadata,
            model=model,
            response_id=response_id,
        )
        for number, piece in enumerate(pieces, 1)
    ]
