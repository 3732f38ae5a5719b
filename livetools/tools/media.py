"""Encodes the images and texts of a tool's result as ``FunctionResponse.parts``."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from livetools.setup.configuration import is_base64

Part = dict[str, Any]  # a JSON object, in camelCase


def parts(items: Iterable[object]) -> tuple[Part, ...]:
    """Each item as ``{"inlineData": {"mimeType": ..., "data": base64}}`` (or ``{"fileData": ...}``).

    Accepts ``(data, mime_type)``, such dicts in either casing, and google-genai's ``Part``, ``Blob`` and
    ``FunctionResponsePart``. Raises ``TypeError`` for anything else.
    """
    return tuple(_part(item) for item in items)


def _part(item: object) -> Part:
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], bytes | bytearray | memoryview):
        return _inline(item[0], item[1])
    dump = getattr(item, "model_dump", None)
    if dump is not None:
        item = dump(exclude_none=True)
    if isinstance(item, Mapping):
        inline = _either(item, "inlineData", "inline_data")
        if inline is None and "data" in item:
            inline = item
        if isinstance(inline, Mapping) and inline.get("data") is not None:
            name = _either(inline, "displayName", "display_name")
            part = _inline(inline["data"], _either(inline, "mimeType", "mime_type"))
            return {"inlineData": part["inlineData"] | {"displayName": name}} if name else part
        file = _either(item, "fileData", "file_data")
        if isinstance(file, Mapping):
            uri = _either(file, "fileUri", "file_uri")
            return {"fileData": {"mimeType": _either(file, "mimeType", "mime_type"), "fileUri": uri}}
    raise TypeError(
        f"a part of a ToolResult is (bytes, mime_type), {{'inlineData': {{...}}}} or one of google-genai's "
        f"types, not {type(item).__name__}"
    )


def _inline(data: object, mime: object) -> Part:
    if not isinstance(mime, str) or "/" not in mime:
        raise TypeError(f"a part of a ToolResult needs a MIME type such as 'image/png', not {mime!r}")
    if isinstance(data, bytes | bytearray | memoryview):
        data = base64.b64encode(data).decode()
    if not isinstance(data, str):
        raise TypeError(f"the data of a part is bytes or base64 text, not {type(data).__name__}")
    if not is_base64(data):
        raise TypeError(
            "the data of a part is not base64: give the bytes themselves, or base64.b64encode(...)"
        )
    return {"inlineData": {"mimeType": mime, "data": data}}


def _either(item: Mapping[str, Any], camel: str, snake: str) -> Any:
    return item.get(camel, item.get(snake))
