"""The evals of the examples, against the fake: two of them with a fault on."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from livetools.cli.app import app

EVALS = Path(__file__).parents[2] / "examples" / "evals"


@pytest.mark.parametrize(("agent", "passed"), [("phone_agent", 2), ("restaurant", 3), ("web_agent", 3)])
def test_its_evals_pass_offline(agent: str, passed: int) -> None:
    result = CliRunner().invoke(app, ["eval", "--fake", str(EVALS / f"{agent}.yaml")])
    assert result.exit_code == 0, result.output
    assert f"{passed} passed, 0 failed" in result.output
