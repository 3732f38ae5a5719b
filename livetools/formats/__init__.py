"""Checks, builds and converts function calls and responses as JSON. It needs no session and no network.

- ``check(document)`` and ``check_text(text)`` return a ``Report`` of ``Finding``s; ``explain(rule)`` explains one.
- ``function_response``, ``tool_response``, ``client_content_reply``, ``content_reply`` build answers to calls.
- ``text_response``, ``call_response``, ``stream_chunks`` and others build what ``generateContent`` returns.
- ``repair(contents)`` repairs a conversation without inventing results.
- ``to_declaration``, ``to_tool_call`` and others convert from and to OpenAI's and Anthropic's formats.

The modules of ``checks`` use those of ``builders`` and ``converters``, and all of them use ``rules``.

In: JSON documents, or plain values.
Out: reports of what the service refuses or what goes wrong, and JSON that it accepts.
"""

from .builders.function_responses import (
    client_content_reply,
    content_reply,
    error_response,
    function_response,
    is_error,
    tool_response,
)
from .builders.generate_content import (
    blocked_response,
    call_response,
    error_body,
    response,
    stream_chunks,
    text_response,
    usage,
)
from .checks.document import check, check_text
from .checks.document_kind import KINDS, Kind, detect
from .converters.openai_and_anthropic import (
    from_declaration,
    json_schema,
    to_declaration,
    to_declarations,
    to_function_call,
    to_function_response,
    to_tool_call,
    to_tool_result,
)
from .converters.repair_conversation import repair
from .rules.by_id import RULES, Rule, explain
from .rules.findings import Finding, Report

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
