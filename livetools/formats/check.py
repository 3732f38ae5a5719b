"""The front of the checks: a document or a text in, a report out."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import NoReturn

from .answers import check_response, check_stream
from .conversations import check_conversation, read_content
from .declarations import check_tools
from .detect import Kind, detect
from .findings import Checklist, Json, Report, Spot, kind_of, member
from .frames import SERVER, check_frame, check_recording
from .function_responses import check_function_response


def check(document: Json, kind: Kind | None = None) -> Report:
    """Check a JSON document: a function response, a content, a conversation, a request body, a response or
    a stream of ``generateContent``, tools, a Live frame, a recording. ``kind`` says which; else it is told
    by the keys.
    """
    todo = Checklist()
    kind = kind or detect(document)
    if kind is None:
        todo.expect(False, "document-kind", Spot(), f"{kind_of(document)} of a kind that is not known")
        return todo.report("unknown")
    _CHECKS[kind](document, todo)
    return todo.report(kind)


def check_text(text: str, kind: Kind | None = None) -> Report:
    """Check JSON or JSON lines as text; what is no JSON is a finding, and a Python value in its place one
    of its own.
    """
    todo = Checklist()
    try:
        document = _load(text)
    except ValueError as error:
        python = _python(text)
        if python is None:
            todo.expect(False, "json-text", Spot(), f"the text is not JSON: {error}")
            return todo.report("text")
        todo.expect(False, "python-text", Spot(), "the text is a Python value, not JSON")
        report = check(python, kind)
        return Report(report.kind, report.held, (*todo.findings, *report.findings))
    return check(document, kind)


def _load(text: str) -> Json:
    """The JSON of a text: one value, or a value a line."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if error.msg != "Extra data" or len(lines) < 2:
            raise
        return [json.loads(line, parse_constant=_no_constant) for line in lines]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _python(text: str) -> Json:
    """A dict or list in Python's spelling, or ``None``."""
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


def _function_response(document: Json, todo: Checklist) -> None:
    spot = Spot("$", "tool_response.function_responses")
    if isinstance(document, list):
        for index, item in enumerate(document):
            check_function_response(item, spot[index], todo, live=True)
    else:
        check_function_response(document, Spot("$", spot[0].wire), todo, live=True)


def _frame(document: Json, todo: Checklist) -> None:
    if isinstance(document, Mapping) and any(key in SERVER for key in document):
        check_recording([document], Spot(), todo)
    else:
        check_frame(document, Spot(), todo)


def _recording(document: Json, todo: Checklist) -> None:
    check_recording(document if isinstance(document, list) else [document], Spot(), todo)


_CHECKS = {
    "function_response": _function_response,
    "content": _content,
    "conversation": _conversation,
    "response": lambda document, todo: check_response(document, Spot(), todo),
    "stream": lambda document, todo: check_stream(document, Spot(), todo),
    "tools": lambda document, todo: check_tools(document, Spot("$", "tools"), todo),
    "frame": _frame,
    "recording": _recording,
}
