"""A conversation mended, as far as that goes without inventing what a function returned.

Mended are roles, casing, values that are no objects, parts that lie about, responses that are split over
several contents or stand too late, ids and names that follow from their calls, and responses whose call is
gone (left out: a history that was cut in its middle). A call that nobody answered stays a fault: only its
function knows the result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from .findings import Json, camel, kind_of
from .shapes import PART

ROLES = {
    "assistant": "model",
    "ai": "model",
    "bot": "model",
    "function": "user",
    "tool": "user",
    "human": "user",
}
LISTED = {
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "text",
}  # parts that people forget to wrap


def repair(contents: Iterable[Json]) -> tuple[list[dict[str, Json]], list[str]]:
    """The mended list, and what was changed, a line each. The input is left as it is.

    Check the outcome: what could not be mended is still found there.
    """
    changes: list[str] = []
    tidy = [_tidy(content, f"$[{index}]", changes) for index, content in enumerate(contents)]
    return _order([content for content in tidy if content["parts"]], changes), changes


def _tidy(content: Json, path: str, changes: list[str]) -> dict[str, Json]:
    """A content as ``{role, parts}``, whatever it was."""
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
    wanted = ROLES.get(str(role), role if role in ("user", "model") else "user")
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
        if camel(key) in LISTED:
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
    if isinstance(tidy.get("args"), str) and (args := _object(tidy["args"])) is not None:
        tidy["args"] = args
        changes.append(f"{path}: args was text and became an object")
    return tidy


def _tidy_response(response: Mapping[str, Json], path: str, changes: list[str]) -> dict[str, Json]:
    tidy = dict(response)
    value = tidy.get("response")
    if value is not None and not isinstance(value, Mapping):
        found = _object(value) if isinstance(value, str) else None
        tidy["response"] = {"output": value} if found is None else found
        changes.append(f"{path}: response was {kind_of(value)} and became an object")
    return tidy


def _object(text: str) -> dict[str, Json] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _order(contents: Sequence[dict[str, Json]], changes: list[str]) -> list[dict[str, Json]]:
    """Every answer behind its calls; everything else in the order it had."""
    answers = [
        part["functionResponse"] for content in contents for part in content["parts"] if _is_answer(part)
    ]
    out: list[dict[str, Json]] = []
    for content in contents:
        rest = [part for part in content["parts"] if not _is_answer(part)]
        if not rest:
            continue
        calls = [part["functionCall"] for part in rest if isinstance(part.get("functionCall"), Mapping)]
        while (
            calls
            and out
            and out[-1]["role"] == "model"
            and not any("functionCall" in p for p in out[-1]["parts"])
        ):
            changes.append("words of the model and the call that followed them became one turn")
            rest = [*out.pop()["parts"], *rest]
        out.append({"role": content["role"], "parts": rest})
        if calls:
            parts = [
                {"functionResponse": found} for call in calls if (found := _take(call, answers, changes))
            ]
            if parts:
                out.append({"role": "user", "parts": parts})
    changes.extend(f"a response of {answer.get('name')} without a call was left out" for answer in answers)
    before = [content["parts"] for content in contents]
    if [content["parts"] for content in out] != before and not changes:
        changes.append("function responses were put behind their calls")
    return out


def _is_answer(part: Mapping[str, Json]) -> bool:
    return isinstance(part.get("functionResponse"), Mapping)


def _take(
    call: Mapping[str, Json], answers: list[dict[str, Json]], changes: list[str]
) -> dict[str, Json] | None:
    """The answer to ``call``, out of ``answers``: by id, else by name among those that have no id of their
    own.
    """
    id, name = call.get("id"), call.get("name")
    by_id = (answer for answer in answers if id and answer.get("id") == id)
    by_name = (a for a in answers if a.get("name") == name and not (id and a.get("id")))
    found = next(by_id, None) or next(by_name, None)
    if found is None:
        return None
    answers.remove(found)
    named = {"id": id, "name": name} if id else {"name": name}
    mended = {**{key: value for key, value in found.items() if key != "id" or id}, **named}
    if mended != found:
        changes.append(f"a response of {name} got the id and the name of its call")
    return mended
