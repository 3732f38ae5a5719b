"""What a rule of the shapes is. The rows are in :mod:`.sent` and :mod:`.received_and_tools`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["fault", "advice", "note"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table.

    ``title`` states the rule, ``why`` explains it. ``says`` is the service's own text as public
    reports and recorded closes have it (2025-01 to 2026-10), with ``{path}`` in the service's snake_case;
    empty where the service says nothing, which is often the worse case. ``fix`` says what to do.
    """

    id: str
    title: str
    why: str
    says: str
    fix: str
    level: Level = "fault"
