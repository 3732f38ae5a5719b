"""The entry point of the ``livetools`` command."""

from __future__ import annotations

import importlib.util
import sys


def main() -> None:
    """Run the command; without its extra, say how to get it."""
    if importlib.util.find_spec("typer") is None or importlib.util.find_spec("rich") is None:
        sys.exit("livetools: the command needs typer and rich: pip install 'livetools[cli]'")
    from .app import app

    app()
