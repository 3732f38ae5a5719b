"""What README.md says is run here, against the fake, as it stands there."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from livetools.testing.pretend import Pretend

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def executed(upto: int) -> dict[str, Any]:
    """The names of the README's programs: one reader, one namespace."""
    names: dict[str, Any] = {"__name__": "readme"}
    for block in BLOCKS[:upto]:
        exec(compile(block, README.name, "exec"), names)
    return names


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # google-genai's own
def test_its_programs_run_one_after_another(live_server, capsys):
    live_server.model(Pretend())
    executed(len(BLOCKS))
    out = capsys.readouterr().out
    assert out.startswith("get_weather says: 12 °C, rain.\n")
    assert "book_table {'name': 'Ann', 'guests': 4} {'output': 'table 4, Ann, 4 guests'}" in out
    assert out.count("get_weather says: 12") == 2


@pytest.mark.anyio
async def test_its_test_passes(live_server):
    (block,) = [block for block in BLOCKS if "live_server" in block]
    names: dict[str, Any] = {}
    exec(compile("import livetools\n" + BLOCKS[0].split("async def")[0] + block, README.name, "exec"), names)
    await names["test_the_weather_survives_a_broken_line"](live_server)


def test_its_curl_is_answered(live_server):
    live_server.model(Pretend())
    body, path = re.findall(r"^curl -d '(.*?)' \\\n +http://127.0.0.1:8765(/.*)$", TEXT, re.MULTILINE)[0]
    request = urllib.request.Request(live_server.http_url + path, body.encode())
    with urllib.request.urlopen(request, context=live_server.ssl_context, timeout=10) as response:
        assert "pretend model" in json.load(response)["candidates"][0]["content"]["parts"][0]["text"]


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 120


def test_it_names_every_command_that_there_is():
    from livetools.cli.app import app

    commands = [command.callback.__name__ for command in app.registered_commands if command.callback]
    assert [name for name in commands if f"`{name}`" not in TEXT and f"livetools {name}" not in TEXT] == []


def test_its_make_targets_exist():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", TEXT, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
