"""Checks Live frames one by one, and those of a session together: is every call answered once, and correctly?"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from livetools.formats.builders.function_responses import check_function_response
from livetools.formats.rules.findings import Checklist, Spot, camel, kind_of, member
from livetools.formats.rules.known_fields import check_fields
from livetools.protocol.messages.lenient_json import Json

from .conversations import check_call, check_order, read_content
from .declarations import check_tools

CLIENT = frozenset({"setup", "clientContent", "realtimeInput", "toolResponse", "contextUpdate"})
SERVER = frozenset(
    {
        "setupComplete",
        "serverContent",
        "toolCall",
        "toolCallCancellation",
        "goAway",
        "sessionResumptionUpdate",
        "usageMetadata",
        "voiceActivity",
        "voiceActivityDetectionSignal",
        "interactionStatus",
    }
)
REALTIME = ("audio", "video", "text", "audioStreamEnd", "activityStart", "activityEnd", "mediaChunks")


def check_frame(frame: Json, spot: Spot, todo: Checklist) -> None:
    """Check a frame of the client's, alone. What needs the session (ids that were asked) is not judged."""
    if not todo.expect(isinstance(frame, Mapping), "value-type", spot, f"the frame is {kind_of(frame)}"):
        return
    check_fields(frame, spot, CLIENT, todo, rule="live-message")
    known = [key for key in frame if camel(key) in CLIENT]
    message = f"{len(known)} messages in one frame: {', '.join(known)}"
    todo.expect(len(known) <= 1, "live-message", spot, message, name="".join(known[1:2]))
    for key in known:
        check = _CHECKS.get(camel(key))
        if check is not None:
            body = frame[key]
            message = f"{key} is {kind_of(body)}"
            if todo.expect(isinstance(body, Mapping), "value-type", spot / key, message, value=body):
                check(body, spot / key, todo)


def check_server_frame(frame: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    """Check the calls in a frame of the server's, alone: whether they are answered is not judged."""
    outer, body = member(frame, "toolCall")
    inner = member(body, "functionCalls")[0] if isinstance(body, Mapping) else ""
    for index, call in enumerate(_listed(frame, "toolCall", "functionCalls")):
        check_call(call, (spot / outer / inner)[index], todo)


def _check_tool_response(body: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    usual = {"functionResponse": "functionResponses, and put the answer into a list"}
    check_fields(body, spot, ("functionResponses",), todo, usual)
    key, responses = member(body, "functionResponses")
    if responses is None and member(body, "functionResponse")[1] is not None:
        return
    message = f"functionResponses is {kind_of(responses)}"
    if todo.expect(isinstance(responses, list), "live-response-list", spot / key, message, value=responses):
        todo.expect(bool(responses), "live-response-empty", spot / key, "no function response in it")
        for index, response in enumerate(responses):
            check_function_response(response, (spot / key)[index], todo, live=True)


def _check_client_content(body: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    check_fields(body, spot, ("turns", "turnComplete"), todo, {"contents": "turns"})
    key, contents = member(body, "turns")
    if contents is None:
        return
    contents = [contents] if isinstance(contents, Mapping) else contents
    if not todo.expect(
        isinstance(contents, list), "contents-list", spot / key, f"turns is {kind_of(contents)}"
    ):
        return
    turns = [read_content(content, (spot / key)[index], todo) for index, content in enumerate(contents)]
    for index, content in enumerate(contents):
        if isinstance(content, Mapping):
            at = (spot / key)[index]
            todo.expect("role" in content, "turn-role", at, "the turn has no role")
    read = [turn for turn in turns if turn is not None]
    if any(turn.calls for turn in read):  # a history; else the responses answer calls of the session
        check_order(read, todo)
    elif any(turn.responses for turn in read):
        complete = member(body, "turnComplete")[1]
        todo.expect(complete is True, "turn-complete", spot, "function responses, and no turnComplete: true")


def _check_realtime(body: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    check_fields(body, spot, REALTIME, todo)


def _check_setup(body: Mapping[str, Json], spot: Spot, todo: Checklist) -> None:
    key, tools = member(body, "tools")
    if tools is not None:
        check_tools(tools, spot / key, todo)


_CHECKS = {
    "toolResponse": _check_tool_response,
    "clientContent": _check_client_content,
    "realtimeInput": _check_realtime,
    "setup": _check_setup,
}


@dataclass(slots=True)
class _Session:
    """The calls of a connection, as its frames tell them."""

    open: dict[str, tuple[Spot, str]] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)  # id: name
    settled: set[str] = field(default_factory=set)


def check_recording(rows: Iterable[Json], spot: Spot, todo: Checklist) -> None:
    """Check frames in their order: rows with ``direction`` and ``frame`` or ``message``, or bare frames.

    Connections (``connection``) are kept apart; a ``setup`` begins a new one, and knows the calls of those
    before if it resumes their session. Calls that the server's own close cut off need no answer.
    """
    sessions: dict[str, _Session] = {}
    rows = list(rows)
    directed = any(isinstance(row, Mapping) and "direction" in row for row in rows)
    for index, row in enumerate(rows):
        if not todo.expect(isinstance(row, Mapping), "value-type", spot[index], f"the row is {kind_of(row)}"):
            continue
        if directed and "direction" not in row:  # what a recording says of itself
            continue
        frame, at = _frame_of(row, spot[index])
        if isinstance(frame, Mapping):
            session = _session_of(row, frame, sessions)
            if _by_server(row, frame):
                _hear(frame, at, session)
            elif not all(str(key).startswith("_") for key in frame):  # a close, or what was no JSON
                check_frame(frame, at, todo)
                _answer(frame, at, session, todo)
    for session in sessions.values():
        for where, name in session.open.values():
            todo.expect(False, "call-answered", where, f"nobody answered the call of {name}")
        if session.asked and not session.open:
            todo.expect(True, "call-answered", spot, "")


def _session_of(
    row: Mapping[str, Json], frame: Mapping[str, Json], sessions: dict[str, _Session]
) -> _Session:
    number = str(row.get("connection"))
    setup = member(frame, "setup")[1]
    if isinstance(setup, Mapping):
        resumption = member(setup, "sessionResumption")[1]
        resumes = isinstance(resumption, Mapping) and bool(resumption.get("handle"))
        before = [session.asked for session in sessions.values()] if resumes else []
        sessions[number] = _Session(asked=dict(ChainMap({}, *before)))
    return sessions.setdefault(number, _Session())


def _frame_of(row: Mapping[str, Json], spot: Spot) -> tuple[Json, Spot]:
    for key in ("frame", "message"):
        if key in row:
            return row[key], Spot(f"{spot.path}.{key}")
    return row, Spot(spot.path)


def _by_server(row: Mapping[str, Json], frame: Mapping[str, Json]) -> bool:
    direction = row.get("direction")
    return direction == "server" if direction else any(camel(key) in SERVER for key in frame)


def _hear(frame: Mapping[str, Json], spot: Spot, session: _Session) -> None:
    if "_close" in frame:
        session.open.clear()
    for call in _listed(frame, "toolCall", "functionCalls"):
        name = str(call.get("name"))
        id = str(call.get("id") or name)
        session.asked[id] = name
        session.open[id] = spot / "toolCall", name
    cancelled = member(frame, "toolCallCancellation")[1]
    ids = cancelled.get("ids") if isinstance(cancelled, Mapping) else None
    for id in ids if isinstance(ids, list) else ():
        session.open.pop(str(id), None)
        session.settled.add(str(id))


def _answer(frame: Mapping[str, Json], spot: Spot, session: _Session, todo: Checklist) -> None:
    for response in _responses(frame):
        name = response.get("name")
        id = str(response.get("id") or name)
        if not todo.expect(id in session.asked, "answer-known", spot, f"nobody asked {id}"):
            continue
        message = f"{name!r} answers a call of {session.asked[id]}"
        todo.expect(not name or name == session.asked[id], "response-name-match", spot, message)
        todo.expect(id not in session.settled, "answered-once", spot, f"{id} is settled already")
        if not member(response, "willContinue")[1]:
            session.open.pop(id, None)
            session.settled.add(id)


def _responses(frame: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    yield from _listed(frame, "toolResponse", "functionResponses")
    for turn in _listed(frame, "clientContent", "turns"):
        parts = member(turn, "parts")[1]
        for part in parts if isinstance(parts, list) else ():
            response = member(part, "functionResponse")[1] if isinstance(part, Mapping) else None
            if isinstance(response, Mapping):
                yield response


def _listed(frame: Mapping[str, Json], outer: str, inner: str) -> list[Mapping[str, Json]]:
    """The objects of a list in a message, without anything else in it."""
    message = member(frame, outer)[1]
    found = member(message, inner)[1] if isinstance(message, Mapping) else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
