"""``attach``: answers the function calls of a google-genai session; its messages pass through unchanged.

::

    config = livetools.declare(tools, into=config)
    async with client.aio.live.connect(model=m, config=config) as s:
        async with livetools.attach(s, tools, model=m) as live:
            async for message in live: ...

The dispatcher alone, without a connection of its own. Cancellations are honoured; each call is answered once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Never, Self
from weakref import WeakValueDictionary

from anyio.abc import TaskGroup

from livetools.errors import ConcurrencyError, LocalProtocolError
from livetools.events import Event
from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Outcome
from livetools.session.handlers.run_tool import ToolRunner
from livetools.session.handlers.tasks import Tasks
from livetools.session.option_synonyms import unexpected
from livetools.session.running import leaving
from livetools.session.running.clock import SYSTEM_CLOCK
from livetools.session.running.driver import Driver
from livetools.session.running.task_host import Host, Starter
from livetools.setup import defaults
from livetools.setup.model_profiles import ModelProfile, find
from livetools.setup.plan import make_plan
from livetools.setup.plan_fields import Plan
from livetools.tools import Hooks, ToolLike, as_tools
from livetools.tools.hooks import check_hooks
from livetools.transport.loop.wake import on_trio

from .attached_machine import LINK, AttachedMachine
from .sdk_session import SDKSession, SDKTransport, calls_of, close_code, speaks

_SDK = "the session itself is google-genai's: set it in client.aio.live.connect(model=..., config={...})"

log = get_logger("livetools.session")


def attach(
    sdk_session: SDKSession,
    tools: Iterable[ToolLike],
    *,
    model: str | None = None,
    profile: ModelProfile | None = None,
    deps: object = None,
    reply_format: defaults.ReplyFormat = defaults.REPLY_FORMAT,
    response_key: str = defaults.RESPONSE_KEY,
    tool_timeout: float | None = defaults.TOOL_TIMEOUT,
    max_concurrency: int | None = defaults.MAX_CONCURRENCY,
    hooks: Sequence[Hooks] = (),
    **unknown: Never,
) -> Attached:
    """Answer the function calls of a google-genai session. Enter it, and iterate over it instead of over ``receive()``.

    ``model`` tells livetools what the model supports (scheduling, ``willContinue``, media); without it nothing is
    assumed. The other parameters are those of ``connect``. In the tools ``context.session`` is ``None``. Raises
    ``ConfigError``; for an unknown keyword that error is a ``TypeError`` too.

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
    known = profile or (find(model) if model else ModelProfile())
    plan = make_plan(
        model or "any",
        as_tools(tools),
        profile=replace(known, thinking_level="honoured"),  # the setup is the SDK's, and has it where it must
        reply_format=reply_format,
        response_key=response_key,
        tool_timeout=tool_timeout,
        max_concurrency=max_concurrency,
        reconnect=False,
    )
    return Attached(sdk_session, plan, deps, check_hooks(hooks, calls_only="attach"))


class _AttachedDriver(Driver[AttachedMachine]):
    def __init__(
        self, session: SDKSession, plan: Plan, starter: Starter, hooks: Sequence[Hooks], deps: object
    ) -> None:
        super().__init__(AttachedMachine(plan), SYSTEM_CLOCK, starter, {LINK: SDKTransport(session)})
        self._starter = starter
        self._written = asyncio.Event()  # set when the task that writes has ended
        self.tasks = Tasks(starter, ToolRunner(self, plan.response_key, hooks, deps))

    def close(self) -> None:
        """The end has come: what is left to do is given some seconds."""
        self.write(self.machine.frames())  # behind what is being sent now
        super().close()
        self.connections[LINK].leave(leaving.LAST_WORDS)
        self.over.set()

    def hand_off(self, run: int, outcome: Outcome) -> Outcome:
        """It is the SDK's session: only its owner can change it."""
        log.warning("a hand-off is left out: only send_context_update() can change the SDK's session")
        return outcome

    def show(self, events: Sequence[Event]) -> None:
        """There are no events: the SDK's messages are what the user sees."""

    async def flush(self) -> None:
        """A task of ours writes: the SDK cannot finish a message whose sender somebody has cancelled. It is waited for,
        so that a generator yields no faster than the SDK sends."""
        self.write_later()
        if self._writing:
            await self._written.wait()
        await self._slice.share()

    def start_writing(self, write: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Most is sent in the first step, before it has to wait."""
        self._written = asyncio.Event()
        self._starter.start(self._write_and_tell(write, self._written), copy_context())

    async def _write_and_tell(
        self, write: Callable[[], Coroutine[Any, Any, None]], written: asyncio.Event
    ) -> None:
        try:
            await write()
        finally:
            written.set()


#: Who answers the calls of which SDK session, by its ``id``: two would each answer all calls that they hear.
_attached: WeakValueDictionary[int, Attached] = WeakValueDictionary()


class Attached:
    """A google-genai session whose calls are answered: iterating yields the SDK's own messages, over all turns.

    Reading is what drives it: calls are taken up when the message that holds them is read. What the SDK
    raises (``google.genai.errors.APIError``) is raised by the iteration, which may continue after it where the
    connection is still open; a clean close ends it, and so does leaving the context. It is entered once, on asyncio,
    the only loop of google-genai's.
    """

    def __init__(self, sdk_session: SDKSession, plan: Plan, deps: object, hooks: Sequence[Hooks]) -> None:
        self._session, self._plan, self._deps, self._hooks = sdk_session, plan, deps, hooks
        self._host = Host("attached livetools session")
        self._turn: AsyncIterator[Any] | None = None  # a receive() of the SDK's
        self._reading = False

    async def __aenter__(self) -> Self:
        """Begin to answer. Raises ``ConcurrencyError`` while another ``attach`` answers this session's calls; it may be
        entered again once that one is left."""
        if on_trio():
            raise LocalProtocolError("attach() runs on asyncio, as google-genai does, and this is trio")
        if self._host.loop is not None:
            raise LocalProtocolError("an attached session is entered once; attach() again for another one")
        if _attached.setdefault(id(self._session), self) is not self:
            raise ConcurrencyError(
                "this SDK session is attached already, and what one reads the other does not hear:"
                " give all the tools to one attach()"
            )
        for warning in self._plan.warnings:
            log.warning("%s", warning)
        await self._host.start(self._main)
        return self

    async def _main(self, group: TaskGroup, ready: Callable[[], None]) -> None:
        """Serve the calls until the context is left."""
        async with Starter(group) as starter:
            driver = _AttachedDriver(self._session, self._plan, starter, self._hooks, self._deps)
            self._driver = driver
            try:
                ready()
                await driver.over.wait()
                await driver.tasks.wind_down(driver.give_up)
            finally:
                driver.end()
                del _attached[id(self._session)]

    async def __aexit__(self, *error: object) -> None:
        """Stop what runs, undo what can be undone, and wait for that, not for long. The SDK's session stays."""
        self._host.require_loop()
        self._driver.close()
        await self._host.stop(leaving.LAST_WORDS)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # google.genai.types.LiveServerMessage
        """The next message. Cancelling loses none."""
        self._host.require_loop()
        if self._reading:
            raise ConcurrencyError("two loops iterate over one attached session; iterate once")
        if self._host.loop is None:
            raise LocalProtocolError("an attached session is entered first: async with attach(...) as live")
        driver = self._driver
        if driver.over.is_set():
            raise StopAsyncIteration
        self._reading = True
        try:
            message = await self._receive()
        finally:
            self._reading = False
        calls = calls_of(message)
        if not driver.over.is_set():
            cancellation = getattr(message, "tool_call_cancellation", None)
            ids = () if cancellation is None else cancellation.ids or ()
            driver.machine.heard(calls, ids, driver.clock.now(), speaks(message))
            driver.background()
        elif calls:  # it was left while its reader waited for the message
            log.warning("a call came when attach() had been left: it is not answered")
        return message

    async def _receive(self) -> Any:
        """Take a message from the SDK, whose ``receive`` ends with each turn.

        A close with 1000 is the end. A ``receive()`` that yields nothing is the end too: asking again would loop
        forever.
        """
        while True:
            fresh = self._turn is None
            self._turn = self._turn or self._session.receive()
            try:
                return await anext(self._turn)
            except BaseException as error:
                self._turn = None
                # A receive() that had yielded something is between two turns.
                if isinstance(error, StopAsyncIteration) and not fresh:
                    continue
                code = None if self._driver.over.is_set() else close_code(error)
                if code is not None:
                    self._driver.machine.gone(self._driver.clock.now())
                    self._driver.step()
                if code == 1000:
                    raise StopAsyncIteration from None
                raise
