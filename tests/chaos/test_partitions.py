"""Partitions between real sockets, on both loops, with TLS and without; the time that they take is virtual."""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from support.network import Network
from support.virtual import VirtualClock, run

import livetools
from livetools import NoAnswer, ReconnectPolicy, SetupTimeout, Stalled
from livetools.testing import FakeLiveServer, Turn
from livetools.transport.websocket import WebSocket

MODEL = "gemini-live-2.5-flash-preview"
QUICK = ReconnectPolicy(attempts=100, initial=0.1, maximum=1.0, jitter=0.0)
Scene = Callable[[livetools.Session, Network], Awaitable[None]]


@pytest.fixture(params=["asyncio", "asyncio-tls", "trio", "trio-tls"])
def line(request: pytest.FixtureRequest) -> Line:
    backend, _, tls = request.param.partition("-")
    return Line(backend, bool(tls))


class Line:
    """A session and a fake server with a network between them."""

    def __init__(self, backend: str, tls: bool) -> None:
        self.backend, self.tls = backend, tls
        self.runs = 0

    def play(self, scene: Scene, *, hole: bool = False, **options: Any) -> None:
        run(self.backend, self._play, scene, hole, options)

    async def _play(self, scene: Scene, hole: bool, options: dict[str, Any]) -> None:
        async with FakeLiveServer(answer, tls=self.tls, clock=VirtualClock()) as server:
            network = Network(int(server.url.rpartition(":")[2]))
            network.hole = hole
            async with network.up(), self._session(server, network, options) as session:
                await scene(session, network)

    @contextlib.asynccontextmanager
    async def _session(
        self, server: FakeLiveServer, network: Network, options: dict[str, Any]
    ) -> AsyncIterator[livetools.Session]:
        async def double(n: int) -> int:
            """Double."""
            self.runs += 1
            await anyio.sleep(1)
            return 2 * n

        given = {"reconnect": QUICK, "clock": VirtualClock(), **server.options, **options}
        scheme = "wss" if self.tls else "ws"
        given["base_url"] = (
            f"{scheme}://127.0.0.1:{network.port}"  # looking up a name takes a thread, and time
        )
        if self.tls:
            given["transport"] = replace(given.get("transport") or WebSocket(), ssl=server.ssl_context)
        config = {"response_modalities": ["TEXT"]}
        async with livetools.connect(MODEL, tools=[double], config=config, **given) as session:
            yield session


async def answer(turn: Turn) -> None:
    if turn.text.startswith("double"):
        result = await turn.call("double", n=int(turn.text.split()[1]))
        await turn.say(str(result))
    else:
        await turn.say(f"heard {turn.text}")


async def ask(session: livetools.Session, text: str) -> livetools.Reply:
    with anyio.fail_after(600):
        return await session.ask(text)


def test_a_slow_line_loses_nothing(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        network.delay = 4.0
        assert str(await ask(session, "double 21")) == "{'output': 42}"
        assert str(await ask(session, "this")) == "heard this"
        assert len(network.connections) == 1

    line.play(scene)


@pytest.mark.parametrize("to", ["client", "server"])
def test_a_line_that_is_closed_by_half_is_dialled_again(line: Line, to: str) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        assert str(await ask(session, "one")) == "heard one"
        await network.half_close(to)
        assert str(await ask(session, "two")) == "heard two"
        assert len(network.connections) == 2

    line.play(scene)


def test_with_pings_a_line_that_has_gone_silent_is_found_out_and_the_text_sent_again(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        assert str(await ask(session, "one")) == "heard one"
        network.hole = True
        async with anyio.create_task_group() as group:

            async def heal() -> None:
                await anyio.sleep(100)
                network.hole = False

            group.start_soon(heal)
            assert str(await ask(session, "two")) == "heard two"

    line.play(scene, transport=WebSocket(ping_interval=10), stall_timeout=1000.0)


def test_a_line_that_has_gone_silent_is_dialled_again_and_the_text_sent_again(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        assert str(await ask(session, "one")) == "heard one"
        network.hole = True
        asked_at = anyio.current_time()
        async with anyio.create_task_group() as group:

            async def heal() -> None:
                await anyio.sleep(50)
                network.hole = False

            group.start_soon(heal)
            assert str(await ask(session, "two")) == "heard two"
        assert 50 <= anyio.current_time() - asked_at < 80
        assert session.stats()["losses"] == 1
        await anyio.sleep(1000)  # a line that answers pings may be quiet
        assert str(await ask(session, "three")) == "heard three"
        assert session.stats()["losses"] == 1

    line.play(scene, stall_timeout=1000.0)


def test_without_a_bound_a_silent_line_is_never_given_up(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        assert str(await ask(session, "one")) == "heard one"
        network.hole = True
        with pytest.raises(NoAnswer, match="no sign of life for 500 s either, not even a pong"):
            await ask(session, "two")
        assert session.stats()["losses"] == 0

    line.play(scene, transport=WebSocket(dead_after=None), stall_timeout=500.0)


def test_without_pings_a_line_that_has_gone_silent_is_a_stall_and_no_question_hangs(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        assert str(await ask(session, "one")) == "heard one"
        network.hole = True
        with pytest.raises(NoAnswer):
            await ask(session, "two")
        while not isinstance(await anext(session), Stalled):
            pass
        network.hole = False
        await network.cut()
        assert str(await ask(session, "three")) == "heard three"

    line.play(scene)


def test_a_line_that_swallows_the_handshake_is_given_up_in_time_and_dialled_again(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        network.hole = True
        await network.cut()
        await anyio.sleep(60)
        assert 4 < len(network.connections) < 10
        network.hole = False
        assert str(await ask(session, "one")) == "heard one"

    line.play(scene)


def test_a_session_whose_first_handshake_is_swallowed_is_an_error_in_time(line: Line) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        raise AssertionError("there is no session")

    with pytest.RaisesGroup(SetupTimeout, flatten_subgroups=True):  # the group is the network's
        line.play(scene, hole=True)


@pytest.mark.parametrize("way", ["to_client", "to_server"])
def test_a_line_cut_at_any_byte_runs_no_call_twice_and_leaves_no_question_open(line: Line, way: str) -> None:
    async def scene(session: livetools.Session, network: Network) -> None:
        for n in range(16):
            setattr(network, way, 53 * n)
            runs = line.runs
            reply = await ask(session, f"double {n}")
            assert line.runs - runs <= 1
            assert reply.interrupted or str(reply) == f"{{'output': {2 * n}}}"
            setattr(network, way, math.inf)
            while "heard" not in str(await ask(session, "still there?")):
                pass

    line.play(scene)
