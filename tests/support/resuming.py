"""A service that is resumed while calls are open, beside the machine: whether each question is answered all the same.

The service still waits for the calls that went down with a connection: it spends the next input on them, unless an
error answers each of them first, which some close with an empty turn of its own. A handle that is older than that is
not rid of them. The book knows what the service has read, and what it has said to what.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from livetools.events import OutputTranscript, ToolStarted
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.turns.exchange import Exchange
from livetools.setup.plan_fields import CallPolicy

from .driver import Driver, plan
from .reading import stands
from .search import Step

PATIENT = ReconnectPolicy(attempts=99, initial=0.1, maximum=0.1, jitter=0.0, budget=999)
ASYNC = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)


class World:
    """One machine, one user, one service.

    ``closes``: it sends an empty turn for the errors that it reads. ``expected``: the profile says so, as that of 3.8
    does; else the pong behind the errors tells that they were read, and comes when the service reads them.
    """

    INPUTS: tuple[Step, ...] = (
        ("ask",),
        ("text",),
        ("serve",),
        ("say",),
        ("end",),
        ("call",),
        ("call unread",),
        ("settle",),
        ("handle",),
        ("drop",),
        ("wait",),
    )

    def __init__(self, closes: bool = True, expected: bool = True) -> None:
        self.closes, self.expected = closes, expected
        self.d = Driver(plan(ASYNC, answers_lost=True, closes_lost=expected, stall_timeout=60.0), PATIENT)
        self.d.live()
        self.seen = len(self.d.frames)
        self.inbox: deque[dict[str, Any]] = deque()  # what was written on this connection and not served
        self.unanswered: list[str] = []  # what was read, in its order
        self.saying: str | None = None
        self.open: set[str] = set()  # calls of this connection that wait for an answer
        self.stuck: set[str] = set()  # those of earlier ones
        self.saved: set[str] = set()  # those that the newest handle brings back
        self.running: list[str] = []
        self.asked: list[tuple[str, Exchange]] = []
        self.names = self.drops = self.calls = 0
        self.turned = False  # a turn has ended on this connection
        self.written: dict[str, int] = {}
        self.said: set[str] = set()  # what was answered to its end, and heard
        self.begun: set[str] = set()  # what was answered in part
        self.handle()

    def play(self, step: Step) -> None:
        getattr(self, step[0].replace(" ", "_"))()
        self.look()

    def look(self) -> None:
        """What was written since."""
        for link, frame in self.d.frames[self.seen :]:
            if link == self.d.machine.connection.current:
                self.inbox.append(frame)
            for name in texts(frame):
                self.written[name] = self.written.get(name, 0) + 1
                assert name.startswith("[") or name not in self.said, "what was answered is asked again"
        self.seen = len(self.d.frames)
        self.check()

    def key(self) -> object:
        turns = self.d.machine.turns
        queue = tuple((t.prompt, t.answer, t.doubtful, t.wanted) for t in turns._queue)
        entries = tuple((e.kind, stands(e), e.endings) for e in self.d.machine.outbox.sent)
        exchange = turns.exchange
        heard = exchange and (
            exchange.sure,
            exchange.listens,
            exchange.heard,
            exchange.turn is not None,
            len(exchange.calls),
        )
        stale = turns.stale
        return (
            turns.model, queue, entries, heard, stale.untried, stale.unseen, stale.closes,
            tuple(tuple(frame) for frame in self.inbox), len(self.unanswered), self.saying, len(self.open),
            len(self.stuck), len(self.saved), len(self.running), self.names, self.turned, min(self.drops, 3),
            self.d.machine.connection.current in self.d.slow,
        )  # fmt: skip

    # The user and his tools

    def ask(self) -> None:
        if self.d.machine.turns.exchange is None and self.names < 3:
            self.names += 1
            name = f"q{self.names}"
            exchange, _ = self.d.machine.ask(name, self.d.now)
            self.asked.append((name, exchange))
            self.d.drain()

    def text(self) -> None:
        """The first that is heard on a connection which was resumed, once; not behind a question, for of two of which
        one may have been spent nobody can tell which is answered."""
        first = not self.turned and self.d.machine.turns.exchange is None
        if self.drops and first and not any(name.startswith("t") for name in self.written):
            self.names += 1
            self.d.machine.send_text(f"t{self.names}", self.d.now)
            self.d.drain()

    def settle(self) -> None:
        if self.running:
            self.d.settle(self.running.pop(0))

    # The service

    def serve(self) -> None:
        """Read the next frame."""
        if not self.inbox:
            return
        frame = self.inbox.popleft()
        # The pong comes with the errors that its ping follows, and not with the setup before them.
        if (link := self.d.machine.connection.current) in self.d.slow and "setup" not in frame:
            self.d.slow.discard(link)
            self.d.ponged[link] = self.d.heard
        for response in frame.get("toolResponse", {}).get("functionResponses", ()):
            id = response["id"]
            if id in self.open:
                self.open.discard(id)
                self.unanswered.append(id)
            elif id in self.stuck:
                self.stuck.discard(id)
                if self.closes and not self.stuck:
                    self.d.turn_complete()
        for name in texts(frame):
            if self.stuck and self.saying is None:
                self.stuck.clear()
                self.d.turn_complete()
            else:
                self.unanswered.append(name)

    def say(self) -> None:
        if self.saying is None and self.unanswered:
            self.saying = self.unanswered.pop(0)
        if self.saying is not None:
            self.begun.add(self.saying)
            self.d.say(self.saying)

    def end(self) -> None:
        if self.saying is not None:
            self.said.add(self.saying)
            self.saying, self.turned = None, True
            self.d.turn_complete()

    def call(self) -> None:
        """The model answers with a call."""
        if self.saying is None and self.unanswered and self.calls < 2:
            self.said.add(self.unanswered.pop(0))
            self.open.add(id := self.new_call())
            self.running.append(id)
            self.turned = True
            self.d.call((id, "tool"))
            self.d.turn_complete()

    def call_unread(self) -> None:
        """It does, and the connection goes down with it."""
        if self.saying is None and self.unanswered and self.calls < 2:
            self.open.add(self.new_call())
            self.drop()

    def new_call(self) -> str:
        self.calls += 1
        return f"c{self.calls}"

    def handle(self) -> None:
        """A handle, which is not given while a call is open."""
        if not self.open:
            self.saved = set(self.stuck)
            update = {"newHandle": f"h{self.drops}", "resumable": True}
            self.d.server({"sessionResumptionUpdate": update})

    def drop(self) -> None:
        """The connection is lost, and the next one resumes the session, with a handle at once."""
        if self.drops == 4:
            return  # at the fifth the question is taken for what ends them
        self.drops += 1
        self.inbox.clear()
        self.unanswered.clear()
        self.saying = None
        self.saved |= self.open
        self.stuck = set(self.saved)
        self.open.clear()
        self.turned = False
        self.d.drop().later(0.5)
        if not self.expected:
            self.d.slow.add(self.d.dialled[-1])
        self.d.establish()
        self.handle()

    def wait(self) -> None:
        """Not between two answers: a model that pauses for so long has answered both questions at once."""
        if not (self.turned and (self.inbox or self.unanswered or self.saying)):
            self.d.later(3.1)

    # The book

    def check(self) -> None:
        for name, exchange in self.asked:
            if not exchange.done or exchange.error or exchange.stalled:
                continue
            said = {event.text for event in exchange.events if isinstance(event, OutputTranscript)}
            called = any(isinstance(event, ToolStarted) for event in exchange.events)
            assert said or called, f"{name} was given nothing"
            assert called or name in said, f"{name} was given {said}"
            others = {other for other, _ in self.asked if other != name}
            assert called or others.isdisjoint(said), f"{name} was given {said}"
        for name, times in self.written.items():
            assert times <= 1 + 2 * self.drops, f"{name} was written {times} times"

    def calm(self) -> None:
        """Nothing goes wrong any more: all that waits is served and answered."""
        for _ in range(6):
            while self.inbox or self.unanswered or self.saying or self.running:
                self.serve()
                self.look()
                if not self.inbox:
                    self.say()
                    self.end()
                    self.settle()
                    self.look()
            self.d.later(3.1)
            self.look()
        assert self.d.machine.turns.exchange is None, "an exchange without an end"
        assert all(exchange.error is None for _, exchange in self.asked), "an answer that did not come"
        assert not self.d.machine.stats()["calls"]
        # What was read, and cut off in the middle of its answer, is not said again. Of a text and a question behind it,
        # or a late result, of which one was spent, nobody can tell which is answered.
        alone = not any(name.startswith("[") for name in self.written)
        mute = {name for name in self.written if alone and name == f"t{self.names}"} - self.said - self.begun
        assert not mute, f"{mute} got no answer"


def texts(frame: dict[str, Any]) -> list[str]:
    """The texts in a frame."""
    turns = frame.get("clientContent", {}).get("turns", ())
    return [part["text"] for turn in turns for part in turn["parts"] if "text" in part]
