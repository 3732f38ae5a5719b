"""The rules that a function's ``parameters`` must keep, beyond knowing no foreign keywords."""

from __future__ import annotations

from .wire import Message, Refused

FORMATS = {"STRING": {"enum", "date-time"}}  # what the Gemini API takes; numbers take any


def parameters_fault(parameters: Message | None, path: str, *, vertex: bool = False) -> Refused | None:
    """The first thing in a function's ``parameters`` that the service would close for; ``None`` if nothing is.

    An OBJECT without properties is taken here and nowhere below: 2.5 native audio completed a setup with one and
    called the function (a recording of 2025-09), and so does ``generateContent``.
    """
    return None if takes_nothing(parameters) else schema_fault(parameters, path, vertex=vertex)


def takes_nothing(parameters: Message | None) -> bool:
    """Whether these are the parameters of a function without any, written as an empty object."""
    said = {key: value for key, value in (parameters or {}).items() if value}
    kind = str(said.pop("type", "OBJECT")).upper()
    return "properties" in (parameters or {}) and kind == "OBJECT" and set(said) <= {"description", "title"}


def schema_fault(schema: Message | None, path: str, *, vertex: bool = False) -> Refused | None:
    """The first thing in this schema that the service would close for; ``None`` if nothing is."""
    if schema is None:
        return None
    kind = str(schema.get("type") or "").upper()
    if kind == "ARRAY" and "items" not in schema:
        return Refused(1007, f"* {path}.items: missing field.", "an ARRAY says what its items are")
    properties = schema.get("properties") or {}
    if kind == "OBJECT" and "properties" in schema and not properties:
        return Refused(
            1007, f"* {path}.properties: should be non-empty for OBJECT type", "leave parameters out"
        )
    missing = [name for name in schema.get("required") or [] if name not in properties]
    if missing:
        reason = f"* {path}.required[0]: property is not defined"
        return Refused(1007, reason, f"required names {missing[0]!r}, which is no property")
    wrong = schema.get("format")
    if wrong is not None and not vertex and kind in FORMATS and wrong not in FORMATS[kind]:
        reason = f"* {path}.format: only 'enum' and 'date-time' are supported for STRING type"
        return Refused(1007, reason, f"the format {wrong!r}")
    inner = [(f"{path}.properties[{name}]", each) for name, each in properties.items()]
    inner += [(f"{path}.items", schema["items"])] if "items" in schema else []
    inner += [(f"{path}.any_of[{n}]", each) for n, each in enumerate(schema.get("anyOf") or [])]
    return next((fault for where, each in inner if (fault := schema_fault(each, where, vertex=vertex))), None)
