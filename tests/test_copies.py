"""What a program keeps of a conversation can be pickled, copied and compared, and leads back to no session."""

from __future__ import annotations

import copy
import pickle
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import livetools
from livetools import (
    Agent,
    Call,
    LiveToolsError,
    QuotaExceeded,
    Reply,
    SessionClosed,
    Tool,
    ToolError,
    ToolFinished,
    ToolProgress,
    Toolset,
)
from livetools.events import Usage
from livetools.session import Transcript
from livetools.testing import FakeLiveServer, Recording

KEY = "AIza" + "SECRETKEY" * 4
HOW: list[Callable[[Any], Any]] = [
    lambda value: pickle.loads(pickle.dumps(value)),
    lambda value: pickle.loads(pickle.dumps(value, 4)),
    copy.deepcopy,
    copy.copy,
    lambda value: copy.deepcopy(pickle.loads(pickle.dumps(value))),
]


def look_up(n: int) -> int:
    """Look something up."""
    return n


class House:
    """Dependencies that hold a secret, and what cannot be pickled."""

    def __init__(self) -> None:
        self.password, self.lock = "hunter2", threading.Lock()


class NotFreeError(ToolError):
    """As applications derive from it."""


class BrokenError(ConnectionError):
    """As those of many clients: not to be made again from its text, and it holds what cannot be pickled."""

    def __init__(self, code: int, *, request: object) -> None:
        super().__init__(f"HTTP {code}")
        self.request, self.lock = request, threading.Lock()


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not with me")


@pytest.mark.anyio
async def test_a_copy_of_a_conversation_holds_the_conversation_alone(tmp_path: Path) -> None:
    events: list[Any] = []
    with Recording(tmp_path / "call.jsonl") as recording:
        async with FakeLiveServer() as server:
            server.recording = recording

            @server.model
            async def model(turn: Any) -> None:
                await turn.call("look_up", n=1)
                await turn.call("look_up", n="much")
                await turn.say("found")

            agent: dict[str, Any] = {
                "tools": [look_up],
                "instructions": "You know SECRETWORD.",
                "deps": House(),
            }
            async with livetools.connect(
                "gemini-3.8-live", base_url=server.url, api_key=KEY, **agent
            ) as session:
                await session.send_text("look")
                async for event in session:
                    events.append(event)
                    if isinstance(event, livetools.TurnComplete):
                        break
                reply = await session.ask("look again")
                kept = [session.transcript, reply, session.usage, recording, *events]
                for value in kept:
                    for make in HOW:
                        assert make(value) == value
                    assert not any(word in pickle.dumps(value) for word in (b"AIza", b"hunter2"))
                for value in (session.transcript, reply, *events):
                    assert b"SECRETWORD" not in pickle.dumps(value)
    assert any(isinstance(event, ToolFinished) and event.error is not None for event in events)


def test_a_copy_of_a_transcript_leaves_behind_who_wants_to_know_that_it_is_full() -> None:
    transcript = Transcript()
    transcript.if_full(threading.Lock().acquire)  # of a session: nothing that can be pickled
    for make in HOW:
        assert make(transcript) == transcript


def test_a_copy_of_a_transcript_goes_on_and_counts_what_was_dropped() -> None:
    transcript = Transcript(max_bytes=400, transcribed=True)
    for n in range(9):
        transcript.user_text(f"question {n} " + "x" * 100)
    made = pickle.loads(pickle.dumps(transcript))
    assert (made.contents, made.dropped, made.max_bytes) == (transcript.contents, transcript.dropped, 400)
    assert made.dropped > 0
    made.user_text("one more")
    assert made != transcript
    assert made.contents[-1]["parts"][-1] == {"text": "one more"}
    assert Transcript() != []


@pytest.mark.parametrize("make", HOW)
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ToolError("only 2 seats are free"), ToolError),
        (NotFreeError("full"), ToolError),
        (BrokenError(503, request=threading.Lock()), ConnectionError),
        (KeyError("n"), Exception),
        (OSError(2, "No such file"), OSError),
        (ValueError("n"), ValueError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), Exception),
        (ExceptionGroup("two", [ValueError("a"), ToolError("b")]), Exception),
        (QuotaExceeded(1011, "no quota", "turn", True, "wait"), QuotaExceeded),
        (MuteError(), Exception),
    ],
)
def test_of_an_error_in_an_event_a_copy_keeps_the_class_name_and_the_text(
    error: Exception, kind: type[Exception], make: Callable[[Any], Any]
) -> None:
    event = ToolFinished(Call("c1", "f", {"n": 1}), {"error": "f failed"}, error, 0.5)
    made = make(event)
    assert made == event
    assert isinstance(made.error, kind)
    assert type(made.error).__name__ == type(error).__name__
    if not isinstance(error, MuteError):
        assert str(made.error) == str(error)
    assert made != replace(event, error=ValueError("another"))
    assert made != replace(event, error=None)


@pytest.mark.parametrize("make", HOW)
def test_of_an_error_that_a_tool_reports_on_its_way_a_copy_keeps_the_same(make: Callable[[Any], Any]) -> None:
    event = ToolProgress(Call("c1", "f", {"n": 1}), BrokenError(503, request=threading.Lock()))
    made = make(event)
    assert made == event
    assert (type(made.value).__name__, str(made.value)) == ("BrokenError", "HTTP 503")
    assert made != replace(event, value=BrokenError(504, request=None))
    assert make(replace(event, value={"part": 1})) == replace(event, value={"part": 1})


@pytest.mark.parametrize("make", HOW)
@pytest.mark.parametrize(
    "error", [ToolError("no"), KeyError("k"), ValueError("v"), FileNotFoundError(2, "no")]
)
def test_a_traceback_names_a_copied_error_as_the_error_itself(
    make: Callable[[Any], Any], error: Exception
) -> None:
    copied = make(ToolFinished(Call("c1", "f", {}), {}, error, 0.1)).error
    assert traceback.format_exception_only(copied) == traceback.format_exception_only(error)


def test_an_error_that_was_raised_crosses_to_another_process_with_what_it_says() -> None:
    error = SessionClosed(1008, "no key", "setup", False, "give one")
    made = pickle.loads(pickle.dumps(error))
    assert (made.code, made.reason, made.phase, str(made)) == (1008, "no key", "setup", str(error))
    assert str(pickle.loads(pickle.dumps(livetools.LimitReached("max_calls", "20 calls")))).startswith(
        "the session"
    )
    assert isinstance(pickle.loads(pickle.dumps(LiveToolsError("x"))), LiveToolsError)


@pytest.mark.parametrize("make", HOW)
def test_an_agent_whose_tools_can_be_imported_is_data(make: Callable[[Any], Any]) -> None:
    tools = [Tool(look_up, name="find", timeout=5), look_up, Toolset(Tool(look_up, name="group"), name="t")]
    agent = Agent("You help.", [*tools, {"google_search": {}}], name="desk")
    made = make(agent)
    assert made == agent
    assert made != Agent("You help.", [Tool(look_up, name="find", timeout=6), *tools[1:]], name="desk")
    assert made.tools is not None
    first = next(iter(made.tools))
    assert isinstance(first, Tool)
    assert first.declaration() == Tool(look_up, name="find").declaration()


@pytest.mark.anyio
async def test_a_copy_of_a_tool_runs() -> None:
    made = pickle.loads(pickle.dumps(Tool(look_up, name="find")))
    assert await made.call({"n": "3"}) == {"output": 3}
    declared = copy.deepcopy(Tool({"name": "f", "description": "d", "parameters": {"type": "object"}}))
    assert declared.handler is None
    assert len({Tool(look_up), Tool(look_up), declared}) == 2


def test_a_reply_that_was_made_by_hand_is_equal_to_another() -> None:
    assert Reply("a", usage=Usage(1, 2, 3)) == pickle.loads(pickle.dumps(Reply("a", usage=Usage(1, 2, 3))))
