"""The folder in which the command keeps what it remembers from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """``livetools`` in the user's folder for the state of programs; it need not be there yet."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "livetools"
