"""The entry point of the checks: takes a document or a text, returns a report."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NoReturn

from livetools.formats.builders.function_responses import check_function_response
from livetools.formats.rules.findings import Checklist, Report, Spot, camel, kind_of, member
from livetools.protocol.messages.lenient_json import Json

from .conversations import check_call, check_conversation, read_content
from .declarations import check_tools
from .document_kind import Kind, detect, says_nothing
from .generated_responses import check_response, check_stream
from .live_frames import SERVER, check_frame, check_recording, check_server_frame


def check(document: Json, kind: Kind | None = None) -> Report:
    """Check a JSON document; ``kind`` says what it is; without it, the keys decide.

    It may be a function call, a function response, a content, a conversation, a request body, a response or a stream of
    ``generateContent``, tools, a Live frame, a recording.

    ::

        report = check({"functionCall": {"name": "get weather", "args": "Oslo"}})
        for finding in report.faults:
            print(finding.path, finding.message)
    """
    todo = Checklist()
    kind = kind or detect(document)
    if kind is None:
        todo.expect(False, "document-kind", Spot(), f"{kind_of(document)} of a kind that is not known")
        return todo.report("unknown")
    _CHECKS[kind](document, todo)
    return todo.report(kind)


def check_text(text: str, kind: Kind | None = None) -> Report:
    """Check a text: JSON, JSON lines, or server-sent events (``data: …``).

    What is not JSON is a finding. A Python value in its place and JSON within a JSON string are, too, and what
    they hold is checked all the same.
    """
    todo = Checklist()
    try:
        document = _load(text)
    except (ValueError, RecursionError) as error:
        document = _python(text)
        rule, message = "python-text", "the text is a Python value, not JSON"
        if document is None:
            rule, message = "json-text", f"the text is not JSON: {error}"
    else:
        if not isinstance(document, str) or (inner := _within(document)) is None:
            return check(document, kind)
        document = inner
        rule, message = "json-twice", "the text is a JSON string that holds JSON"
    todo.expect(False, rule, Spot(), message)
    if document is None:
        return todo.report("text")
    report = check(document, kind)
    return replace(report, findings=(*todo.findings, *report.findings))


def _load(text: str) -> Json:
    """The JSON of a text: one value, or a list of one a line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(line.startswith(("data:", "event:", "id:", ":")) for line in lines):
        return [_loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or len(lines) < 2:
            raise
        return [_loads(line) for line in lines]


def is_empty(text: str, kind: str | None = None) -> bool:
    """Whether there is nothing in the text that could be checked: no JSON, or JSON that says nothing.

    With a ``kind``, an empty list does say something: that there are no documents of that kind.
    """
    try:
        if not text.strip():
            return True
        document = _load(text)
        return says_nothing(document) and (kind is None or document != [])
    except (ValueError, RecursionError):
        return False


def _loads(text: str) -> Json:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _within(text: str) -> Json:
    """The object or list whose JSON a string is, or ``None``."""
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _python(text: str) -> Json:
    """The dict or list that a text spells as Python does, or ``None``."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _conversation(document: Json, todo: Checklist) -> None:
    if isinstance(document, Mapping):
        key, contents = member(document, "contents")
        check_conversation(contents, Spot() / key, todo)
        if (tools := document.get("tools")) is not None:
            check_tools(tools, Spot() / "tools", todo)
    else:
        check_conversation(document, Spot("$", "contents"), todo)


def _content(document: Json, todo: Checklist) -> None:
    read_content(document, Spot("$", "contents[0]"), todo)


def _function_call(document: Json, todo: Checklist) -> None:
    for path, item in _parts(document, "functionCall"):
        check_call(item, Spot(path, "contents[0].parts[0].function_call"), todo)


def _function_response(document: Json, todo: Checklist) -> None:
    spot = Spot("$", "tool_response.function_responses")
    for index, (path, item) in enumerate(_parts(document, "functionResponse")):
        check_function_response(item, Spot(path, spot[index].wire), todo, live=True)


def _parts(document: Json, name: str) -> Iterator[tuple[str, Json]]:
    """Each of one or several, with its path, and out of the part that holds it if one does."""
    for index, item in enumerate(document if isinstance(document, list) else [document]):
        path = f"$[{index}]" if isinstance(document, list) else "$"
        key, inner = member(item, name) if isinstance(item, Mapping) else ("", None)
        yield (path, item) if inner is None else (f"{path}.{key}", inner)


def _frame(document: Json, todo: Checklist) -> None:
    if isinstance(document, Mapping) and any(camel(key) in SERVER for key in document):
        check_server_frame(document, Spot(), todo)
    else:
        check_frame(document, Spot(), todo)


def _recording(document: Json, todo: Checklist) -> None:
    check_recording(document if isinstance(document, list) else [document], Spot(), todo)


_CHECKS = {
    "function_call": _function_call,
    "function_response": _function_response,
    "content": _content,
    "conversation": _conversation,
    "response": lambda document, todo: check_response(document, Spot(), todo),
    "stream": lambda document, todo: check_stream(document, Spot(), todo),
    "tools": lambda document, todo: check_tools(document, Spot("$", "tools"), todo),
    "frame": _frame,
    "recording": _recording,
}
