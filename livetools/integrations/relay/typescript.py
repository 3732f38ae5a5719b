"""Writes the messages of the relay as TypeScript (``livetools/web/src/messages.ts``), from the Python classes.

``python -m livetools.integrations.relay.typescript`` prints it; ``make web`` writes it, and a test says when it is
stale.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NotRequired, Union, get_args, get_origin

from pydantic import BaseModel

from livetools import events

from . import messages

_HEAD = """\
// Made from the Python classes by `make web`. Do not edit.

/** Every event is numbered from 1 and bears its time, in seconds since the session was opened. */
export interface Stamp {
  seq: number;
  at: number;
  /** True where large values were left out. */
  truncated?: true;
}
"""
_SIMPLE: Mapping[object, str] = {
    str: "string",
    bytes: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    object: "unknown",
    Any: "unknown",
    Exception: "string",
}


def module() -> str:
    """The text of the TypeScript module."""
    told = [kind for kind in get_args(events.Event) if kind not in messages.NOT_SENT]
    own, commands = get_args(messages.PageMessage), get_args(messages.Command)
    parts = [
        _HEAD,
        *(_dataclass(kind) for kind in _parts_of(told)),
        *(_dataclass(kind, name=kind.__name__) for kind in told),
        *(_typed_dict(kind) for kind in own),
        *(_model(kind) for kind in commands),
        _union("SessionEvent", "An event of the session.", told),
        _union("RelayMessage", "What the relay sends as JSON.", [*own], "SessionEvent"),
        _union("Command", "What a page sends as JSON.", commands),
        *(f"export const {name} = {getattr(messages, name)!r};\n".replace("'", '"') for name in CONSTANTS),
    ]
    return "\n".join(parts)


CONSTANTS = ("PROTOCOL", "RESUME", "INPUT_RATE", "OUTPUT_RATE", "MAX_TEXT")


#: What the relay tells beside the fields of an event.
MORE: Mapping[type, tuple[str, object]] = {
    events.ToolStarted: ("approval", bool),
    events.ApprovalRequested: ("timeout", float | None),
}


def _parts_of(kinds: list[type]) -> list[type]:
    """The dataclasses in fields of others: they have no type and no time of their own."""
    found: dict[type, None] = {}
    for kind in kinds:
        for hint in typing.get_type_hints(kind).values():
            for part in _named(hint):
                found.update(dict.fromkeys(_parts_of([part])))
                found[part] = None
    return list(found)


def _named(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield hint
    for argument in get_args(hint):
        yield from _named(argument)


def _dataclass(kind: type, name: str | None = None) -> str:
    hints = typing.get_type_hints(kind)
    fields = [(field.name, typescript(hints[field.name]), False) for field in dataclasses.fields(kind)]
    if kind is events.Usage:
        fields.append(("cost", typescript(float | None), False))  # a property of the class
    if (more := MORE.get(kind)) is not None:
        fields.append((more[0], typescript(more[1]), False))
    numbered = bool(name) and kind not in messages.UNNUMBERED
    return _interface(kind, [("type", f'"{name}"', False), *fields] if name else fields, numbered)


def _typed_dict(kind: type) -> str:
    hints = typing.get_type_hints(kind, include_extras=True)
    return _interface(
        kind, [(name, typescript(hint), get_origin(hint) is NotRequired) for name, hint in hints.items()]
    )


def _model(kind: type[BaseModel]) -> str:
    fields = kind.model_fields.items()
    return _interface(
        kind, [(name, typescript(field.annotation), not field.is_required()) for name, field in fields]
    )


def _interface(kind: type, fields: list[tuple[str, str, bool]], stamped: bool = False) -> str:
    doc = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("``", "`").replace("\n", "\n * ")
    lines = [f"  {name}{'?' if optional else ''}: {hint};\n" for name, hint, optional in fields]
    head = f"/** {doc} */" if "\n" not in doc else f"/**\n * {doc}\n */"
    return f"{head}\nexport interface {kind.__name__}{' extends Stamp' if stamped else ''} {{\n{''.join(lines)}}}\n"


def _union(name: str, doc: str, kinds: typing.Iterable[type], *others: str) -> str:
    lines = "".join(f"\n  | {each}" for each in [*(kind.__name__ for kind in kinds), *others])
    return f"/** {doc} */\nexport type {name} ={lines};\n"


def typescript(hint: Any) -> str:  # any annotation
    """An annotation in TypeScript. Raises ``TypeError`` for one that has no place in a message."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (typing.Annotated, NotRequired):
        return typescript(arguments[0])
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(typescript(each) for each in arguments)
    if origin in (list, tuple) and arguments[1:] in ((), (...,)):
        return f"Array<{typescript(arguments[0])}>"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"Record<{typescript(arguments[0])}, {typescript(arguments[1])}>"
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return hint.__name__
    raise TypeError(f"{hint!r} has no TypeScript")


if __name__ == "__main__":
    sys.stdout.write(module())
