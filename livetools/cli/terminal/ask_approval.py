"""Asks a person at the terminal whether a call may run, and shows everything that would."""

from __future__ import annotations

import json
from collections.abc import Callable

from livetools.events import Call
from livetools.log import escaped

from .printing import CUT

#: Arguments that are shown before the rest is left out.
MAX_LINES = 30
#: Prints a line in a style.
Notice = Callable[[str, str], None]
#: What is typed at a prompt; ``None`` where nobody can type.
_Reply = Callable[[str], str | None]


def decision(call: Call, notice: Notice, reply: _Reply) -> str | None:
    """Ask whether ``call`` may run. Returns ``None`` if it may, else the reason for the model.

    A long call is shown argument by argument. What is left out is counted, and typing ``a`` shows it. A call whose
    arguments cannot be written down is refused without a question.
    """
    try:
        brief, whole = written(call)
    except (ValueError, RecursionError):
        notice(f"  ? {escaped(call.name)}: refused: its arguments cannot be shown", "yellow")
        return "its arguments cannot be shown to the user"
    notice(f"  ? {brief}", "yellow")
    choices = "[y/N]" if brief == whole else "[y/N/a] (a: show all of it)"
    while True:
        said = reply(f"    run it? {choices} ")
        if said is None:
            notice("    refused: approval needs an interactive terminal", "yellow")
            return "nobody was there to be asked"
        match said.strip().lower():
            case "y" | "yes":
                return None
            case "a" | "all" if brief != whole:
                notice(f"  ? {whole}", "yellow")
            case _:
                return "the user said no"


def written(call: Call) -> tuple[str, str]:
    """The call as it is shown first, and the whole of it. They are equal if nothing had to be left out.

    Raises ``ValueError`` or ``RecursionError`` for values that JSON cannot hold.
    """
    values = {
        escaped(name): escaped(json.dumps(value, ensure_ascii=False)) for name, value in call.args.items()
    }
    name = escaped(call.name)
    line = f"{name}({', '.join(f'{each}={value}' for each, value in values.items())})"
    if len(line) <= CUT:
        return line, line
    whole = [f"      {each} = {value}" for each, value in values.items()]
    brief = [f"      {_shortened(each)} = {_shortened(value)}" for each, value in values.items()]
    if len(brief) > MAX_LINES:
        brief[MAX_LINES:] = [f"      … {len(brief) - MAX_LINES:,} more arguments"]
    return "\n".join([name, *brief]), "\n".join([name, *whole])


def _shortened(text: str) -> str:
    return text if len(text) <= CUT else f"{text[:CUT]} … {len(text) - CUT:,} more characters"
