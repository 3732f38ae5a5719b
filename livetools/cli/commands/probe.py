"""``livetools probe``: asks the service how a model behaves, and prints a profile to paste."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Annotated

import anyio
import typer

from livetools.cli.agents.common_options import BASE_URL, not_empty
from livetools.probe import EXPERIMENTS, Answer, Facts, Probe, Report, estimate
from livetools.transport.endpoint import Given, resolve

_SECONDS = 6  # that a session of a probe takes, about: most of them wait for a silence


def probe(
    model: Annotated[str, typer.Argument(help="The model's name.", show_default=False, callback=not_empty)],
    base_url: Annotated[str | None, BASE_URL] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask whether the price is accepted.")
    ] = False,
) -> None:
    """Ask the service how a model behaves, and print its ModelProfile.

    It holds a short conversation for each fact that can be observed, for a few cents in all. It shows the
    price first, and asks. Then it lists what differs from the profile that livetools has, what could not be decided,
    and a profile to pass as connect(profile=...), with the date and what was seen.
    """
    probing = Probe(model, resolve(Given(base_url=base_url)))
    api = "Vertex AI" if probing.endpoint.vertexai else "the Gemini API"
    typer.echo(f"{price(model)} on {api}.")
    if not (yes or typer.confirm("Continue?")):
        raise typer.Exit(1)

    async def main() -> Report:
        report = Report(model, datetime.date.today().isoformat(), probing.known, probing.facts)
        async for experiment, found in probing.run():
            typer.echo(experiment.asks)
            _print(found, report)
        return report

    conclude(anyio.run(main), typer.echo)


def price(model: str) -> str:
    """What a probe takes, in words."""
    expected = estimate(model, EXPERIMENTS)
    cents = math.ceil(expected.dollars * 100)
    minutes = math.ceil(expected.sessions * _SECONDS / 60)
    tokens = round(expected.usage.total_tokens, -3)
    return (
        f"About {cents} US cent{'s' if cents != 1 else ''} (an estimate: {expected.sessions} short sessions, "
        f"{tokens:,} tokens) and {minutes} minutes, with {model}"
    )


def _print(found: Facts, report: Report) -> None:
    """The answers of one experiment."""
    different = report.differences()
    for name, answer in found.items():
        if not isinstance(answer, Answer):
            typer.echo(f"  · {name}: not decided: {answer.why}")
        elif name in different:
            told = f"  ≠ {name} = {answer.values[0]!r}, not {getattr(report.known, name)!r}: {answer.seen}"
            typer.secho(told, fg=typer.colors.YELLOW)
        else:
            told = f"  ✔ {name} = {getattr(report.known, name)!r}: {answer.seen}"
            typer.secho(told, fg=typer.colors.GREEN)


def conclude(report: Report, tell: Callable[[str], None]) -> None:
    """What differs, what is not known, and the profile."""
    known = report.known
    whose = f"the profile of {known.family}" if known.known else "the defaults, for the model is unknown"
    different, confirmed = report.differences(), report.confirmed()
    tell("")
    agree = "1 fact agrees" if len(confirmed) == 1 else f"{len(confirmed)} facts agree"
    tell(f"{agree} with {whose}; {len(different)} {'differs' if len(different) == 1 else 'differ'}.")
    tell("")
    tell("Not decided:")
    for name, why in report.undecided().items():
        tell(f"  {name}: {why}")
    tell("Codes of rare closes, limits of time and size, and what happens under load are not probed either.")
    tell("")
    tell("Pass this as connect(profile=...):")
    tell("")
    tell(report.source())
