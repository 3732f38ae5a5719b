"""A tool run by itself, as a session would run it: for tests, the command line and notebooks."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from livetools.protocol.errors import ToolTimeout
from livetools.protocol.events import Call

from . import results
from .context import ToolContext

if TYPE_CHECKING:
    from .tool import Tool

log = logging.getLogger("livetools.tools")


async def run(tool: Tool, args: Mapping[str, Any], deps: Any) -> dict[str, Any]:
    """The response object of one call. Every exception of the tool's becomes one; cancellation passes."""
    context: ToolContext[Any] = ToolContext(call=Call("offline", tool.name, dict(args)), deps=deps)
    timeout = tool.options.get("timeout")
    try:
        with anyio.move_on_after(timeout) as scope:
            value = await _value(tool, args, context)
        if scope.cancelled_caught:
            context.mark_cancelled()
            raise ToolTimeout(f"timed out after {timeout:g} s")
    except Exception as error:
        log.debug("%s failed", tool.name, exc_info=error)
        return dict(results.error_outcome(error, tool.name).response)
    return dict(results.outcome(value, max_bytes=tool.options["max_result_bytes"]).response)


async def _value(tool: Tool, args: Mapping[str, Any], context: ToolContext[Any]) -> object:
    handler = tool.handler
    assert handler is not None  # Tool.call asked
    positional, keyword = tool.bind(args, context)
    call = functools.partial(handler, *positional, **keyword)
    if tool.kind == "async_generator":
        return [value async for value in call()]
    if tool.kind == "async":
        return await call()
    gathered = functools.partial(list, call()) if tool.kind == "generator" else call
    value = await anyio.to_thread.run_sync(gathered, abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value
