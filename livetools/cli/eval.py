"""``livetools eval``: play conversations with an agent and judge them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from livetools.errors import ConfigError

from .endpoint import Endpoint, service_or_fake
from .loading import load, values_of
from .options import BASE_URL
from .view import harmless

if TYPE_CHECKING:
    from livetools.evals import Judge, Result
    from livetools.evals.files import EvalFile
    from livetools.session.agents import AgentLike


def eval(
    file: Annotated[
        Path, typer.Argument(help="FILE.yaml, or FILE.py with livetools.evals.Eval objects in it.")
    ],
    repeat: Annotated[int, typer.Option(help="How often each conversation is played.", min=1)] = 1,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML page with every conversation.", show_default=False)
    ] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Play against a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
) -> None:
    """Play conversations with an agent and judge its calls, words, latency and price, or with a judge model.

    Prints a pass rate for each eval, with its 95 % interval. Exits with 1 if a conversation failed, with 2 if FILE or
    its agent cannot be read. Without a key, or with --fake, both the model and the judge are pretend ones on this
    machine; rubrics that this judge cannot score are skipped and listed.
    """
    try:
        found = _read(file)
    except (ConfigError, OSError) as error:
        text = f"cannot read {file}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise typer.BadParameter(text, param_hint="FILE") from None
    with service_or_fake(fake, base_url, found.rules) as endpoint:
        if endpoint.notice:
            typer.echo(endpoint.notice)
        results = anyio.run(_play, found, endpoint, repeat)
    if report is not None:
        from livetools.evals.report import page

        report.write_text(page(results, file.name), encoding="utf-8")
        typer.echo(f"wrote {report}")
    failed = sum(len(result.rounds) - result.passed for result in results)
    passed = sum(result.passed for result in results)
    skipped = sum(len(each.skipped) for result in results for each in result.rounds)
    typer.echo(f"{passed} passed, {failed} failed{f'; {skipped} expectations skipped' if skipped else ''}")
    if failed:
        raise typer.Exit(1)


def _read(file: Path) -> EvalFile:
    from livetools.evals import Eval
    from livetools.evals.files import EvalFile, load_yaml

    if not file.is_file():
        raise ConfigError(f"there is no file {file}")
    if file.suffix != ".py":
        return load_yaml(file, _agent)
    evals = tuple(value for value in values_of(str(file)) if isinstance(value, Eval))
    if not evals:
        raise ConfigError(f"{file} has no evals: expected livetools.evals.Eval objects, or a list of them")
    return EvalFile(evals)


def _agent(target: str) -> AgentLike:
    agent = load(target).agent
    if agent is None:
        raise ConfigError(
            f"{target} is not an agent: expected a partial of connect, or a function -> Session"
        )
    return agent


async def _play(found: EvalFile, endpoint: Endpoint, repeat: int) -> list[Result]:
    from livetools.evals import run

    results = []
    async for result in run(found.evals, repeat=repeat, judge=_judge(found, endpoint), **endpoint.options):
        results.append(result)
        _show(result)
    return results


def _show(result: Result) -> None:
    repeated = len(result.rounds) > 1
    low, high = result.confidence
    share = f"  {result.rate:.0%} of {len(result.rounds)} (95 %: {low:.0%} to {high:.0%})" if repeated else ""
    typer.echo(f"{'pass' if result.rate == 1 else 'FAIL'}  {result.name}{share}")
    for number, each in enumerate(result.rounds, 1):
        for line in [] if each.passed else str(each).splitlines():
            typer.echo(f"      {f'{number}: ' if repeated else ''}{harmless(line)}")
    for line in dict.fromkeys(line for each in result.rounds if each.passed for line in each.skipped):
        typer.echo(f"      {harmless(line)}")


def _judge(found: EvalFile, endpoint: Endpoint) -> Judge | None:
    """The judge model: of the service, or the pretend one by the fake's REST side."""
    from livetools.evals import Judge

    if found.judge is None:
        return None
    if endpoint.rest is None:
        return Judge(model=found.judge)
    from google.genai import Client

    client = Client(api_key="fake-key", http_options={"base_url": endpoint.rest})
    return Judge(client, found.judge, pretend=True)
