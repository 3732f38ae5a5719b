"""A conversation as a pytest test, which runs and passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from support.apart import run_pytest
from support.imported import forgotten

from livetools import (
    ApprovalRequested,
    Interrupted,
    OutputTranscript,
    Reconnected,
    Session,
    ToolError,
    ToolFinished,
    ToolStarted,
    TurnComplete,
)
from livetools.cli.agents.open_sessions import Choices
from livetools.cli.recordings.frame_history import FrameHistory
from livetools.cli.recordings.pytest_export import Subject, as_test
from livetools.session.agents import open_agent
from livetools.session.listening.frame_tap import tap
from livetools.testing import FakeLiveServer
from livetools.testing.wire import Frame

AGENT = '''
import asyncio, functools
import livetools
from livetools import Tool, ToolError, tool

def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"

def get_time(city: str) -> str:
    """The time of day in a city."""
    raise ToolError("the clock stands still")

@tool(approval=True)
def erase(disk: str) -> str:
    """Erase a disk."""
    return f"{disk} is gone"

async def slow(seconds: float) -> str:
    """Sleep."""
    await asyncio.sleep(seconds)
    return "slept"

@tool(behavior="background")
async def brew(cups: int) -> str:
    """Brew coffee."""
    await asyncio.sleep(0.1)
    return f"{cups} cups"

@tool(behavior="non_blocking")
async def count(to: int):
    """Count aloud."""
    for number in range(to):
        yield number

lamp = Tool({"name": "set_lamp", "description": "Set a lamp.", "parameters": {"type": "OBJECT", "properties": {
    "room": {"type": "STRING"}}}})

agent = functools.partial(
    livetools.connect, "gemini-3.8-live", tools=[get_weather, get_time, erase, slow, brew, count, lamp],
    config={"output_audio_transcription": {}, "input_audio_transcription": {}},
)

barista = functools.partial(
    livetools.connect, "gemini-3.1-flash-live-preview", tools=[brew], config={"output_audio_transcription": {}},
)
'''


@pytest.fixture(autouse=True)
def _forgotten(tmp_path):
    with forgotten(tmp_path):
        yield


async def until(session: Session, *kinds: type) -> object:
    async for event in session:
        if isinstance(event, kinds):
            return event
    raise AssertionError("the session has ended")


async def plain(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        if "weather" in turn.text:
            weather, time = await turn.calls(
                ("get_weather", {"city": "Oslo"}), ("get_time", {"city": "Oslo"})
            )
            await turn.say(f"It is {weather['output']}; {time['error']}.")
        else:
            await turn.say('You "are" welcome.\n')

    await session.ask("What's the weather?")
    await session.ask("Thanks")


async def approvals(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        answer = await turn.call("erase", disk=turn.text)
        await turn.say(str(answer))

    async def decide():
        while True:
            event = await until(session, ApprovalRequested)
            if event.call.args["disk"] == "sda":
                await session.refuse(event.call, "never")
            else:
                await session.approve(event.call)

    async with anyio.create_task_group() as group:
        group.start_soon(decide)
        await session.ask("sda")
        await session.ask("sdb")
        group.cancel_scope.cancel()


async def answered(session: Session, server: FakeLiveServer) -> None:
    """A person answers for a function without a handler, and once that it failed."""

    @server.model
    async def model(turn):
        await turn.say(str(await turn.call("set_lamp", room=turn.text)))

    async def answer():
        for value in ("warm", ToolError("no bulb"), {"lit": True}):
            event = await until(session, ToolStarted)
            await session.respond(event.call, value)

    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        for room in ("kitchen", "attic", "kitchen"):
            await session.ask(room)


async def interrupted(session: Session, server: FakeLiveServer) -> None:
    speaking = anyio.Event()

    @server.model
    async def model(turn):
        if turn.text == "sing":
            await turn.say("La la la, ")
            await turn.start_call("slow", seconds=30)
            speaking.set()
            await anyio.sleep_forever()
        await turn.say("I am silent.")

    await session.send_text("sing")
    await speaking.wait()
    await session.send_text("stop")
    await until(session, Interrupted)
    while "silent" not in (await until(session, OutputTranscript)).text:
        pass
    await until(session, TurnComplete)  # of the answer: that of the interrupted turn came before


async def counted(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        numbers = await turn.call("count", to=3)
        await turn.say(f"Counted, {len(numbers)}.")

    await session.ask("count to three")


async def in_the_background(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        if turn.text.startswith("[Result of"):
            await turn.say("Your coffee is ready.")
        elif turn.text == "coffee":
            await turn.call("brew", cups=2)
            await turn.say("It is under way.")
        else:
            await turn.say("Of course.")

    await session.ask("coffee")
    while "ready" not in (await until(session, OutputTranscript)).text:
        pass
    await until(session, TurnComplete)
    await session.ask("thanks")


async def stopped(session: Session, server: FakeLiveServer) -> None:
    speaking = anyio.Event()

    @server.model
    async def model(turn):
        if turn.text == "sing":
            await turn.say("La la la, ")
            speaking.set()
            await anyio.sleep_forever()
        await turn.say("Of course.")

    await session.send_text("sing")
    await speaking.wait()
    await until(session, OutputTranscript)
    await session.interrupt()
    await session.ask("thanks for nothing")


async def spoken(session: Session, server: FakeLiveServer) -> None:
    @server.model
    async def model(turn):
        weather = await turn.call("get_weather", city="Oslo")
        await turn.say(f"It is {weather['output']}.")

    server.transcriber = lambda pcm, rate: "How is the weather?"
    loud = b"\x00\x40" * 8000
    await session.send_audio(loud)
    await session.end_audio()
    await until(session, TurnComplete)


def lost_script(server: FakeLiveServer) -> None:
    @server.conversation
    async def script(user):
        turn = await user.says("slow one")
        await turn.start_call("slow", seconds=0.05)
        await turn.drop()
        await user.reconnects(handle=True)
        turn = await user.says()
        await turn.say("It has slept.")
        turn = await user.says("and?")
        await turn.say("That is all.")


async def lost(session: Session, server: FakeLiveServer) -> None:
    await session.send_text("slow one")
    expected = {Reconnected, ToolFinished, TurnComplete}
    while expected:  # the line and the tool are ready in any order; the turn about the result is the last
        expected.discard(type(await until(session, *expected)))
    await session.ask("and?")


CONVERSATIONS = [plain, approvals, answered, interrupted, counted, in_the_background, stopped, spoken, lost]


async def record(conversation: Callable[..., object], agent: object) -> FrameHistory:
    history = FrameHistory()
    async with FakeLiveServer() as server:
        if conversation is lost:
            lost_script(server)  # a script is there before its client
        async with tap(open_agent(agent, **server.options), history) as session:
            await conversation(session, server)
    return history


def test_what_was_said_and_called_can_be_held_again(tmp_path):
    file = tmp_path / "agent.py"
    file.write_text(AGENT, encoding="utf-8")
    scope: dict[str, object] = {"__name__": "agent"}
    exec(compile(AGENT, str(file), "exec"), scope)
    for conversation in CONVERSATIONS:
        name = "barista" if conversation is in_the_background else "agent"
        history = anyio.run(record, conversation, scope[name])
        declared_only = frozenset({"set_lamp"} if conversation is answered else ())
        subject = Subject(
            f"{file}:{name}", asks_approval=conversation is approvals, declared_only=declared_only
        )
        source = as_test(history.frames(), subject)
        (tmp_path / f"test_{conversation.__name__}.py").write_text(source, encoding="utf-8")
    result = run_pytest("-q", "--rootdir", "/", tmp_path, cwd=tmp_path)
    assert result.returncode == 0, result.stdout[-3000:]
    assert f"{len(CONVERSATIONS)} passed" in result.stdout
    assert 'REFUSED = [("erase"' in (tmp_path / "test_approvals.py").read_text().replace("'", '"')
    assert "reply.interrupted" in (tmp_path / "test_interrupted.py").read_text()
    assert "How is the weather?')  # spoken" in (tmp_path / "test_spoken.py").read_text()
    assert "await past1.wait()" in (tmp_path / "test_in_the_background.py").read_text()
    assert "turn.drop()" in (tmp_path / "test_lost.py").read_text()
    assert """assert '{"output": "slept"}' in turn.text""" in (tmp_path / "test_lost.py").read_text()
    assert (
        """assert '{"output": "2 cups"}' in turn.text"""
        in (tmp_path / "test_in_the_background.py").read_text()
    )
    assert "== [{'output': 0}, {'output': 1}, {'output': 2}]" in (tmp_path / "test_counted.py").read_text()

    elsewhere = tmp_path.with_name("elsewhere")  # the agent and its tests, as another checkout has them
    tmp_path.rename(elsewhere)
    again = ("-q", "--rootdir", "/", elsewhere / "test_plain.py")
    assert run_pytest(*again, cwd=elsewhere).returncode == 0
    assert str(tmp_path) not in (elsewhere / "test_plain.py").read_text(encoding="utf-8")
    changed = AGENT.replace('return "12 °C, rain"', 'return "13 °C, rain"')  # more: test_exported_changes.py
    (elsewhere / "agent.py").write_text(changed, encoding="utf-8")
    assert run_pytest(*again, cwd=elsewhere).returncode == 1


@pytest.mark.parametrize(
    ("target", "choices", "lines"),
    [
        (None, Choices(), ["livetools.connect('gemini-3.8-live')"]),
        (
            "{tools}",
            Choices(model="gemini-3.1-flash-live", instructions="Be brief.", config=Path("{config}")),
            [
                "program = importlib.import_module('my-tools')",
                "livetools.connect('gemini-3.1-flash-live', tools=[program.find, program.book], "
                "instructions='Be brief.', config={{'temperature': 0.5}})",
            ],
        ),
        ("{tools}:find", Choices(voice="Puck"), ["tools=[program.find], voice='Puck')"]),
        ("{agent}", Choices(instructions="Be brief."), ["session = program.clerk()"]),
        ("json:loads", Choices(), ["importlib.import_module('json')", "tools=[program.loads]"]),
    ],
)
def test_a_test_opens_the_session_by_public_names_alone(tmp_path, target, choices, lines):
    tools, agent, config = (tmp_path / name for name in ("my-tools.py", "house.py", "config.toml"))
    tools.write_text("def find(): ...\ndef book(): ...\n", encoding="utf-8")
    agent.write_text(
        "import livetools\ndef clerk(**o) -> livetools.Session: return livetools.connect('gemini-3.8-live', **o)\n",
        encoding="utf-8",
    )
    config.write_text("temperature = 0.5\n", encoding="utf-8")
    frames = [
        Frame(0.0, "client", 1, {"setup": {}}),
        Frame(0.1, "client", 1, {"realtimeInput": {"text": "hi"}}),
        Frame(0.2, "server", 1, {"serverContent": {"outputTranscription": {"text": "Hello."}}}),
        Frame(0.3, "server", 1, {"serverContent": {"turnComplete": True}}),
    ]
    if choices.config is not None:
        choices = replace(choices, config=config)
    place = None if target is None else target.format(tools=tools, agent=agent)
    source = as_test(frames, Subject(place, choices))
    for line in lines:
        assert line.format() in source
    assert "livetools." not in "".join(
        line for line in source.splitlines() if line.startswith(("import", "from"))
    )
    assert str(tmp_path) not in source.partition("import anyio")[2]
    compile(source, "test_it.py", "exec")


def test_nothing_can_be_made_of_no_conversation():
    with pytest.raises(ValueError, match="no question has been answered"):
        as_test([], Subject(None))


def test_keys_and_tokens_are_left_out_as_in_a_recording():
    key, token = "AIza" + "S3cret" * 6, "auth_tokens/" + "t0ken" * 5

    def said(time: float, direction: str, message: object) -> Frame:
        return Frame(time, direction, 1, message)

    question = {"turns": [{"role": "user", "parts": [{"text": f"my key is {key}"}]}], "turnComplete": True}
    answer = {"modelTurn": {"parts": [{"text": f"and the token {token}"}]}, "turnComplete": True}
    frames = [
        said(0.0, "client", {"setup": {"model": "models/gemini-3.8-live"}}),
        said(0.1, "server", {"setupComplete": {}}),
        said(0.2, "client", {"clientContent": question}),
        said(0.3, "server", {"serverContent": answer}),
    ]
    source = as_test(frames, Subject(None))
    assert "my key is" in source
    assert "and the token" in source
    assert key not in source
    assert token not in source
