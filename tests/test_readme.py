"""What README.md says is run here, against the fake, as it is written there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from support.apart import run_pytest

from livetools.testing.pretend import Pretend

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
(OUTPUT,) = re.findall(r"^```text\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def executed(upto: int) -> dict[str, Any]:
    """The names of the README's programs: one reader, one namespace."""
    names: dict[str, Any] = {"__name__": "readme"}
    for block in BLOCKS[:upto]:
        exec(compile(block, README.name, "exec"), names)
    return names


def test_its_programs_run_one_after_another(live_server, capsys):
    live_server.model(Pretend())
    executed(len(BLOCKS))
    out = capsys.readouterr().out
    assert out.startswith(OUTPUT)
    assert "book_table {'name': 'Ann', 'guests': 4} {'output': 'table 4, Ann, 4 guests'}" in out


def test_the_first_screen_shows_the_program_its_output_the_page_and_three_reasons():
    first = TEXT.partition("\n## ")[0]
    assert BLOCKS[0] in first
    assert OUTPUT in first
    (picture,) = re.findall(r'<img src="([^"]+)"', first)
    assert (README.parent / picture).is_file()
    assert len(re.findall(r"^- \*\*", first, re.MULTILINE)) == 3
    assert len(first.splitlines()) <= 32


def test_its_test_passes_as_a_file_of_its_own(tmp_path):
    (block,) = [block for block in BLOCKS if "live_server" in block]
    (tmp_path / "test_saved.py").write_text(block, encoding="utf-8")
    done = run_pytest("-q", "test_saved.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 105


def test_it_names_every_command_that_there_is():
    from livetools.cli.app import app

    commands = [command.callback.__name__ for command in app.registered_commands if command.callback]
    assert [name for name in commands if f"`{name}`" not in TEXT and f"livetools {name}" not in TEXT] == []


def test_its_make_targets_exist():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", TEXT, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
