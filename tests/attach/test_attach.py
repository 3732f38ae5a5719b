"""Beside a session of google-genai: its messages pass, its calls are answered."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from support import first_steps, virtual
from support.live_objects import names
from support.waiting import everybody_waits

import livetools
from livetools import ConcurrencyError, LocalProtocolError, Tool, ToolContext, tool
from livetools.session.running.leaving import LAST_WORDS
from livetools.setup.model_profiles import families, find
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio

MODEL = "gemini-2.5-flash-native-audio-latest"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # google-genai runs on no other


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return f"rain in {city}"


async def get_weather_at_once(city: str) -> str:
    """Current weather in a city."""
    return f"rain in {city}"


IN_LOOP = Tool(get_weather_at_once, name="get_weather")


@asynccontextmanager
async def sdk(server: FakeLiveServer, tools: list[object]) -> AsyncIterator[Any]:
    from google import genai

    options = {"base_url": server.http_url, "async_client_args": {"ssl": server.ssl_context}}
    client = genai.Client(api_key="fake-key", http_options=options)
    config = livetools.declare(tools, into={"response_modalities": ["AUDIO"]})
    async with client.aio.live.connect(model=MODEL, config=config) as session:
        yield session


async def say(session: Any, text: str) -> None:
    await session.send_client_content(turns={"role": "user", "parts": [{"text": text}]})


async def turn(live: livetools.attach.attach.Attached) -> list[Any]:
    """The messages up to the end of a turn."""
    messages = []
    async for message in live:
        messages.append(message)
        if message.server_content and message.server_content.turn_complete:
            break
    return messages


class Flood:
    """A session of google-genai's whose messages are all there already."""

    def __init__(self, *messages: Any) -> None:
        self.messages = list(messages)
        self.answers: list[Any] = []
        self.began = 0

    async def receive(self) -> AsyncIterator[Any]:
        while self.messages:
            yield self.messages.pop(0)
        await anyio.sleep_forever()

    async def send_tool_response(self, *, function_responses: Any) -> None:
        self.answers += function_responses


def message(told: dict[str, Any]) -> Any:
    from google.genai.types import LiveServerMessage

    return LiveServerMessage.model_validate(told)


def flood(*messages: dict[str, Any]) -> Any:
    return Flood(*map(message, messages))


CALL = {"toolCall": {"functionCalls": [{"id": "c1", "name": "get_weather", "args": {"city": "Oslo"}}]}}
CALL_2 = {"toolCall": {"functionCalls": [{"id": "c2", "name": "get_weather", "args": {"city": "Rome"}}]}}
WORD = {"serverContent": {"modelTurn": {"parts": [{"text": "Hm."}]}}}


@pytest.mark.parametrize("field", ["id", "name"])
async def test_what_no_utf_8_can_carry_is_not_handed_to_the_sdk(field: str) -> None:
    call = {"id": "c1", "name": "get_weather", "args": {}, field: "odd\ud800"}
    session = flood({"toolCall": {"functionCalls": [call]}}, CALL_2)
    async with livetools.attach(session, [IN_LOOP], model=MODEL) as live:
        await anext(live)
        await anext(live)
        while len(session.answers) < 2:
            await anyio.lowlevel.checkpoint()
    assert session.answers[0][field] == "odd\ufffd"
    assert session.answers[1]["response"] == {"output": "rain in Rome"}


async def test_the_objects_of_an_attached_session_hold_each_other_in_no_circle_that_is_not_named() -> None:
    begun, release = anyio.Event(), anyio.Event()

    async def waits() -> str:
        begun.set()
        await release.wait()
        return "waited"

    server = FakeLiveServer(tls=True)

    @server.model
    async def model(turn: Turn) -> None:
        await turn.call("waits")
        await turn.say("Done.")

    async with (
        server,
        sdk(server, [waits]) as session,
        livetools.attach(session, [waits], model=MODEL) as live,
    ):
        async with anyio.create_task_group() as group:
            await say(session, "Wait.")
            group.start_soon(turn, live)
            await begun.wait()
            edges, circles = names([live])
            release.set()
    assert circles == []
    assert ("Driver", "AttachedMachine") in edges


async def test_calls_are_answered_over_turns_while_the_messages_pass() -> None:
    seen: list[Any] = []

    async def model(turn: Turn) -> None:
        seen.append(await turn.call("get_weather", city=turn.text))
        await turn.say(f"It is {seen[-1]['output']}.")

    async with FakeLiveServer(model, tls=True) as server:
        tools: list[object] = [get_weather]
        async with sdk(server, tools) as session, livetools.attach(session, tools, model=MODEL) as live:
            for city in ("Oslo", "Rome"):
                await say(session, city)
                messages = await turn(live)
                assert any(message.tool_call for message in messages)
    assert seen == [{"output": "rain in Oslo"}, {"output": "rain in Rome"}]


async def test_a_call_in_pieces_is_run_when_it_is_whole() -> None:
    cities: list[str] = []

    def rain_in(city: str) -> str:
        """Whether it rains."""
        cities.append(city)
        return "yes"

    async def model(turn: Turn) -> None:
        for more in (
            {"name": "rain_in", "id": "c1", "willContinue": True},
            {
                "id": "c1",
                "partialArgs": [{"jsonPath": "$.city", "stringValue": "Os", "willContinue": True}],
                "willContinue": True,
            },
            {"id": "c1", "partialArgs": [{"jsonPath": "$.city", "stringValue": "lo"}]},
        ):
            assert not cities
            await turn.send({"toolCall": {"functionCalls": [more]}})
        await turn.answer("c1")
        await turn.say("It rains.")

    async with FakeLiveServer(model, tls=True) as server:
        tools: list[object] = [rain_in]
        async with sdk(server, tools) as session, livetools.attach(session, tools, model=MODEL) as live:
            await say(session, "Oslo")
            await turn(live)
    assert cities == ["Oslo"]


@pytest.mark.parametrize("kind", ["sync", "stuck", "async"])
async def test_leaving_undoes_what_had_started(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livetools.session.running.leaving.HANDLERS_END", 0.1 if kind == "stuck" else 5.0)
    began, release = threading.Event(), threading.Event()
    undone: list[object] = []

    def undo(call: livetools.Call, result: object, context: ToolContext[str]) -> None:
        undone.append((result, context.deps))

    def book(context: ToolContext[str]) -> str:
        """Books."""
        began.set()
        while not (release.is_set() if kind == "stuck" else context.cancelled):
            time.sleep(0.001)
        return "table 4"

    async def book_async() -> None:
        """Books."""
        began.set()
        await anyio.sleep_forever()

    async def model(turn: Turn) -> None:
        await turn.start_call("book")

    tools: list[object] = [Tool(book_async if kind == "async" else book, name="book", undo=undo)]

    async def leave_early() -> None:
        async with FakeLiveServer(model, tls=True) as server, sdk(server, tools) as session:
            async with livetools.attach(session, tools, model=MODEL, deps="the house") as live:
                await say(session, "book")
                async for message in live:
                    if message.tool_call:
                        break
                while not began.is_set():
                    await anyio.sleep(0.001)

    with pytest.raises(AssertionError, match="never answered: book"):
        await leave_early()
    release.set()
    assert undone == [("table 4" if kind == "sync" else None, "the house")]


async def test_what_a_person_must_approve_is_refused_at_once_but_not_before_its_arguments_fit() -> None:
    seen: list[Any] = []

    async def model(turn: Turn) -> None:
        seen.extend(await turn.calls(("book", {"table": "none"}), ("book", {"table": 4})))
        await turn.say("So.")

    def book(table: int) -> None:
        """Books."""

    tools: list[object] = [Tool(book, approval=True)]
    async with FakeLiveServer(model, tls=True) as server:
        async with sdk(server, tools) as session, livetools.attach(session, tools, model=MODEL) as live:
            await say(session, "book")
            await turn(live)
    assert "table should be a whole number" in seen[0]["error"]
    assert seen[1]["error"] == "the call was not approved: nobody can be asked"


async def test_a_cancelled_call_is_stopped_and_not_answered() -> None:
    started, stopped = anyio.Event(), anyio.Event()

    async def waits() -> None:
        """Waits."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async def model(turn: Turn) -> None:
        call = await turn.start_call("waits")
        await started.wait()
        await turn.cancel(call)
        await turn.say("never mind")

    async with FakeLiveServer(model, tls=True) as server:
        tools: list[object] = [waits]
        async with sdk(server, tools) as session, livetools.attach(session, tools, model=MODEL) as live:
            await say(session, "go")
            await turn(live)
            with anyio.fail_after(30):
                await stopped.wait()


INTERRUPTED = {"serverContent": {"interrupted": True}}
CANCELLED = {"toolCallCancellation": {"ids": ["c1"]}}


@pytest.mark.parametrize("ahead", [(), (INTERRUPTED,), (WORD,)])
async def test_a_call_that_is_cancelled_behind_its_answer_is_undone_unless_the_model_has_spoken(
    ahead: tuple[dict[str, Any], ...],
) -> None:
    undone: list[object] = []
    made = Tool(get_weather_at_once, name="get_weather", undo=lambda call, result: undone.append(result))
    session = flood(CALL)
    async with livetools.attach(session, [made], model=MODEL) as live:
        await anext(live)
        while not session.answers:
            await anyio.lowlevel.checkpoint()
        session.messages += map(message, (*ahead, CANCELLED))
        for _ in (*ahead, CANCELLED):
            await anext(live)
        await everybody_waits()
    assert undone == ([] if WORD in ahead else ["rain in Oslo"])


async def test_every_model_that_calls_functions_can_be_named_though_its_setup_is_the_sdks() -> None:
    for name in families():
        if find(name).functions:
            session = flood(CALL)
            async with livetools.attach(session, [IN_LOOP], model=name) as live:
                await anext(live)
                while not session.answers:
                    await anyio.lowlevel.checkpoint()


async def test_a_hand_off_is_answered_and_said_to_be_left_out(caplog: pytest.LogCaptureFixture) -> None:
    def to_billing() -> livetools.ToolResult:
        """Hand over to billing."""
        return livetools.ToolResult("with billing", handoff=livetools.Agent("You are billing."))

    server = FakeLiveServer(tls=True)
    answers: list[Any] = []

    @server.model
    async def model(t: Turn) -> None:
        answers.append(await t.call("to_billing"))

    async with server, sdk(server, [to_billing]) as session:
        async with livetools.attach(session, [to_billing], model=MODEL) as live:
            await say(session, "billing")
            await turn(live)
    assert answers == [{"output": "with billing"}]
    assert "a hand-off is left out" in caplog.text


async def test_a_tool_that_takes_too_long_is_answered_on_time() -> None:
    answers: list[Any] = []

    @tool(timeout=0.05)
    async def waits() -> None:
        """Waits."""
        await anyio.sleep_forever()

    async def model(turn: Turn) -> None:
        answers.append(await turn.call("waits"))

    async with FakeLiveServer(model, tls=True) as server:
        tools: list[object] = [waits]
        async with sdk(server, tools) as session, livetools.attach(session, tools, model=MODEL) as live:
            await say(session, "go")
            await turn(live)
    assert "timed out" in answers[0]["error"]


async def test_a_result_that_comes_when_the_line_is_gone_harms_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    from google.genai.errors import APIError

    go = anyio.Event()

    async def waits() -> str:
        """Waits."""
        await go.wait()
        return "late"

    async def model(turn: Turn) -> None:
        await turn.start_call("waits")
        await turn.drop()

    async with FakeLiveServer(model, tls=True) as server:
        async with sdk(server, [waits]) as session, livetools.attach(session, [waits], model=MODEL) as live:
            await say(session, "go")
            with pytest.raises(APIError):
                await turn(live)
            go.set()
            await everybody_waits()
    assert "could not be sent" in caplog.text


async def test_two_loops_over_one_are_an_error() -> None:
    async with FakeLiveServer(tls=True) as server, sdk(server, [get_weather]) as session:
        async with livetools.attach(session, [get_weather], model=MODEL) as live:
            async with anyio.create_task_group() as group:
                group.start_soon(anext, live)
                await everybody_waits()
                with pytest.raises(ConcurrencyError):
                    await anext(live)
                group.cancel_scope.cancel()
            await say(session, "hello")
            assert await turn(live)


def test_leaving_waits_for_a_send_that_does_not_return_five_seconds_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Stuck(Flood):
        async def send_tool_response(self, *, function_responses: Any) -> None:
            await anyio.sleep_forever()

    async def main() -> float:
        async with livetools.attach(Stuck(message(CALL), message(CALL_2)), [IN_LOOP], model=MODEL) as live:
            for _ in range(2):
                assert (await anext(live)).tool_call
            await everybody_waits()
            began = anyio.current_time()
        return anyio.current_time() - began

    assert virtual.run("asyncio", main) == pytest.approx(LAST_WORDS) == 5.0
    assert caplog.text.count("was not sent: the SDK's session did not take it in time") == 1


async def test_answers_keep_their_order_and_none_is_sent_by_a_task_of_the_users() -> None:
    users: set[object] = set()

    class Watched(Flood):
        async def send_tool_response(self, *, function_responses: Any) -> None:
            users.discard(asyncio.current_task())
            await anyio.sleep(0)
            self.answers += function_responses

    async def get_weather(city: str) -> str:
        """Current weather in a city."""
        users.add(asyncio.current_task())
        return city

    session = Watched(message(CALL), message(CALL_2))
    async with livetools.attach(session, [get_weather], model=MODEL) as live:
        await anext(live)
        await anext(live)
        users.add(asyncio.current_task())
        await everybody_waits()
    assert [answer["id"] for answer in session.answers] == ["c1", "c2"]
    assert len(users) == 3


async def test_an_answer_that_the_sdk_takes_late_is_sent_though_whoever_read_its_call_is_cancelled() -> None:
    takes = anyio.Event()

    class Slow(Flood):
        async def send_tool_response(self, *, function_responses: Any) -> None:
            await takes.wait()
            self.answers += function_responses

    async def read() -> None:
        async for _ in live:
            pass

    session = Slow(message(CALL))
    async with livetools.attach(session, [IN_LOOP], model=MODEL) as live:
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await everybody_waits()
            group.cancel_scope.cancel()
        takes.set()
        await everybody_waits()
        assert [answer["id"] for answer in session.answers] == ["c1"]


async def test_a_generator_yields_no_faster_than_the_sdk_sends() -> None:
    yielded, sends = [], anyio.Event()

    class Slow(Flood):
        async def send_tool_response(self, *, function_responses: Any) -> None:
            await sends.wait()
            self.answers += function_responses

    async def get_weather(city: str) -> AsyncIterator[int]:
        """Current weather in a city."""
        for hour in range(50):
            yielded.append(hour)
            yield hour

    session = Slow(message(CALL))
    async with livetools.attach(session, [get_weather]) as live:
        await anext(live)
        await everybody_waits()
        assert len(yielded) < 3
        sends.set()
        await everybody_waits()
        assert len(session.answers) == 51  # the end too


def test_what_is_being_sent_when_the_session_is_left_is_sent() -> None:
    class Slow(Flood):
        async def send_tool_response(self, *, function_responses: Any) -> None:
            self.began += 1
            await anyio.sleep(1.0)
            self.answers += function_responses

    async def main() -> None:
        session = Slow(message(CALL), message(CALL_2))
        async with livetools.attach(session, [IN_LOOP], model=MODEL) as live:
            await anext(live)
            await anext(live)
            await everybody_waits()
            assert (session.began, session.answers) == (1, [])
        assert [answer["id"] for answer in session.answers] == ["c1", "c2"]

    virtual.run("asyncio", main)


async def test_a_session_is_attached_by_one_at_a_time() -> None:
    session = flood(WORD)
    again = livetools.attach(session, [get_weather], model=MODEL)
    async with livetools.attach(session, [get_weather], model=MODEL):
        with pytest.raises(ConcurrencyError, match="attached already"):
            await again.__aenter__()
    with pytest.raises(LocalProtocolError, match="entered first"):
        await anext(again)
    async with again as live:
        assert await anext(live)
    with pytest.raises(LocalProtocolError, match="entered once"):
        await again.__aenter__()


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio_it_says_that_the_sdk_runs_on_asyncio(anyio_backend: str) -> None:
    with pytest.raises(LocalProtocolError, match="asyncio"):
        await livetools.attach(flood(WORD), [get_weather], model=MODEL).__aenter__()


async def test_a_message_for_which_somebody_waits_when_the_session_is_left_is_his_and_then_it_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def model(turn: Turn) -> None:
        await left.wait()
        await turn.start_call("get_weather", city="Oslo")
        await turn.say("So.")

    left = anyio.Event()
    read: list[Any] = []

    async def reads(live: livetools.attach.attach.Attached) -> None:
        read.extend([message async for message in live])

    async def run() -> None:
        async with FakeLiveServer(model, tls=True) as server, sdk(server, [get_weather]) as session:
            async with anyio.create_task_group() as group:
                async with livetools.attach(session, [get_weather], model=MODEL) as live:
                    await say(session, "go")
                    group.start_soon(reads, live)
                    await everybody_waits()
                left.set()
            assert [m async for m in live] == []
            assert [m async for m in session.receive()]  # what follows is the SDK's user's

    with pytest.raises(AssertionError, match="never answered: get_weather"):
        await run()
    assert len(read) == 1
    assert read[0].tool_call
    assert "a call came when attach() had been left: it is not answered" in caplog.text


async def test_a_session_that_its_owner_closes_ends_the_iteration_and_so_does_asking_again() -> None:
    async with FakeLiveServer(tls=True) as server, sdk(server, [get_weather]) as session:
        async with livetools.attach(session, [get_weather], model=MODEL) as live:
            async with anyio.create_task_group() as group:
                group.start_soon(session.close)
                assert [message async for message in live] == []
            assert [message async for message in live] == []


async def test_a_message_that_the_sdk_cannot_read_costs_neither_a_call_nor_the_rest() -> None:
    from google.genai.errors import APIError

    seen: list[Any] = []
    go = anyio.Event()

    async def waits() -> str:
        """Waits."""
        await go.wait()
        return "waited"

    async def model(turn: Turn) -> None:
        call = await turn.start_call("waits")
        await turn.send({"somethingNew": {"a": 1}})
        seen.append(await turn.answer(call))
        await turn.say("So.")

    async with FakeLiveServer(model, tls=True) as server, sdk(server, [waits]) as session:
        async with livetools.attach(session, [waits], model=MODEL) as live:
            await say(session, "go")
            with pytest.raises((APIError, TypeError)):  # of 3.6.1, where the service gives no code
                await turn(live)
            go.set()
            await turn(live)
    assert seen == [{"output": "waited"}]


async def test_breaking_off_and_going_on_loses_nothing_wherever_the_reader_is_cancelled() -> None:
    """A message a time, from a reader that was cancelled after each number of turns of the loop before."""

    async def model(turn: Turn) -> None:
        for number in range(12):
            assert (await turn.call("add_one", number=number)) == {"output": number + 1}
            await turn.send({"serverContent": {"modelTurn": {"parts": [{"text": str(number)}]}}})
        await turn.say("So.")

    async def add_one(number: int) -> int:
        """Adds one."""
        await anyio.lowlevel.checkpoint()
        return number + 1

    texts: list[str] = []

    async def read(live: livetools.attach.attach.Attached) -> bool:
        message = await anext(live)
        content = message.server_content
        for part in (content and content.model_turn and content.model_turn.parts) or ():
            texts.extend([part.text] if part.text and part.text.isdigit() else [])
        return bool(content and content.turn_complete)

    async with FakeLiveServer(model, tls=True) as server, sdk(server, [add_one]) as session:
        async with livetools.attach(session, [add_one], model=MODEL) as live:
            await say(session, "go")
            over, turns = False, 0
            with anyio.fail_after(30):
                while not over:
                    reading = asyncio.create_task(read(live))
                    for _ in range(turns % 7):
                        await asyncio.sleep(0)
                    reading.cancel()
                    turns += 1
                    try:
                        over = await reading
                    except asyncio.CancelledError:
                        if turns % 7 == 0:
                            over = await read(live)
    assert texts == [str(number) for number in range(12)]


async def test_a_session_that_says_no_more_ends_the_iteration() -> None:
    class Short(Flood):
        async def receive(self) -> AsyncIterator[Any]:
            while self.messages:
                yield self.messages.pop(0)

    async with livetools.attach(Short(message(WORD)), [], model=MODEL) as live:
        with anyio.fail_after(30):
            assert len([message async for message in live]) == 1


@pytest.mark.parametrize("kind", first_steps.KINDS)
async def test_what_a_first_step_cancels_ends_as_in_a_task_of_its_own_and_touches_no_other_call(
    kind: first_steps.Kind,
) -> None:
    seen: list[object] = []

    async def careless() -> object:
        """Careless."""
        return await first_steps.noted(kind, seen)

    async def waits() -> str:
        """Waits."""
        await asyncio.sleep(0)
        return "waited"

    names = ["waits", "careless", "waits", "waits"]
    session = flood(
        *({"toolCall": {"functionCalls": [{"id": str(n), "name": name}]}} for n, name in enumerate(names))
    )
    async with livetools.attach(session, [careless, waits], model=MODEL) as live:
        for number in range(len(names)):
            await anext(live)
            if number == 0:
                await everybody_waits()  # now a worker waits
        with anyio.fail_after(30):
            while len(session.answers) < len(names):
                await anyio.sleep(0.001)
    assert seen == [await first_steps.alone(kind)]
    answers = {answer["id"]: answer["response"] for answer in session.answers}
    assert [answers[id] for id in "023"] == [{"output": "waited"}] * 3


async def test_a_message_that_is_there_is_handed_out_though_its_reader_is_cancelled() -> None:
    session = flood(CALL, WORD)
    async with livetools.attach(session, [get_weather], model=MODEL) as live:
        assert (await anext(live)).tool_call
        with anyio.CancelScope() as scope:
            scope.cancel()
            assert (await anext(live)).server_content


async def test_the_calls_of_a_reader_that_need_not_wait_are_all_answered_in_their_order() -> None:
    async def greet(name: str) -> str:
        """Greets."""
        return f"Hello {name}."

    calls = [
        {"toolCall": {"functionCalls": [{"id": str(n), "name": "greet", "args": {"name": str(n)}}]}}
        for n in range(3)
    ]
    session = flood(*(message for call in calls for message in (call, WORD)))
    async with livetools.attach(session, [greet], model=MODEL) as live:
        assert [bool((await anext(live)).tool_call) for _ in range(6)] == [True, False] * 3
        await everybody_waits()
    assert [answer["id"] for answer in session.answers] == ["0", "1", "2"]
