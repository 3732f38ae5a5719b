"""Asks whether a call may run: its hooks, the arguments, and the ``approval`` of its tool."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

import anyio

from livetools.events import Call
from livetools.log import get_logger
from livetools.tools import Tool, ToolContext
from livetools.tools.results import error_outcome, tool_error

from .run_tool import Desk, ToolRunner
from .user_errors import excuse, is_of_the_user

log = get_logger("livetools.calls")


class ApprovalCheck:
    """A call whose hooks and ``approval`` are asked, until it runs or never will. ``variables``: the context variables
    that the hooks have left, once all have let it run. ``scope``: around what asks, as long as that runs."""

    __slots__ = ("call", "run", "scope", "tool", "variables")

    def __init__(self, run: int, call: Call, tool: Tool) -> None:
        self.run, self.call, self.tool = run, call, tool
        self.variables: Context | None = None
        self.scope: anyio.CancelScope | None = None


def warn_unread(name: str, seconds: float) -> None:
    """Say that a call of this tool waits for a person, and that no loop of the program would tell one."""
    log.warning(
        "%s waits up to %g s for an approval, and nobody reads the session's events: approve it in a loop, "
        "async for event in session, with: case ApprovalRequested(call): await session.approve(call)",
        name,
        seconds,
    )


async def ask(
    asked: ApprovalCheck,
    handlers: ToolRunner,
    desk: Desk,
    context_of: Callable[[int, Call, Tool], ToolContext[Any]],
) -> bool | str:
    """Ask the hooks, which may replace the arguments, and the tool's ``approval``. True: a person must decide; a text:
    it is refused with that; false: it may run.

    Raises what a hook has refused it with, and what is wrong with its arguments.
    """
    decided = await handlers.decide(asked.call, asked.tool)
    if decided is not asked.call:
        desk.decided(asked.run, decided)
    # Those with which the call is shown and run, validated.
    args = asked.tool.arguments(decided.args)
    asked.call, asked.variables = decided, copy_context()
    approval = asked.tool.options["approval"]
    if approval is True:
        return True
    context = context_of(asked.run, asked.call, asked.tool)
    try:
        return bool(await handlers.user(approval, context, args))
    except BaseException as error:
        # The text of a ToolError is meant for the model; of another error it reads nothing.
        if is_of_the_user(error) and tool_error(error) is not None:
            return str(error_outcome(error, decided.name).response["error"])
        excuse(log, f"the approval of {decided.name}", error, logging.ERROR)
        return "its approval failed"
