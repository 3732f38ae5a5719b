"""``livetools tools``: the declarations as the model will see them."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from livetools.protocol.plan import make_plan

from .loading import load
from .options import DEFAULT_MODEL, MODEL, TARGET


def tools(
    target: Annotated[str, TARGET],
    model: Annotated[str, MODEL] = DEFAULT_MODEL,
) -> None:
    """Print the function declarations as the model will see them, and what it will not know of them.

    The declarations are JSON on standard output; the lint and the warnings are lines on standard error. Exits
    with 1 if a tool cannot be declared, or would be refused by the model.
    """
    loaded = load(target)
    plan = make_plan(model, [tool.spec() for tool in loaded])
    typer.echo(json.dumps(plan.setup.get("tools", []), ensure_ascii=False, indent=2))
    lint = [line for tool in loaded for line in tool.lint()]
    for line in (*plan.warnings, *lint):
        typer.secho(line, fg=typer.colors.YELLOW, err=True)
