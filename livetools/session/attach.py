"""``attach``: answers the function calls of a google-genai session; its messages pass through unchanged.

::

    config = livetools.declare(tools, into=config)
    async with client.aio.live.connect(model=m, config=config) as s:
        async with livetools.attach(s, tools, model=m) as live:
            async for message in live: ...

The dispatcher alone, without a connection of its own. Cancellations are honoured; each call is answered once.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Never, Self

import anyio
from anyio.abc import TaskGroup

from livetools.protocol.actions import Outcome
from livetools.protocol.attached import AttachedMachine
from livetools.protocol.errors import ConcurrencyError
from livetools.protocol.events import Event
from livetools.protocol.plan import make_plan
from livetools.protocol.plan_types import (
    MAX_CONCURRENCY,
    REPLY_FORMAT,
    RESPONSE_KEY,
    TOOL_TIMEOUT,
    Plan,
    ReplyFormat,
)
from livetools.protocol.profiles import ModelProfile
from livetools.tools import Hooks, ToolLike, as_tools

from .assembly import specs_of
from .clock import SystemClock
from .driver import Driver
from .first_step import FirstStep
from .handlers import Desk, Handlers
from .host import Host
from .misnamed import unexpected
from .sdk_session import SDKSession, SDKTransport, calls_of
from .timeslice import TimeSlice
from .transport import Sending
from .wake import Latch
from .workers import Workers

_SDK = "the session itself is google-genai's: set it in client.aio.live.connect(model=..., config={...})"
GRACE = 5.0  # seconds for the handlers at the end

log = logging.getLogger("livetools.session")


def attach(
    sdk_session: SDKSession,
    tools: Iterable[ToolLike],
    *,
    model: str | None = None,
    profile: ModelProfile | None = None,
    deps: object = None,
    reply_format: ReplyFormat = REPLY_FORMAT,
    response_key: str = RESPONSE_KEY,
    tool_timeout: float | None = TOOL_TIMEOUT,
    max_concurrency: int | None = MAX_CONCURRENCY,
    hooks: Sequence[Hooks] = (),
    **unknown: Never,
) -> Attached:
    """Answer the function calls of a google-genai session: enter it, and iterate over it, not ``receive()``.

    ``model`` says what the model takes (scheduling, ``willContinue``, media); without it nothing is assumed.
    The other parameters are those of ``connect``. In the tools ``context.session`` is ``None``. Raises
    ``ConfigError``, for a keyword that there is not (``unknown``) one that is a ``TypeError`` too.

    ::

        config = declare([get_weather], into={"response_modalities": ["AUDIO"]})
        async with client.aio.live.connect(model=MODEL, config=config) as sdk:
            async with attach(sdk, [get_weather], model=MODEL) as live:
                await sdk.send_realtime_input(text="Weather in Oslo?")
                async for message in live:  # the SDK's own messages; calls are answered
                    if message.server_content and message.server_content.turn_complete:
                        print("answered")
                        break
    """
    misnamed = list(unknown)
    del unknown  # a key may be among them, and tracebacks that print variables print ours
    if misnamed:
        raise unexpected(attach, misnamed, _SDK)
    made = as_tools(tools)
    plan = make_plan(
        model or "any",
        specs_of(made),
        profile=profile or (None if model else ModelProfile()),
        reply_format=reply_format,
        response_key=response_key,
        tool_timeout=tool_timeout,
        max_concurrency=max_concurrency,
        reconnect=False,
    )

    def workers(desk: Desk, group: TaskGroup, host: Host) -> Workers:
        handlers = Handlers(desk, response_key, tuple(hooks))
        return Workers(group, handlers, deps)

    return Attached(sdk_session, plan, workers)


class _AttachedDriver(Driver[AttachedMachine]):
    def __init__(self, plan: Plan, transport: SDKTransport) -> None:
        super().__init__(AttachedMachine(plan), SystemClock())
        self._transport = transport
        self.over = Latch()

    async def run(self, group: TaskGroup, ready: Callable[[], None]) -> None:
        self.begin(group)
        try:
            await group.start(self._transport.run)
            ready()
            await self.over.wait()
            await self.wind_down()
        finally:
            self.end()

    def hand_off(self, run: int, outcome: Outcome) -> Outcome:
        """It is the SDK's session: only its owner can change it."""
        log.warning(
            "a hand-off is left out: attach() cannot change the SDK's session; use its send_context_update()"
        )
        return outcome

    def show(self, events: Sequence[Event]) -> None:
        """There are none: the SDK's messages are what the user sees."""

    def transport(self, link: int) -> Sending:
        return self._transport


class Attached:
    """A google-genai session whose calls are answered: iterating yields the SDK's own messages, over all turns.

    Reading is what drives it: calls are taken up when the message that holds them is read. What the SDK
    raises at the end (``google.genai.errors.APIError``) is raised by the iteration; a clean close ends it.
    """

    def __init__(
        self, sdk_session: SDKSession, plan: Plan, make_workers: Callable[[Desk, TaskGroup, Host], Workers]
    ) -> None:
        self._session, self._plan, self._make_runner = sdk_session, plan, make_workers
        self._host = Host("attached livetools session")
        self._turn: AsyncIterator[Any] | None = None  # a receive() of the SDK's
        self._reading = False
        self._message: Any = None  # received, and not heard yet: whoever waited for it was cancelled

    async def __aenter__(self) -> Self:
        for warning in self._plan.warnings:
            log.warning("%s", warning)
        self._driver = driver = _AttachedDriver(self._plan, SDKTransport(self._session))
        self._slice = TimeSlice()

        async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
            driver.workers = self._make_runner(driver, group, self._host)
            await driver.run(group, ready)

        await self._host.start(main)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop what runs, undo what can be undone, and wait for that, not for long. The SDK's session stays."""
        self._host.require_loop()
        driver = self._driver
        driver.machine.close(driver.clock.now())
        driver.step()
        driver.over.set()
        await self._host.stop(GRACE)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # google.genai.types.LiveServerMessage
        """The next message. Cancelling loses none."""
        self._host.require_loop()
        if self._reading:
            raise ConcurrencyError("two loops iterate over one attached session; iterate once")
        self._reading = True
        try:
            if self._message is None:
                self._message = await self._receive()
            if self._slice.over():
                await self._slice.share()
        finally:
            self._reading = False
        message, self._message = self._message, None
        self._hear(message)
        return message

    def _hear(self, message: Any) -> None:
        """Tell the machine what the message holds, and do what follows."""
        driver, calls = self._driver, calls_of(message)
        cancellation = getattr(message, "tool_call_cancellation", None)
        ids = () if cancellation is None else cancellation.ids or ()
        driver.machine.heard(calls, ids, driver.clock.now())
        driver.background()
        if calls:
            self._slice.use_up()  # their handlers begin before another message is heard

    async def _receive(self) -> Any:
        """A message of the SDK's, whose ``receive`` ends with each turn. A close with 1000 is the end."""
        while True:
            if self._turn is None:
                self._turn = self._session.receive()
            try:
                coming = FirstStep(anext(self._turn))
                if not coming.waits:
                    return coming.value
                message = await coming
                self._slice.rested()
                return message
            except StopAsyncIteration:
                self._turn = None
            except anyio.get_cancelled_exc_class():
                self._turn = None
                raise
            except BaseException as error:
                self._turn = None
                self._driver.machine.lost(self._driver.clock.now())
                self._driver.step()
                if _is_clean_end(error):
                    raise StopAsyncIteration from None
                raise


def _is_clean_end(error: BaseException) -> bool:
    """Whether the SDK says with this that the connection was closed with 1000."""
    from google.genai.errors import APIError

    return isinstance(error, APIError) and error.code == 1000
