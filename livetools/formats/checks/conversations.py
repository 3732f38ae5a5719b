"""Checks a whole ``contents`` list.

The rules of the service: a function-call turn follows a user turn or function responses, and is followed at
once by *one* content with as many function responses as it had calls, of the same ids and names; calls are
the model's, responses the user's. ``converters.repair_conversation`` mends what can be mended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from livetools.formats.builders.function_responses import check_function_response
from livetools.formats.rules.findings import Checklist, Spot, camel, kind_of, member
from livetools.formats.rules.known_fields import CONTENT, FUNCTION_CALL, PART, check_fields
from livetools.protocol.messages.lenient_json import Json

_ROLES = ("user", "model")
AS_TEXT = '"parts": [{"text": …}]'
AS_CALL = (
    'A content of its own: {"role": "model", "parts": [{"functionCall": {…}}]}; see formats.to_function_call.'
)
AS_RESPONSE = '{"role": "user", "parts": [{"functionResponse": {…}}]}'
MISPLACED = {  # keys that belong into parts, or to other APIs, and how to say it here
    "functionResponse": AS_RESPONSE,
    "functionResponses": AS_RESPONSE,
    "functionCall": AS_CALL,
    "toolCalls": AS_CALL,
    "toolCallId": f"{AS_RESPONSE}; see formats.to_function_response.",
    "text": AS_TEXT,
    "content": AS_TEXT,
    "contents": AS_TEXT,
    "inlineData": '"parts": [{"inlineData": {…}}]',
    "fileData": '"parts": [{"fileData": {…}}]',
    "name": "Leave it out: functions are named in their parts.",
}
CALL_ELSEWHERE = {"arguments": "args", "callId": "id", "functionName": "name", "input": "args"}


@dataclass(slots=True)
class _CheckedContent:
    """A content as the check read it: what counts for the order of turns."""

    spot: Spot
    role: str
    calls: list[Mapping[str, Json]] = field(default_factory=list)
    responses: list[tuple[Spot, Mapping[str, Json]]] = field(default_factory=list)


def check_conversation(contents: Json, spot: Spot, todo: Checklist) -> None:
    """Check a list of contents: each by itself, then their order."""
    message = f"contents is {kind_of(contents)}" if not isinstance(contents, list) else "contents is empty"
    if todo.expect(isinstance(contents, list) and bool(contents), "contents-list", spot, message):
        turns = [read_content(content, spot[index], todo) for index, content in enumerate(contents)]
        check_order([turn for turn in turns if turn is not None], todo)


def read_content(content: Json, spot: Spot, todo: Checklist) -> _CheckedContent | None:
    """Check one content by itself. Returns ``None`` if it is not a content."""
    message = f"the content is {kind_of(content)}"
    if not todo.expect(isinstance(content, Mapping), "content-object", spot, message, value=content):
        return None
    role = content.get("role")
    message = f"the role is {role!r}"
    todo.expect(role is None or role in _ROLES, "content-role", spot / "role", message, value=role)
    _check_keys(content, spot, todo)
    turn = _CheckedContent(spot, "model" if role in ("model", "assistant") else "user")
    _, parts = member(content, "parts")
    if isinstance(parts, Mapping):  # one object where a list is expected is tolerated
        parts = [parts]
    if parts or not any(camel(key) in MISPLACED for key in content):  # else that has been said
        filled = isinstance(parts, list) and bool(parts)
        todo.expect(filled, "parts-list", spot / "parts", "the content has no parts")
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        _read_part(part, (spot / "parts")[index], turn, todo)
    _check_roles(turn, role, todo)
    return turn


def _check_keys(content: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    known = {key: value for key, value in content.items() if camel(key) not in MISPLACED}
    check_fields(known, spot, CONTENT, todo)
    todo.expect(True, "content-parts", spot, "")
    for key in (key for key in content if key not in known):
        message = f"{key} is not a field of a content; put it inside `parts`"
        words = {"name": key, "at": f" at '{spot.wire}'", "fix": MISPLACED[camel(key)]}
        todo.expect(False, "content-parts", spot / key, message, **words)


def _read_part(part: Json, spot: Spot, turn: _CheckedContent, todo: Checklist) -> None:
    message = f"the part is {kind_of(part)}"
    if not todo.expect(isinstance(part, Mapping), "part-object", spot, message, value=part):
        return
    check_fields(part, spot, PART, todo)
    key, call = member(part, "functionCall")
    if call is not None:
        check_call(call, spot / key, todo)
        turn.calls.append(call if isinstance(call, Mapping) else {})
    key, response = member(part, "functionResponse")
    if response is not None:
        check_function_response(response, spot / key, todo, live=False)
        turn.responses.append((spot / key, response if isinstance(response, Mapping) else {}))


def check_call(call: Json, spot: Spot, todo: Checklist) -> None:
    """Check one function call, as the model makes it and a history repeats it."""
    message = f"functionCall is {kind_of(call)}"
    if todo.expect(isinstance(call, Mapping), "value-type", spot, message, value=call):
        check_fields(call, spot, FUNCTION_CALL, todo, CALL_ELSEWHERE)
        todo.expect(bool(call.get("name")), "call-name", spot, "the call has no name")
        args = call.get("args")
        message = f"args is {kind_of(args)}, not an object"
        todo.expect(
            args is None or isinstance(args, Mapping), "call-args", spot / "args", message, value=args
        )


def _check_roles(turn: _CheckedContent, role: Json, todo: Checklist) -> None:
    at = turn.spot / "role"
    if turn.responses:
        todo.expect(turn.role == "user", "response-role", at, f"a function response in the role {role!r}")
    if turn.calls:
        todo.expect(turn.role == "model", "call-role", at, f"a function call in the role {role!r}")


def check_order(turns: Sequence[_CheckedContent], todo: Checklist) -> None:
    """Check that calls and responses follow one another as the service wants them."""
    for index, turn in enumerate(turns):
        before = turns[index - 1] if index else None
        after = turns[index + 1] if index + 1 < len(turns) else None
        if turn.calls:
            message = "the conversation begins with the function call"
            if before is not None:
                message = f"the function call follows a turn of the model's, {before.spot.path}"
            todo.expect(before is not None and before.role == "user", "call-follows", turn.spot, message)
            _check_answers(turn, after, todo)
        elif turn.responses:
            message = "the content before these function responses has no function call"
            todo.expect(before is not None and bool(before.calls), "response-follows", turn.spot, message)


def _check_answers(turn: _CheckedContent, after: _CheckedContent | None, todo: Checklist) -> None:
    wanted = len(turn.calls)
    given = len(after.responses) if after else 0
    names = ", ".join(str(call.get("name")) for call in turn.calls)
    if after is None:
        message = f"the conversation ends before {names} is answered"
    elif given == 0:
        who = "assistant" if after.role == "model" else "user"
        verb = "answered" if after.role == "model" else "continued"
        message = f"the {who} {verb}, but no function response for {names} comes before it"
    else:
        message = (
            f"{wanted} function call(s) ({names}) in {turn.spot.path}, {given} function response(s) here"
        )
    spot = after.spot if after and given else turn.spot
    if todo.expect(given == wanted, "response-count", spot, message) and after is not None:
        _pair(turn, after, todo)


def _pair(turn: _CheckedContent, after: _CheckedContent, todo: Checklist) -> None:
    """Equal numbers: now each response must be for one of the calls."""
    waiting = list(turn.calls)
    for spot, response in after.responses:
        id, name = response.get("id"), response.get("name")
        if id:
            call = next((call for call in waiting if call.get("id") == id), None)
            message = f"no call of the turn before has the id {id!r}"
            if not todo.expect(call is not None, "response-id-match", spot / "id", message) or call is None:
                continue
        else:
            call = next((call for call in waiting if call.get("name") == name), None)
        message = f"{name!r} is not the name of the call it answers"
        todo.expect(
            call is not None and call.get("name") == name, "response-name-match", spot / "name", message
        )
        if call is not None:
            waiting.remove(call)
