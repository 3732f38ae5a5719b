"""``--reload``: when a file is saved, the running session gets its tools and instructions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from livetools.errors import LiveToolsError
from livetools.session.agents import open_agent
from livetools.tools import Tool

from .load_agent import Loaded, load
from .open_sessions import NOWHERE, with_model

if TYPE_CHECKING:
    from livetools.session.session import Session
    from livetools.setup.plan_fields import Plan


async def edits(target: str) -> AsyncIterator[str]:
    """The names of the Python files in the target's folder that were saved, each time some are."""
    from watchfiles import PythonFilter, awatch

    async for changes in awatch(folder_of(target), watch_filter=PythonFilter()):
        yield ", ".join(sorted({Path(file).name for _, file in changes}))


async def follow(target: str, session: Session, notice: Callable[[str], None]) -> None:
    """Update ``session`` each time a Python file in the target's folder is saved. Runs until it is cancelled.

    If a file cannot be imported, or the model refuses the tools, ``notice`` reports it and the session keeps
    the tools that it has.
    """
    async for names in edits(target):
        try:
            await update(await loaded(target), session)
            notice(f"{names}: reloaded; tools: {', '.join(session.tools) or 'none'}")
        except LiveToolsError as error:
            notice(f"{names}: {error}")


async def loaded(target: str) -> Loaded:
    """Load the target again. Raises ``ConfigError`` as ``load`` does."""
    found = await to_thread.run_sync(load, target)
    found.tell()
    return found


async def update(found: Loaded, session: Session, *, instructions: bool = True) -> None:
    """Give the session the tools that were loaded, and, with ``instructions``, those of an agent.

    Raises as ``Session.update`` does.
    """
    if found.agent is None:
        return await session.update(tools=found.tools)
    plan = open_agent(with_model(found.agent, None, None), base_url=NOWHERE).plan
    tools = [policy.tool for policy in plan.policies.values() if isinstance(policy.tool, Tool)]
    return await session.update(_instructions(plan) if instructions else None, tools)


def _instructions(plan: Plan) -> str | None:
    """The text of the system instruction, if the agent has one."""
    parts = plan.setup.get("systemInstruction", {}).get("parts", [])
    return "\n".join(part["text"] for part in parts if part.get("text")) or None


def folder_of(target: str) -> Path:
    """The folder whose files count: the file's own, or the working directory for a module."""
    place = target.partition(".py")[0] + ".py" if ".py" in target else ""
    return Path(place).resolve().parent if place else Path.cwd()
