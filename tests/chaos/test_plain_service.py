"""A whole session against a service that shares nothing with our fake, behind a proxy that cuts the line anywhere.

The service is a plain websocket server with a small model of the published protocol: it reads what arrives in order,
gives handles, calls functions, and stands still for a blocking call. The proxy forwards bytes, and breaks
a connection after some number of them, in the middle of a frame as well. An open microphone runs all the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets import ConnectionClosed
from websockets.asyncio.server import ServerConnection, serve

import livetools
from livetools import ReconnectPolicy, ToolCancelled, ToolFinished, ToolLost, ToolStarted

pytestmark = pytest.mark.timeout(300)

TEXT = {"response_modalities": ["TEXT"]}


@dataclass(frozen=True)
class Family:
    """What the service does for one family of models, as published."""

    model: str
    text: bool = False  # answers in text, not in sound
    vertex: bool = False
    blocking: bool = True  # it stands still for a call
    ends: bool = False  # a call ends its turn
    closes: bool = False  # an error for a lost call is confirmed with an empty turn


FAMILIES = {
    "2.5": Family("gemini-live-2.5-flash-preview", text=True),
    "3.1": Family("gemini-3.1-flash-live-preview"),
    "3.8": Family("gemini-3.8-live", blocking=False, ends=True, closes=True),
    "half-cascade on Vertex": Family("gemini-live-2.5-flash", text=True, vertex=True, ends=True),
}


@dataclass
class Book:
    """What crossed the service's border, over all connections."""

    said: list[str] = field(default_factory=list)  # questions whose answers were written to a socket
    called: dict[str, int] = field(default_factory=dict)  # id → connection
    answered: Counter[tuple[int, str]] = field(default_factory=Counter)
    connections: int = 0


class Connection:
    """One connection of the service."""

    def __init__(self, service: Service, socket: ServerConnection) -> None:
        self.service, self.socket = service, socket
        self.inbox: asyncio.Queue[tuple[str, str]] = asyncio.Queue()  # ("text" | "response", what)
        self.later: list[tuple[str, str]] = []  # what waits for a blocking call
        self.open: list[str] = []
        service.book.connections += 1
        self.number = service.book.connections

    async def send(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            await self.socket.send(json.dumps(message).encode())

    async def read(self) -> None:
        """Sort what arrives."""
        async for raw in self.socket:
            message = json.loads(raw)
            for text in texts(message):
                if text.strip():
                    self.inbox.put_nowait(("text", text))
            for response in message.get("toolResponse", {}).get("functionResponses", []):
                if not response.get("willContinue"):
                    self.service.book.answered[self.number, response["id"]] += 1
                    self.inbox.put_nowait(("response", response["id"]))

    async def next(self, kind: str | None = None) -> tuple[str, str]:
        """What arrived first, of this kind."""
        for at, (which, what) in enumerate(self.later):
            if kind in (None, which):
                return self.later.pop(at) and (which, what)
        while True:
            which, what = await self.inbox.get()
            if kind in (None, which):
                return which, what
            self.later.append((which, what))

    async def serve(self) -> None:
        """The model: one thing after another, in the order in which it arrived."""
        family, chance = self.service.family, self.service.chance
        waits: dict[str, str] = {}  # open calls of a model that does not stand still: their question
        while True:
            which, what = await self.next()
            if which == "response" and self.service.book.called.get(what) != self.number:
                if family.closes:  # an error for a call that was lost
                    await self.end()
                continue
            if which == "response":
                question = waits.pop(what, "")
                if question and question not in waits.values():
                    await self.answer(question)
                continue
            await asyncio.sleep(chance.choice((0.0, 0.01, 0.05)))
            calls = 0 if waits else chance.choice((0, 0, 1, 1, 2))  # else nobody could tell its answers apart
            if not calls:
                await self.answer(what)
                continue
            ids = [self.service.new_call(self.number) for _ in range(calls)]
            entries = [{"id": i, "name": chance.choice(("fast", "slow")), "args": {"n": i}} for i in ids]
            self.open = ids
            await self.send({"toolCall": {"functionCalls": entries}})
            if family.ends:
                await self.end(handle=False)
            if family.blocking:
                left = set(ids)
                while left:
                    left.discard((await self.next("response"))[1])
                self.open = []
                await self.answer(what)
            else:
                waits.update(dict.fromkeys(ids, what))

    async def answer(self, question: str) -> None:
        words = f"to {question} "
        if self.service.family.text:
            content: dict[str, Any] = {"modelTurn": {"parts": [{"text": words}]}}
        else:
            sound = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA"}}
            content = {"outputTranscription": {"text": words}, "modelTurn": {"parts": [sound]}}
        await self.send({"serverContent": content}, {"serverContent": {"generationComplete": True}})
        await self.end()
        self.service.book.said.append(question)

    async def end(self, handle: bool = True) -> None:
        await self.send({"serverContent": {"turnComplete": True}, "usageMetadata": {"totalTokenCount": 1}})
        if handle and not self.open:
            await self.send(self.service.new_handle())


class Service:
    """All connections of one conversation."""

    def __init__(self, family: Family, seed: int) -> None:
        self.family, self.chance, self.book = family, random.Random(seed), Book()
        self.handles: list[str] = []
        self.calls = 0

    def new_call(self, connection: int) -> str:
        self.calls += 1
        self.book.called[f"c{self.calls}"] = connection
        return f"c{self.calls}"

    def new_handle(self) -> dict[str, Any]:
        name = f"h{len(self.handles) + 1}"
        self.handles.append(name)
        return {"sessionResumptionUpdate": {"newHandle": name, "resumable": True}}

    async def __call__(self, socket: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            setup = json.loads(await socket.recv())["setup"]
            shown = setup.get("sessionResumption", {}).get("handle")
            if shown is not None and shown not in self.handles:
                return await socket.close(1008, "Requested entity was not found.")
            one = Connection(self, socket)
            await one.send({"setupComplete": {}}, self.new_handle())
            working = [asyncio.create_task(one.serve()), asyncio.create_task(one.read())]
            try:
                await asyncio.wait(working, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in working:
                    task.cancel()
                for result in await asyncio.gather(*working, return_exceptions=True):
                    if isinstance(result, Exception) and not isinstance(result, ConnectionClosed):
                        raise result
        return None


class Proxy:
    """Forwards bytes, and breaks each connection after so many of them, until it is ``calm``."""

    def __init__(self, port: int, chance: random.Random) -> None:
        self.port, self.chance, self.cuts, self.calm = port, chance, 0, False

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = self.chance.randrange(2_000, 60_000)
        there, out = await asyncio.open_connection("127.0.0.1", self.port)

        async def forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            nonlocal left
            while data := await source.read(4096):
                target.write(data if self.calm else data[:left])
                await target.drain()
                left = max(0, left - len(data))
                if not (left or self.calm):
                    self.cuts += 1
                    return

        both = [asyncio.create_task(forward(reader, out)), asyncio.create_task(forward(there, writer))]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        writer.transport.abort()
        out.transport.abort()


def texts(message: dict[str, Any]) -> list[str]:
    """The texts of the user's in a message."""
    found = [message["realtimeInput"]["text"]] if "text" in message.get("realtimeInput", {}) else []
    turns = message.get("clientContent", {}).get("turns", [])
    return found + [part["text"] for turn in turns for part in turn["parts"] if "text" in part]


class Credentials:
    """Of Vertex AI; nobody looks at them."""

    token, valid, expired, quota_project_id = "t", True, False, None


@contextlib.asynccontextmanager
async def behind_a_proxy(service: Service) -> AsyncIterator[tuple[str, Proxy]]:
    async with serve(service, "127.0.0.1", 0, compression=None, max_size=None, ping_interval=None) as server:
        proxy = Proxy(server.sockets[0].getsockname()[1], service.chance)
        front = await asyncio.start_server(proxy, "127.0.0.1", 0)
        async with front:
            yield f"ws://127.0.0.1:{front.sockets[0].getsockname()[1]}", proxy


async def converse(family: Family, seed: int, seconds: float) -> tuple[Book, Proxy, int]:
    """Talk for so long, and see what must hold. Returns the book, the proxy, and how many questions were answered."""
    service, runs, told = Service(family, seed), Counter[str](), dict[str, list[type]]()

    async def fast(n: str) -> str:
        """Fast."""
        runs[n] += 1
        return "done"

    async def slow(n: str) -> str:
        """Slow."""
        runs[n] += 1
        await asyncio.sleep(0.1)
        return "done"

    wait = livetools.tool(behavior="blocking" if family.blocking else "non_blocking")
    options: dict[str, Any] = {"config": TEXT} if family.text else {}
    if family.vertex:
        options |= {"vertexai": True, "project": "p", "location": "l", "credentials": Credentials()}
    else:
        options["api_key"] = "k"
    policy = ReconnectPolicy(attempts=50, initial=0.01, maximum=0.1, jitter=0.0, budget=10**6)

    async def listen(session: livetools.Session) -> None:
        async for event in session:
            if isinstance(event, ToolStarted | ToolFinished | ToolCancelled | ToolLost):
                told.setdefault(str(event.call.args["n"]), []).append(type(event))

    async def speak(session: livetools.Session) -> None:
        with contextlib.suppress(livetools.SessionClosed):
            while True:
                await session.send_audio(bytes(640))
                await asyncio.sleep(0.02)

    async with behind_a_proxy(service) as (url, proxy):
        answered, until = 0, asyncio.get_running_loop().time() + seconds
        async with livetools.connect(
            family.model,
            tools=[wait(fast), wait(slow)],
            base_url=url,
            reconnect=policy,
            stall_timeout=5.0,
            **options,
        ) as session:
            beside = [asyncio.create_task(listen(session)), asyncio.create_task(speak(session))]
            number = 0
            while asyncio.get_running_loop().time() < until:
                number += 1
                if service.chance.random() < 0.5:
                    await session.send_text(f"text {number}.")
                question = f"question {number}."
                try:
                    reply = await session.ask(question, timeout=60)
                except livetools.NoAnswer:
                    assert question not in service.book.said, f"{question} was answered, and not heard"
                    continue
                own = f"to {question}" in str(reply)
                whole = not (reply.interrupted or reply.stalled)
                # a turn on the response to a call that does not block is not told from one on a question
                told_apart = family.blocking or not reply.text
                assert own or not whole or not told_apart, f"{question} was given {reply.text!r}"
                answered += own
            proxy.calm = True
            await session.wait_until_settled(timeout=60)
            assert "to the end" in str(await session.ask("the end", timeout=30))
            for task in beside:
                task.cancel()
    twice = {call: count for call, count in runs.items() if count > 1}
    assert not twice, f"run twice: {twice}"
    again = {key: count for key, count in service.book.answered.items() if count > 1}
    assert not again, f"answered twice on one connection: {again}"
    for call, connection in service.book.called.items():
        if service.book.answered[connection, call] or call not in told:
            continue  # answered where it was asked; or it never arrived
        assert ToolLost in told[call] or ToolCancelled in told[call], f"{call} was not answered: {told[call]}"
    return service.book, proxy, answered


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_each_call_runs_once_and_each_question_is_given_its_own_answer(name: str) -> None:
    logging.disable(logging.CRITICAL)
    try:
        book, proxy, answered = asyncio.run(converse(FAMILIES[name], seed=7, seconds=60.0))
    finally:
        logging.disable(logging.NOTSET)
    assert proxy.cuts > 20
    assert len(book.called) > 50
    assert answered > 50


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_for_a_moment(name: str) -> None:
    logging.disable(logging.CRITICAL)
    try:
        _, _, answered = asyncio.run(converse(FAMILIES[name], seed=1, seconds=1.5))
    finally:
        logging.disable(logging.NOTSET)
    assert answered
