"""Checks responses of ``generateContent``, whole or as a stream of chunks. ``builders`` makes them.

The rules are for who *makes* such responses (a proxy, a fake, a gateway): clients read camelCase names
only, and break on the small differences: a ``null`` where a field should be absent, ``arguments`` for
``args``, text for an object.
"""

from __future__ import annotations

from collections.abc import Mapping

from livetools.formats.rules.findings import Checklist, Spot, camel, kind_of, snake
from livetools.formats.rules.known_fields import PART
from livetools.protocol.messages.lenient_json import Json

FINISH = {
    *(
        "FINISH_REASON_UNSPECIFIED",
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "OTHER",
        "BLOCKLIST",
    ),
    *("PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"),
    *("MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE", "IMAGE_SAFETY", "IMAGE_OTHER"),
    *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
}
_COUNTS = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
_OTHERS = {"choices", "output", "completion", "message", "usage", "delta"}
SNAKE = {
    "finish_reason",
    "usage_metadata",
    "prompt_feedback",
    "safety_ratings",
    "model_version",
    "response_id",
}


def check_response(response: Json, spot: Spot, todo: Checklist) -> None:
    """Check one whole response."""
    _check_response(response, spot, todo, whole=True)


def check_stream(chunks: Json, spot: Spot, todo: Checklist) -> None:
    """Check the chunks of a stream, in order: only the last one has a ``finishReason``."""
    filled = isinstance(chunks, list) and bool(chunks)
    if not todo.expect(filled, "stream-chunks", spot, f"the stream is {kind_of(chunks)} without a chunk"):
        return
    finished: set[str] = set()  # indices of candidates
    for number, chunk in enumerate(chunks):
        _check_response(chunk, spot[number], todo, whole=False)
        for candidate in _candidates(chunk):
            index = str(candidate.get("index") or 0)
            message = f"candidate {index} continues after its finishReason"
            todo.expect(index not in finished, "stream-finish", spot[number], message)
            if candidate.get("finishReason"):
                finished.add(index)
    blocked = any(
        isinstance(chunk, Mapping) and chunk.keys() & {"promptFeedback", "error"} for chunk in chunks
    )
    message = "no chunk has a finishReason: the stream looks cut off"
    todo.expect(bool(finished) or blocked, "stream-finish", spot[len(chunks) - 1], message)
    used = any(isinstance(chunk, Mapping) and chunk.get("usageMetadata") for chunk in chunks)
    todo.expect(used, "answer-usage-present", spot[len(chunks) - 1], "no chunk has usageMetadata")


def _candidates(chunk: Json) -> list[Mapping[str, Json]]:
    found = chunk.get("candidates") if isinstance(chunk, Mapping) else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _check_response(response: Json, spot: Spot, todo: Checklist, *, whole: bool) -> None:
    if not todo.expect(isinstance(response, Mapping), "answer-object", spot, f"it is {kind_of(response)}"):
        return
    foreign = sorted(_OTHERS & response.keys())
    if not todo.expect(not foreign, "answer-shape", spot, f"{', '.join(foreign)} belongs to another API"):
        return
    _check_casing(response, spot, todo)
    if "error" in response:
        _check_error(response["error"], spot / "error", todo)
        return
    candidates, feedback = response.get("candidates"), response.get("promptFeedback")
    is_object = feedback is None or isinstance(feedback, Mapping)
    todo.expect(
        is_object, "answer-feedback", spot / "promptFeedback", f"promptFeedback is {kind_of(feedback)}"
    )
    needed = whole and not feedback
    filled = isinstance(candidates, list) and (bool(candidates) or not needed)
    message = f"candidates is {kind_of(candidates)}" if candidates != [] else "candidates is empty"
    if todo.expect(
        filled or (candidates is None and not needed), "answer-object", spot / "candidates", message
    ):
        for index, candidate in enumerate(candidates or ()):
            _check_candidate(candidate, (spot / "candidates")[index], todo, whole)
    _check_usage(response.get("usageMetadata"), spot / "usageMetadata", todo, whole)


def _check_casing(item: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    for key in item:
        message = f"{key} instead of {camel(key)}"
        todo.expect(key not in SNAKE, "answer-casing", spot / key, message)


def _check_error(error: Json, spot: Spot, todo: Checklist) -> None:
    told = isinstance(error, Mapping) and isinstance(error.get("code"), int)
    told = told and isinstance(error.get("message"), str) and isinstance(error.get("status"), str)
    todo.expect(
        told, "answer-error", spot, f"the error has not all of code, message and status: {error!r:.60}"
    )


def _check_candidate(candidate: Json, spot: Spot, todo: Checklist, whole: bool) -> None:
    if not todo.expect(isinstance(candidate, Mapping), "answer-object", spot, f"it is {kind_of(candidate)}"):
        return
    _check_casing(candidate, spot, todo)
    reason = candidate.get("finishReason")
    at = spot / "finishReason"
    known = reason is None or (isinstance(reason, str) and reason in FINISH)
    todo.expect(known, "answer-finish", at, f"finishReason is {reason!r}")
    if whole:
        todo.expect(reason is not None, "answer-finished", at, "there is no finishReason")
    index = candidate.get("index", 0)
    is_count = isinstance(index, int) and not isinstance(index, bool)
    todo.expect(is_count, "answer-index", spot / "index", f"index is {index!r}")
    if "safetyRatings" in candidate:
        _check_ratings(candidate["safetyRatings"], spot / "safetyRatings", todo)
    content = candidate.get("content")
    if content is None and (not whole or (known and reason not in (None, "STOP"))):
        return
    _check_content(content, spot / "content", todo, may_be_empty=reason is not None)


def _check_ratings(ratings: Json, spot: Spot, todo: Checklist) -> None:
    fits = isinstance(ratings, list) and all(
        isinstance(rating, Mapping) and {"category", "probability"} <= rating.keys() for rating in ratings
    )
    todo.expect(fits, "answer-safety", spot, "not a list of {category, probability}")


def _check_content(content: Json, spot: Spot, todo: Checklist, may_be_empty: bool) -> None:
    message = f"content is {kind_of(content)}"
    if not todo.expect(isinstance(content, Mapping), "answer-content", spot, message):
        return
    parts, role = content.get("parts"), content.get("role")
    todo.expect(role == "model", "answer-role", spot / "role", f"the role is {role!r}")
    if parts is None and may_be_empty:
        return
    message = f"parts is {kind_of(parts)}"
    if todo.expect(isinstance(parts, list), "answer-content", spot / "parts", message):
        for index, part in enumerate(parts):
            _check_part(part, (spot / "parts")[index], todo)


def _check_part(part: Json, spot: Spot, todo: Checklist) -> None:
    if not todo.expect(isinstance(part, Mapping), "answer-part", spot, f"the part is {kind_of(part)}"):
        return
    for key in part:
        if key not in PART and camel(key) in PART:
            todo.expect(False, "answer-casing", spot / key, f"{key} instead of {camel(key)}")
        else:
            todo.expect(key in PART, "answer-part", spot / key, f"{key!r} is not a part")
    call = part.get("functionCall", part.get(snake("functionCall")))
    if call is not None:
        _check_call(call, spot / "functionCall", todo)


def _check_call(call: Json, spot: Spot, todo: Checklist) -> None:
    named = isinstance(call, Mapping) and isinstance(call.get("name"), str)
    if not todo.expect(named, "answer-args", spot, "the call has no name") or not isinstance(call, Mapping):
        return
    message = "arguments instead of args"
    if todo.expect("arguments" not in call, "answer-args", spot / "arguments", message):
        args = call.get("args", {})
        message = f"args is {kind_of(args)}, not an object"
        todo.expect(isinstance(args, Mapping), "answer-args", spot / "args", message)


def _check_usage(usage: Json, spot: Spot, todo: Checklist, whole: bool) -> None:
    if usage is None:
        if whole:
            todo.expect(False, "answer-usage-present", spot, "there is no usageMetadata")
        return
    if not todo.expect(isinstance(usage, Mapping), "answer-usage", spot, f"it is {kind_of(usage)}"):
        return
    foreign = [key for key in usage if snake(key) == key and "_" in key]
    todo.expect(not foreign, "answer-usage", spot, f"{', '.join(foreign)} belongs to another API")
    counts = {key: value for key, value in usage.items() if key.endswith("TokenCount")}
    for key, value in counts.items():
        whole_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if not todo.expect(whole_number, "answer-usage", spot / key, f"{key} is {value!r}"):
            return
    prompt, answer, total = (counts.get(key, 0) for key in _COUNTS)
    if whole and total is not None:
        message = f"totalTokenCount is {total}, less than {prompt} + {answer}"
        todo.expect(total >= prompt + answer, "answer-usage-total", spot / "totalTokenCount", message)
