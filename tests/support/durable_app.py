"""What the processes of the durable tests do: ``python durable_app.py [DATABASE]``.

Without a database it is SQLite in the folder. It imports once, and forks. Each line on its standard input is a task for
a process of its own: ``TASK URL FOLDER LEASE [WHERE]``. It is answered with its id; ``wait ID`` with its exit code.
``LEASE``: its seconds. ``WHERE`` a process kills itself: ``between`` two steps, ``inside`` one, or ``slow``: nowhere,
but it waits until another process is there, and from then on for longer than its lease.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
import time
from pathlib import Path

import websockets.asyncio.client  # noqa: F401  # once, not in each process
from dbos import DBOS

import livetools
from livetools import Tool, ToolContext, ToolFinished, TurnComplete
from livetools.integrations.dbos import Durable
from livetools.session.handle_store import ConversationStore, FileHandleStore

FOLDER = Path()
lease, where = 0.0, ""


def note(line: str) -> None:
    with open(FOLDER / "notes", "a", encoding="utf-8") as file:
        file.write(line + "\n")


def die(place: str) -> None:
    if where == place:
        os.kill(os.getpid(), signal.SIGKILL)


@DBOS.step()
def reserve(table: int) -> int:
    note(f"reserve {table}")
    return table * 100


@DBOS.step()
def confirm(number: int) -> None:
    """Its effect lies in another house, which takes each key once."""
    note("confirm began")
    (FOLDER / f"confirmed-{DBOS.workflow_id}".replace("/", "-")).touch()
    if where == "slow":
        while not (FOLDER / "attached").exists():
            time.sleep(0.02)
        time.sleep(1.1 * lease)
    die("inside")


def book(table: int) -> str:
    """Book a table."""
    number = reserve(table)
    die("between")
    confirm(number)
    return f"booked {number}"


async def first(session: livetools.Session, tool: Tool, store: ConversationStore) -> None:
    """Ask for the call, and leave when the newest handle holds it."""
    async with session as here:
        note(str(await here.ask("book")))
        await here.park(5)


async def later(session: livetools.Session, tool: Tool, store: ConversationStore) -> None:
    """Go on with the conversation, until the call that was left behind is finished and spoken of."""
    async with session as here:
        finished = False
        async for event in here:
            finished = finished or isinstance(event, ToolFinished)
            if finished and isinstance(event, TurnComplete):
                break
        await here.park(5)


async def beside(session: livetools.Session, tool: Tool, store: ConversationStore) -> None:
    """Attach to the call that another process runs just now."""
    while not (await store.load() and (left := await store.left())):
        await asyncio.sleep(0.05)
    [call] = left
    store.follow(session)
    context = ToolContext(call=call, session=session)
    (FOLDER / "attached").touch()
    assert tool.handler is not None
    note(str(await asyncio.to_thread(tool.handler, livetools_context=context)) + " beside")


def work(task: str, url: str, folder: str, seconds: str, place: str = "") -> None:
    global lease, where, FOLDER
    lease, where, FOLDER = float(seconds), place, Path(folder)
    database = sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{FOLDER / 'runs.sqlite'}"
    durable = Durable(database, lease=lease)
    tool = durable.tool()(book)
    store = durable.store(FileHandleStore(FOLDER / "handle"))
    assert isinstance(store, ConversationStore)
    session = livetools.connect("gemini-3.8-live", tools=[tool], handle_store=store, base_url=url)
    with contextlib.ExitStack() as stack:
        with open(FOLDER / "launching", "w", encoding="utf-8") as lock:
            fcntl.flock(
                lock, fcntl.LOCK_EX
            )  # DBOS fails where two processes make the tables of a new SQLite file
            stack.enter_context(durable)
        asyncio.run({"first": first, "later": later, "beside": beside}[task](session, tool, store))


def main() -> None:
    for line in sys.stdin:
        task, *rest = line.split()
        if task == "wait":
            print(os.waitstatus_to_exitcode(os.waitpid(int(rest[0]), 0)[1]), flush=True)
        elif (pid := os.fork()) == 0:
            code = 1
            try:
                work(task, *rest)
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        else:
            print(pid, flush=True)


if __name__ == "__main__":
    main()
