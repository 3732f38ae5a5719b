"""Plays one conversation: opens the agent, says what the caller says, and keeps what happened."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from livetools.audio import pace
from livetools.errors import ConfigError, LiveToolsError, ToolError
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Event,
    Interrupted,
    OutputTranscript,
    TextChunk,
    ToolStarted,
    TurnComplete,
)
from livetools.session.agents import AgentLike, adjust, open_agent
from livetools.session.session import Session
from livetools.setup.did_you_mean import explains_keywords

from .callers import Caller, Script, Utterance
from .expectations import Expectation, tools_named
from .faults import BargeIn, Cuttable, Drop, Fault, Slow, SlowTool
from .record import Conversation, Note, TurnRecord

SILENCE = bytes(3200)  # 100 ms at 16 kHz
AFTER = 10  # chunks of silence behind what was spoken: the service hears an end by it


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
    the person at the other end approves, or all (True), or none. ``timeout``: seconds a turn may take.
    """

    name: str
    agent: AgentLike
    caller: Caller | str | Utterance | Sequence[str | Utterance]
    expect: Sequence[Expectation] = ()
    faults: Sequence[Fault] = ()
    approve: bool | Collection[str] = True
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.expect, list | tuple):
            raise ConfigError(f"{self.name}: expect is {self.expect!r:.60}, expected a list of expectations")
        for each in self.expect:
            if not callable(getattr(each, "check", None)):
                raise ConfigError(
                    f"{self.name}: {each!r:.60} is not an expectation, such as Called({each!r:.40})"
                )
        if isinstance(self.approve, str):
            raise ConfigError(
                f"{self.name}: approve={self.approve!r}: expected True, False, or a list of names"
            )

    def check_names(self, tools: Collection[str]) -> None:
        """Raise ``ConfigError`` for a tool that this eval names and the agent does not have."""
        approved = [] if isinstance(self.approve, bool) else list(self.approve)
        slow = [fault.name for fault in self.faults if isinstance(fault, SlowTool)]
        for name in [*(n for each in self.expect for n in tools_named(each)), *approved, *slow]:
            if name not in tools:
                has = ", ".join(sorted(tools)) or "no tools"
                raise ConfigError(f"{self.name}: the agent has no tool {name}; it has {has}")


async def play(case: Eval, **options: Any) -> Conversation:
    """Play a conversation to its end. ``options`` say where, as ``open_agent`` takes them.

    What goes wrong in it is kept in the record, not raised. Raises ``ConfigError`` for an agent that cannot be
    opened there, and what a caller raises. Cancelling hangs up.
    """
    conversation = Conversation(case.name)
    session = open_agent(case.agent, **options)
    case.check_names(session.tools)
    line = Cuttable()
    if any(isinstance(fault, Drop) for fault in case.faults):
        adjust(session, wrap=line.around)
    slow = {fault.name: fault.seconds for fault in case.faults if isinstance(fault, SlowTool)}
    if slow:
        adjust(session, hooks=[Slow(slow)])
    began = anyio.current_time()
    try:
        async with session:
            await _Play(case, session, conversation, began, line).run()
            conversation.usage = session.usage
            conversation.cost = session.usage.cost
    except ConfigError:
        raise
    except LiveToolsError as error:
        conversation.error = conversation.error or str(error)
    conversation.seconds = anyio.current_time() - began
    return conversation


class _Play:
    """A conversation under way."""

    def __init__(
        self, case: Eval, session: Session, record: Conversation, began: float, line: Cuttable
    ) -> None:
        self.case, self.session, self.record = case, session, record
        self._began, self._line = began, line
        self._drops = {fault.turn for fault in case.faults if isinstance(fault, Drop)}
        self._barges = {fault.turn for fault in case.faults if isinstance(fault, BargeIn)}
        self._words: list[Event] = []  # of the turn under way
        self._listening = anyio.CancelScope()  # to the answer; the caller cuts in by cancelling it
        self._answered = anyio.Event()
        self._stale = False  # words that come now belong to the turn that was cut off

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

    def _now(self) -> float:
        return anyio.current_time() - self._began

    async def _talk(self) -> None:
        caller = self.case.caller
        if isinstance(caller, str | Utterance | Sequence):
            caller = Script(caller)
        while (utterance := await caller.next(self.record)) is not None:
            turn = TurnRecord(utterance.text, self._now())
            self.record.turns.append(turn)
            self._words, self._answered, self._listening = [], anyio.Event(), anyio.CancelScope()
            with self._listening:
                await self._turn(utterance, turn)
            if self._listening.cancelled_caught:
                turn.interrupted, self._stale = True, True
                self.record.notes.append(Note(self._now(), "the caller cut in"))
            turn.text = turn.text or _text(self._words)
            turn.ended = self._now()
            if self.record.error is not None:
                return

    async def _turn(self, utterance: Utterance, turn: TurnRecord) -> None:
        try:
            if utterance.sound:
                await self._speak(utterance.sound, turn)
            else:
                reply = await self.session.ask(utterance.text, timeout=self.case.timeout)
                turn.text, turn.interrupted = reply.text, turn.interrupted or reply.interrupted
        except TimeoutError as error:  # the session's word on a silent model is one, too
            turn.trouble = str(error) or f"no answer within {self.case.timeout:g} s"

    async def _speak(self, sound: Sequence[bytes], turn: TurnRecord) -> None:
        async for chunk in pace([*sound, *[SILENCE] * AFTER]):
            await self.session.send_audio(chunk)
        await self.session.end_audio()
        turn.began = self._now()  # latency counts from the end of what was said
        turn.first = None
        with anyio.fail_after(self.case.timeout):
            await self._answered.wait()

    # What the session tells

    async def _listen(self) -> None:
        try:
            async for event in self.session:
                if self._is_stale(event):
                    continue
                self.record.take(event, self._now())
                await self._react(event)
        except LiveToolsError as error:
            self.record.error = str(error)
            self._answered.set()

    def _is_stale(self, event: Event) -> bool:
        if isinstance(event, Interrupted | TurnComplete):
            stale, self._stale = self._stale, False
            return stale
        return self._stale and isinstance(event, AudioChunk | TextChunk | OutputTranscript)

    async def _react(self, event: Event) -> None:
        match event:
            case TextChunk() | OutputTranscript() | AudioChunk():
                self._words.append(event)
                await self._weather()
                if len(self.record.turns) in self._barges:
                    self._listening.cancel()
            case ToolStarted(call):
                await self._weather()
                if not self.session.tools.get(call.name, True):
                    await self._decide(self.session.respond, call, ToolError("nobody is there to answer"))
            case ApprovalRequested(call):
                approve = self.case.approve
                if approve if isinstance(approve, bool) else call.name in approve:
                    await self._decide(self.session.approve, call)
                else:
                    await self._decide(self.session.refuse, call, "the caller said no")
            case TurnComplete():
                running = any(call.state == "running" for call in self.record.calls)
                if not running and _text(self._words):
                    self._answered.set()

    async def _decide(self, verb: Any, *args: object) -> None:  # one of three methods of the session
        try:
            await verb(*args)
        except LiveToolsError as error:  # timed out, or cancelled meanwhile
            self.record.notes.append(Note(self._now(), str(error)))

    async def _weather(self) -> None:
        turn = len(self.record.turns)
        if turn in self._drops:
            self._drops.discard(turn)
            self.record.notes.append(Note(self._now(), "the connection is cut"))
            await self._line.cut()


def _text(events: Sequence[Event]) -> str:
    """What was spoken: the transcript where there is one, else the text."""
    spoken = [event.text for event in events if isinstance(event, OutputTranscript)]
    return "".join(spoken or [event.text for event in events if isinstance(event, TextChunk)])
