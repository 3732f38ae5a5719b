"""Eight programs that people write every day, and that break where a session lives in its user's task."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextvars import Context
from typing import Any

import anyio
import pytest
import pytest_asyncio

import livetools
from livetools import Event, ReconnectPolicy
from livetools.session.listening.frame_tap import listen
from livetools.testing import FakeLiveServer, Turn

MODEL = "gemini-3.8-live"


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[livetools.Session]:
    async with FakeLiveServer() as server, livetools.connect(MODEL, **server.options) as session:
        yield session


def no_task_is_left() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


async def talks(session: livetools.Session) -> bool:
    return "hello" in str(await session.ask("hello", timeout=30))


def run(program: Any) -> None:
    async def main() -> None:
        await program()
        assert no_task_is_left()

    asyncio.run(main())


def test_an_exit_stack_is_closed_by_another_task() -> None:
    async def program() -> None:
        stack = contextlib.AsyncExitStack()
        session = await stack.enter_async_context(opened())
        assert await talks(session)
        await asyncio.create_task(stack.aclose())

    run(program)


def test_two_sessions_are_closed_first_in_first_out() -> None:
    async def program() -> None:
        async with FakeLiveServer() as server:
            first, second = (livetools.connect(MODEL, **server.options) for _ in range(2))
            await first.__aenter__()
            await second.__aenter__()
            assert await talks(first)
            await first.__aexit__(None, None, None)
            assert await talks(second)
            await second.__aexit__(None, None, None)

    run(program)


def test_a_session_lives_inside_an_async_generator() -> None:
    async def answers() -> AsyncIterator[str]:
        async with opened() as session:
            while True:
                yield str(await session.ask("hello", timeout=30))

    async def program() -> None:
        generator = answers()
        async for answer in generator:
            assert "hello" in answer
            break
        await asyncio.create_task(generator.aclose())  # type: ignore[attr-defined]

    run(program)


def test_a_session_is_entered_and_left_by_different_tasks() -> None:
    async def program() -> None:
        async with FakeLiveServer() as server:
            session = livetools.connect(MODEL, **server.options)
            await asyncio.create_task(session.__aenter__())
            assert await asyncio.create_task(talks(session))
            await asyncio.create_task(session.__aexit__(None, None, None))

    run(program)


def test_a_body_that_raises_raises_just_that() -> None:
    async def program() -> None:
        with pytest.raises(ZeroDivisionError):
            async with opened():
                raise ZeroDivisionError

    run(program)


def test_a_body_that_is_cancelled_closes_the_session_and_stays_cancelled() -> None:
    async def program() -> None:
        inside = asyncio.Event()

        async def body() -> None:
            async with opened():
                inside.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(body())
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(program)


def test_a_timeout_around_a_session_is_a_timeout() -> None:
    async def program() -> None:
        async def listen() -> None:
            async with asyncio.timeout(0.3), opened() as session:
                async for _ in session:
                    pass

        with pytest.raises(TimeoutError):
            await listen()

    run(program)


@pytest_asyncio.fixture
async def session() -> AsyncIterator[livetools.Session]:
    async with opened() as session:
        yield session


@pytest.mark.asyncio
async def test_a_fixture_yields_a_session(session: livetools.Session) -> None:
    assert await talks(session)


def test_a_listener_may_use_anyio_in_a_program_of_asyncios() -> None:
    """Events come in callbacks of the loop, in which no task runs; also behind a connection that was lost."""

    async def model(turn: Turn) -> None:
        if turn.text == "drop" and len(turn.session.connections) == 1:
            await turn.drop()
        else:
            await turn.say("Yes.")

    async def main() -> list[str]:
        made: list[str] = []

        def event(event: Event) -> None:
            anyio.CancelScope()
            made.append(type(event).__name__)

        async with FakeLiveServer(model) as server:
            policy = ReconnectPolicy(initial=0.01)
            session = livetools.connect("gemini-3.8-live", **server.options, reconnect=policy)
            listen(session, event, sound=lambda pcm, rate: None, end=lambda: None)
            async with session:
                await session.ask("hello")
                assert str(await session.ask("drop"))
        return made

    made = Context().run(asyncio.run, main())  # anyio's own runner has named the loop in ours
    assert {"Reconnected", "TurnComplete"} <= set(made)
