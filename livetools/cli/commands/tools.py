"""``livetools tools``: the declarations as the model will see them."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from livetools.cli.agents.common_options import DEFAULT_MODEL, MODEL_OPTION, TARGET
from livetools.cli.agents.load_agent import load
from livetools.cli.agents.open_sessions import NOWHERE, with_model
from livetools.cli.terminal.printing import printable
from livetools.session.agents import open_agent
from livetools.setup.plan import make_plan


def tools(
    target: Annotated[str, TARGET],
    model: Annotated[str | None, MODEL_OPTION] = None,
) -> None:
    """Print the function declarations that the model reads, and what it will not learn from them.

    The declarations are JSON on standard output; lint and warnings are lines on standard error. Exits with 1 if a
    tool cannot be declared, or if the model would refuse it.
    """
    loaded = load(target)
    loaded.tell()
    if loaded.agent is None:
        plan = make_plan(model or DEFAULT_MODEL, loaded.tools)
    else:
        plan = open_agent(with_model(loaded.agent, model, target), base_url=NOWHERE).plan
    typer.echo(printable(json.dumps(plan.setup.get("tools", []), ensure_ascii=False, indent=2)))
    lint = [line for tool in loaded.tools for line in tool.lint()]
    for line in (*plan.warnings, *lint):
        typer.secho(line, fg=typer.colors.YELLOW, err=True)
