"""Tells griffe, which reads the sources for the reference, that ``@frozen`` makes a dataclass.

mkdocstrings loads it (``extensions`` in zensical.toml): the pages show fields as parameters with it.
"""

from __future__ import annotations

from typing import Any

import griffe

FROZEN = "livetools.setup.frozen.frozen"
DATACLASS = griffe.ExprName("dataclasses.dataclass")


class Frozen(griffe.Extension):
    """Reads ``@frozen`` as ``@dataclass``; griffe's own extension for those does the rest, behind all others."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called when a class was read, before whole packages are. The arguments are griffe's."""
        for decorator in cls.decorators:
            if decorator.callable_path == FROZEN:
                value = decorator.value
                arguments = value.arguments if isinstance(value, griffe.ExprCall) else ()
                decorator.value = griffe.ExprCall(DATACLASS, arguments)
                cls.labels.add("dataclass")
