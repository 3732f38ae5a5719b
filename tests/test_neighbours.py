"""Other agent libraries: livetools is installed beside each, in one environment, and tried there.

``pytest -m peers tests/test_neighbours.py``; ``LIVETOOLS_PEERS`` names a folder that is kept for the next run. The
newest version of each is installed; ``TRIED`` says which versions that were, and when.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
TRIED = "2026-11-29"


class Neighbour(NamedTuple):
    """``version``: what was tried; ``uses``: the library gets a function, and ``function`` is what a model calls."""

    requirement: str
    version: str
    uses: str


NEIGHBOURS = (
    Neighbour(
        "google-adk",
        "2.13.0",
        "from google.adk.agents import Agent\n"
        "function, = Agent(name='weather', model='gemini-3.8-live', tools=[get_weather]).tools",
    ),
    Neighbour(
        "pipecat-ai[google]",
        "1.14.0",
        "from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService\nfunction = get_weather",
    ),
    Neighbour(
        "pydantic-ai-slim[google]",
        "2.68.0",
        "from pydantic_ai import Tool\nfunction = Tool(get_weather).function",
    ),
    Neighbour(
        "strands-agents[bidi-google]",
        "1.62.0",
        "from strands import tool\ntool(get_weather)\nfunction = get_weather",
    ),
    Neighbour(
        "openai-agents",
        "0.24.0",
        "from agents import function_tool\nfunction_tool(get_weather)\nfunction = get_weather",
    ),
    Neighbour(
        "livekit-plugins-google", "1.8.9", "from livekit.plugins import google\nfunction = get_weather"
    ),
    Neighbour(
        "langchain-google-genai",
        "4.4.3",
        "from langchain_google_genai import ChatGoogleGenerativeAI\n"
        "from langchain_core.tools import tool\nfunction = tool(get_weather).func",
    ),
    Neighbour(
        "fastmcp",
        "4.2.3",
        "from fastmcp import FastMCP\nFastMCP('house').tool(get_weather)\nfunction = get_weather",
    ),
    Neighbour(
        "gradio", "6.31.0", "import gradio\nfunction = gradio.Interface(get_weather, 'text', 'text').fn"
    ),
    # its own import fails beside mcp 2, which it allows
    Neighbour("vision-agents-plugins-gemini", "0.6.9", "function = get_weather"),
)

BOTH = '''
import asyncio
import livetools
from livetools.testing import FakeLiveServer

def get_weather(city: str) -> str:
    """Current weather in a city.

    Args:
        city: The city.
    """
    return "12 °C, rain"

{uses}

async def main():
    async with FakeLiveServer() as server:
        @server.model
        async def model(turn):
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {{weather['output']}}.")

        async with livetools.connect("gemini-3.8-live", tools=[function], **server.options) as session:
            assert str(await session.ask("Weather in Oslo?")) == "It is 12 °C, rain."

asyncio.run(main())
'''
RUNNERS = (
    "hypothesis",
    "httpx",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-trio",
    "pytest-xdist",
    "trustme",
)
CORE = ("tests/protocol", "tests/setup", "tests/tools", "tests/transport", "tests/session")


@pytest.mark.peers
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("neighbour", NEIGHBOURS, ids=lambda each: each.requirement)
def test_the_core_holds_beside_another_agent_library(tmp_path: Path, neighbour: Neighbour) -> None:
    name = neighbour.requirement.partition("[")[0]
    folder = Path(os.environ.get("LIVETOOLS_PEERS", tmp_path)) / name
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if (uv := shutil.which("uv")) is not None:
        pip = [uv, "pip", "install", "--quiet", "--python", python]
    subprocess.run([*pip, neighbour.requirement, "-e", f"{ROOT}[testing]", *RUNNERS], check=True)
    program = BOTH.format(uses=neighbour.uses)
    both = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert both.returncode == 0, both.stderr[-4000:]
    command = [python, "-m", "pytest", "-q", "-n", "2", "-m", "not slow and not peers", "-k", "not trio"]
    done = subprocess.run(
        [*command, "-o", "filterwarnings=default", "-p", "no:cacheprovider", *CORE],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
