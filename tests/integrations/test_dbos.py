"""Durable tools: processes are killed in the middle of a call, and the call is done once all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dbos", reason="dbos is not installed")

from livetools import ConfigError, ToolContext, ToolDefinitionError
from livetools.integrations.dbos import Durable
from livetools.session.handle_store import MemoryHandleStore
from livetools.testing import FakeLiveServer

APP = Path(__file__).parents[1] / "support" / "durable_app.py"
LEASE = 1.0


class Parent:
    """Forks processes; see ``durable_app``."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, str(APP), str(LEASE)]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)

    def tell(self, line: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def parent() -> Iterator[Parent]:
    parent = Parent()
    yield parent
    os.killpg(parent.process.pid, signal.SIGKILL)  # with whatever it has forked
    parent.process.communicate()


class Processes:
    """Processes that share a database and a conversation."""

    def __init__(self, parent: Parent, folder: Path) -> None:
        self._parent, self.folder = parent, folder

    def start(self, task: str, url: str, where: str = "") -> int:
        return self._parent.tell(f"{task} {url} {self.folder} {where}")

    def end(self, pid: int) -> int:
        """Its exit code."""
        return self._parent.tell(f"wait {pid}")

    @property
    def notes(self) -> list[str]:
        return (self.folder / "notes").read_text(encoding="utf-8").splitlines()

    @property
    def confirmed(self) -> list[Path]:
        return list(self.folder.glob("confirmed-*"))


@pytest.fixture
def processes(parent: Parent, tmp_path: Path) -> Processes:
    return Processes(parent, tmp_path)


@pytest.fixture
def server() -> Iterator[FakeLiveServer]:
    """A model that books when it is asked to, and else says that it has heard."""

    async def model(turn: Any) -> None:
        if turn.text == "book":
            answer = await turn.call("book", table=4)
            await turn.say(answer["output"])
        else:
            await turn.say("I see.")

    server = FakeLiveServer(model).start()
    yield server
    server.stop()


def heard(server: FakeLiveServer) -> list[str]:
    """What the model was told of the booking, in the conversation as it stands."""
    contents = server.sessions[0].history
    return [str(part) for content in contents for part in content["parts"] if "booked 400" in str(part)]


@pytest.mark.parametrize(
    ("where", "confirmed"), [("between", 1), ("inside", 2)], ids=["between its steps", "inside a step"]
)
def test_a_process_is_killed_and_the_next_one_finishes_the_call(
    processes: Processes, server: FakeLiveServer, where: str, confirmed: int
) -> None:
    assert processes.end(processes.start("first", server.url, where)) == -signal.SIGKILL, processes.notes
    assert processes.end(processes.start("later", server.url)) == 0
    assert processes.notes.count("reserve 4") == 1
    assert processes.notes.count("confirm began") == confirmed
    assert len(processes.confirmed) == 1  # one key, however often it was tried
    assert len(heard(server)) == 1
    assert len(server.sessions) == 1


def test_what_is_alive_is_attached_to_and_never_taken_over(
    processes: Processes, server: FakeLiveServer
) -> None:
    one = processes.start("first", server.url, "slow")  # from then on for three times its lease
    two = processes.start("beside", server.url)
    assert (processes.end(one), processes.end(two)) == (0, 0)
    assert sorted(processes.notes) == ["booked 400", "booked 400 beside", "confirm began", "reserve 4"]
    assert len(processes.confirmed) == 1


def test_a_call_that_the_handle_holds_is_not_told_again(processes: Processes, server: FakeLiveServer) -> None:
    for _ in range(2):  # the second one finds nothing that was left behind
        assert processes.end(processes.start("first", server.url)) == 0
    assert processes.notes.count("booked 400") == 2
    lost = [frame for frame in server.frames if "error" in str(frame.message.get("toolResponse", ""))]
    assert not lost
    texts = [str(p["text"]) for c in server.sessions[0].history for p in c["parts"] if "text" in p]
    assert [text for text in texts if text not in ("book", "booked 400")] == []


def test_a_tool_that_takes_the_context_is_refused() -> None:
    def where(context: ToolContext) -> str:
        """Where."""
        return ""

    with pytest.raises(ToolDefinitionError, match="takes no ToolContext"):
        Durable().tool()(where)


@pytest.mark.parametrize("lease", [0, -1, float("nan")])
def test_a_lease_has_a_length(lease: float) -> None:
    with pytest.raises(ConfigError, match="lease"):
        Durable(lease=lease)


@pytest.mark.anyio
async def test_a_plain_handle_is_taken_and_gets_a_key() -> None:
    inner = MemoryHandleStore()
    await inner.save("h1")
    store = Durable().store(inner)
    assert await store.load() == "h1"
    await store.save("h2")
    again = Durable().store(inner)
    assert await again.load() == "h2"
    assert again.key == store.key  # type: ignore[attr-defined]
