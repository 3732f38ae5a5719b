"""Other agent libraries: livetools is installed beside each, in one environment, and tried there.

``make neighbours``; ``LIVETOOLS_PEERS`` names a folder that is kept for the next run. The newest version of each is
installed. What passes gets its line, with versions and date, in ``docs/from/beside.md``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from support.environments import ROOT, Environment

FROM = ROOT / "docs" / "from"
TABLE = FROM / "beside.md"


class Neighbour(NamedTuple):
    """``page``: in docs/from, with a program that uses both; else ``uses``: it gets the function that a model calls."""

    requirement: str
    page: str = ""
    uses: str = ""

    @property
    def name(self) -> str:
        return self.requirement.partition("[")[0]


NEIGHBOURS = (
    Neighbour("google-adk", "adk.md"),
    Neighbour("pipecat-ai[google]", "pipecat.md"),
    Neighbour("pydantic-ai-slim[google]", "pydantic-ai.md"),
    Neighbour("livekit-plugins-google", "livekit.md"),
    Neighbour("strands-agents[bidi-google]", uses="from strands import tool\ntool(get_weather)"),
    Neighbour("openai-agents", uses="from agents import function_tool\nfunction_tool(get_weather)"),
    Neighbour(
        "langchain-google-genai",
        uses="from langchain_google_genai import ChatGoogleGenerativeAI\n"
        "from langchain_core.tools import tool\nget_weather = tool(get_weather).func",
    ),
    Neighbour("fastmcp", uses="from fastmcp import FastMCP\nFastMCP('house').tool(get_weather)"),
    Neighbour("gradio", uses="import gradio\nget_weather = gradio.Interface(get_weather, 'text', 'text').fn"),
    # its own import fails beside mcp 2, which it allows
    Neighbour("vision-agents-plugins-gemini", uses="import vision_agents"),
)

BOTH = '''
import asyncio
import livetools

def get_weather(city: str) -> str:
    """Current weather in a city.

    Args:
        city: The city.
    """
    return "12 °C, rain"

{uses}

async def main():
    async with livetools.connect("gemini-3.8-live", tools=[get_weather]) as session:
        print(await session.ask("Weather in Oslo?"))

asyncio.run(main())
'''
RUNNERS = (
    "genai-prices",
    "hypothesis",
    "httpx",
    "numpy",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-trio",
    "pytest-xdist",
    "starlette",
    "trustme",
)
CORE = ("tests/protocol", "tests/setup", "tests/tools", "tests/transport", "tests/session")
#: What both stand on.
SHARED = ("google-genai", "websockets", "anyio", "pydantic")


def program(neighbour: Neighbour) -> str:
    """The program that uses both: where there is a page, the one that it shows."""
    if not neighbour.page:
        return BOTH.format(uses=neighbour.uses)
    text = (FROM / neighbour.page).read_text(encoding="utf-8")
    [found] = re.findall(
        r'^```python title="[^"]* and livetools"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE
    )
    return str(found)


#: In the place of how many tests have passed: the program that uses both was run, and they were not.
PROGRAM = "program"


def rows() -> dict[str, list[str]]:
    """The table of what was tried: the cells behind its first one, by library."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: others for first, *others in cells[1:] if first.strip("-")}


def record(neighbour: Neighbour, there: Environment, passed: int) -> None:
    """Write its line, with the versions that stand in this environment."""
    ask = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
    found = there.run("-c", ask, neighbour.name, *SHARED).split()
    today = datetime.now(UTC).date().isoformat()
    line = f"| {' | '.join([neighbour.name, *found, f'{passed:,}', today])} |"
    text = TABLE.read_text(encoding="utf-8")
    new, count = re.subn(rf"^\| {re.escape(neighbour.name)} \|.*$", line, text, flags=re.MULTILINE)
    assert count == 1, f"{TABLE} has no line for {neighbour.name}"
    TABLE.write_text(new, encoding="utf-8")


def test_what_was_tried_beside_each_library_is_told() -> None:
    tried = rows()
    assert set(tried) == {neighbour.name for neighbour in NEIGHBOURS}
    for version, *shared, passed, day in tried.values():
        assert len(shared) == len(SHARED)
        assert all(part[0].isdigit() for part in (version, *shared))
        assert passed == PROGRAM or int(passed.partition(":")[0].replace(",", "")) > 1_000
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", day)


@pytest.mark.parametrize("neighbour", [n for n in NEIGHBOURS if n.page], ids=lambda each: each.name)
def test_its_page_names_the_version_that_was_tried_and_shows_both(neighbour: Neighbour) -> None:
    version = ".".join(rows()[neighbour.name][0].split(".")[:2])
    assert f"({version})" in (FROM / neighbour.page).read_text(encoding="utf-8").replace("google-adk ", "")
    assert "livetools.connect(" in program(neighbour)


@pytest.mark.peers
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("neighbour", NEIGHBOURS, ids=lambda each: each.name)
def test_the_core_holds_beside_another_agent_library(tmp_path: Path, neighbour: Neighbour) -> None:
    there = Environment(neighbour.name, tmp_path)
    there.install("--upgrade", neighbour.requirement, "-e", f"{ROOT}[testing]", *RUNNERS)
    file = tmp_path / "both.py"
    file.write_text(program(neighbour), encoding="utf-8")
    assert "says: " in there.run("tests/support/beside.py", str(file), timeout=300)
    record(neighbour, there, there.passes(CORE, but="not trio"))
