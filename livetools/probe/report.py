"""What a probe found, beside the profile that livetools has of the model, and a profile to paste."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from livetools.setup.model_profiles import ModelProfile

from .experiment_types import Answer, Undecided
from .experiments import NOT_PROBED

_NEAR = 0.25  # share by which a measured number may differ
GIVEN_BY_THE_LOOK_UP = ("family", "known", "vertex")


@dataclass(frozen=True, slots=True)
class Report:
    """The answers of one probe, the known profile, and the date as ``2026-11-29``."""

    model: str
    date: str
    known: ModelProfile
    facts: Mapping[str, Answer | Undecided]

    def differences(self) -> dict[str, Answer]:
        """The fields for which the service did not do what the profile says."""
        return {
            name: found
            for name, found in self.facts.items()
            if isinstance(found, Answer) and not _agrees(found, getattr(self.known, name))
        }

    def confirmed(self) -> dict[str, Answer]:
        """The fields that agree with the profile."""
        different = self.differences()
        return {
            name: found
            for name, found in self.facts.items()
            if isinstance(found, Answer) and name not in different
        }

    def undecided(self) -> dict[str, str]:
        """The fields that the probe could not decide, and why; first those that it tried."""
        tried = {name: found.why for name, found in self.facts.items() if isinstance(found, Undecided)}
        return {**tried, **NOT_PROBED}

    def profile(self) -> ModelProfile:
        """The profile with what was found in it; the rest is as it was known."""
        found: dict[str, Any] = {name: answer.values[0] for name, answer in self.differences().items()}
        family = self.known.family if self.known.known else self.model.rsplit("/", 1)[-1]
        return replace(self.known, **found, family=family, known=True)

    def source(self) -> str:
        """The profile as Python, with the date and what was seen beside each field that was probed."""
        return "\n".join(["ModelProfile(", *(f"    {line}" for line in self._lines()), ")"])

    def _lines(self) -> Iterator[str]:
        made, plain = self.profile(), ModelProfile()
        yield f"family={made.family!r},"
        if made.vertex:
            yield "vertex=True,"
        for each in fields(ModelProfile):
            name, found = each.name, self.facts.get(each.name)
            if name in GIVEN_BY_THE_LOOK_UP:
                continue
            if isinstance(found, Answer):
                yield f"{name}={_python(getattr(made, name))},  # probed {self.date}: {_comment(found.seen)}"
            elif getattr(made, name) != getattr(plain, name):
                yield f"{name}={_python(getattr(made, name))},  # not probed: as livetools knows {made.family}"


def _agrees(found: Answer, known: object) -> bool:
    return any(_alike(value, known) for value in found.values)


def _alike(value: object, known: object) -> bool:
    if isinstance(value, float) and isinstance(known, float):
        return math.isclose(value, known, rel_tol=_NEAR)
    return value == known


def _python(value: object) -> str:
    """``value`` as source, the same each time."""
    if isinstance(value, frozenset):
        items = ", ".join(repr(item) for item in sorted(value))
        return f"frozenset({{{items}}})" if value else "frozenset()"
    return repr(value)


def _comment(seen: str) -> str:
    return re.sub(r"\s+", " ", seen)
