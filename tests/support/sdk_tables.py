"""Generates ``livetools/setup/sdk/tables.json`` from google-genai: what a configuration and a message may hold.

    python tests/support/sdk_tables.py

``types`` has each type that a ``LiveConnectConfig`` or a message of either side can hold, ``enums`` the values of each
enum. ``refused`` has the paths in the setup that google-genai's converter to an API raises for, ``renamed`` what it
spells otherwise. The converters are read as source: each field is one ``if`` in them, so that none is overlooked.
``written`` says how each field of the config is written in ``connect``. A test compares the file with the installed
google-genai, and names what is missing when that knows more.
"""

from __future__ import annotations

import ast
import datetime
import enum
import inspect
import json
import re
import types as python_types
import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import google.genai
import pydantic
from google.genai import _live_converters, types
from pydantic.alias_generators import to_camel

FILE = Path(__file__).parents[2] / "livetools" / "setup" / "sdk" / "tables.json"
ROOTS = (types.LiveConnectConfig, types.LiveClientMessage, types.LiveServerMessage)
APIS = {"gemini": "mldev", "vertex": "vertex"}
KINDS: dict[Any, str] = {
    bool: "boolean", int: "integer", float: "number", str: "string", bytes: "bytes", dict: "object", Any: "any",
    datetime.datetime: "string", object: "any",
}  # fmt: skip

#: Fields that take more than what they become; the options of HTTP are not part of any message.
SPECIAL: dict[str, Any] = {"tools": list[types.Tool], "http_options": Any}
#: The root of each message that a converter writes, and the message's name.
MESSAGES = {
    "LiveConnectConfig": "setup",
    "LiveClientContent": "clientContent",
    "LiveClientContextUpdate": "contextUpdate",
}


def source() -> str:
    """google-genai's converters, as they are written."""
    return inspect.getsource(_live_converters)


class _Types:
    """The types that can be reached from some, each with its fields: ``"[Part]"`` is a list, ``"{string}"`` a map."""

    def __init__(self) -> None:
        self.types: dict[str, dict[str, str]] = {}
        self.enums: dict[str, list[str]] = {}

    def add(self, model: type[pydantic.BaseModel]) -> str:
        name = model.__name__
        if name not in self.types:
            self.types[name] = {}
            fields = {
                to_camel(n): SPECIAL.get(n) or field.annotation for n, field in model.model_fields.items()
            }
            self.types[name] = dict(sorted((n, self.kind(annotation)) for n, annotation in fields.items()))
        return name

    def kind(self, annotation: Any) -> str:
        origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, python_types.UnionType):
            return self._union([each for each in inner if each is not type(None)])
        if origin is list:
            return f"[{self.kind(inner[0])}]"
        if origin is dict:
            return f"{{{self.kind(inner[1])}}}"
        if inspect.isclass(annotation) and issubclass(annotation, pydantic.BaseModel):
            return self.add(annotation)
        if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
            self.enums[annotation.__name__] = [each.value for each in annotation]
            return annotation.__name__
        return KINDS.get(annotation, "any")

    def _union(self, members: list[Any]) -> str:
        """A content may be written as text or as its parts: what it becomes counts."""
        if types.Content in members:
            return self.add(types.Content)
        kinds = [self.kind(each) for each in members]
        lists = [kind for kind in kinds if kind.startswith("[")]
        return kinds[0] if len(kinds) == 1 else lists[0] if lists else "any"


class _Converter:
    """What the converter of ``root`` to one API does with each field, by its path in the message that is sent."""

    def __init__(self, root: str, api: str) -> None:
        module = ast.parse(source())
        self.functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
        self.refused: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self._walk(self.functions[f"_{root}_to_{APIS[api]}"], "")

    def _walk(self, function: ast.FunctionDef, at: str) -> None:
        """``at``: where the object stands that this function converts."""
        for statement in function.body:
            if not isinstance(statement, ast.If):
                continue
            (read,) = _calls(statement.test, "getv")
            field = to_camel(ast.literal_eval(read.args[1])[0])
            if isinstance(statement.body[0], ast.Raise):
                self.refused.add(_joined(at, field))
                continue
            (write,) = _calls(statement.body[0], "setv")
            *parents, name = ast.literal_eval(write.args[1])
            inside = _joined(at, *parents[1:]) if parents[:1] == ["setup"] else _joined(at, *parents)
            if not at:
                self.places[field] = inside
            if name != field:
                self.renamed[_joined(inside, field)] = name
            for inner in _calls(write.args[2], *self.functions):
                assert isinstance(inner.func, ast.Name)
                self._walk(self.functions[inner.func.id], _joined(inside, field))


def _calls(node: ast.AST, *names: str) -> list[ast.Call]:
    """The calls of these functions in a piece of source."""
    found = [
        each for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    ]
    return [each for each in found if isinstance(each.func, ast.Name) and each.func.id in names]


def _joined(*path: str) -> str:
    return ".".join(filter(None, path))


def tables(roots: Iterable[type[pydantic.BaseModel]] = ROOTS) -> dict[str, Any]:
    """What the file should hold, by the installed google-genai."""
    found = _Types()
    for root in roots:
        found.add(root)
    _add_spellings(found)
    converters = {api: {m: _Converter(root, api) for root, m in MESSAGES.items()} for api in APIS}
    return {
        "google-genai": google.genai.__version__,
        "types": dict(sorted(found.types.items())),
        "enums": dict(sorted(found.enums.items())),
        "places": dict(sorted(converters["vertex"]["setup"].places.items())),
        "refused": {
            api: sorted(f"{message}.{path}" for message, each in of.items() for path in each.refused)
            for api, of in converters.items()
        },
        "renamed": {
            api: {
                f"{m}.{path}": name for m, each in of.items() for path, name in sorted(each.renamed.items())
            }
            for api, of in converters.items()
        },
        "written": dict(sorted(in_connect(found.types).items())),
    }


#: Fields of the config that have a parameter of their own, or more inside than a configuration.
_APART = {"tools", "systemInstruction", "httpOptions"}


def in_connect(types: dict[str, dict[str, str]]) -> dict[str, str]:
    """Each field of the config, in ``snake_case``, and how it is written with everything around it.

    Each object is looked into once; of fields with equal names the one on top counts.
    """
    found: dict[str, str] = {}
    waiting, seen = [("LiveConnectConfig", "config=...")], {"LiveConnectConfig"}
    for type_, around in waiting:  # which grows
        for name, kind in types.get(type_, {}).items():
            spelt = re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name)
            place = around.replace("...", f"{{{spelt!r}: ...}}")
            found.setdefault(spelt, place)
            inner = kind.strip("[]{}")
            if name not in _APART and inner in types and inner not in seen:
                seen.add(inner)
                waiting.append((inner, place))
    return found


def _add_spellings(found: _Types) -> None:
    """What a server calls a field otherwise (``candidatesTokenCount`` on Vertex AI): the other name, with its kind."""
    module = ast.parse(source())
    for function in (
        node for node in module.body if isinstance(node, ast.FunctionDef) and "_from_" in node.name
    ):
        fields = found.types.get(function.name[1:].partition("_from_")[0])
        if fields is None:
            continue
        for statement in (node for node in function.body if isinstance(node, ast.If)):
            (read,), (write,) = _calls(statement.test, "getv"), _calls(statement.body[0], "setv")
            ours = to_camel(ast.literal_eval(write.args[1])[0])
            fields.setdefault(ast.literal_eval(read.args[1])[0], fields[ours])


def written(tables: dict[str, Any]) -> str:
    """The text of the file: a line for each type, so that a change is read as one."""
    sections = []
    for name, table in tables.items():
        if isinstance(table, str):
            sections.append(f"{json.dumps(name)}: {json.dumps(table)}")
        else:
            lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items())
            sections.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(tables()), encoding="utf-8")
    print(f"wrote {FILE}")
