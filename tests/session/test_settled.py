"""``session.pending`` and ``session.wait_until_settled()``: what is still to come, and waiting for all of it."""

from __future__ import annotations

import contextlib

import anyio
import pytest

import livetools
from livetools import ConfigError, OutputTranscript, ToolContext, TurnComplete, tool
from livetools.testing import FakeClock, FakeLiveServer, Turn, TurnCancelled, User

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]
MODEL = "gemini-3.8-live"


def connect(
    server: FakeLiveServer, *tools: object, model: str = MODEL, **options: object
) -> livetools.Session:
    policy = livetools.ReconnectPolicy(initial=0.01, maximum=0.01, jitter=0.0)
    return livetools.connect(model, tools=tools, **{"reconnect": policy, **server.options, **options})


def booking(go: anyio.Event, runs: list[str]) -> object:
    async def book(table: str) -> str:
        """Book a table."""
        runs.append(table)
        await go.wait()
        return "booked"

    return book


def dropped_while_booking(server: FakeLiveServer) -> None:
    @server.conversation
    async def script(user: User) -> None:
        turn = await user.says("Book a table.")
        await turn.start_call("book", table="two")
        await turn.drop()
        await user.reconnects(handle=True)
        turn = await user.says()
        assert "booked" in turn.text
        await turn.say("You are booked.")


async def test_after_a_lost_connection_it_returns_what_the_model_says_of_the_late_result() -> None:
    go, runs = anyio.Event(), list[str]()
    async with FakeLiveServer() as server:
        dropped_while_booking(server)
        async with connect(server, booking(go, runs)) as session:
            reply = await session.ask("Book a table.")
            assert reply.interrupted
            assert any("the call book" in name for name in session.pending)
            go.set()
            with anyio.fail_after(30):
                late = await session.wait_until_settled()
            assert str(late) == "You are booked."
            assert not late.interrupted
            assert late.audio
            assert session.pending == []
            assert session.stats()["waiting_for"] == ""
    assert runs == ["two"]


async def test_a_loop_that_leaves_when_nothing_is_pending_hears_of_the_late_result() -> None:
    go, runs, heard = anyio.Event(), list[str](), list[str]()
    async with FakeLiveServer() as server:
        dropped_while_booking(server)
        async with connect(server, booking(go, runs)) as session:
            await session.send_text("Book a table.")
            with anyio.fail_after(30):
                async for event in session:
                    if isinstance(event, livetools.ToolLost):
                        go.set()
                    if isinstance(event, OutputTranscript):
                        heard.append(event.text)
                    if isinstance(event, TurnComplete) and not session.pending:
                        break
    assert "".join(heard) == "You are booked."


async def tick(clock: FakeClock) -> None:
    while True:
        await anyio.wait_all_tasks_blocked()
        clock.advance(0.5)


async def test_a_background_tool_is_waited_for_beside_a_loop_and_both_hear_everything() -> None:
    go, heard = anyio.Event(), list[str]()

    @tool(behavior="background")
    async def report() -> str:
        """Write a report."""
        await go.wait()
        return "42 pages"

    async def listen(session: livetools.Session) -> None:
        async for event in session:
            if isinstance(event, OutputTranscript):
                heard.append(event.text)
            if isinstance(event, TurnComplete):
                go.set()

    async def model(turn: Turn) -> None:
        if "42 pages" in turn.text:
            await turn.say("It is ready.")
        else:
            await turn.call("report")
            await turn.say("I am on it. ")

    options = {"model": "gemini-3.1-flash-live-preview", "clock": FakeClock()}
    async with FakeLiveServer(model) as server, connect(server, report, **options) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(listen, session)
            await session.send_text("A report, please.")
            group.start_soon(tick, options["clock"])  # a late result waits for a quiet moment
            with anyio.fail_after(30):
                reply = await session.wait_until_settled()
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    assert str(reply) == "".join(heard) == "I am on it. It is ready."
    assert [call.name for call in reply.calls] == ["report"]


async def test_it_begins_anew_with_each_answer_and_says_what_is_open_when_its_time_is_up() -> None:
    go = anyio.Event()

    async def slow() -> str:
        """Slow."""
        await go.wait()
        return "done"

    async def model(turn: Turn) -> None:
        if turn.text == "slow":
            await turn.call("slow")
        await turn.say(f"to {turn.text}. ")

    async with FakeLiveServer(model) as server, connect(server, slow) as session:
        assert str(await session.wait_until_settled()) == ""
        await session.send_text("one")
        assert str(await session.wait_until_settled()) == "to one. "
        assert str(await session.ask("two")) == "to two. "
        assert str(await session.wait_until_settled()) == ""
        await session.send_text("slow")
        with pytest.raises(TimeoutError, match=r"not settled after 0.2 s; still open: .*the call slow"):
            await session.wait_until_settled(timeout=0.2)
        go.set()
        with anyio.fail_after(30):
            assert str(await session.wait_until_settled()) == "to slow. "


async def test_inside_a_tool_it_would_wait_for_itself() -> None:
    async def impatient(context: ToolContext) -> str:
        """Waits."""
        await context.session.wait_until_settled()
        return "never"

    async def model(turn: Turn) -> None:
        await turn.say(str(await turn.call("impatient")))

    async with FakeLiveServer(model) as server, connect(server, impatient) as session:
        reply = await session.ask("go")
        assert "error" in str(reply)
        [finished] = [e for e in session.transcript if "functionResponse" in str(e)]
        assert "return first" not in str(finished)  # what went wrong inside a tool is not the model's to know
        with pytest.raises(ConfigError, match="timeout"):
            await session.wait_until_settled(timeout="soon")  # type: ignore[arg-type]


async def test_the_error_that_ends_the_session_is_raised_and_a_normal_end_returns_what_was_said() -> None:
    async def model(turn: Turn) -> None:
        if turn.text == "end":
            await turn.close(1008, "API key expired. Please renew the API key.")
        else:
            await turn.say("hello")

    async with FakeLiveServer(model) as server:
        async with connect(server) as session:
            await session.send_text("end")
            with pytest.raises(livetools.AuthenticationError):
                await session.wait_until_settled()
        async with connect(server) as session:
            await session.send_text("hi")
            reply = await session.wait_until_settled()
            assert str(reply) == "hello"
            assert reply.audio


def spends_a_text(server: FakeLiveServer, *answers: str) -> None:
    """The model calls, and the line is cut in the middle of that message. The resumed session spends the text on the
    call, and then hears it again: the ``answers`` to that, of which an empty one is an empty turn."""

    @server.conversation
    async def script(user: User) -> None:
        turn = await user.says("Book a table.")
        await turn.fault("half_frame")
        with contextlib.suppress(TurnCancelled):
            await turn.start_call("book", table="two")
        await user.reconnects(handle=True)
        for answer in ("", *answers):
            turn = await user.says("Book a table.")
            if answer:
                await turn.say(answer)


async def reply_to_a_spent_text(*answers: str) -> livetools.Reply:
    async with FakeLiveServer() as server:
        spends_a_text(server, *answers)
        async with connect(server, booking(anyio.Event(), [])) as session:
            await session.send_text("Book a table.")
            with anyio.fail_after(30):
                return await session.wait_until_settled()


async def test_a_text_that_a_resumed_session_has_spent_on_an_unread_call_is_answered_all_the_same() -> None:
    reply = await reply_to_a_spent_text("You are booked.")
    assert str(reply) == "You are booked."
    assert not reply.interrupted


async def test_a_text_that_is_left_without_words_over_a_lost_connection_is_told_as_interrupted() -> None:
    reply = await reply_to_a_spent_text("")
    assert str(reply) == ""
    assert reply.interrupted


@pytest.mark.parametrize("by_us", [True, False])
async def test_a_session_that_is_closed_before_the_answer_returns_what_was_said_as_interrupted(
    by_us: bool,
) -> None:
    for said in ("", "It is"):

        async def model(turn: Turn, said: str = said) -> None:
            if said:
                await turn.send({"serverContent": {"outputTranscription": {"text": said}}})
            if not by_us:
                await turn.close(1000, "")
            await anyio.sleep_forever()

        async def leave(session: livetools.Session, said: str = said) -> None:
            while by_us and said not in str(session.transcript.seed()):
                await anyio.wait_all_tasks_blocked()
            if by_us:
                await session.aclose()

        async with FakeLiveServer(model) as server, connect(server) as session:
            await session.send_text("?")
            async with anyio.create_task_group() as group:
                group.start_soon(leave, session)
                with anyio.fail_after(30):
                    reply = await session.wait_until_settled()
            assert str(reply) == said
            assert reply.interrupted
