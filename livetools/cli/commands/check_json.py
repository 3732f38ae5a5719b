"""``livetools check``: says what is wrong with a JSON document, what the service would answer, and what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from livetools.cli.process.errors_and_signals import refuse
from livetools.cli.terminal.printing import printable
from livetools.formats import KINDS, Report, check_text, explain
from livetools.formats.checks.document import is_empty

COLORS = {"✔": typer.colors.GREEN, "✘": typer.colors.RED, "!": typer.colors.YELLOW, "·": typer.colors.BLUE}


def check(
    file: Annotated[str, typer.Argument(help="A file of JSON or JSON lines; - for standard input.")] = "-",
    kind: Annotated[
        str | None, typer.Option(help=f"What the file holds, if its keys do not say: {', '.join(KINDS)}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    rule: Annotated[
        str | None, typer.Option("--explain", help="Explain this rule, and check nothing.")
    ] = None,
) -> None:
    """Find faults in function calls and responses, conversations, tools, Live frames and recordings.

    Exits with 1 if there is a fault, with 2 if there is nothing to check, and with 0 if there is only advice.
    """
    if rule is not None:
        _explain(rule)
        return
    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(KINDS)}", param_hint="--kind")
    if file.endswith((".py", ".pyi")):
        refuse(
            f"{file} is a Python program, and JSON is checked here: livetools tools {file} prints its declarations "
            f"and what is doubtful in them; livetools tools {file} | livetools check checks them"
        )
    text = _read(file)
    if is_empty(text, kind):
        refuse(f"there is nothing to check in {'the standard input' if file == '-' else file}")
    report = check_text(text, kind)
    if as_json:
        typer.echo(printable(json.dumps(report.as_json(), ensure_ascii=False, indent=2)))
    else:
        _print(report)
    if not report.ok:
        raise typer.Exit(1)


def _explain(rule: str) -> None:
    try:
        typer.echo(explain(rule))
    except KeyError as error:
        raise typer.BadParameter(str(error.args[0]), param_hint="--explain") from None


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {file}: {error.strerror}", param_hint="FILE") from None
    except UnicodeDecodeError as error:
        message = f"{file} is not UTF-8: {error.reason} at byte {error.start}"
        raise typer.BadParameter(message, param_hint="FILE") from None


def _print(report: Report) -> None:
    """The checklist, its marks in color where the terminal has some."""
    for line in str(report).splitlines():
        color = COLORS.get(line[:1])
        typer.echo(typer.style(line[:1], fg=color, bold=True) + line[1:] if color else line)
    faults = len(report.faults)
    typer.secho(
        f"{faults} fault{'' if faults == 1 else 's'}", fg=COLORS["✔" if report.ok else "✘"], bold=True
    )
    if report.faults:
        typer.echo(f"more: livetools check --explain {report.faults[0].rule}")
