"""Options that several commands have."""

from __future__ import annotations

import math

import typer

from livetools.errors import ConfigError
from livetools.transport.endpoint import websocket_url

DEFAULT_MODEL = "gemini-3.8-live"

TARGET = typer.Argument(
    metavar="TARGET",
    help="MODULE[:NAMES] or FILE.py[:NAMES]: an agent (a partial of connect, or a function annotated -> Session), or "
    "tools (functions, Tools, Toolsets) by their names, separated by commas. Without names: the module's agent, or "
    "its `tools`, or the functions with @tool, or all its functions.",
    show_default=False,
)


def not_empty(value: str | None) -> str | None:
    """The value. Raises ``typer.BadParameter`` for an empty one: it would be taken for none, as if it was not given."""
    if value is not None and not value.strip():
        raise typer.BadParameter("is empty: name one, or leave the option out")
    return value


MODEL_OPTION = typer.Option(
    help=f"The model's name ({DEFAULT_MODEL} by default).", show_default=False, callback=not_empty
)
INSTRUCTIONS = typer.Option(
    help="The system instruction, instead of the agent's.", show_default=False, callback=not_empty
)
VOICE = typer.Option(
    help="The voice, instead of the agent's: Puck, Kore, …", show_default=False, callback=not_empty
)
LANGUAGE = typer.Option(
    help="The language to speak, instead of the agent's: de-DE, …", show_default=False, callback=not_empty
)
CONFIG = typer.Option(
    help="A TOML file with the fields of google-genai's LiveConnectConfig.",
    show_default=False,
    exists=True,
    dir_okay=False,
)


def _checked_url(url: str | None) -> str | None:
    """The URL. Raises ``typer.BadParameter`` for anything else, before anything is dialled."""
    not_empty(url)
    if url is not None:
        try:
            websocket_url(url)
        except ConfigError as error:
            raise typer.BadParameter(str(error).removeprefix("base_url: ")) from None
    return url


def checked_seconds(seconds: float) -> float:
    """A time that has an end. Raises ``typer.BadParameter`` for another."""
    if not (math.isfinite(seconds) and seconds > 0):
        raise typer.BadParameter(f"{seconds:g} is not a number of seconds above 0")
    return seconds


BASE_URL = typer.Option(
    help="The endpoint, instead of Google's: http(s):// or ws(s)://.",
    show_default=False,
    callback=_checked_url,
)
PORT = typer.Option(help="The port to listen on; 0 chooses a free one.", min=0, max=65535)
THINKING = typer.Option(
    help="The thinking level, if the model has one: low, medium, high.",
    show_default=False,
    callback=not_empty,
)


def thinking_config(level: str | None) -> dict[str, object]:
    """The field of ``connect``'s config that ``--thinking`` sets."""
    return {} if level is None else {"thinking_config": {"thinking_level": level}}


def manual_config(manual: bool) -> dict[str, object]:
    """The field of ``connect``'s config with which the user, and not the service, says when there is speech."""
    return {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}} if manual else {}
