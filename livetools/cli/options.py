"""Options that several commands have."""

from __future__ import annotations

import typer

DEFAULT_MODEL = "gemini-3.8-live"

TARGET = typer.Argument(
    metavar="MODULE:NAMES | FILE.py[:NAMES]",
    help="Functions, Tools or Toolsets, with commas between their names; without names the module's `tools`, "
    "or whatever bears @tool.",
    show_default=False,
)
MODEL = typer.Option(help="The model, as google-genai names it.")
BASE_URL = typer.Option(help="Another endpoint: http(s):// or ws(s)://.", show_default=False)
PORT = typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)
THINKING = typer.Option(
    help="The thinking level, where the model has one: low, medium, high.", show_default=False
)


def thinking_config(level: str | None) -> dict[str, object] | None:
    """``connect``'s config for ``--thinking``."""
    return None if level is None else {"thinking_config": {"thinking_level": level}}
