"""Asks whether a call may run: its hooks, the arguments, and the ``approval`` of its tool."""

from __future__ import annotations

import logging
from contextvars import copy_context

from livetools.log import get_logger
from livetools.tools.results import error_outcome, tool_error

from .call_hooks import decide
from .job import Desk, Job
from .run_tool import ToolRunner
from .user_errors import excuse, is_of_the_user

log = get_logger("livetools.calls")


def warn_unread(name: str, seconds: float) -> None:
    """Say that a call of this tool waits for a person, and that no loop of the program would tell one."""
    log.warning(
        "%s waits up to %g s for an approval, and nobody reads the session's events: approve it in a loop, "
        "async for event in session, with: case ApprovalRequested(call): await session.approve(call)",
        name,
        seconds,
    )


async def ask(job: Job, handlers: ToolRunner, desk: Desk) -> bool | str:
    """Ask the hooks, which may replace the arguments, and the tool's ``approval``. True: a person must decide; a text:
    it is refused with that; false: it may run.

    Raises what a hook has refused it with, and what is wrong with its arguments.
    """
    await decide(job, desk)
    # Those with which the call is shown and run, validated.
    args = job.tool.arguments(job.call.args)
    job.variables = copy_context()
    approval = job.tool.options["approval"]
    if approval is True:
        return True
    assert job.context is not None
    try:
        return bool(await handlers.user(approval, job.context, args))
    except BaseException as error:
        # The text of a ToolError is meant for the model; of another error it reads nothing.
        if is_of_the_user(error) and tool_error(error) is not None:
            return str(error_outcome(error, job.call.name).response["error"])
        excuse(log, f"the approval of {job.call.name}", error, logging.ERROR)
        return "its approval failed"
