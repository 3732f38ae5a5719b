"""Asks whether a call may run: its hooks, the arguments, and the ``approval`` of its tool."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
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
    """True: a person must decide; a text: it is refused with that; false: it may run.

    Raises what a hook has refused it with, and what is wrong with its arguments.
    """
    args = await _decided(asked, handlers, desk)
    if asked.tool.options["approval"] is True:
        return True
    return await _verdict(asked, handlers, context_of(asked.run, asked.call, asked.tool), args)


async def _decided(asked: ApprovalCheck, handlers: ToolRunner, desk: Desk) -> Mapping[str, Any]:
    """Ask the hooks, which may replace the arguments. Those with which the call is shown and run, validated."""
    decided = await handlers.decide(asked.call, asked.tool)
    if decided is not asked.call:
        desk.decided(asked.run, decided)
    args = asked.tool.arguments(decided.args)
    asked.call, asked.variables = decided, copy_context()
    return args


async def _verdict(
    asked: ApprovalCheck, handlers: ToolRunner, context: ToolContext[Any], args: Mapping[str, Any]
) -> bool | str:
    """What the tool's ``approval`` says: whether a person must decide, or why the call is refused."""
    name = asked.call.name
    try:
        return bool(await handlers.user(asked.tool.options["approval"], context, args))
    except BaseException as error:
        # The text of a ToolError is meant for the model; of another error it reads nothing.
        if is_of_the_user(error) and tool_error(error) is not None:
            return str(error_outcome(error, name).response["error"])
        excuse(log, f"the approval of {name}", error, logging.ERROR)
        return "its approval failed"
