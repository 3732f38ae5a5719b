"""For whoever holds a session of google-genai already: its messages pass, its function calls are answered.

::

    config = livetools.declare(tools, into=config)
    async with client.aio.live.connect(model=m, config=config) as s:
        async with livetools.attach(s, tools, model=m) as live:
            async for message in live: ...

The dispatcher alone, without a connection of its own. Cancellations are honoured; each call is answered once.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

import anyio
from anyio.abc import TaskGroup

from livetools.protocol.actions import Action, AskApproval, Outcome, Start, Stop, Undo
from livetools.protocol.calls import Calls
from livetools.protocol.configuration import plain
from livetools.protocol.errors import ConcurrencyError, ConfigError
from livetools.protocol.outbox import Outbox, Write
from livetools.protocol.plan import declaration, make_plan
from livetools.protocol.profiles import ModelProfile
from livetools.protocol.terms import Plan, ReplyFormat
from livetools.tools import Hooks, as_tools

from .clock import SystemClock
from .handlers import Desk, Handlers
from .host import Host
from .opening import by_name
from .runner import Runner
from .timeslice import TimeSlice

GRACE = 5.0  # seconds for the handlers at the end

log = logging.getLogger("livetools.session")


def declare(
    tools: Iterable[object], into: object = None
) -> Any:  # a config of the kind that was given, or a dict
    """A config of google-genai with these tools in it, declared as Live models read them.

    ``into`` (a ``LiveConnectConfig`` or its dict, not changed; ``None``: a new dict) keeps what it has, its
    tools too. The SDK by itself sends ``parameters_json_schema``, which several models ignore
    (python-genai#1147).

    Raises ``ConfigError`` for what cannot be declared, or twice.
    """
    specs = [tool.spec() for tool in as_tools(tools)]
    policies = make_plan("any", specs, profile=ModelProfile(), reconnect=False).policies
    entry = {"function_declarations": [declaration(s, policies[s.declaration["name"]]) for s in specs]}
    if into is None:
        return {"tools": [entry]}
    if not isinstance(into, Mapping):
        if not hasattr(into, "model_copy"):
            raise ConfigError(f"into is a {type(into).__name__}: a LiveConnectConfig or a dict is due")
        from google.genai import types

        made = types.Tool.model_validate(entry)
        return into.model_copy(update={"tools": [*(getattr(into, "tools", None) or ()), made]})
    return {**into, "tools": [*(into.get("tools") or ()), entry]}


class SDKSession(Protocol):
    """The part of google-genai's ``AsyncSession`` (3.x) that is used."""

    def receive(self) -> AsyncIterator[Any]: ...
    async def send_tool_response(self, *, function_responses: Any) -> None: ...
    async def send_client_content(self, *, turns: Any, turn_complete: bool) -> None: ...
    async def send_realtime_input(self, *, text: str) -> None: ...


def attach(
    sdk_session: SDKSession,
    tools: Iterable[object],
    *,
    model: str | None = None,
    profile: ModelProfile | None = None,
    deps: object = None,
    reply_format: ReplyFormat = "tool_response",
    response_key: str = "output",
    tool_timeout: float | None = 60.0,
    max_concurrency: int | None = 64,
    hooks: Sequence[Hooks] = (),
) -> Attached:
    """Answer the function calls of a google-genai session: enter it, and iterate over it, not ``receive()``.

    ``model`` says what the model takes (scheduling, ``willContinue``, media); without it nothing is assumed.
    The other parameters are those of ``connect``. In the tools ``context.session`` is ``None``. Raises
    ``ConfigError``.
    """
    made = as_tools(tools)
    plan = make_plan(
        model or "any",
        [tool.spec() for tool in made],
        profile=profile or (None if model else ModelProfile()),
        reply_format=reply_format,
        response_key=response_key,
        tool_timeout=tool_timeout,
        max_concurrency=max_concurrency,
        reconnect=False,
    )

    def runner(desk: Desk, group: TaskGroup) -> Runner:
        return Runner(group, Handlers(desk, response_key, tuple(hooks)), by_name(made), deps)

    return Attached(sdk_session, plan, runner)


@dataclass(frozen=True, slots=True)
class _Asked:
    id: str | None
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    partial_args: Sequence[Any] = ()
    will_continue: bool = False


class Attached:
    """A google-genai session whose calls are answered: iterating yields the SDK's own messages, over all turns.

    Reading is what drives it: calls are taken up when the message that holds them is read. What the SDK
    raises at the end (``google.genai.errors.APIError``) comes out of the iteration, but for a clean close,
    which ends it.
    """

    _clock = SystemClock()

    def __init__(
        self, sdk_session: SDKSession, plan: Plan, make_runner: Callable[[Desk, TaskGroup], Runner]
    ) -> None:
        self.calls = Calls(plan, lambda event: None, lambda action: self._actions.append(action))
        self._outbox = Outbox()
        self._session, self._make_runner = sdk_session, make_runner
        self._host = Host("attached livetools session")
        self._runner: Runner | None = None
        self._actions: list[Action] = []
        self._nap: tuple[float, anyio.CancelScope] | None = None
        self._due = math.inf
        self._turn: AsyncIterator[Any] | None = None  # a receive() of the SDK's
        self._reading = False
        self._writing = False
        self._slice = TimeSlice()

    async def __aenter__(self) -> Self:
        for warning in self.calls.plan.warnings:
            log.warning("%s", warning)
        await self._host.start(self._main)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop what runs, undo what can be undone, and wait for that, not for long. The SDK's session stays."""
        self._host.require_loop()
        self.calls.close(self._clock.now(), self._outbox.lost())
        self._drain()
        if self._nap is not None:
            self._nap[1].cancel()
        await self._host.stop(GRACE)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # google.genai.types.LiveServerMessage
        """The next message. Cancelling loses none."""
        self._host.require_loop()
        await self._slice.share()
        if self._reading:
            raise ConcurrencyError("two loops iterate over one attached session; iterate once")
        self._reading = True
        try:
            message = await self._receive()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException:
            self.calls.lose(self._clock.now(), self._outbox.lost())
            self._drain()
            raise
        finally:
            self._reading = False
        self._take(message)
        await self._follow()
        return message

    async def _receive(self) -> Any:
        """A message of the SDK's, whose ``receive`` ends with each turn. A close with 1000 is the end."""
        from google.genai.errors import APIError

        while True:
            if self._turn is None:
                self._turn = self._session.receive()
            try:
                return await anext(self._turn)
            except StopAsyncIteration:
                self._turn = None
            except APIError as error:
                if error.code == 1000:
                    raise StopAsyncIteration from None
                raise
            except BaseException:
                self._turn = None
                raise

    # The runner's desk

    async def settled(self, run: int, outcome: Outcome) -> None:
        """A handler ended."""
        self.calls.settled(run, outcome, self._clock.now())
        await self._follow()

    async def progress(self, run: int, value: object, yielded: Outcome | None) -> None:
        """A handler reported."""
        self.calls.progress(run, value, self._clock.now(), yielded)
        await self._follow()
        await self._slice.share()

    async def approved(self, run: int, verdict: bool | str | None) -> None:
        """A tool's ``approval`` answered. Nobody can be asked here: what a person must decide is refused."""
        now = self._clock.now()
        if verdict:
            self.calls.refuse(run, verdict if isinstance(verdict, str) else "nobody can be asked", now)
        else:
            self.calls.approve(run, now)
        await self._follow()

    def streams(self, name: str) -> bool:
        """Whether each yield of this tool is a response of its own."""
        return self.calls.plan.policies[name].streams

    def reason(self, run: int) -> Exception | None:
        """Why a call was stopped."""
        record = self.calls.records.get(run)
        return None if record is None or record.outcome is None else record.outcome.error

    # Inside

    async def _main(self, group: TaskGroup, ready: Callable[[], None]) -> None:
        self._runner = self._make_runner(self, group)
        ready()
        try:
            while not self.calls.closed:
                deadline, self._due = min(self._due, self.calls.wake_at()), math.inf
                with anyio.CancelScope() as scope:
                    self._nap = deadline, scope
                    await self._clock.sleep_until(deadline)
                self._nap = None
                self.calls.tick(self._clock.now())
                await self._follow()
            await self._runner.wind_down(self._give_up)
        finally:
            self._runner.close()

    def _give_up(self) -> None:
        """Handlers that do not end are not waited for."""
        self.calls.give_up()
        self._drain()

    def _take(self, message: Any) -> None:
        now = self._clock.now()
        self.calls.read(self._outbox.output(math.inf))
        if asked := list(_asked(message)):
            self.calls.offer(0, self.calls.partial.whole(asked), now)
        cancellation = getattr(message, "tool_call_cancellation", None)
        if cancellation is not None:
            self._outbox.drop(self.calls.cancel(cancellation.ids or (), now))

    def _drain(self) -> None:
        runner = self._runner
        actions, self._actions = self._actions, []
        for action in actions:
            match action:
                case _ if runner is None:
                    pass
                case Start(run, call):
                    runner.start(run, call)
                case Stop(run):
                    runner.stop(run)
                case AskApproval(run, call):
                    runner.ask_approval(run, call)
                case Undo(run, call, result):
                    runner.undo(run, call, result)
        if self._nap is not None and (due := self.calls.wake_at()) < self._nap[0]:
            self._due = due  # slept to though its call may end before: else each call would wake the clock
            self._nap[1].cancel()
            self._nap = None

    async def _follow(self) -> None:
        """Start and stop what is due, and send what is ready, in order: one writer at a time."""
        self._drain()
        if self._writing:
            return
        self._writing = True
        try:
            while replies := self.calls.replies.frames(0):
                write = Write()
                for answer in (answer for reply in replies for answer in reply.answers):
                    self._outbox.wrote(answer, write)
                for reply in replies:
                    if (data := reply.make()) is not None:
                        await self._out(self._send(json.loads(data)))
                write.handed = True
            for text in self.calls.late():
                await self._out(self._say(text))
        finally:
            self._writing = False

    async def _out(self, sending: Awaitable[None]) -> None:
        """What was taken is sent, whoever cancels. Of a connection that is gone the SDK tells the reader."""
        try:
            with anyio.CancelScope(shield=True):
                await sending
        except Exception as error:
            log.warning("what the model is owed could not be sent (%s)", type(error).__name__)

    async def _send(self, frame: Mapping[str, Any]) -> None:
        if "toolResponse" in frame:
            responses = frame["toolResponse"]["functionResponses"]
            await self._session.send_tool_response(function_responses=responses)
        else:
            content = frame["clientContent"]
            await self._session.send_client_content(
                turns=content["turns"], turn_complete=content["turnComplete"]
            )

    async def _say(self, text: str) -> None:
        if self.calls.plan.text_channel == "realtime":
            await self._session.send_realtime_input(text=text)
        else:
            turn = {"role": "user", "parts": [{"text": text}]}
            await self._session.send_client_content(turns=[turn], turn_complete=True)


def _asked(message: Any) -> Iterable[_Asked]:
    """The calls of a message, on either of its two channels."""
    tool_call = getattr(message, "tool_call", None)
    calls = list(getattr(tool_call, "function_calls", None) or ())
    turn = getattr(getattr(message, "server_content", None), "model_turn", None)
    calls += [part.function_call for part in getattr(turn, "parts", None) or () if part.function_call]
    return [_Asked(c.id, c.name or "", dict(c.args or {}), *_pieces(c)) for c in calls]


def _pieces(call: Any) -> tuple[Sequence[Any], bool]:  # older SDKs know no calls in pieces
    pieces = [plain(piece) for piece in getattr(call, "partial_args", None) or ()]
    return pieces, bool(getattr(call, "will_continue", False))
