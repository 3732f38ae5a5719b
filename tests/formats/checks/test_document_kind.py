"""What a document is."""

from __future__ import annotations

from typing import Any

import pytest

from livetools import formats

QUESTION = {"role": "user", "parts": [{"text": "Weather in Oslo?"}]}


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ([], "conversation"),
        ([QUESTION], "conversation"),
        ({"contents": [QUESTION], "tools": []}, "conversation"),
        (QUESTION, "content"),
        ({"name": "f", "response": {}}, "function_response"),
        ({"id": "1", "name": "f", "args": {}}, "function_call"),
        ({"functionCall": {"name": "f"}}, "function_call"),
        ([{"name": "f", "arguments": "{}"}], "function_call"),
        ({"type": "tool_use", "id": "1", "name": "f", "input": {}}, "function_call"),
        ({"candidates": []}, "response"),
        ({"choices": []}, "response"),
        ({"error": {"code": 400}}, "response"),
        ([{"candidates": []}], "stream"),
        ({"functionDeclarations": []}, "tools"),
        ([{"type": "function", "function": {"name": "f"}}], "tools"),
        ({"name": "f", "input_schema": {}}, "tools"),
        ({"setup": {}}, "frame"),
        ({"toolCall": {}}, "frame"),
        ({"serverContent": {"turnComplete": True}, "usageMetadata": {}}, "frame"),
        ({"usageMetadata": {}}, "response"),
        ([{"version": 1}, {"direction": "server", "message": {}}], "recording"),
        ([{"setup": {}}, {"setupComplete": {}}], "recording"),
        ([{"direction": "client", "frame": {}}], "recording"),
        ("text", None),
        ({"a": 1}, None),
        ([1], None),
    ],
)
def test_the_kind_of_a_document_is_told_by_its_keys(document: Any, kind: str | None):
    assert formats.detect(document) == kind
