"""From a word on the command line to tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.imported import forgotten

from livetools import ConfigError, ToolDefinitionError
from livetools.cli.agents.load_agent import Loaded, load

AGENT = """from functools import partial
import livetools
agent = partial(livetools.connect, "gemini-3.8-live")
"""


def names(target: object) -> list[str]:
    return [tool.name for tool in load(str(target)).tools]


@pytest.fixture(autouse=True)
def _forgotten(tmp_path: Path) -> Iterator[None]:
    with forgotten(tmp_path):
        yield


def test_a_file_gives_the_functions_that_bear_tool(agent):
    assert names(agent) == ["get_weather", "erase"]


def test_a_list_called_tools_comes_first(agent):
    agent.write_text(agent.read_text() + "\ntools = [get_time]\n")
    assert names(agent) == ["get_time"]


def test_names_choose_functions_toolsets_and_lists(agent):
    agent.write_text(
        agent.read_text() + "\nfew = Toolset(get_time).prefix('my_')\nclass Shop:\n    more = [fails]\n"
    )
    assert names(f"{agent}:get_time,few,Shop.more") == ["get_time", "my_get_time", "fails"]


def test_a_module_is_found_in_the_working_directory(agent, monkeypatch):
    monkeypatch.chdir(agent.parent)
    assert names("agent") == ["get_weather", "erase"]
    assert names("agent:get_time") == ["get_time"]


def test_a_file_finds_its_neighbours(agent):
    (agent.parent / "neighbour.py").write_text("def helps() -> str:\n    'Helps.'\n    return ''\n")
    agent.write_text("from neighbour import helps\ntools = [helps]\n")
    assert names(agent) == ["helps"]


def test_a_file_that_is_called_like_a_module_does_not_replace_it(tmp_path):
    file = tmp_path / "json.py"
    file.write_text("def hello() -> str:\n    'Hello.'\n    return ''\ntools = [hello]\n")
    import json

    assert names(file) == ["hello"]
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("nowhere:tools", "there is no module 'nowhere'"),
        ("{file}:nothing", "has no nothing; it has get_weather, erase, get_time"),
        ("{broken}", "line 2: ZeroDivisionError: division by zero"),
        ("{unreadable}", "line 1"),
        ("{binary}", "binary.py cannot be imported: source code string cannot contain null bytes"),
        ("{missing}", "No module named 'no_such_thing'"),
        ("{empty}", "defines no agent and no tools"),
        ("{agents}", "has several agents (one, two): name one, as in"),
        ("{mixed}:agent,f", "name the agent alone"),
        ("{running}", "line 5 runs a program while the file is imported: put it under if __name__"),
        ("{calling}", "line 4 runs a program while the file is imported"),
        ("{none}", "holds no tools"),
        ("{leaving}", "SystemExit"),
        ("", "there is no file ''"),
        (".", "there is no file ."),
        ("..tools", "there is no file ..tools"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(agent, tmp_path, target, words):
    texts = {
        "broken": "x = 1\ny = 1 / 0\n",
        "unreadable": "def (:\n",
        "binary": "x\0",
        "missing": "import no_such_thing\n",
        "empty": "",
        "agents": f"{AGENT}one = agent\ntwo = agent\ndel agent\n",
        "mixed": f"{AGENT}def f() -> str:\n    return ''\n",
        "running": f"import asyncio\n{AGENT}asyncio.run(agent())\n",
        "calling": "import asyncio\ndef main() -> None:\n    asyncio.run(f())\nmain()\n",
        "none": "tools = []\n",
        "leaving": "raise SystemExit(3)\n",
    }
    files = {"file": agent}
    for name, text in texts.items():
        files[name] = tmp_path / f"{name}.py"
        files[name].write_text(text)
    with pytest.raises(ConfigError) as told:
        load(target.format(**files))
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_function_that_no_model_can_be_told_of_is_named_with_its_parameter(agent):
    with pytest.raises(ToolDefinitionError, match="thing"):
        load(f"{agent}:no_schema")


def test_a_module_in_its_package_may_lack_a_dependency_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "agent.py").write_text("import package.absent\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"package\.absent"):
        load("package.agent")


def test_functions_that_stand_alone_are_tools(tmp_path):
    file = tmp_path / "plain.py"
    file.write_text("from json import dumps\ndef _helps(): ...\ndef f() -> str:\n    'F.'\n    return ''\n")
    assert names(file) == ["f"]


@pytest.mark.parametrize("name", ["", ":agent"])
def test_an_agent_comes_before_the_tools_beside_it(tmp_path, name):
    file = tmp_path / "whole.py"
    file.write_text(f"{AGENT}def f() -> str:\n    return ''\ntools = [f]\n")
    loaded = load(f"{file}{name}")
    assert loaded.agent is not None
    assert loaded.agent(base_url="ws://127.0.0.1").model == "models/gemini-3.8-live"
    assert names(f"{file}:tools") == ["f"]


@pytest.mark.parametrize(
    "text",
    [
        "from functools import partial\nimport livetools\nshop = partial(livetools.connect, 'gemini-3.8-live')\n",
        "import livetools\ndef shop(**o) -> livetools.Session:\n    return livetools.connect('gemini-3.8-live', **o)\n",
        "from __future__ import annotations\nfrom livetools import Session, connect\n"
        "def shop() -> Session:\n    return connect('gemini-3.8-live')\n",
    ],
    ids=["partial", "function", "postponed annotation"],
)
def test_the_only_agent_of_a_file_needs_no_name(tmp_path, text):
    file = tmp_path / "shop.py"
    file.write_text(text)
    assert load(str(file)).agent is not None


def test_a_program_under_its_guard_is_not_run(tmp_path):
    file = tmp_path / "guarded.py"
    file.write_text(f"import asyncio\n{AGENT}if __name__ == '__main__':\n    asyncio.run(agent())\n")
    assert load(str(file)) != Loaded()


MIXED = """
from livetools import Tool, tool

def get_weather(city: str) -> str:
    "Current weather in a city."
    return checked("12 °C, rain")

@tool
def book_table(name: str) -> str:
    "Book a table."
    return checked(name)

def wrapped(name: str) -> str:
    "A tool by another word."
    return name

def checked(text: str) -> str:
    return text

greet = Tool(wrapped)
"""


@pytest.fixture
def mixed(tmp_path):
    file = tmp_path / "mixed_agent.py"
    file.write_text(MIXED)
    return file


def test_a_plain_function_beside_decorated_ones_is_left_out_by_name(mixed):
    loaded = load(str(mixed))
    assert [tool.name for tool in loaded.tools] == ["book_table", "wrapped"]
    assert loaded.left_out == (
        "get_weather",
    )  # a helper that the file calls, and a wrapped one, are not meant


def test_nothing_is_left_out_where_the_tools_are_chosen_or_all_plain(mixed):
    assert load(f"{mixed}:book_table").left_out == ()
    mixed.write_text(MIXED + "\ntools = [book_table]\n")
    assert load(str(mixed)).left_out == ()
    mixed.write_text("def a() -> str:\n    'A.'\n    return ''\n\ndef b() -> str:\n    'B.'\n    return ''\n")
    assert load(str(mixed)).left_out == ()


@pytest.mark.parametrize("command", [("tools",), ("chat", "--fake")])
def test_a_command_says_once_what_it_left_out(run, mixed, command):
    result = run(*command, str(mixed), input="")
    assert result.exit_code == 0
    assert result.stderr.count("left out, because they lack @tool: get_weather\n") == 1
