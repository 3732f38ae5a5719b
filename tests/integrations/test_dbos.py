"""Durable tools: processes are killed in the middle of a call, and the call is done once all the same."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dbos", reason="dbos is not installed")

from support.postgres import postgres, program

from livetools import ConfigError, ConnectFailed, ToolContext, ToolDefinitionError, ToolError, connect
from livetools.integrations.dbos import Durable
from livetools.integrations.durable_values import JsonOrPickle
from livetools.session.handle_store import FileHandleStore, MemoryHandleStore
from livetools.testing import FakeLiveServer

APP = Path(__file__).parents[1] / "support" / "durable_app.py"
#: Seconds of a lease: of a process whose death is waited for, and of one that must renew it in time on any machine.
SHORT, LONG = 0.5, 4.5


class Parent:
    """Forks processes; see ``durable_app``."""

    def __init__(self, *database: str) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, str(APP), *database]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)

    def tell(self, line: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def parent(request: pytest.FixtureRequest) -> Iterator[Parent]:
    with contextlib.ExitStack() as stack:
        database: tuple[str, ...] = ()
        if request.param == "postgres":
            if program("initdb") is None or program("postgres") is None:
                pytest.skip("PostgreSQL is not installed")
            database = (stack.enter_context(postgres()),)
        parent = Parent(*database)
        yield parent
        os.killpg(parent.process.pid, signal.SIGKILL)  # with whatever it has forked
        parent.process.communicate()


class Processes:
    """Processes that share a database and a conversation."""

    def __init__(self, parent: Parent, folder: Path) -> None:
        self._parent, self.folder = parent, folder

    def start(self, task: str, url: str, where: str = "", *, lease: float = LONG) -> int:
        return self._parent.tell(f"{task} {url} {self.folder} {lease} {where}")

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
    killed = processes.start("first", server.url, where, lease=SHORT)
    assert processes.end(killed) == -signal.SIGKILL, processes.notes
    assert processes.end(processes.start("later", server.url, lease=SHORT)) == 0
    assert processes.notes.count("reserve 4") == 1
    assert processes.notes.count("confirm began") == confirmed
    assert len(processes.confirmed) == 1  # one key, however often it was tried
    assert len(heard(server)) == 1
    assert len(server.sessions) == 1


def test_what_is_alive_is_attached_to_and_never_taken_over(
    processes: Processes, server: FakeLiveServer
) -> None:
    one = processes.start("first", server.url, "slow")  # from then on for longer than its lease
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


@pytest.mark.parametrize("lease", [0, -1, float("nan"), "10", True, None])
def test_a_lease_has_a_length(lease: Any) -> None:
    with pytest.raises(ConfigError, match="lease"):
        Durable(lease=lease)


def test_a_dbos_that_cannot_take_over_runs_is_refused_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr("dbos.DBOS._recover_pending_workflows")
    file = tmp_path / "durable.sqlite"
    with pytest.raises(ConfigError, match="cannot take over"), Durable(f"sqlite:///{file}"):
        pass
    assert not file.exists()


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


# What lies in the database, what is logged, and what is refused


def durable_pay(folder: Path) -> tuple[Durable, Any]:
    durable = Durable(f"sqlite:///{folder / 'runs.sqlite'}")

    @durable.tool()
    def pay(card: str) -> str:
        """Pay."""
        if card == "broken":
            raise RuntimeError("the password is hunter2")
        if card == "declined":
            raise ToolError("the card 4111 was declined")
        return f"paid with {card}"

    return durable, pay


PAID = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from integrations.test_dbos import durable_pay
import livetools
from livetools.session import FileHandleStore
from livetools.testing import FakeLiveServer

async def main(durable, pay):
    answers = []
    async with FakeLiveServer() as server:
        @server.model
        async def model(turn):
            for card in ("mine", "declined", "broken"):
                answers.append(await turn.call("pay", card=card))
            await turn.say("Done.")
        store = durable.store(FileHandleStore("handle"))
        async with livetools.connect("gemini-3.8-live", tools=[pay], handle_store=store, **server.options) as session:
            await session.ask("go", timeout=20)
    print(answers)

durable, pay = durable_pay(Path.cwd())
with durable:
    asyncio.run(main(durable, pay))
"""


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A folder in which a process has paid, what it printed, and what it logged."""
    folder = tmp_path_factory.mktemp("paid")
    source = PAID.format(tests=str(Path(__file__).parents[1]))
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, timeout=60, umask=0o022
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout, done.stderr


def test_the_text_of_an_error_goes_to_the_model_or_nowhere(paid: tuple[Path, str, str]) -> None:
    folder, answers, logged = paid
    assert "{'output': 'paid with mine'}" in answers
    assert "{'error': 'the card 4111 was declined'}" in answers
    assert "{'error': 'pay failed'}" in answers
    assert "4111" not in logged
    assert "hunter2" not in logged + answers
    assert "the durable tool pay failed: RuntimeError at" in logged
    assert not any(b"hunter2" in file.read_bytes() for file in folder.glob("runs.sqlite*"))


def test_the_files_of_a_database_are_their_owners_alone(paid: tuple[Path, str, str]) -> None:
    files = list(paid[0].glob("runs.sqlite*"))
    assert files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_what_is_json_lies_there_as_json(paid: tuple[Path, str, str]) -> None:
    kept = b"".join(file.read_bytes() for file in paid[0].glob("runs.sqlite*"))
    assert b'json:{"args":[{"card":"mine"}],"kwargs":{}}' in kept
    assert b'json:{"value":"paid with mine"}' in kept
    assert b'json:{"tool_error":"the card 4111 was declined"}' in kept
    assert b'json:{"failed":"RuntimeError"}' in kept
    assert b"gASV" not in kept  # a pickle, in base64


@pytest.mark.parametrize(
    ("value", "readable"),
    [
        (None, True), ({"a": [1, 2.5, True, "é", {}]}, True), ({"args": ({"x": 1},), "kwargs": {}}, True),
        ((1, 2), False), ({1: 2}, False), (float("inf"), False), (b"x", False), ("\ud800", False), ({1, 2}, False),
    ],
)  # fmt: skip
def test_a_value_is_the_same_after_it_was_kept(value: object, readable: bool) -> None:
    kept = JsonOrPickle().serialize(value)
    assert kept.startswith("json:") == readable
    again = JsonOrPickle().deserialize(kept)
    assert again == (
        value if not isinstance(value, dict) or "args" not in value else {**value, "args": [{"x": 1}]}
    )


def test_without_its_store_a_durable_tool_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    _, pay = durable_pay(tmp_path)
    other = Durable(f"sqlite:///{tmp_path / 'other.sqlite'}")
    for store in (None, FileHandleStore(tmp_path / "handle"), other.store(MemoryHandleStore())):
        with pytest.raises(ConfigError, match=r"durable\.store"):
            connect("gemini-3.8-live", tools=[pay], api_key="k", handle_store=store)


@pytest.mark.anyio
async def test_a_session_outside_of_the_block_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    durable, pay = durable_pay(tmp_path)
    store = durable.store(MemoryHandleStore())
    async with FakeLiveServer() as server:
        with pytest.raises(ConfigError, match="inside of `with durable:`"):
            async with connect("gemini-3.8-live", tools=[pay], handle_store=store, **server.options):
                pass
        assert not server.sessions


@pytest.mark.parametrize(
    ("database", "error", "told"),
    [
        ("postgresql://me:hunter2@127.0.0.1:1/x", ConnectFailed, "127.0.0.1"),
        ("sqlite:////nowhere/at/all.sqlite", ConfigError, "/nowhere/at/all.sqlite"),
        ("no url", ConfigError, "URL"),
    ],
)
def test_a_database_that_is_away_is_an_error_of_ours_without_its_password(
    database: str, error: type[Exception], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(error, match=told) as caught, Durable(database):
        raise AssertionError("there is no such database")
    assert "hunter2" not in str(caught.value)
    assert not capfd.readouterr().err
