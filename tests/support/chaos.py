"""A conversation in which everything goes wrong, and a book that says what must hold all the same.

The server's model calls tools of every kind and cuts its own line at random moments; a saboteur cuts it at others; the
line between is late and swallows frames. The user talks on. All chance comes from one seed, and time is virtual.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import anyio

import livetools
from livetools import Agent, HandedOff, LocalProtocolError, ReconnectPolicy, ToolError, ToolResult, tool
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Call,
    Event,
    InputDropped,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
)
from livetools.protocol.input.input_queue import FATAL
from livetools.protocol.turns.expected_turns import PAUSE
from livetools.testing import FakeCall, FakeLiveServer, FakeSession, Turn, TurnCancelled
from livetools.transport.websocket import WebSocket

from .rough import RoughLine, texts
from .virtual import VirtualClock

TEXT: dict[str, Any] = {"response_modalities": ["TEXT"]}
TRANSPARENT: dict[str, Any] = {"session_resumption": {"transparent": True}}
#: Every profile that calls functions: on the Gemini API, and on Vertex AI (where a call of half-cascade ends its turn,
#: and a transparent session says how much of what was sent it has taken in).
MODELS: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("gemini-live-2.5-flash-preview", TEXT, False),
    ("gemini-live-2.5-flash-preview", {}, False),
    ("gemini-2.0-flash-live-001", TEXT, False),
    ("gemini-2.5-flash-native-audio-latest", {}, False),
    ("gemini-3.1-flash-live-preview", {}, False),
    ("gemini-3.8-live", {}, False),
    ("gemini-3.8-live-extended-thinking", {"thinking_config": {"thinking_level": "LOW"}}, False),
    ("gemini-2.0-flash-live-001", {}, False),
    ("gemini-live-2.5-flash", TEXT, True),
    ("gemini-live-2.5-flash", {}, True),
    ("gemini-live-2.5-flash", TEXT | TRANSPARENT, True),
    ("gemini-live-2.5-flash-native-audio", {}, True),
    ("gemini-live-2.5-flash-native-audio", TRANSPARENT, True),
    ("gemini-3.8-live", {}, True),
)
#: What the checks of a storm let pass, each with its reason; a storm counts how often it did.
EXCUSES = {
    "no answer": "a question whose connection was lost may have been answered there, and nothing of it came",
    "cut short": "an interruption, a lost connection or a stall leaves a reply with what was said by then",
    "never sent": "the fake books a call before it writes it, and the line went in between",
    "taken back meanwhile": "while a decision was written to a slow line, the model took that call back",
    "answered late": "its time was up, or its connection was replaced: the answer is an error that says so",
    "crossed": "something of the server's came after the answer was sent: nobody can tell that it was lost",
    "cancelled late": "the server knows when a response arrived, not whether the cancellation had been read by then",
    "mixed": "of several responses to calls that do not block nothing tells which turn is on which",
    "behind a late turn": "a question stalled, or its turn came too late: no turn says which question it is on",
    "said too late": "two questions may be answered in one turn: the model was quiet for too long behind the first",
    "given up": "five connections in a row had ended with that text in flight, which the session told",
    "taken back": "where a call ends its turn, one that is taken back may have ended it; the model was slow to go on",
}
KINDS = (
    "fast",
    "slow",
    "thread",
    "stream",
    "steps",
    "failing",
    "refusing",
    "background",
    "stuck",
    "stubborn",
    "asking",
)
UNBLOCKED = {"stream", "steps", "background"}  # where a model knows calls that do not block it
CUTS = ("drop", "1001", "1006", "1008", "1011", "half_frame", "go_away", "stall", "flap", "stale")
ID = re.compile(rb'"id":\s*"([^"]+)"')  # of a call, in a frame
TOOL_TIMEOUT = 6.0
APPROVAL_TIMEOUT = 3.0
PARTS = 3  # of what a generator yields
PROMPTLY = 1.0  # virtual seconds: a model that speaks by then was not quiet
PATIENCE = 900.0  # virtual seconds after which an exchange that has not ended never will


@dataclass
class Chaos:
    """One conversation of ``turns`` turns. ``run`` it in virtual time; it raises ``AssertionError`` with the seed."""

    seed: int
    turns: int = 200
    cuts: Counter[str] = field(default_factory=Counter)
    runs: Counter[int] = field(default_factory=Counter)
    events: list[Event] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)  # texts whose send_text or ask returned
    replies: Counter[str] = field(default_factory=Counter)
    hand_offs: float = (
        0.0  # share of the turns before which another agent takes over, and of the tools that say so
    )
    announced: list[str | None] = field(default_factory=list)  # agents that HandedOff named
    microphone: bool | None = None  # sound goes out all the time, off and on; None: in every other storm
    model_of: int | None = None  # of MODELS; None: by chance
    excused: Counter[str] = field(default_factory=Counter)  # by EXCUSES

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.numbers = itertools.count(1)
        self.agents = itertools.count(1)
        self.updates: list[str | None] = []  # agents whom session.update said to be in office
        self.calm = False
        self.asked = ""  # the last question
        self.unblocked: set[str] = (
            set()
        )  # texts on which the model has made a call that may not block, and not answered
        self.mixed = False  # when it was asked, or later, a call that may not block was open for another text
        self.taken_back: set[str] = set()  # calls
        self.given_up = 0  # texts
        # the connection on which a question's turn may come late, and no question has got its own answer since
        self.late_on: int | None = None
        self.empty: dict[
            str, float
        ] = {}  # questions that were given nothing, before the model had answered, and when
        self.done: list[str] = []  # texts to which the model has said its answer
        self.wrong: list[tuple[str, str]] = []  # questions, with what they were given instead of their answer
        self.model, self.config, vertex = (
            self.random.choice(MODELS) if self.model_of is None else MODELS[self.model_of]
        )
        if self.microphone is None:
            self.microphone = random.Random(f"{self.seed} microphone").random() < 0.5
        self.options: dict[str, Any] = {
            "reply_batching": self.random.choice(("each", "batch")),
            "lost_results": self.random.choice(("deliver", "deliver", "drop")),
            "max_concurrency": self.random.choice((None, None, 2)),
        }
        if vertex:
            self.options |= {"vertexai": True, "project": "p", "location": "l"}
        self.server = FakeLiveServer(clock=VirtualClock(), seed=self.seed)
        self.server.model(self.answer)
        self.line = RoughLine(WebSocket(), random.Random(f"{self.seed} line"), self.cut_in)
        self.heard: Counter[str] = Counter()  # how often each text was heard by a model that then answered

    def __str__(self) -> str:
        microphone = ", microphone" if self.microphone else ""
        return f"seed {self.seed}, {self.model}, {self.config}, {self.options}{microphone}"

    def excuse(self, name: str) -> None:
        """Let something pass, for one of the reasons in the table."""
        assert name in EXCUSES
        self.excused[name] += 1

    # -- the user

    async def run(self) -> None:
        """The whole conversation, and what must hold at its end."""
        options = {**self.server.options, "transport": self.line, **self.options}
        policy = ReconnectPolicy(attempts=1000, initial=0.05, maximum=2.0, jitter=0.0, budget=10**9)
        session = livetools.connect(
            self.model, config=self.config, tools=self.tools(), reconnect=policy, tool_timeout=TOOL_TIMEOUT,
            clock=VirtualClock(), **options,
        )  # fmt: skip
        try:
            async with self.server, session, anyio.create_task_group() as group:
                group.start_soon(self.listen, session)
                group.start_soon(self.sabotage)
                if self.microphone:
                    group.start_soon(self.speak, session)
                self.line.late, self.line.swallow = self.random.choice((0.0, 0.05, 0.3)), 0.004
                for name in ("garbage", "unknown", "text_frame", "drop", "half_frame"):
                    setattr(self.server.faults, name, self.random.choice((0.0, 0.01)))
                for n in range(self.turns):
                    await self.talk(session, f"turn {n}.")
                await self.calm_down(session)
                group.cancel_scope.cancel()
                self.check(session)
        except BaseException as error:
            error.add_note(f"{self}; cuts {dict(self.cuts)}")
            raise

    async def talk(self, session: livetools.Session, text: str) -> None:
        """One turn of the user, in one way or another."""
        if self.hand_offs and self.random.random() < self.hand_offs:
            await self.take_over(session)
        way = self.random.random()
        if way < 0.2:
            for _ in range(self.random.randrange(1, 10)):
                await session.send_audio(bytes(640))
        if way < 0.75:
            try:
                self.asked = text
                self.mixed = bool(self.unblocked) or any(
                    "call" in name or "response" in name for name in session.pending
                )
                with anyio.fail_after(PATIENCE):
                    reply = await session.ask(text)
            except livetools.NoAnswer:
                self.replies["none"] += 1
                self.excuse("no answer")
                self.late_on = len(self.line.crossings)
            else:
                if reply.stalled:
                    self.late_on = len(self.line.crossings)
                if reply.interrupted or reply.stalled:
                    self.excuse("cut short")
                elif text in str(reply):  # which may be on another text as well
                    self.replies["right"] += 1
                    self.late_on = None
                elif self.taken_back.intersection(call.id for call in reply.calls):
                    self.excuse("taken back")
                    self.late_on = len(self.line.crossings)
                elif self.mixed and session.profile.non_blocking == "honoured":
                    self.excuse("mixed")
                elif self.late_on == len(self.line.crossings):
                    self.excuse("behind a late turn")
                elif not any(text in said for said in self.done):
                    self.excuse("said too late")
                    self.late_on = len(self.line.crossings)
                    if not str(reply):
                        self.empty[text] = anyio.current_time()
                else:
                    self.wrong.append((text, str(reply)))
        else:
            with anyio.fail_after(PATIENCE):
                await session.send_text(text)
        self.sent.append(text)
        if way > 0.97:
            await session.interrupt()
        await anyio.sleep(self.random.choice((0.0, 0.1, 3.0)))

    async def speak(self, session: livetools.Session) -> None:
        """An open microphone, off and on. Nobody speaks into it."""
        chance = random.Random(f"{self.seed} speaker")
        while True:
            for _ in range(chance.randrange(1, 200)):
                await session.send_audio(bytes(640))
                await anyio.sleep(chance.choice((0.02, 0.1, 0.5)))
            await anyio.sleep(chance.uniform(0, 20))

    async def take_over(self, session: livetools.Session) -> None:
        """Another agent goes on with the conversation."""
        agent = self.agent()
        with anyio.fail_after(PATIENCE):
            await session.update(agent)
        self.updates.append(agent.name)

    def agent(self) -> Agent:
        """An agent with other instructions, and functions of its own that have the same names."""
        name = f"agent {next(self.agents)}"
        return Agent(f"You are {name}.", self.tools(), name=name)

    async def calm_down(self, session: livetools.Session) -> None:
        """Nothing goes wrong any more: what is owed comes, and the session answers."""
        self.calm = True
        self.server.faults = type(self.server.faults)()
        self.line.swallow = self.line.late = 0.0
        await anyio.sleep(120)
        with anyio.fail_after(PATIENCE):
            reply = str(await session.ask("last words."))
        assert "last words." in reply, f"the session does not answer any more: {reply!r}"
        await anyio.sleep(60)

    async def listen(self, session: livetools.Session) -> None:
        cancelled = inf  # when the model took a call back, until it goes on
        async for event in session:
            if isinstance(event, ToolStarted | TextChunk | AudioChunk):
                # Where a call ends its turn, that of the call counts as over by then.
                if session.profile.call_ends_turn and anyio.current_time() > cancelled + PAUSE:
                    self.late_on = len(self.line.crossings)
                cancelled = inf
            if isinstance(event, ToolStarted | ToolFinished | ToolCancelled | ToolLost):
                self.events.append(event)
                if isinstance(event, ToolCancelled):
                    self.taken_back.add(event.call.id)
                    cancelled = anyio.current_time()
            elif isinstance(event, InputDropped) and event.reason == FATAL:
                self.given_up += event.count
            elif isinstance(event, HandedOff):
                self.announced.append(event.name)
            elif isinstance(event, ApprovalRequested):
                await self.decide(session, event.call)

    async def decide(self, session: livetools.Session, call: Call) -> None:
        """A person approves, refuses, or has gone away."""
        try:
            match random.Random(f"{self.seed} {call.args['n']} asking").choice(
                ("approve", "refuse", "leave")
            ):
                case "approve":
                    await session.approve(call)
                case "refuse":
                    await session.refuse(call, "not on a Friday")
        except LocalProtocolError as error:
            if "not open any more" not in str(error):
                raise
            self.excuse("taken back meanwhile")

    # -- the model

    async def answer(self, turn: Turn) -> None:
        """One turn of the pretend model."""
        self.heard[turn.text] += 1
        self.instructed = instructions(turn.setup)
        del turn.session.history[:-20]  # the fake counts its tokens anew at each turn
        chance = random.Random(f"{self.seed} {turn.text} {self.heard[turn.text]}")
        await self.maybe_cut(turn, chance, 0.05)
        if chance.random() < 0.3:
            await turn.say("Well. ")
        for _ in range(0 if self.calm else chance.choice((0, 0, 1, 1, 2))):
            await self.call(turn, chance)
        await turn.say(f"done {turn.text} ")
        self.done.append(turn.text)
        self.unblocked.discard(turn.text)
        for text, since in self.empty.items():
            if text in turn.text and anyio.current_time() < since + PROMPTLY:
                self.wrong.append((text, "nothing, a moment before it was said"))
        await self.maybe_cut(turn, chance, 0.03)

    async def call(self, turn: Turn, chance: random.Random) -> None:
        if self.hand_offs and chance.random() < self.hand_offs:
            kinds = ["hand_over"]
        else:
            kinds = chance.choices(KINDS, k=chance.choice((1, 1, 1, 2, 3)))
        if UNBLOCKED.intersection(kinds):
            self.unblocked.add(turn.text)
            self.mixed = self.mixed or self.asked not in turn.text
        calls = await turn.session.ask(turn, [(kind, {"n": next(self.numbers)}) for kind in kinds])
        if not self.calm and chance.random() < 0.1:  # the same again, on the other channel or on this one
            entries = [{"id": call.id, "name": call.name, "args": call.args} for call in calls]
            parts = [{"functionCall": entry} for entry in entries]
            other = {"serverContent": {"modelTurn": {"parts": parts}}}
            await turn.send(chance.choice(({"toolCall": {"functionCalls": entries}}, other)))
        if not self.calm and chance.random() < 0.1:
            await anyio.sleep(chance.uniform(0, 2))
            await take_back(turn.session, chance.choice(calls))
        await self.maybe_cut(turn, chance, 0.15)
        for call in calls:
            try:
                await turn.session.answer(turn, call)
            except TurnCancelled:
                if call.state != "cancelled":
                    raise

    # -- what goes wrong

    async def maybe_cut(self, turn: Turn, chance: random.Random, share: float) -> None:
        if not self.calm and chance.random() < share:
            await anyio.sleep(chance.choice((0.0, chance.uniform(0, 4))))
            await self.cut(chance)
            if turn.over:
                self.unblocked.discard(turn.text)
                raise TurnCancelled("cut")

    async def sabotage(self) -> None:
        """Cut the line at moments of its own."""
        chance = random.Random(f"{self.seed} saboteur")
        while True:
            await anyio.sleep(chance.expovariate(1 / 40))
            if not self.calm:
                await self.cut(chance)

    async def cut_in(self, seconds: float) -> None:
        """Cut the line that stands now, a little later."""

        async def later(connection: object) -> None:
            await anyio.sleep(seconds)
            session = self.snapshot()
            if session is not None and session.connection is connection:
                await session.drop()

        session = self.snapshot()
        if session is not None:
            self.cuts["swallowed"] += 1
            self.server.listener.start_task(later, session.connection)

    async def cut(self, chance: random.Random) -> None:
        session = self.snapshot()
        if session is None or session.connection is None:
            return
        kind = chance.choice(CUTS)
        self.cuts[kind] += 1
        with contextlib.suppress(TurnCancelled):  # it was gone already
            await self.commit(kind, session, chance)

    async def commit(self, kind: str, session: Any, chance: random.Random) -> None:
        match kind:
            case "drop" | "1006":
                await session.drop()
            case "1001":
                await session.close(1001, "")
            case "1008":
                await session.close(1008, "The operation was aborted.")
            case "1011":
                await session.close(1011, "Internal error encountered.")
            case "half_frame" | "stall":
                await Turn(session).fault(kind)
            case "stale":
                self.server.limits.handle = 0.0
                self.server.listener.start_task(self.keep_handles_again)
                await session.drop()
            case "flap":
                self.server.faults.flapping = session.connection.number + chance.randrange(1, 4)
                await session.drop()
            case "go_away":
                left = chance.choice((None, 0.0, 0.5, 5.0, 50.0))
                await session.go_away(left)
                self.server.listener.start_task(self.hard_close, session, session.connection, left)

    async def hard_close(self, session: Any, connection: object, left: float | None) -> None:
        await anyio.sleep(5.0 if left is None else left)
        if session.connection is connection:
            await session.close(1008, "Connection aborted because the client failed to close the connection")

    async def keep_handles_again(self) -> None:
        await anyio.sleep(5.0)
        self.server.limits.handle = None

    def snapshot(self) -> Any:
        """The conversation whose connection stands."""
        return next((s for s in reversed(self.server.sessions) if s.connection is not None), None)

    # -- the tools

    def tools(self) -> list[Callable[..., Any]]:
        async def begin(n: int, most: float = 4.0) -> None:
            self.runs[n] += 1
            await anyio.sleep(self.seconds(n, most))

        async def fast(n: int) -> int:
            self.runs[n] += 1
            return 2 * n

        async def slow(n: int) -> int:
            await begin(n)
            return 2 * n

        async def stubborn(n: int) -> int:
            await begin(n)
            return 2 * n

        async def background(n: int) -> int:
            await begin(n, 20.0)
            return 2 * n

        async def stuck(n: int) -> int:
            await begin(n, 2.0)
            await anyio.sleep(2 * TOOL_TIMEOUT)
            return 2 * n

        async def failing(n: int) -> int:
            await begin(n)
            raise ZeroDivisionError("secret")

        async def refusing(n: int) -> int:
            await begin(n, 1.0)
            raise ToolError("not today")

        async def stream(n: int) -> AsyncIterator[int]:
            self.runs[n] += 1
            for part in range(PARTS):
                await anyio.sleep(self.seconds(n, 2.0))
                yield part

        async def asking(n: int) -> int:
            await begin(n)
            return 2 * n

        return [
            fast, slow, stuck, failing, refusing, stream, self.thread(), self.steps(),
            tool(cancellable=False)(stubborn), tool(behavior="background")(background),
            tool(approval=True, approval_timeout=APPROVAL_TIMEOUT)(asking), self.hand_over(),
        ]  # fmt: skip

    def hand_over(self) -> Callable[[int], ToolResult]:
        def hand_over(n: int) -> ToolResult:
            self.runs[n] += 1
            return ToolResult("handed over", handoff=self.agent())

        return hand_over

    def thread(self) -> Callable[[int], int]:
        def thread(n: int) -> int:
            self.runs[n] += 1
            return 2 * n

        return thread

    def steps(self) -> Callable[[int], Iterator[int]]:
        def steps(n: int) -> Iterator[int]:
            self.runs[n] += 1
            yield from range(PARTS)

        return steps

    def seconds(self, n: int, most: float) -> float:
        """How long call ``n`` takes."""
        return random.Random(f"{self.seed} {n}").uniform(0, most)

    # -- the book

    def check(self, session: livetools.Session) -> None:
        """What must hold, whatever happened."""
        stats = session.stats()
        assert stats["calls"] == [], stats
        assert stats["waiting_for"] == "", stats
        assert stats["handlers"] == 0, stats
        twice = {n: runs for n, runs in self.runs.items() if runs > 1}
        assert not twice, f"run twice: {twice}"
        assert not self.wrong, f"questions were given another answer than theirs: {self.wrong}"
        self.check_cancelled()
        self.check_texts()
        self.check_agents(session)
        self.crossed_ids = {
            found for c in self.line.crossings for _, frame in c.log for found in re.findall(ID, frame)
        }
        self.told: dict[int, list[Event]] = {}  # the events of each call
        for event in self.events:
            self.told.setdefault(event.call.args["n"], []).append(event)
        for call in self.server.calls:
            self.check_call(call)
        self.check_events()

    def check_cancelled(self) -> None:
        """Nothing is sent for a call once its cancellation was read."""
        for _ in self.server.service.log.late:
            self.excuse("cancelled late")
        self.server.service.log.late.clear()
        for crossing in self.line.crossings:
            assert not crossing.late, f"answered after its cancellation: {crossing.late}"

    def check_texts(self) -> None:
        """Each text that was sent was read by the server."""
        self.read: Counter[str] = Counter()
        for frame in self.server.frames:
            if frame.direction == "client":
                self.read.update(set(texts(frame.message)))
        missing = [text for text in self.sent if not self.read[text]]
        for _ in missing[: self.given_up]:
            self.excuse("given up")
        assert len(missing) <= self.given_up, f"texts were lost: {missing}"

    def check_agents(self, session: livetools.Session) -> None:
        """Each agent that took over was told of, once, and the model speaks as the last one."""
        twice = [name for name, times in Counter(self.announced).items() if times > 1]
        assert not twice, f"told twice: {twice}"
        missing = set(self.updates) - set(self.announced)
        assert not missing, f"not told: {missing}"
        assert self.instructed == instructions(session.plan.setup), f"the model is another: {self.instructed}"

    def check_events(self) -> None:
        """Each call that was told of came to an end that was told, too."""
        for n, events in self.told.items():
            kinds = Counter(type(event) for event in events)
            assert kinds[ToolStarted] == 1, f"call {n} was told of {kinds[ToolStarted]} times"
            assert kinds[ToolFinished] + kinds[ToolCancelled] >= 1, (
                f"the end of call {n} was not told: {events}"
            )
            assert kinds[ToolFinished] <= 1, f"call {n} finished twice: {events}"
            self.check_lost(events, kinds)

    def check_lost(self, events: list[Any], kinds: Counter[type]) -> None:
        """The result of a lost call goes as text."""
        finished = next((e for e in events if isinstance(e, ToolFinished)), None)
        call: Call = events[0].call
        owed = kinds[ToolLost] and not kinds[ToolCancelled] and finished is not None
        if owed and all(e.delivery == "text" for e in events if isinstance(e, ToolLost)):
            about = f"[Result of {call.name}({json.dumps(dict(call.args))})"
            delivered = any(about in text for text in self.read)
            assert delivered, f"the result of a lost call was not delivered: {events}"

    def check_call(self, call: FakeCall) -> None:
        """Each call of the model was answered, or taken back, or its loss was told."""
        if str(call.id).encode() not in self.crossed_ids:
            call.end("lost")
            self.excuse("never sent")
        assert call.state != "open", f"never answered: {call}"
        events = self.told.get(call.args["n"], [])
        if call.state == "answered":
            self.check_answer(call)
        elif (
            call.state == "lost"
            and events
            and not any(isinstance(e, ToolLost | ToolCancelled) for e in events)
        ):
            assert self.crossed(call), f"lost, and nobody was told: {call}: {events}"
            self.excuse("crossed")

    def check_answer(self, call: FakeCall) -> None:
        response, n = call.response, call.args["n"]
        error = str(response.get("error", ""))
        if "timed out" in error or "was replaced" in error:
            self.excuse("answered late")
            return
        expected: object = {
            "failing": lambda: error and "secret" not in error,
            "refusing": lambda: error == "not today",
            "background": lambda: "under way" in str(response) or response == {"output": 2 * n},
            "stream": lambda: not error,
            "steps": lambda: not error,
            "hand_over": lambda: response == {"output": "handed over"},
            "asking": lambda: "approved" in error or response == {"output": 2 * n},
        }.get(call.name, lambda: response == {"output": 2 * n})()
        assert expected, f"a wrong answer: {call}: {call.responses}"

    def crossed(self, call: FakeCall) -> bool:
        """Whether something of the server's came after the answer was sent: then nobody can tell that it was lost."""
        for crossing in self.line.crossings:
            answered = False
            for what, frame in crossing.log:
                if what == "sent" and f'"id":"{call.id}"' in frame.decode().replace(" ", ""):
                    answered = True
                elif answered and what == "received":
                    return True
        return False


def instructions(setup: Mapping[str, Any]) -> str | None:
    """The system instruction of a setup."""
    parts = setup.get("systemInstruction", {}).get("parts") or [{}]
    return parts[0].get("text")


async def take_back(session: FakeSession, call: FakeCall) -> None:
    """As ``turn.cancel``, without the ping that follows it: a pong proves less than is needed here."""
    for each in session.service.log.calls:
        if each.id == call.id:
            each.end("cancelled")
    if session.connection is not None:
        await session.send({"toolCallCancellation": {"ids": [call.id]}})
