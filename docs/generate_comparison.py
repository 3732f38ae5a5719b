"""The tables and programs of ``comparison.md``: what ``run_comparison.py`` has seen, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
RESULTS = json.loads((DOCS / "comparison.json").read_text(encoding="utf-8"))
ROWS: Mapping[str, Mapping[str, Any]] = RESULTS["libraries"]
PROGRAMS = {
    "livetools": "with_livetools.py",
    "google-genai": "with_google_genai.py",
    "ADK": "with_google_adk.py",
    "pydantic-ai": "with_pydantic_ai.py",
    "LiveKit": "with_livekit_agents.py",
    "pipecat": "with_pipecat.py",
    "strands": "with_strands.py",
}
#: What no text of an error may show, and the tool of ``forecast.py`` has in its own.
SECRET = "hunter2"


def table() -> str:
    head = "| Library | Version | Lines | The connection drops during the call | The key is wrong | The tool raises |"
    lines = [head, "| --- | --- | --- | --- | --- | --- |"]
    for name, row in ROWS.items():
        if "cause" in row:
            cells = ["", *[f"not run: {row['cause']}"] * 3]
        else:
            cells = [str(row["lines"]), drop(row["drop"]), key(row["wrong key"]), raises(row["tool raises"])]
        lines.append(f"| {name} | {row['version']} | {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\nRun on {RESULTS['date']}."


def drop(seen: Mapping[str, Any]) -> str:
    again = seen["connections"] - 1
    if "12 °C" in seen["printed"]:
        ran = "once" if seen["runs"] == 1 else f"{seen['runs']} times"
        return f"Connects again, and prints the answer. The tool ran {ran}"
    how = "Connects again" if again else "Does not connect again"
    return f"{how}; {ending(seen)}"


def key(seen: Mapping[str, Any]) -> str:
    text = ending(seen)
    return text[0].upper() + text[1:]


def raises(seen: Mapping[str, Any]) -> str:
    told = json.dumps(seen["told"], ensure_ascii=False)
    if seen["told"] is None:
        first = "The call is never answered"
    elif SECRET in told:
        first = f"The model reads the exception's text: {code(told)}"
    else:
        first = f"The model reads {code(told)}"
    last = "the model answers" if seen["ended"] == "answered" else ending(seen)
    return f"{first}; {last}"


def ending(seen: Mapping[str, Any]) -> str:
    """How a program ended that did not print the answer."""
    match seen["ended"]:
        case "raised":
            return f"the program raises `{seen['error'].partition(':')[0].rpartition('.')[2]}`"
        case "waits":
            return "the program still runs after a minute"
        case _:
            return "the program ends without an exception and prints no answer"


def code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def programs() -> str:
    return "\n\n".join(tab(name) for name, row in ROWS.items() if "cause" not in row)


def tab(name: str) -> str:
    title = "" if name == "livetools" else f' title="{name}"'
    source = (DOCS / "comparison" / PROGRAMS[name]).read_text(encoding="utf-8").strip()
    block = f"```python{title}\n{source}\n```"
    return f'=== "{name}"\n\n' + "\n".join(f"    {line}".rstrip() for line in block.splitlines())


def tool() -> str:
    source = (DOCS / "comparison" / "forecast.py").read_text(encoding="utf-8").strip()
    return f'```python title="forecast.py"\n{source}\n```'


TABLES = {"comparison": table, "comparison-programs": programs, "comparison-tool": tool}
