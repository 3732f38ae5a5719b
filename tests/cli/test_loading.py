"""From a word on the command line to tools."""

from __future__ import annotations

import sys

import pytest

from livetools import ConfigError, ToolDefinitionError
from livetools.cli.loading import load


def names(target: object) -> list[str]:
    return [tool.name for tool in load(str(target))]


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    """What loading adds to the path and to the modules is gone after the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


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
        ("{missing}", "No module named 'no_such_thing'"),
        ("{empty}", "neither a list called tools nor anything that bears @tool"),
        ("{plain}", "say which of its functions are meant, as in"),
        ("{none}", "holds no tools"),
        ("{leaving}", "SystemExit"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(agent, tmp_path, target, words):
    texts = {
        "broken": "x = 1\ny = 1 / 0\n",
        "unreadable": "def (:\n",
        "missing": "import no_such_thing\n",
        "empty": "",
        "plain": "def f() -> str:\n    return ''\n",
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
