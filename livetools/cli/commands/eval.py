"""``livetools eval``: play conversations with an agent and judge them."""

from __future__ import annotations

import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from livetools.cli.agents.common_options import BASE_URL
from livetools.cli.agents.load_agent import load, values_of
from livetools.cli.agents.open_sessions import with_model
from livetools.cli.agents.service_or_fake import ServiceOrFake, service_or_fake
from livetools.cli.process.errors_and_signals import UsageError
from livetools.cli.terminal.printing import harmless
from livetools.errors import ConfigError
from livetools.transport.loop.race import race

if TYPE_CHECKING:
    from livetools.evals import Result
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
    its agent cannot be read, or FILE names a tool that the agent does not have. Without a key, or with --fake, the
    model, personas and the judge are pretend ones on this machine; what only a real judge can say is skipped and
    listed. If you interrupt the run, the report has the conversations that were played.
    """
    if report is not None:
        _check_writable(report)
    from livetools.evals.grading.judge import offline
    from livetools.evals.html_report import page

    try:
        found = _read(file)
    except (ConfigError, OSError) as error:
        text = f"cannot read {file}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise typer.BadParameter(text, param_hint="FILE") from None
    with service_or_fake(fake, base_url, found.rules) as endpoint:
        if endpoint.notice:
            typer.echo(endpoint.notice)
        results: list[Result] = []
        try:
            with offline(endpoint.rest) if endpoint.rest is not None else nullcontext():
                if not anyio.run(_play_on, found, endpoint, repeat, results):
                    raise KeyboardInterrupt
        finally:
            if report is not None:
                report.write_text(page(results, file.name), encoding="utf-8")
                typer.echo(f"wrote {report}")
    failed = sum(len(result.rounds) - result.passed for result in results)
    passed = sum(result.passed for result in results)
    skipped = sum(len(each.skipped) for result in results for each in result.rounds)
    told = f"; {skipped} expectation{'s' * (skipped != 1)} skipped" if skipped else ""
    typer.echo(f"{passed} passed, {failed} failed{told}")
    if failed:
        mistaken = any(each.mistaken for result in results for each in result.rounds)
        raise typer.Exit(2 if mistaken else 1)


def _check_writable(report: Path) -> None:
    """Raise a usage error, before anything is played, if the report could not be written."""
    existed = report.exists()
    try:
        with report.open("a", encoding="utf-8"):
            pass
        if not existed:
            report.unlink()  # a run that does not begin leaves no empty report
    except OSError as error:
        why = f"cannot write {report}: {error.strerror}"
        raise typer.BadParameter(why, param_hint="--report") from None


def _read(file: Path) -> EvalFile:
    from livetools.evals import Eval
    from livetools.evals.files import EvalFile, load_yaml

    if not file.is_file():
        raise UsageError(f"there is no file {file}")
    if file.suffix != ".py":
        found = load_yaml(file, _agent)
        if found.rules is not None and not found.rules.is_file():
            raise UsageError(f"{file}: rules: there is no file {found.rules}")
        return found
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
    return with_model(agent, None, target)


async def _play_on(found: EvalFile, endpoint: ServiceOrFake, repeat: int, results: list[Result]) -> bool:
    """Play all of it; false if Ctrl-C has ended it, which is reported before the sessions are closed."""
    interrupted = False

    async def told() -> None:
        nonlocal interrupted
        if sys.platform == "win32":  # there it is a KeyboardInterrupt, as ever
            await anyio.sleep_forever()
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                interrupted = True
                typer.echo("Ctrl-C: you interrupted the run.", err=True)
                return

    await race(lambda: _play(found, endpoint, repeat, results), told)
    return not interrupted


async def _play(found: EvalFile, endpoint: ServiceOrFake, repeat: int, results: list[Result]) -> None:
    from livetools.evals import Judge, run

    judge = None if found.judge is None else Judge(model=found.judge)
    async for result in run(found.evals, repeat=repeat, judge=judge, **endpoint.options):
        results.append(result)
        _show(result)


def _show(result: Result) -> None:
    rounds, repeated = result.rounds, len(result.rounds) > 1
    low, high = result.confidence
    share = f"  {result.passed} of {len(rounds)} (95 %: {low:.0%} to {high:.0%})" if repeated else ""
    typer.echo(f"{'pass' if result.rate == 1 else 'FAIL'}  {result.name}{share}")
    for number, each in enumerate(rounds, 1):
        for line in [] if each.passed else str(each).splitlines():
            typer.echo(f"      {f'{number}: ' if repeated else ''}{harmless(line)}")
    for line in dict.fromkeys(line for each in rounds if each.passed for line in each.skipped):
        typer.echo(f"      {harmless(line)}")
