"""The examples in the docstrings of the door and beside it, each run against the fake, and seen to print something.

An example that begins with ``case`` is of an event: it must match such an event. One of an error is run where that
error is raised, and prints in its ``except``.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import importlib
import inspect
import io
import re
import struct
import types
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from google import genai
from mcp import Client
from mcp.server.mcpserver import MCPServer
from support.raw import Raw, raw_server

import livetools
from livetools import audio, events
from livetools.testing import FakeLiveServer, Pretend, Turn

#: The examples are of asyncio.
pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)]

CALL = events.Call("c1", "get_weather", {"city": "Oslo"})
#: An event of each class, as a session tells it.
EVENTS = [
    events.SessionStarted("s1"), events.TextChunk("Hi."), events.ThoughtChunk("Oslo is in Norway."),
    events.AudioChunk(b"\0\0" * 240), events.VideoChunk(b"\0", "video/mp4"), events.InputTranscript("Hello."),
    events.OutputTranscript("Hi."), events.ToolStarted(events.Call("c1", "no_handler")),
    events.ToolProgress(CALL, "half"), events.ToolFinished(CALL, {"output": "12 °C"}, None, 0.25),
    events.ToolCancelled(CALL), events.ToolLost(CALL, "dropped"), events.ApprovalRequested(CALL),
    events.Interrupted(), events.GenerationComplete(), events.TurnComplete("MALFORMED_FUNCTION_CALL"),
    events.UsageUpdate(events.Usage(total_tokens=12)), events.VoiceActivity("start", 1.5),
    events.CodeChunk("print(1)", "PYTHON"), events.GoAway(50.0), events.HandleUpdate("h1"),
    events.Grounding({"groundingChunks": [{"web": {"uri": "https://yr.no"}}]}),
    events.Reconnecting(1, 0.25, "1006"), events.Reconnected(state_restored=False),
    events.HandedOff("billing"), events.Stalled("the answer", 20.0), events.InputDropped(3, "a call is open"),
    events.UnknownMessage({"new": 1}),
]  # fmt: skip
SAMPLES = {type(event).__name__: event for event in EVENTS} | {"Call": events.ToolStarted(CALL)}


class Recorder:
    """A session as a program sees it that decides on calls: it records the verdicts."""

    tools: Mapping[str, bool] = {"no_handler": False}

    async def approve(self, call: events.Call) -> None:
        """Let it run."""

    async def respond(self, call: events.Call, value: object) -> None:
        """Answer it."""


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


def book_table(name: str, guests: int) -> str:
    """Book a table."""
    return "table 4"


def closes(code: int, reason: str) -> Callable[[Turn], Any]:
    """A model that closes the connection in the first turn."""

    async def model(turn: Turn) -> None:
        await turn.close(code, reason)

    return model


async def deaf(turn: Turn) -> None:
    """Says nothing to the first question."""
    if turn.text == "Are you there?":
        await anyio.sleep_forever()
    await turn.say("I am.")


MODELS = {
    "LiveToolsError": closes(1007, "Request contains an invalid argument."),
    "NoAnswer": deaf,
    "SessionClosed": closes(1008, "Operation is not implemented, or supported, or enabled."),
    "QuotaExceeded": closes(
        1011, "You exceeded your current quota, please check your plan and billing details."
    ),
    "InvalidRequest": closes(1007, "Request contains an invalid argument."),
    "ServerError": closes(1011, "Internal error encountered."),
}


def refuse(raw: Raw) -> None:
    """Close a session in its setup, for a reason that nobody has heard of."""
    raw.upgrade()
    raw.receive()
    raw.close(1008, "something new")


def web_page(raw: Raw) -> None:
    """Answer as a web site does."""
    raw.request()
    raw.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")


def examples(value: object) -> list[str]:
    """The blocks of code in the docstring of a name."""
    doc = inspect.getdoc(value) or ""
    lines, found = doc.splitlines(), []
    for n, line in enumerate(lines):
        if line.endswith("::"):
            block = []
            for each in lines[n + 1 :]:
                if each and not each.startswith("    "):
                    break
                block.append(each[4:])
            found.append("\n".join(block).strip())
    return found


@contextlib.contextmanager
def world(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLiveServer]:
    """The fake that this example meets, and the environment that leads to it."""
    keys = ["of-today"] if name == "AuthenticationError" else None
    server = FakeLiveServer(api_keys=keys, tls=name == "attach")  # the SDK speaks TLS alone
    server.model(MODELS.get(name) or Pretend())
    server.faults.never_setup = name == "SetupTimeout"
    monkeypatch.setenv("GEMINI_API_KEY", "of-nobody")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    yield server


def compiled(text: str, name: str) -> Any:
    if text.startswith("case "):
        indented = "\n".join(f"    {line}" for line in text.splitlines())
        text = f"match event:\n{indented}\n    case _:\n        raise AssertionError(event)"
    return compile(text, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


async def run(text: str, name: str, names: dict[str, Any]) -> str:
    """Execute an example, which may await; what it printed."""
    names["event"], printed = SAMPLES.get(name), io.StringIO()
    with contextlib.redirect_stdout(printed):
        ran = types.FunctionType(compiled(text, name), names)()
        if inspect.isawaitable(ran):
            await ran
    return printed.getvalue()


def names_of() -> dict[str, Any]:
    """What an example need not define."""
    return {
        **{name: getattr(livetools, name) for name in livetools.__all__},
        "MODEL": "gemini-3.8-live", "asyncio": asyncio, "sleep": asyncio.sleep, "saved": {},
        "get_weather": get_weather, "book_table": book_table, "find_bill": get_weather, "refund": book_table,
        "speaker": types.SimpleNamespace(write=len, flush=int), "film": io.BytesIO(), "session": Recorder(),
    }  # fmt: skip


def wants_a_session(name: str, text: str) -> bool:
    """Whether an example takes a session that is open for granted."""
    words = re.findall(r"\w+", text)
    return name not in SAMPLES and "session" in words and "as session" not in text


#: Examples that dial again and again, or hear speech as fast as it is spoken.
WAIT = {"SessionClosed", "Faults", "activity_from", "talk", "pace", "FileSpeaker", "send_speech"}


def in_time(*names: str) -> Any:
    """A test for this example."""
    return pytest.param(*names, marks=[pytest.mark.virtual_time] if names[-1] in WAIT else [])


@pytest.mark.parametrize(
    "name", [in_time(name) for name in livetools.__all__ if name != "Event"]
)  # an alias has no docstring
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # google-genai's own
async def test_a_name_has_an_example_that_does_what_it_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = examples(getattr(livetools, name))
    assert blocks, f"{name} has no example"
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(world(name, monkeypatch))
        async with contextlib.AsyncExitStack() as opened:
            await opened.enter_async_context(server)
            other = {"SetupRejected": refuse, "RemoteProtocolError": web_page}.get(name)
            url = server.url if other is None else stack.enter_context(raw_server(other))
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
            if server.ca_file:
                monkeypatch.setenv("SSL_CERT_FILE", str(server.ca_file))
            names = {**names_of(), "WEB_SITE": url}
            if any("client" in text for text in blocks):  # it reads all certificates of the web
                names["client"] = genai.Client(
                    api_key="of-nobody", http_options={"base_url": server.http_url}
                )
            if wants_a_session(name, blocks[0]):
                options = {"tools": [get_weather, book_table], "stall_timeout": 0.3}
                names["session"] = await opened.enter_async_context(
                    livetools.connect(names["MODEL"], **options)
                )
            with anyio.fail_after(30):
                for text in blocks:
                    printed = await run(text, name, names)
                    assert printed or "print(" not in text
    assert printed


#: What outside programs may rely on beside the door, by its module.
ELSEWHERE = {
    "testing": "FakeLiveServer Turn Faults Limits Pretend Rules RecordingProxy",
    "session": "HandleStore FileHandleStore Transport Dialer Clock MemoryTransport Transcript",
    "audio": "Detector Loudness activity_from send_speech talk pace read_wav write_wav FileSpeaker Playback",
    "formats": "check repair explain function_response call_response to_declaration to_tool_call",
    "evals": "Called play run",
    "integrations.drain": "Drain",
    "integrations.starlette": "relay",
    "integrations.telephony": "twilio telnyx plivo serve Provider Start Media Key Mark Stop Account AccountError "
    "TwilioAccount TelnyxAccount PlivoAccount dial PhoneCall current_call transfer_to",
    "integrations.telephony.testing": "Phone FakeRest RestRequest",
    "integrations.mcp": "toolset",
    "integrations.opentelemetry": "tracing",
    "integrations.redis": "RedisHandleStore",
}


async def microphone() -> AsyncIterator[bytes]:
    """Half a second of a tone, and as much silence."""
    tone = b"".join(struct.pack("<h", 20000 if n // 20 % 2 else -20000) for n in range(512))
    for _ in range(16):
        yield tone
    for _ in range(32):
        yield bytes(1024)


def tools_of_others() -> MCPServer:
    """An MCP server with one tool."""
    server = MCPServer("tests", log_level="CRITICAL")
    server.add_tool(book_table)
    return server


def beside(room: types.ModuleType, folder: Path) -> dict[str, Any]:
    """What an example of a package need not define."""
    told = getattr(room, "__all__", [name for name in vars(room) if not name.startswith("_")])
    return {each: getattr(room, each) for each in told} | {
        "FOLDER": folder, "create_task_group": anyio.create_task_group, "current_time": anyio.current_time,
        "sleep_until": anyio.sleep_until, "microphone": microphone, "partial": functools.partial,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("package", "name"),
    [in_time(package, name) for package, names in ELSEWHERE.items() for name in names.split()],
)
async def test_a_name_of_a_package_has_an_example_that_runs(
    package: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    room = importlib.import_module(f"livetools.{package}")
    blocks = examples(getattr(room, name))
    assert blocks, f"{name} has no example"
    with world(name, monkeypatch) as server, audio.FileSpeaker(tmp_path / "heard.wav") as speaker:
        async with server, Client(tools_of_others()) as client:
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
            names = names_of() | beside(room, tmp_path) | {"client": client, "speaker": speaker}
            with anyio.fail_after(30):
                printed = [await run(text, name, names) for text in blocks]
    assert any(printed) or name == "Transport"  # which only defines a class
