"""The shapes of calls and responses: checked, built, converted, explained. Pure, and free of the session.

- ``check(document)`` and ``check_text(text)`` give a ``Report`` of ``Finding``s; ``explain(rule)`` tells one in full.
- ``function_response``, ``tool_response``, ``client_content_reply``, ``content_reply`` build answers to calls.
- ``text_response``, ``call_response``, ``stream_chunks`` and others build what ``generateContent`` returns.
- ``repair(contents)`` mends a conversation without inventing results.
- ``to_declaration``, ``to_tool_call`` and their likes translate from and to OpenAI's and Anthropic's shapes.
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
