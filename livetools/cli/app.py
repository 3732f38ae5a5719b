"""The ``livetools`` command: its subcommands, and how an error ends it."""

from __future__ import annotations

import errno
import shutil
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import livetools
from livetools.errors import LiveToolsError
from livetools.setup.did_you_mean import near_names

from .commands.chat import chat
from .commands.check_json import check
from .commands.doctor import doctor
from .commands.eval import eval
from .commands.probe import probe
from .commands.record_and_replay import record, replay
from .commands.serve import serve
from .commands.tools import tools
from .commands.voice import voice
from .commands.web import web
from .process.errors_and_signals import UsageError
from .show_warnings import show_warnings


class Commands(TyperGroup):
    """Prints each error as one clear line on standard error, and exits with status 1, or 2 for a wrong call."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """As typer's, with help that fits terminals of less than 50 columns too."""
        extra.setdefault("terminal_width", max(20, min(80, shutil.get_terminal_size().columns) - 2))
        try:
            return super().make_context(info_name, args, parent, **extra)
        except Exception as error:
            _suggest(error)
            raise

    def invoke(self, ctx: Any) -> Any:  # click's context and result, which typer does not export
        show_warnings()
        status = 1
        try:
            return super().invoke(ctx)
        except LiveToolsError as error:
            text, status = str(error), 2 if isinstance(error, UsageError) else 1
        except OSError as error:
            # The reader of our output has gone, or its disk is full: ``main`` ends it.
            if error.errno == errno.EPIPE or (error.errno == errno.ENOSPC and not error.filename):
                raise
            text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except Exception as error:
            _suggest(error)
            raise
        typer.secho(f"livetools: {text}", fg=typer.colors.RED, err=True)
        raise typer.Exit(status)


def _suggest(error: Any) -> None:
    """Name in click's error about an unknown option the one that was meant, and no other: which words it has for that
    depends on its version and on typer's."""
    name, known = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    if isinstance(name, str) and hasattr(error, "message"):
        near = near_names(name, known or ())
        error.possibilities = None
        error.message = f"No such option: {name}.{f' Did you mean {near[0]}?' if near else ''}"


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"livetools {livetools.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_tell_version),
    ] = False,
) -> None:
    """Develop and test Gemini Live agents that call Python functions.

    Without a key in the environment (GEMINI_API_KEY), chat, voice, web and eval use a pretend model on this machine.
    """


for command in (chat, voice, web, eval, serve, tools, check, record, replay, doctor, probe):
    app.command()(command)
