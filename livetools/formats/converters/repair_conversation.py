"""Repairs a conversation, as far as that is possible without inventing what a function returned.

Mended are roles, casing, values that are not objects, parts that lie about, responses that are split over
several contents or come too late, ids and names that follow from their calls, and responses whose call is
gone (left out: a history that was cut in its middle). A call that nobody answered stays a fault: only its
function knows the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from livetools.formats.rules.findings import camel, kind_of, object_of
from livetools.formats.rules.known_fields import PART
from livetools.protocol.messages.lenient_json import Json

_ROLES = {
    "assistant": "model",
    "ai": "model",
    "bot": "model",
    "function": "user",
    "tool": "user",
    "human": "user",
}
_LISTED = {
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "text",
}  # parts that people forget to wrap


def repair(contents: Iterable[Json]) -> tuple[list[dict[str, Json]], list[str]]:
    """Returns the repaired list, and a line for each change. The input is left as it is.

    Check the outcome: what could not be mended is still found there.

    ::

        contents, changes = repair([{"role": "assistant", "parts": {"text": "Good day."}}])
        print(changes)
    """
    changes: list[str] = []
    tidy = [_tidy(content, f"$[{index}]", changes) for index, content in enumerate(contents)]
    return _order([content for content in tidy if content["parts"]], changes), changes


def _tidy(content: Json, path: str, changes: list[str]) -> dict[str, Json]:
    """Any content as ``{role, parts}``."""
    if isinstance(content, str):
        changes.append(f"{path}: a string became a user turn")
        return {"role": "user", "parts": [{"text": content}]}
    if not isinstance(content, Mapping):
        changes.append(f"{path}: {kind_of(content)} was left out")
        return {"role": "user", "parts": []}
    parts = [
        _tidy_part(part, f"{path}.parts[{i}]", changes)
        for i, part in enumerate(_parts(content, path, changes))
    ]
    role = content.get("role")
    wanted = _ROLES.get(str(role), role if role in ("user", "model") else "user")
    if any("functionCall" in part for part in parts):
        wanted = "model"
    elif any("functionResponse" in part for part in parts):
        wanted = "user"
    if role != wanted:
        changes.append(f"{path}: role {role!r} became {wanted!r}")
    return {"role": wanted, "parts": [part for part in parts if part]}


def _parts(content: Mapping[str, Json], path: str, changes: list[str]) -> list[Json]:
    parts = content.get("parts")
    found = list(parts) if isinstance(parts, list) else [parts] if parts else []
    for key, value in content.items():
        if camel(key) in _LISTED:
            changes.append(f"{path}: {key} was put into parts")
            found.append({camel(key): value})
        elif key == "content" and isinstance(value, str):
            changes.append(f"{path}: content became a text part")
            found.append({"text": value})
    return found


def _tidy_part(part: Json, path: str, changes: list[str]) -> dict[str, Json]:
    if isinstance(part, str):
        changes.append(f"{path}: a string became a text part")
        return {"text": part}
    if not isinstance(part, Mapping):
        changes.append(f"{path}: {kind_of(part)} was left out")
        return {}
    tidy: dict[str, Json] = {}
    for key, value in part.items():
        name = camel(key) if camel(key) in PART else key
        if name != key:
            changes.append(f"{path}: {key} became {name}")
        tidy[name] = value
    if isinstance(call := tidy.get("functionCall"), Mapping):
        tidy["functionCall"] = _tidy_call(call, path, changes)
    if isinstance(response := tidy.get("functionResponse"), Mapping):
        tidy["functionResponse"] = _tidy_response(response, path, changes)
    return tidy


def _tidy_call(call: Mapping[str, Json], path: str, changes: list[str]) -> dict[str, Json]:
    tidy = dict(call)
    if "args" not in tidy and "arguments" in tidy:
        tidy["args"] = tidy.pop("arguments")
        changes.append(f"{path}: arguments became args")
    if isinstance(tidy.get("args"), str) and (args := object_of(tidy["args"])) is not None:
        tidy["args"] = args
        changes.append(f"{path}: args was text and became an object")
    return tidy


def _tidy_response(response: Mapping[str, Json], path: str, changes: list[str]) -> dict[str, Json]:
    tidy = dict(response)
    value = tidy.get("response")
    if value is not None and not isinstance(value, Mapping):
        found = object_of(value) if isinstance(value, str) else None
        tidy["response"] = {"output": value} if found is None else found
        changes.append(f"{path}: response was {kind_of(value)} and became an object")
    return tidy


def _order(contents: Sequence[dict[str, Json]], changes: list[str]) -> list[dict[str, Json]]:
    """Every answer behind its calls; everything else in the order it had."""
    answers = _pairs(contents, changes)
    out: list[dict[str, Json]] = []
    for content in contents:
        rest = [part for part in content["parts"] if not _is_answer(part)]
        calls = [part["functionCall"] for part in rest if _is_call(part)]
        while calls and out and out[-1]["role"] == "model" and not any(map(_is_call, out[-1]["parts"])):
            changes.append("words of the model and the call that followed them became one turn")
            rest = [*out.pop()["parts"], *rest]
        if rest:
            out.append({"role": content["role"], "parts": rest})
        if given := [answers[id(call)] for call in calls if id(call) in answers]:
            out.append({"role": "user", "parts": [{"functionResponse": answer} for answer in given]})
    if not changes and [content["parts"] for content in out] != [content["parts"] for content in contents]:
        changes.append("function responses were put behind their calls")
    return out


def _pairs(contents: Sequence[dict[str, Json]], changes: list[str]) -> dict[int, dict[str, Json]]:
    """The answer to each call that has one, by the ``id()`` of the call.

    An answer belongs to the latest turn of calls before it that waits for its id; for its name, if one of the two
    has no id. Of calls in one turn the first is meant. An answer before its call is known by its id alone.
    """
    waiting: list[list[dict[str, Json]]] = []  # turns of calls, the latest first
    early: list[dict[str, Json]] = []
    found: dict[int, dict[str, Json]] = {}
    for content in contents:
        for part in content["parts"]:
            if _is_answer(part) and not _pair(part["functionResponse"], waiting, found, changes):
                early.append(part["functionResponse"])
        if calls := [part["functionCall"] for part in content["parts"] if _is_call(part)]:
            waiting.insert(0, calls)
    for answer in early:
        if not (answer.get("id") and _pair(answer, waiting, found, changes)):
            changes.append(f"a response of {answer.get('name')} without a call was left out")
    return found


def _pair(
    answer: dict[str, Json],
    waiting: list[list[dict[str, Json]]],
    found: dict[int, dict[str, Json]],
    changes: list[str],
) -> bool:
    """Give ``answer`` to its call, which no longer waits then. Returns ``False`` if there is no such call."""
    name, answers_id = answer.get("name"), answer.get("id")
    calls = [(turn, call) for turn in waiting for call in turn]
    by_id = (pair for pair in calls if answers_id and pair[1].get("id") == answers_id)
    by_name = (
        pair for pair in calls if pair[1].get("name") == name and not (pair[1].get("id") and answers_id)
    )
    turn, call = next(by_id, None) or next(by_name, None) or (None, None)
    if turn is None or call is None:
        return False
    turn[:] = [other for other in turn if other is not call]
    waiting[:] = [other for other in waiting if other]
    named = {"id": call["id"]} if call.get("id") else {}
    kept = {key: value for key, value in answer.items() if key not in ("id", "name")}
    found[id(call)] = {**named, "name": call.get("name"), **kept}
    if found[id(call)] != answer:
        changes.append(f"a response of {call.get('name')} got the id and the name of its call")
    return True


def _is_answer(part: Mapping[str, Json]) -> bool:
    return isinstance(part.get("functionResponse"), Mapping)


def _is_call(part: Mapping[str, Json]) -> bool:
    return isinstance(part.get("functionCall"), Mapping)
