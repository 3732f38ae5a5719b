"""What the pages of docs/ say is run: their programs, one after another, against the fake."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
import types
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.apart import run_pytest
from support.imported import forgotten
from typer.main import get_command
from typer.testing import CliRunner

import livetools
from livetools.cli.app import app
from livetools.testing import Pretend

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Programs of other libraries, shown beside ours: they are read, not run.
OTHERS = {"google-genai", "ADK", "pydantic-ai", "LiveKit", "pipecat", "strands"}
#: Programs that use both: ``tests/test_neighbours.py`` runs each where both are installed.
BOTH = {f"{library} and livetools" for library in ("ADK", "pydantic-ai", "LiveKit", "pipecat")}
#: They have tests of their own.
ELSEWHERE = {"ephemeral-tokens.md", "relay-protocol.md"}
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?P<rest>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.M
)


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    found = []
    for fence in FENCE.finditer(path.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]*)"', fence["rest"])
        text = re.sub(rf"^{fence['indent']}", "", fence["text"], flags=re.M)
        found.append(Block(fence["language"], title[1] if title else "", text))
    return found


PAGES = {str(p.relative_to(DOCS)): blocks_of(p) for p in sorted(DOCS.rglob("*.md"))}
PROGRAMS = [name for name, blocks in PAGES.items() if any(b.language == "python" for b in blocks)]
BLOCKS = [(name, block) for name, blocks in PAGES.items() for block in blocks]


def of(*languages: str) -> list[Any]:
    return [
        pytest.param(b, id=f"{name}:{n}") for n, (name, b) in enumerate(BLOCKS) if b.language in languages
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # google-genai's own
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ELSEWHERE])
def test_its_programs_run_one_after_another_and_print_what_it_says(
    name, live_server, tmp_path, monkeypatch, capsys
):
    live_server.model(Pretend(otherwise="Yes."))  # sound is answered in a moment
    monkeypatch.chdir(tmp_path)
    page = types.ModuleType("docs_page")
    monkeypatch.setitem(sys.modules, page.__name__, page)
    names = vars(page)
    monkeypatch.syspath_prepend(tmp_path)
    for saved in (block for block in PAGES[name] if Path(block.title).suffix):
        (tmp_path / saved.title).write_text(saved.text, encoding="utf-8")
        monkeypatch.setitem(sys.modules, Path(saved.title).stem, None)  # undone after the page
        del sys.modules[Path(saved.title).stem]
    pass_of_themselves(tmp_path, [b.title for b in PAGES[name] if b.title.startswith("test_")])
    for block in PAGES[name]:
        if block.title.startswith("test_"):
            continue
        if block.language == "python" and block.title not in OTHERS | BOTH:
            capsys.readouterr()
            run(block.text, name, names)
        elif block.title == "Output":
            assert capsys.readouterr().out.strip() == block.text.strip()


def pass_of_themselves(folder: Path, files: list[str]) -> None:
    """The tests that a page tells to save pass, each a file of its own."""
    if files:
        done = run_pytest("-q", *files, cwd=folder)
        assert done.returncode == 0, done.stdout


def test_the_evals_of_the_guide_pass_offline(tmp_path):
    for block in PAGES["guides/evals.md"]:
        if Path(block.title).suffix:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
    with forgotten(tmp_path):
        result = CliRunner().invoke(app, ["eval", "--fake", str(tmp_path / "restaurant.yaml")])
    assert result.exit_code == 0, result.output
    assert "2 passed, 0 failed; 1 expectation skipped" in result.output


def run(text: str, name: str, names: dict[str, Any]) -> None:
    """Execute a program of a page."""
    exec(compile(text, name, "exec", dont_inherit=True), names)


def test_the_curl_of_the_guide_is_answered(live_server):
    live_server.model(Pretend())
    text = (DOCS / "guides" / "testing.md").read_text(encoding="utf-8")
    [(body, path)] = re.findall(r"^curl -d '(.*?)' \\\n +http://127.0.0.1:8765(/.*)$", text, re.MULTILINE)
    request = urllib.request.Request(live_server.http_url + path, body.encode())
    with urllib.request.urlopen(request, context=live_server.ssl_context, timeout=10) as response:
        assert "pretend model" in json.load(response)["candidates"][0]["content"]["parts"][0]["text"]


def test_every_test_of_a_page_has_a_name_of_a_file():
    tests = [block for _, block in BLOCKS if block.language == "python" and "def test_" in block.text]
    assert tests
    assert [block.text for block in tests if not block.title.startswith("test_")] == []


@pytest.mark.parametrize("block", of("python"))
def test_every_program_is_python(block):
    ast.parse(block.text)


def test_only_programs_of_other_libraries_are_not_run():
    titles = {block.title for _, block in BLOCKS if block.language == "python"}
    for library in titles & OTHERS:
        ours = [b for _, b in BLOCKS if b.title == library and "livetools" in b.text]
        assert not ours
    assert titles >= OTHERS | BOTH


@pytest.mark.parametrize("block", of("sh"))
def test_every_command_and_option_exists(block):
    commands = get_command(app).commands
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for line in block.text.replace("\\\n", " ").splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["livetools"] and len(words) > 1 and words[1] in commands:
            known = {o for p in commands[words[1]].params for o in (*p.opts, *p.secondary_opts)} | {"--help"}
            assert {w for w in words if w.startswith("--")} <= known
        elif words[:1] == ["livetools"]:
            assert words[1:2] in (["--version"], ["--help"], ["-h"])
        elif words[:1] == ["make"]:
            assert set(words[1:]) <= set(targets)


@pytest.mark.parametrize("block", of("json", "yaml", "toml"))
def test_other_blocks_are_what_they_claim(block):
    if block.language == "json":
        for text in re.split(r"\n(?=\{)", block.text.strip()):
            assert json.loads(text)
    elif block.language == "yaml":
        assert yaml.safe_load(block.text)
    else:
        assert tomllib.loads(block.text)


def test_no_block_is_of_a_language_that_nobody_checks():
    assert {block.language for _, block in BLOCKS} <= {
        "python", "sh", "json", "yaml", "toml", "text", "html", "js"
    }  # fmt: skip


def test_every_picture_is_there():
    for name in PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)|<img[^>]*src=\"([^\"]+)\"", text):
            [path] = filter(None, target)
            assert ((DOCS / name).parent / path).is_file(), f"{name}: {path}"


def test_every_page_is_in_the_navigation():
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    listed = [v for entry in config["project"]["nav"] for v in entry.values()]
    listed = [page for value in listed for page in ([value] if isinstance(value, str) else value)]
    assert sorted(listed) == sorted(PAGES)


def test_the_guide_of_observability_names_every_logger():
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "livetools").rglob("*.py"))
    loggers = {
        name for text in sources for name in re.findall(r'(?i:get_?logger)\("(livetools\.\w+)"\)', text)
    }
    table = (DOCS / "guides" / "observability.md").read_text(encoding="utf-8").partition("| Logger |")[2]
    rows = [line.split("|")[1] for line in table.partition("\n\n")[0].splitlines() if line.startswith("| `")]
    assert loggers == set(re.findall(r"`(.+?)`", " ".join(rows)))


def test_a_page_of_the_reference_says_in_a_clone_where_its_docstrings_are_to_be_seen():
    for path in (DOCS / "reference").glob("*.md"):
        above, names, _ = path.read_text(encoding="utf-8").partition(":::")
        told = f"`make docs` builds this page as `site/reference/{path.stem}/index.html`" in above
        assert told == bool(names), path.name


def test_every_public_name_has_its_place_in_the_reference():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    shown = set(re.findall(r"^::: livetools\.(\w+)$", text, re.MULTILINE))
    assert shown == set(livetools.__all__) - {"Event"}


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", *(f"docs/{name}" for name in PAGES if name.startswith("inside/"))]
)
def test_the_files_that_it_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    places = ["", "livetools/"]
    named = set(re.findall(r"`((?:[\w-]+/)+[\w.-]+)`", text)) | set(re.findall(r"(tests/[\w/]+\.py)", text))
    assert [n for n in named if "/a/" not in n and not any((ROOT / p / n).exists() for p in places)] == []
