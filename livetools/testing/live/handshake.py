"""Takes one socket from its upgrade over its setup to its conversation."""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncIterator

import anyio
from websockets.http11 import Request

from livetools.testing.auth.client_identity import ClientIdentity, caller
from livetools.testing.messages import client_schema
from livetools.testing.model.turn import TurnCancelled
from livetools.testing.net.connection import Receiver, ServerConnection
from livetools.testing.service import Service
from livetools.testing.wire import Message, ServiceRefusal, decode

from . import refusals
from .fake_session import FakeSession
from .resumption import SessionRegistry

_LOST = 4000  # of the codes that applications may use: the service has nothing to do with it
_IDLE = "The operation was aborted."
ONLY_FIRST = "setup must be the first message and only the first"
TOO_LONG = (
    "Connection aborted because the client failed to close the connection after receiving a GoAway signal "
    "once the session duration limit was reached."
)


@contextlib.asynccontextmanager
async def admit(
    service: Service, registry: SessionRegistry, connection: ServerConnection, request: Request
) -> AsyncIterator[Receiver]:
    """Receive a client while its socket is open. Yields the function that takes its frames."""
    who = caller(request)
    if who is None:
        service.note(f"not a Live endpoint: {request.path.partition('?')[0]}")
        await connection.close(1008, "Requested entity was not found.")
    handshake = _Handshake(service, registry, connection, who)
    try:
        yield handshake.hear
    finally:
        handshake.left()


class _Handshake:
    """One socket's way from its first frame to its conversation."""

    def __init__(
        self,
        service: Service,
        registry: SessionRegistry,
        connection: ServerConnection,
        who: ClientIdentity | None,
    ) -> None:
        self.service, self.registry = service, registry
        self.connection, self.who = connection, who
        self.session: FakeSession | None = None
        self.life = anyio.CancelScope()

    async def hear(self, data: bytes) -> None:
        """Read, check and handle one frame of the client. Closes the connection if a rule refuses the frame."""
        try:
            message = decode(data)
            self.service.record("client", self.connection.number, message)
            await self._act(message)
        except ServiceRefusal as refusal:
            await self._refuse(refusal)
        except TurnCancelled:
            pass  # the socket went while it was being answered

    async def _act(self, message: Message) -> None:
        assert self.who is not None
        read, faults = client_schema.read(message, vertex=self.who.vertex)
        for fault in faults:
            self._judge(fault)
        if self.session is None:
            await self._set_up(read)
            return
        for kind, body in read.items():
            if kind == "setup":
                self._judge(ServiceRefusal(1007, ONLY_FIRST, "setup came twice"))
            elif isinstance(body, dict):
                self._judge(refusals.message_fault(self.session, kind, body))
                await self.session.hear(kind, body)

    async def _set_up(self, read: Message) -> None:
        assert self.who is not None
        setup = read.get("setup")
        if not isinstance(setup, dict):
            raise ServiceRefusal(1007, ONLY_FIRST, f"{next(iter(read), '{}')} came first")
        if lost := self.service.log.lost():
            raise ServiceRefusal(_LOST, lost)
        setup = self.service.tokens.constrain(self.who.credential, setup)
        profile = self.service.profile_of(str(setup.get("model", "")), vertex=self.who.vertex)
        resumed = self.registry.resumable(setup)
        self._judge(refusals.setup_fault(refusals.Arrival(self.service, self.who, setup, profile, resumed)))
        self.service.tokens.spend(self.who.credential, setup)
        self.session = self.registry.admit(setup, profile)
        began = self.service.clock.now()
        await self.session.attach(self.connection)
        self.service.start_task(self._live, self.session, began)

    async def _live(self, session: FakeSession, began: float) -> None:
        """Start what happens to a connection at certain times."""
        every, idle = session.profile.handle_every, self.service.limits.idle
        with self.life:
            async with anyio.create_task_group() as group:
                if every is not None:
                    group.start_soon(self._give_handles, session, every)
                if (says_unasked := getattr(self.service.model, "connected", None)) is not None:
                    group.start_soon(says_unasked, session)
                if idle < math.inf:
                    group.start_soon(self._abort_when_idle, session, idle)
                await self._grow_old(session, began)

    async def _grow_old(self, session: FakeSession, began: float) -> None:
        """Limit the time of a connection: send goAway, then close it."""
        clock, limits = self.service.clock, self.service.limits
        left = limits.left(vertex=session.profile.vertex)
        with contextlib.suppress(TurnCancelled):
            await clock.sleep_until(began + limits.go_away)
            await session.go_away(left)
            await clock.sleep_until(began + limits.go_away + left)
            await session.close(1008, TOO_LONG)

    async def _give_handles(self, session: FakeSession, every: float) -> None:
        """Send a new handle now and then, as some models do without a request; never during a turn."""
        clock = self.service.clock
        with contextlib.suppress(TurnCancelled):
            while True:
                await clock.sleep_until(clock.now() + every)
                if session.quiet:
                    await session.send_handle()

    async def _abort_when_idle(self, session: FakeSession, idle: float) -> None:
        """Drop a connection that has had no turn for a long time."""
        clock = self.service.clock
        while True:
            ends = session.since + idle
            if ends > clock.now() or not session.quiet:
                await clock.sleep_until(max(ends, clock.now() + 1.0))
                continue
            self.service.note(f"connection {self.connection.number}: no turn for {idle:g} s")
            await session.close(1008, _IDLE)
            return

    def _judge(self, fault: ServiceRefusal | None) -> None:
        if fault is not None:
            if self.service.strict:
                raise fault
            self.service.note(f"forgiven: {fault.reason} ({fault.why})")

    async def _refuse(self, refusal: ServiceRefusal) -> None:
        why = f" ({refusal.why})" if refusal.why else ""
        self.service.note(f"closed with {refusal.code}: {refusal.reason}{why}")
        self.service.record_close(self.connection.number, refusal.code, refusal.reason)
        await self.connection.close(refusal.code, refusal.reason)
        self.left()

    def left(self) -> None:
        """Tell the conversation that the socket is closed."""
        self.life.cancel()
        if self.session is not None:
            self.session.detach(self.connection)
