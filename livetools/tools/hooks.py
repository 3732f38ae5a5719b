"""What may be run around every call of a session or a toolset."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from livetools.protocol.events import Call


class Hooks(Protocol):
    """Told of every call, in the order of ``hooks=``. Inherit and override what is of interest.

    Each may be sync or async (what it returns is awaited if it can be). A hook that raises is logged and
    loses no call, with one exception: a :class:`~livetools.ToolError` raised in :meth:`before` refuses the
    call, and its text is the model's answer.
    """

    def before(self, call: Call) -> Awaitable[None] | None:
        """The tool is about to run."""
        return None

    def after(self, call: Call, response: Mapping[str, Any]) -> Awaitable[None] | None:
        """The tool has returned; ``response`` is the JSON object that the model gets."""
        return None

    def on_error(self, call: Call, error: Exception) -> Awaitable[None] | None:
        """The tool raised, took too long, or its arguments were invalid."""
        return None

    def on_cancel(self, call: Call) -> Awaitable[None] | None:
        """The call was taken back; nothing is sent for it."""
        return None
