"""One socket's way from the upgrade over its setup to its conversation."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import anyio
from websockets.http11 import Request

from livetools.protocol.profiles import find

from . import schema, strict
from .caller import Caller, caller
from .connection import Connection, Receiver
from .roles import Server, Session
from .turn import TurnCancelled
from .wire import Message, Refused, decode

ONLY_FIRST = "setup must be the first message and only the first"
TOO_LONG = (
    "Connection aborted because the client failed to close the connection after receiving a GoAway signal "
    "once the session duration limit was reached."
)


@contextlib.asynccontextmanager
async def admit(server: Server, connection: Connection, request: Request) -> AsyncIterator[Receiver]:
    """Receive a client for as long as its socket stands; gives what takes its frames."""
    who = caller(request)
    if who is None:
        server.note(f"no Live endpoint: {request.path.partition('?')[0]}")
        await connection.close(1008, "Requested entity was not found.")
    guest = _Guest(server, connection, who)
    try:
        yield guest.hear
    finally:
        guest.left()


class _Guest:
    """One socket's way from its first frame to its conversation."""

    def __init__(self, server: Server, connection: Connection, who: Caller | None) -> None:
        self.server, self.connection, self.who = server, connection, who
        self.session: Session | None = None
        self.life = anyio.CancelScope()
        self.lull = anyio.CancelScope()

    async def hear(self, data: bytes) -> None:
        """One frame of the client: read, judged, acted upon. What is refused closes the connection."""
        try:
            message = decode(data)
            self.server.record("client", self.connection.number, message)
            await self._act(message)
        except Refused as refusal:
            await self._refuse(refusal)
        except TurnCancelled:
            pass  # the socket went while it was being answered

    async def _act(self, message: Message) -> None:
        assert self.who is not None
        read, faults = schema.read(message, vertex=self.who.vertex)
        for fault in faults:
            self._judge(fault)
        if self.session is None:
            await self._set_up(read)
            return
        for kind, body in read.items():
            if kind == "setup":
                self._judge(Refused(1007, ONLY_FIRST, "setup came twice"))
            elif isinstance(body, dict):
                self._judge(strict.message_fault(self.session, kind, body))
                await self.session.hear(kind, body)

    async def _set_up(self, read: Message) -> None:
        assert self.who is not None
        setup = read.get("setup")
        if not isinstance(setup, dict):
            raise Refused(1007, ONLY_FIRST, f"{next(iter(read), '{}')} came first")
        setup = self.server.tokens.constrain(self.who.credential, setup)
        facts = self.server.profile or find(str(setup.get("model", "")), vertex=self.who.vertex)
        self._judge(strict.setup_fault(strict.Arrival(self.server, self.who, setup, facts)))
        self.server.tokens.spend(self.who.credential, setup)
        self.session = self.server.lobby.admit(setup, facts)
        await self.session.attach(self.connection)
        self.server.listener.start_task(self._live)
        if facts.handle_every is not None:
            self.server.listener.start_task(self._give_handles, facts.handle_every)

    async def _live(self) -> None:
        """The time that a connection has: goAway, and then the hard close."""
        server, limits = self.server, self.server.limits
        with self.life, contextlib.suppress(TurnCancelled):
            assert self.session is not None
            await server.clock.sleep_until(server.clock.now() + limits.go_away)
            await self.session.go_away(limits.time_left)
            await server.clock.sleep_until(server.clock.now() + limits.time_left)
            await self.session.close(1008, TOO_LONG)

    async def _give_handles(self, every: float) -> None:
        """A handle now and then, from models that give them unasked; never while something is under way."""
        clock = self.server.clock
        with self.lull, contextlib.suppress(TurnCancelled):
            while self.session is not None:
                await clock.sleep_until(clock.now() + every)
                if self.session.floor.speaker is None and not self.session.open_calls():
                    await self.session.send_handle()

    def _judge(self, fault: Refused | None) -> None:
        if fault is not None:
            if self.server.strict:
                raise fault
            self.server.note(f"forgiven: {fault.reason} ({fault.why})")

    async def _refuse(self, refusal: Refused) -> None:
        why = f" ({refusal.why})" if refusal.why else ""
        self.server.note(f"closed with {refusal.code}: {refusal.reason}{why}")
        self.server.record(
            "server", self.connection.number, {"_close": {"code": refusal.code, "reason": refusal.reason}}
        )
        await self.connection.close(refusal.code, refusal.reason)
        self.left()

    def left(self) -> None:
        """The socket is done with: tell its conversation."""
        self.life.cancel()
        self.lull.cancel()
        if self.session is not None:
            self.session.detach(self.connection)
