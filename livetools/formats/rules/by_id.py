"""The table of rules by id, and the full explanation of one.

Live closes with 1007 and the text of a rule (cut at 123 bytes); ``generateContent`` answers 400
INVALID_ARGUMENT.
"""

from __future__ import annotations

from . import received_and_tools, sent
from .rule import Level, Rule

__all__ = ["RULES", "Level", "Rule", "explain"]

RULES: dict[str, Rule] = {
    rule.id: rule for rule in (*sent.SENT_RULES, *received_and_tools.RECEIVED_AND_TOOL_RULES)
}


def explain(id: str) -> str:
    """The rule in full, for a person. Raises ``KeyError``, which lists the ids, for an unknown one.

    ::

        print(explain("json-twice"))
    """
    rule = RULES.get(id)
    if rule is None:
        raise KeyError(f"no rule {id!r}; there are: {', '.join(sorted(RULES))}")
    told = [f"{rule.id} ({rule.level}): {rule.title}.", rule.why]
    if rule.says:
        told.append(f"The service says: {rule.says}")
    else:
        told.append("The service says nothing.")
    told.append(f"What to do: {rule.fix}")
    return "\n\n".join(told)
