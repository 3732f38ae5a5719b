"""Asks the hooks of a call: ``before``, which may refuse or change it, ``after``, which may change its response."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from livetools.errors import ToolError
from livetools.events import Call
from livetools.log import get_logger
from livetools.protocol.calls import wording
from livetools.protocol.calls.driver_actions import Outcome
from livetools.tools import Hooks
from livetools.tools.results.outcomes import failure, outcome, tool_error
from livetools.tools.results.to_json import words

from .job import Desk, Job
from .user_code import excuse, is_of_the_user

log = get_logger("livetools.calls")


async def decide(job: Job, desk: Desk) -> None:
    """Ask the ``before`` of every hook, in their order. With other arguments the call is what runs for everybody: the
    context, the machine (which undoes it and tells of it), and the hooks behind.

    Raises ``ToolError`` where one refuses it. A hook that fails refuses it too: a check must not let a call pass
    because its server is down.
    """
    call = job.call
    for at, hook in enumerate(job.hooks, 1):
        try:
            told = await ask_hook(hook, "before", call)
        except BaseException as error:
            if not is_of_the_user(error):
                raise
            raise _refusal(hook, call, error) from error
        if told is None:
            continue
        if not isinstance(told, Mapping):
            log_return(log, hook, "before", told, "None, or a mapping: the arguments to run it with")
            raise ToolError(_failed(call))
        call, replaced = replace(call, args=dict(told)), call
        for known in job.hooks[:at]:
            if (follow := getattr(known, "replaced", None)) is not None:
                follow(replaced, call)
    if call is not job.call:
        job.call = call
        if job.context is not None:
            job.context.call = call
        desk.decided(job.run, call)


async def review(job: Job, done: Outcome, key: str) -> Outcome:
    """Ask the ``after`` of every hook; of a call that has failed tell ``on_error``. What the model gets."""
    call, most = job.call, job.tool.options["max_result_bytes"]
    for at, hook in enumerate(job.hooks):
        if done.error is not None:
            await tell_all(job.hooks[at:], "on_error", call, done.error)
            break
        done.encoded = None  # a hook may change the response in place
        try:
            told = await ask_hook(hook, "after", call, done.response)
        except BaseException as error:
            excuse(log, f"the hook {type(hook).__name__}.after", error)
            done = _withheld(call, error, done.result)
            continue
        if told is not None:
            other = outcome(told, key, most)
            done.response, done.encoded = other.response, other.encoded
            done.parts = other.parts or done.parts
    return done


async def ended_early(job: Job, reason: Exception | None) -> None:
    """Tell the hooks of a call that was over before its handler was, or before that could begin."""
    # Without a reason the session has ended. A call that failed is one whose time was up, or that was refused.
    if reason is None or reason is wording.CANCELLED.error:
        await tell_all(job.hooks, "on_cancel", job.call)
    else:
        await tell_all(job.hooks, "on_error", job.call, reason)


async def tell_all(hooks: Sequence[Hooks], name: str, *args: object) -> None:
    """Tell the hooks, in their order; what one raises is logged."""
    for hook in hooks:
        try:
            await ask_hook(hook, name, *args)
        except BaseException as error:
            excuse(log, f"the hook {type(hook).__name__}.{name}", error)


async def ask_hook(hook: Hooks, name: str, *args: object) -> Any:
    """What a method of a hook returns, awaited where it is to be; ``None`` where the hook does not have it."""
    method = getattr(hook, name, None)
    told = None if method is None else method(*args)
    return await told if told is not None and inspect.isawaitable(told) else told


def _refusal(hook: Hooks, call: Call, error: BaseException) -> ToolError:
    """What the model reads where ``before`` raised: the text of a ``ToolError``, which was meant for it."""
    if (meant := tool_error(error)) is not None:
        return meant
    excuse(log, f"the hook {type(hook).__name__}.before, which refuses {call.name} ({call.id}),", error)
    return ToolError(_failed(call))


def _failed(call: Call) -> str:
    return f"{call.name} was refused: its check failed"


def _withheld(call: Call, error: BaseException, result: object) -> Outcome:
    """The answer of a call whose ``after`` failed. It has run, and is not undone."""
    meant = tool_error(error)
    why = "the check of its result failed" if meant is None else words(meant)
    text = f"{call.name} has run, and its result is withheld: {why}"
    return Outcome(failure(text), ToolError(text), result=result)


def log_return(log: logging.Logger, hook: Hooks, name: str, told: object, wanted: str) -> None:
    """Log that a hook has returned what it cannot: its class only, for the value may hold anything."""
    what = f"{type(hook).__name__}.{name}"
    log.error("the hook %s has returned a %s; expected %s", what, type(told).__name__, wanted)
