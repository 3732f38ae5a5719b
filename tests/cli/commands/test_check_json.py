"""The command: files, standard input, kinds, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from livetools.cli.commands.check_json import check

GOOD: Any = {"toolResponse": {"functionResponses": [{"id": "1", "name": "f", "response": {"output": 1}}]}}
BAD: Any = {"toolResponse": {"functionResponses": [{"id": "1", "name": "f", "response": "text"}]}}


def run(*arguments: str, text: str | bytes = "") -> Result:
    app = typer.Typer()
    app.command()(check)
    return CliRunner().invoke(app, list(arguments), input=text)


def test_a_right_document_is_a_checklist_and_exits_with_0():
    result = run(text=json.dumps(GOOD))
    assert result.exit_code == 0
    assert "✔ response is a JSON object" in result.output
    assert "0 faults" in result.output


def test_a_fault_is_told_with_place_text_and_fix_and_exits_with_1(tmp_path: Path):
    path = tmp_path / "frame.json"
    path.write_text(json.dumps(BAD))
    result = run(str(path))
    assert result.exit_code == 1
    assert "✘ $.toolResponse.functionResponses[0].response: response is a string" in result.output
    assert "the service: Invalid value at 'tool_response.function_responses[0].response'" in result.output
    assert 'do: Wrap the value: "response": {"output": value}.' in result.output
    assert "livetools check --explain response-object" in result.output


def test_the_report_as_json_is_json():
    result = run("-", "--json", text=json.dumps(BAD))
    assert result.exit_code == 1
    told = json.loads(result.output)
    assert (told["kind"], told["ok"], told["findings"][0]["rule"]) == ("frame", False, "response-object")


def test_advice_alone_exits_with_0():
    result = run(
        text='{"name": "f", "parameters": {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}}}'
    )
    assert (result.exit_code, "[tool-description]" in result.output) == (0, True)


def test_the_kind_can_be_given():
    assert run("--kind", "stream", text="[]").exit_code == 1
    result = run("--kind", "letter", text="{}")
    assert result.exit_code == 2
    assert "not one of" in result.output


def test_json_lines_and_a_byte_order_mark_are_read():
    lines = "\n".join(json.dumps(row) for row in [GOOD, GOOD])
    assert "checked as: recording" in run(text="\ufeff" + lines).output


def test_a_rule_is_explained():
    result = run("--explain", "response-count")
    assert result.exit_code == 0
    assert "What to do:" in result.output
    assert run("--explain", "nonsense").exit_code == 2


@pytest.mark.parametrize(("file", "data"), [("missing.json", b""), ("-", b"\xff\xfe\x00")])
def test_what_cannot_be_read_is_said(tmp_path: Path, file: str, data: bytes):
    path = file if file == "-" else str(tmp_path / file)
    assert run(path, text=data).exit_code == 2


@pytest.mark.parametrize("text", ["", " \n", "null", "{}", "[]"])
def test_nothing_is_told_in_one_line_and_exits_with_2(text, tmp_path):
    file = tmp_path / "nothing.json"
    file.write_text(text)
    for result, place in ((run(text=text), "the standard input"), (run(str(file)), str(file))):
        assert result.exit_code == 2
        assert result.stderr == f"livetools: there is nothing to check in {place}\n"
        assert result.stdout == ""


def test_a_python_program_is_not_json_and_the_command_that_reads_it_is_named(tmp_path: Path):
    file = tmp_path / "pizza.py"
    file.write_text("def order(): ...")
    result = run(str(file))
    assert result.exit_code == 2
    assert f"livetools tools {file}" in result.output.replace("\n", "")
