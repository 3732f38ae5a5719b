"""The results of a check: places in a document, findings, the checklist that collects them, the report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from livetools.protocol.messages.lenient_json import Json

from .by_id import RULES, Level

_MARKS: dict[Level, str] = {"fault": "✘", "advice": "!", "note": "·"}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document: ``path`` in the document itself, ``wire`` as the service's errors name it.

    ``Spot("$", "contents")[1] / "parts"`` is ``$[1].parts`` here and ``contents[1].parts`` there.
    """

    path: str = "$"
    wire: str = ""

    def __truediv__(self, key: str) -> Spot:
        plain = re.fullmatch(r"\w+", key)
        path = f"{self.path}.{key}" if plain else f"{self.path}[{json.dumps(key)}]"
        return Spot(path, f"{self.wire}.{snake(key)}" if self.wire else snake(key))

    def __getitem__(self, index: int) -> Spot:
        return Spot(f"{self.path}[{index}]", f"{self.wire}[{index}]")


@dataclass(frozen=True, slots=True)
class Finding:
    """A place where a rule does not hold.

    ``path`` is a JSON path (``$.contents[2].parts[0]``), ``rule`` an id for ``livetools check --explain``,
    ``message`` what was found there, ``service_text`` the error of the service (empty if it accepts it),
    ``fix`` what to do.
    """

    path: str
    rule: str
    message: str
    service_text: str
    fix: str

    @property
    def level(self) -> Level:
        """``"fault"``: it is refused or goes wrong; ``"advice"``: some models or clients trip; ``"note"``."""
        return RULES[self.rule].level


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check: the ``kind`` the document was taken for, the rules that held, the findings."""

    kind: str
    held: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def faults(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "fault")

    @property
    def ok(self) -> bool:
        """Nothing is refused and nothing goes wrong. Advice does not count."""
        return not self.faults

    def __str__(self) -> str:
        """The checklist: a line for each rule that held, and each finding with the service's words and the fix."""
        lines = [f"checked as: {self.kind.replace('_', ' ')}"]
        lines += [f"✔ {RULES[rule].title}" for rule in self.held]
        for finding in self.findings:
            lines.append(f"{_MARKS[finding.level]} {finding.path}: {finding.message}  [{finding.rule}]")
            if finding.service_text:
                lines.append(f"    the service: {finding.service_text}")
            lines.append(f"    do: {finding.fix}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Json]:
        """The report as plain JSON, for ``livetools check --json``."""
        findings = [
            {
                "path": finding.path,
                "rule": finding.rule,
                "level": finding.level,
                "message": finding.message,
                "serviceText": finding.service_text,
                "fix": finding.fix,
            }
            for finding in self.findings
        ]
        return {"kind": self.kind, "ok": self.ok, "held": list(self.held), "findings": findings}


@dataclass(slots=True)
class Checklist:
    """Gathers while a check walks through a document."""

    findings: list[Finding] = field(default_factory=list)
    looked_at: dict[str, None] = field(default_factory=dict)  # rules, in the order they were first asked

    def expect(self, held: bool, rule: str, spot: Spot, message: str, **words: object) -> bool:
        """Ask ``rule`` at ``spot``; where it does not hold, note ``message``. Returns ``held``.

        ``words`` fill the service's text beside ``path``; ``value`` is written as JSON and cut.
        """
        self.looked_at[rule] = None
        if not held:
            told = {"path": spot.wire, "at": f" at '{spot.wire}'" if spot.wire else "", "value": "", **words}
            if "value" in words:
                told["value"] = excerpt(words["value"])
            fix = str(words.get("fix") or RULES[rule].fix)
            says = RULES[rule].says.format_map(told)
            self.findings.append(Finding(spot.path, rule, message, says, fix))
        return held

    def report(self, kind: str) -> Report:
        broken = {finding.rule for finding in self.findings}
        held = (rule for rule in self.looked_at if rule not in broken and RULES[rule].level != "note")
        return Report(kind, tuple(held), tuple(self.findings))


def snake(name: str) -> str:
    """``functionResponse`` → ``function_response``."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


def camel(name: str) -> str:
    """``function_response`` → ``functionResponse``."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)


def member(value: Mapping[str, Json], name: str) -> tuple[str, Json]:
    """The key that holds ``name``, and its value: the service reads camelCase and snake_case alike."""
    for key in (name, snake(name)):
        if key in value:
            return key, value[key]
    return name, None


def excerpt(value: Json, limit: int = 60) -> str:
    """A value as JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def object_of(text: str) -> dict[str, Json] | None:
    """The JSON object that a text holds, ``None`` where it holds something else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def kind_of(value: Json) -> str:
    """What JSON calls it: for messages."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
