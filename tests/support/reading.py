"""A model that reads what arrives, in its order, beside the machine: what is written again when the line breaks.

The line may take frames that never arrive, and the pongs may take their time. The book knows what arrived and what was
answered: nothing that was swallowed may be lost, and nothing that was answered is written twice where pongs tell.
"""

from __future__ import annotations

from livetools.events import ToolLost
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input.resend import OutFrame
from livetools.protocol.messages import outgoing
from livetools.setup.plan_fields import CallPolicy

from .driver import Driver, plan
from .search import Step

PATIENT = ReconnectPolicy(attempts=8, initial=0.1, maximum=0.1, jitter=0.0)
ASYNC = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True, takes_scheduling=True)
BLOCKING = CallPolicy("tool", timeout=None)
HALF_CASCADE = CallPolicy("tool", timeout=None, ends_turn=True)  # on Vertex: its call ends a turn by itself
POLICIES = {"async": ASYNC, "blocking": BLOCKING, "half-cascade": HALF_CASCADE}


def stands(entry: OutFrame) -> object:
    """What is known of its way to the service."""
    write = entry.write
    pong = -1 if write.pong is None else write.pong()
    return entry.read, write.handed, write.asks, None if pong is None else min(pong, 1)


class World:
    """One machine and one model, until the connection is lost."""

    INPUTS: tuple[Step, ...] = (
        ("text",),
        ("fyi",),
        ("word",),
        ("end",),
        ("call",),
        ("settle",),
        ("settle silently",),
        ("deafen",),
        ("slow down",),
        ("catch up",),
        ("microphone",),
    )

    def __init__(self, policy: CallPolicy = ASYNC) -> None:
        self.d = Driver(plan(policy), PATIENT).live()
        self.policy, self.stands_still = policy, policy.behavior == "BLOCKING"
        self.seen = len(self.d.frames)
        self.sent: list[str] = []
        self.unanswered: list[str] = []  # what arrived, in its order
        self.arrived: set[str] = set()
        self.answered: set[str] = set()
        self.saying: str | None = None
        self.running: list[str] = []
        self.open: set[str] = (
            set()
        )  # calls whose answers have not arrived: the model may stand still for them
        self.calls = 0

    def play(self, step: Step) -> None:
        getattr(self, step[0].replace(" ", "_"))()
        for _, frame in self.d.frames[self.seen :]:
            self.take(frame)
        self.seen = len(self.d.frames)

    def take(self, frame: dict[str, object]) -> None:
        """A frame was handed to the socket."""
        one = Driver.__new__(Driver)  # reads the frame as the driver reads all of them
        one.frames = [(1, frame)]
        ids = [str(r["id"]) for r in one.responses()]
        silent = any(r.get("scheduling") == "SILENT" for r in one.responses())
        for name in (*one.texts(), *ids):
            self.sent.append(name)
            if 1 in self.d.deaf:
                continue
            self.arrived.add(name)
            self.open.discard(name)
            if silent or name.startswith("fyi"):
                self.answered.add(name)  # there is nothing to say of it
            elif self.stands_still and ids:
                self.saying = self.saying or name
                self.answered.add(name) if self.saying == name else None
            else:
                self.unanswered.append(name)

    def key(self) -> object:
        d, m = self.d, self.d.machine
        entries = tuple((e.kind, stands(e), e.at_latest > m.turns.ends, e.after_turn is None or e.after_turn.over,
                         e.answer is None or e.answer.over) for e in m.outbox.sent)  # fmt: skip
        turns = tuple((t.prompt, t.answer, t.doubtful, t.wanted) for t in m.turns._queue)
        here = (m.turns.model, m.turns.ends_at_most - m.turns.ends, m.turns._heard)
        return (entries, turns, here, m.input.streams, len(self.unanswered), self.saying is None, len(self.running),
                len(self.open), bool(d.deaf), bool(d.slow), len(self.sent), tuple(sorted(self.answered)))  # fmt: skip

    # The user and his tools

    def text(self) -> None:
        if len(self.sent) < 4:
            self.d.machine.send_text(f"t{len(self.sent)}", self.d.now)
            self.d.drain()

    def fyi(self) -> None:
        if len(self.sent) < 4:
            said = {"role": "user", "parts": [{"text": f"fyi{len(self.sent)}"}]}
            self.d.machine.send_content([said], False, self.d.now)
            self.d.drain()

    def settle(self, scheduling: str | None = None) -> None:
        if self.running:
            self.d.settle(self.running.pop(0), scheduling=scheduling)

    def settle_silently(self) -> None:
        if self.policy.takes_scheduling:
            self.settle("SILENT")

    # The model

    @property
    def stands(self) -> bool:
        """Whether the model stands still until an answer arrives."""
        return self.stands_still and bool(self.open)

    def begin(self) -> None:
        if self.saying is None and self.unanswered:
            self.saying = self.unanswered.pop(0)

    def word(self) -> None:
        self.begin()
        if self.saying is not None and not self.stands:
            self.d.say("words")

    def call(self) -> None:
        self.begin()
        if self.saying is not None and not self.stands and self.calls < 2:
            self.calls += 1
            self.running.append(f"c{self.calls}")
            self.open.add(self.running[-1])
            self.d.call((self.running[-1], "tool"))
            if self.stands_still and self.policy.ends_turn:
                self.d.turn_complete()

    def end(self) -> None:
        if self.saying is not None and not self.stands:
            self.answered.add(self.saying)
            self.saying = None
            self.d.turn_complete()

    # The line

    def microphone(self) -> None:
        """Sound goes out, in which nobody speaks."""
        self.d.machine.send_media(outgoing.audio(bytes(640), 16000), "audio", self.d.now)
        self.d.drain()

    def deafen(self) -> None:
        self.d.deaf.add(1)

    def slow_down(self) -> None:
        self.d.slow.add(1)

    def catch_up(self) -> None:
        self.d.slow.clear()

    # The book

    def breaks(self) -> None:
        """The connection is lost, and another one stands."""
        d, told = self.d, 1 not in self.d.deaf | self.d.slow
        written = len(d.frames)
        d.drop(1006).later(0.2).establish()
        again = Driver.__new__(Driver)
        again.frames = d.frames[written:]
        texts = again.texts()
        lost = {event.call.id for event in d.events if isinstance(event, ToolLost)}
        for name in self.sent:
            one_of_both = name in texts or name in lost
            assert name in self.arrived or one_of_both, f"{name} was swallowed, and nobody said so"
            assert not (name in self.answered and told and one_of_both), (
                f"{name} was answered, and is said again"
            )
        assert [t for t in texts if t in self.sent] == [t for t in self.sent if t in texts], (
            "in another order"
        )
