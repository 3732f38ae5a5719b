"""Builds and checks function responses, for Live and for ``generateContent``.

The same object is sent in three forms. In Live::

    {"toolResponse": {"functionResponses": [RESPONSE, …]}}

in Live, where the model takes it::

    {"clientContent": {
        "turns": [{"role": "user", "parts": [{"functionResponse": RESPONSE}, …]}],
        "turnComplete": true}}

and in ``generateContent``::

    {"role": "user", "parts": [{"functionResponse": RESPONSE}, …]}

The model reads the value under ``output``, ``result`` or ``content``, a failure under ``error``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from livetools.formats.rules.findings import Checklist, Spot, kind_of, member
from livetools.formats.rules.known_fields import check_fields
from livetools.protocol.messages.lenient_json import Json
from livetools.tools.results.outcomes import encode, failure

__all__ = [
    "check_function_response",
    "client_content_reply",
    "content_reply",
    "error_response",
    "function_response",
    "is_error",
    "tool_response",
]

_FIELDS = ("id", "name", "response", "scheduling", "willContinue", "parts")
SCHEDULING = ("SCHEDULING_UNSPECIFIED", "SILENT", "WHEN_IDLE", "INTERRUPT")
ELSEWHERE = {
    "functionCallId": "id",
    "callId": "id",
    "toolCallId": "id",
    "toolUseId": "id",
    "functionName": "name",
    "result": "response",
    "output": "response",
    "content": "response",
    "error": "response",
}


def function_response(
    name: str,
    value: object,
    *,
    id: str | None = None,
    key: str = "output",
    scheduling: Literal["INTERRUPT", "WHEN_IDLE", "SILENT"] | None = None,
    will_continue: bool | None = None,
) -> dict[str, Json]:
    """One function response. ``value`` may be anything: it is converted to JSON and put under ``key``.

    A dict that has ``output``, ``result``, ``content`` or ``error`` among its keys is the response itself.

    ::

        print(function_response("get_weather", {"celsius": 12}, id="c1"))
    """
    told: dict[str, Json] = {"id": id} if id else {}
    told |= {"name": name, "response": encode(value, key)}
    if scheduling is not None:
        told["scheduling"] = scheduling
    if will_continue is not None:
        told["willContinue"] = will_continue
    return told


def error_response(name: str, text: str, *, id: str | None = None) -> dict[str, Json]:
    """The function response of a call that failed; the model reads ``text``."""
    return function_response(name, failure(text), id=id)


def is_error(response: Mapping[str, Json]) -> bool:
    """Whether a response object tells the model that the function failed."""
    return "error" in response


def tool_response(*responses: Mapping[str, Json]) -> dict[str, Json]:
    """The Live frame that answers calls."""
    return {"toolResponse": {"functionResponses": [dict(response) for response in responses]}}


def client_content_reply(*responses: Mapping[str, Json]) -> dict[str, Json]:
    """The other Live frame that answers calls: all those of one ``toolCall``, in one complete user turn."""
    return {"clientContent": {"turns": [content_reply(*responses)], "turnComplete": True}}


def content_reply(*responses: Mapping[str, Json]) -> dict[str, Json]:
    """The content that answers all calls of the turn before it, for ``generateContent``."""
    return {"role": "user", "parts": [{"functionResponse": dict(response)} for response in responses]}


def check_function_response(item: Json, spot: Spot, todo: Checklist, *, live: bool) -> None:
    """Check one response object. ``live``: in a ``toolResponse``, where ids are what pairs; else in a part."""
    if not todo.expect(
        isinstance(item, Mapping), "value-type", spot, f"{kind_of(item)} instead of an object", value=item
    ):
        return
    check_fields(item, spot, _FIELDS, todo, ELSEWHERE)
    message = "the answer has no id: the model cannot tell which call it is for"
    todo.expect(bool(item.get("id")), "response-id" if live else "response-id-content", spot, message)
    rule = "response-name-live" if live else "response-name"
    todo.expect(bool(item.get("name")), rule, spot, "the answer does not name its function")
    _check_value(item, spot, todo)
    key, scheduling = member(item, "scheduling")
    known = scheduling is None or scheduling in SCHEDULING
    todo.expect(known, "scheduling-value", spot / key, f"scheduling is {scheduling!r}")


def _check_value(item: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    key, value = member(item, "response")
    at = spot / key
    if not todo.expect(value is not None, "response-present", spot, "there is no response in the answer"):
        return
    is_list = isinstance(value, list)
    message = "response is a list, not an object"
    todo.expect(not is_list, "response-list", at, message, name=key, path=spot.wire)
    if is_list:
        return
    message = f"response is {kind_of(value)}, not an object"
    if isinstance(value, str) and value.lstrip().startswith("{"):
        message += " (a JSON or Python text of one is still a string)"
    if todo.expect(isinstance(value, Mapping), "response-object", at, message, value=value):
        message = "scheduling is inside response"
        todo.expect("scheduling" not in value, "scheduling-place", at / "scheduling", message)
        message = "the response reports that the function failed"
        todo.expect(not is_error(value), "response-error", at, message)
