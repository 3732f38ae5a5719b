"""Plays one conversation: opens the agent, says what the caller says, and keeps what happened."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from livetools.audio import pace
from livetools.errors import ConfigError, LiveToolsError, SessionClosed, ToolError
from livetools.evals.grading.expectations import Expectation, tools_named
from livetools.evals.recording.conversation_record import Conversation, TurnRecord
from livetools.evals.recording.event_recorder import EventRecorder
from livetools.evals.simulation.callers import Caller, Utterance, as_caller
from livetools.evals.simulation.client_faults import BargeIn, ClientFault, Cuttable, Drop, Slow, SlowTool
from livetools.evals.value_checks import UnknownTool, expect_approve, expect_number
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Event,
    HandedOff,
    OutputTranscript,
    TextChunk,
    ToolStarted,
    TurnComplete,
)
from livetools.session.agents import AgentLike, adjust, open_agent
from livetools.session.session import Session
from livetools.setup.did_you_mean import explains_keywords, near_names
from livetools.tools.definition.callbacks import overrides

_SILENCE = bytes(3200)  # 100 ms at 16 kHz
_AFTER = 10  # chunks of silence after the speech: the service detects the end by it


@explains_keywords(
    **dict.fromkeys(("tools", "model", "session"), "agent="),
    **dict.fromkeys(("turns", "script", "persona", "input", "says"), "caller="),
    **dict.fromkeys(("expectations", "expected", "checks", "asserts"), "expect="),
    **dict.fromkeys(("approvals", "approved"), "approve="),
    **dict.fromkeys(("turn_timeout", "deadline"), "timeout="),
    repeat="run(cases, repeat=...)",
    judge="run(cases, judge=...)",
)
@dataclass(frozen=True)
class Eval:
    """One conversation to play, and the expectations that judge it.

    ``caller``: a :class:`~.callers.Caller`, or the turns of a script. ``approve``: the names of tools whose calls
    the person at the other end approves, or all (True), or none. ``timeout``: seconds a turn may take. ``patience``:
    seconds that the caller waits, before speaking again and before hanging up, for what is still to come
    (``session.pending``): the result of a background call, the answer after a lost connection.

    ::

        Eval("books a table", agent, "A table for 4 in the name of Ann", [Called("book_table"), Said("booked")])
    """

    name: str
    agent: AgentLike
    caller: Caller | str | Utterance | Sequence[str | Utterance]
    expect: Sequence[Expectation] = ()
    faults: Sequence[ClientFault] = ()
    approve: bool | Collection[str] = True
    timeout: float = 60.0
    patience: float = 10.0

    def __post_init__(self) -> None:
        if not isinstance(self.expect, list | tuple):
            raise ConfigError(f"{self.name}: expect is {self.expect!r:.60}, expected a list of expectations")
        for each in self.expect:
            if not overrides(each, Expectation, "check"):
                raise ConfigError(
                    f"{self.name}: {each!r:.60} is not an expectation, such as Called({each!r:.40})"
                )
        if not isinstance(self.faults, list | tuple) or any(
            not isinstance(fault, Drop | SlowTool | BargeIn) for fault in self.faults
        ):
            raise ConfigError(f"{self.name}: {self.faults!r:.60} is not a list of faults, such as [Drop(1)]")
        try:
            as_caller(self.caller)
        except ConfigError as error:
            raise ConfigError(f"{self.name}: {error}") from None
        expect_approve(self.approve, self.name)
        expect_number(self.timeout, f"{self.name}: timeout", "seconds")
        expect_number(self.patience, f"{self.name}: patience", "seconds")

    def check_names(self, tools: Collection[str], *, final: bool = True) -> None:
        """Raise ``UnknownTool`` (a ``ConfigError``) for a tool that this eval names and the agent does not have.

        Not ``final``: a name that resembles none of ``tools`` passes. Another agent may have it, to which this one
        hands over during the conversation.
        """
        approved = [] if isinstance(self.approve, bool) else list(self.approve)
        slow = [fault.name for fault in self.faults if isinstance(fault, SlowTool)]
        for name in [*(n for each in self.expect for n in tools_named(each)), *approved, *slow]:
            if name not in tools and (final or near_names(name, list(tools), cutoff=0.7)):
                has = ", ".join(sorted(tools)) or "no tools"
                raise UnknownTool(f"{self.name}: the agent has no tool {name}; it has {has}")


async def play(case: Eval, conversation: Conversation | None = None, /, **options: Any) -> Conversation:
    """Play a conversation to its end. ``options`` say where, as ``open_agent`` takes them.

    The record is written as the conversation goes, into ``conversation`` if that is given.

    What goes wrong in it is kept in the record, not raised. Raises ``ConfigError`` for an agent that cannot be
    opened there, or that lacks a tool which the eval names, and what a caller raises. Cancelling hangs up.

    ::

        agent = partial(connect, MODEL, tools=[get_weather])
        conversation = await play(Eval("weather", agent, "Weather in Oslo?"))
        print(conversation.render())
    """
    conversation = conversation or Conversation(case.name)
    session = open_agent(case.agent, **options)
    known = set(session.tools)
    case.check_names(known, final=False)
    began = anyio.current_time()
    recorder = EventRecorder(conversation, lambda: anyio.current_time() - began, session.plan.transcribed)
    line = Cuttable()
    slow = {fault.name: fault.seconds for fault in case.faults if isinstance(fault, SlowTool)}
    adjust(
        session,
        hooks=[recorder, *([Slow(slow)] if slow else [])],
        wrap=line.around if any(isinstance(fault, Drop) for fault in case.faults) else None,
    )
    try:
        async with session:
            await _Play(case, session, recorder, line, known).run()
            conversation.usage = session.usage
            conversation.cost = session.usage.cost
    except ConfigError:
        raise
    except LiveToolsError as error:
        conversation.error = conversation.error or str(error)
    finally:
        conversation.seconds = recorder.now()
    case.check_names(known)
    return conversation


class _Play:
    """A conversation under way. ``known`` gathers the tools of every agent that takes part in it."""

    def __init__(
        self, case: Eval, session: Session, recorder: EventRecorder, line: Cuttable, known: set[str]
    ) -> None:
        self.case, self.session, self.recorder, self.record = case, session, recorder, recorder.record
        self._line, self._known = line, known
        self._drops = {fault.turn for fault in case.faults if isinstance(fault, Drop)}
        self._barges = {fault.turn for fault in case.faults if isinstance(fault, BargeIn)}
        self._listening = anyio.CancelScope()  # to the answer; the caller cuts in by cancelling it
        self._impatient = False  # the caller cuts in on the answer to come
        self._answered = anyio.Event()

    async def run(self) -> None:
        """To the end of what the caller says, or of the session."""
        errors: list[Exception] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen)
            try:
                await self._talk()
            except Exception as error:
                errors.append(error)  # bare, not in a group
            group.cancel_scope.cancel()
        if errors and not isinstance(errors[0], LiveToolsError):
            raise errors[0]
        if errors:
            self.record.error = str(errors[0])

    async def _talk(self) -> None:
        caller = as_caller(self.case.caller)
        cutting_in = False
        while (utterance := await caller.next(self.record)) is not None:
            if not isinstance(utterance, Utterance):
                raise ConfigError(
                    f"the caller's next() returned {utterance!r:.60}, expected an Utterance or None"
                )
            silent = utterance.silence > 0
            turn = self.recorder.begin(utterance.text, cutting_in=cutting_in, silent=silent)
            self._impatient = utterance.cuts_in or len(self.record.turns) in self._barges
            self._answered, self._listening = anyio.Event(), anyio.CancelScope()
            with self._listening:
                await self._turn(utterance, turn)
                if turn.trouble is None:
                    await self._settle()
            cutting_in = self._listening.cancelled_caught
            if cutting_in:
                turn.interrupted = True
                self.recorder.note("the caller cut in")
                self._barges.discard(len(self.record.turns))
            turn.ended = self.recorder.now()
            if self.record.error is not None:
                return
        # An eval whose fault never happened has shown nothing about it.
        if missed := [*map(Drop, sorted(self._drops)), *map(BargeIn, sorted(self._barges))]:
            faults = ", ".join(map(str, missed))
            self.record.error = (
                f"{faults} did not happen: the conversation ended after turn {len(self.record.turns)}"
            )

    async def _turn(self, utterance: Utterance, turn: TurnRecord) -> None:
        try:
            if utterance.silence:
                await anyio.sleep(utterance.silence)
            elif utterance.sound:
                await self._speak(utterance.sound, turn)
            else:
                reply = await self.session.ask(utterance.text, timeout=self.case.timeout)
                turn.interrupted = turn.interrupted or reply.interrupted
        except TimeoutError as error:  # NoAnswer, of a model that is silent, is one too
            turn.trouble = str(error) or f"no answer within {self.case.timeout:g} s"

    async def _settle(self) -> None:
        """Wait for the rest of this turn, as long as the caller is patient."""
        try:
            await self.session.wait_until_settled(timeout=self.case.patience)
        except TimeoutError:
            open_still = ", ".join(self.session.pending)
            self.recorder.note(f"not waited for after {self.case.patience:g} s: {open_still}")
        except SessionClosed as closed:
            if closed.code != 1000:  # else the agent has said goodbye, and nothing more is to come
                raise

    async def _speak(self, sound: Sequence[bytes], turn: TurnRecord) -> None:
        async for chunk in pace([*sound, *[_SILENCE] * _AFTER]):
            await self.session.send_audio(chunk)
        await self.session.end_audio()
        turn.began = self.recorder.now()  # latency counts from the end of what was said
        turn.first = None
        with anyio.fail_after(self.case.timeout):
            await self._answered.wait()

    # What the session tells

    async def _listen(self) -> None:
        try:
            async for event in self.session:
                await self._react(event)
        except LiveToolsError as error:
            self.record.error = str(error)
            self._answered.set()

    async def _react(self, event: Event) -> None:
        match event:
            case TextChunk() | OutputTranscript() | AudioChunk():
                if not self.record.turns or self.record.turns[-1].first is None:
                    return  # the end of an answer that the caller cut off
                await self._weather()
                if self._impatient:
                    self._listening.cancel()
            case ToolStarted(call):
                await self._weather()
                if not self.session.tools.get(call.name, True):
                    await self._decide(self.session.respond, call, ToolError("nobody is available to answer"))
            case ApprovalRequested(call):
                approve = self.case.approve
                if approve if isinstance(approve, bool) else call.name in approve:
                    self.recorder.approved(call.id)
                    await self._decide(self.session.approve, call)
                else:
                    await self._decide(self.session.refuse, call, "the caller said no")
            case HandedOff():
                self._known.update(self.session.tools)
            case TurnComplete():
                running = any(call.state == "running" for call in self.record.calls)
                if not running and self.record.turns and self.record.turns[-1].text.strip():
                    self._answered.set()

    async def _decide(self, verb: Any, *args: object) -> None:  # one of three methods of the session
        try:
            await verb(*args)
        except LiveToolsError as error:  # timed out, or cancelled meanwhile
            self.recorder.note(str(error))

    async def _weather(self) -> None:
        turn = len(self.record.turns)
        if turn in self._drops:
            self._drops.discard(turn)
            self.recorder.note("the connection is cut")
            await self._line.cut()
