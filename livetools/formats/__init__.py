"""Checks, builds and converts function calls and responses as JSON. It needs no session and no network.

- ``check(document)`` and ``check_text(text)`` return a ``Report`` of ``Finding``s; ``explain(rule)`` explains one.
- ``function_response``, ``tool_response``, ``client_content_reply``, ``content_reply`` build answers to calls.
- ``text_response``, ``call_response``, ``stream_chunks`` and others build what ``generateContent`` returns.
- ``repair(contents)`` repairs a conversation without inventing results.
- ``to_declaration``, ``to_tool_call`` and others convert from and to OpenAI's and Anthropic's formats.
"""

from .check import check, check_text
from .detect import KINDS, Kind, detect
from .findings import Finding, Report
from .function_responses import (
    client_content_reply,
    content_reply,
    error_response,
    function_response,
    is_error,
    tool_response,
)
from .repair import repair
from .responses import (
    blocked_response,
    call_response,
    error_body,
    response,
    stream_chunks,
    text_response,
    usage,
)
from .rules import RULES, Rule, explain
from .tool_shapes import (
    from_declaration,
    json_schema,
    to_declaration,
    to_declarations,
    to_function_call,
    to_function_response,
    to_tool_call,
    to_tool_result,
)

__all__ = [
    "KINDS",
    "RULES",
    "Finding",
    "Kind",
    "Report",
    "Rule",
    "blocked_response",
    "call_response",
    "check",
    "check_text",
    "client_content_reply",
    "content_reply",
    "detect",
    "error_body",
    "error_response",
    "explain",
    "from_declaration",
    "function_response",
    "is_error",
    "json_schema",
    "repair",
    "response",
    "stream_chunks",
    "text_response",
    "to_declaration",
    "to_declarations",
    "to_function_call",
    "to_function_response",
    "to_tool_call",
    "to_tool_result",
    "tool_response",
    "usage",
]
