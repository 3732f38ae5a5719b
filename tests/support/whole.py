"""A whole session in a small world: a shell that may sleep or write slowly, a service that may say anything.

The book is kept from what crosses the machine's borders alone: what the service asked and read on which link, which
handlers were started and stopped, what was told. ``check`` says what must hold after each input, ``finish`` what must
have come of it once everybody does his part.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from livetools.errors import ConcurrencyError, LocalProtocolError
from livetools.events import InputDropped, ToolLost
from livetools.protocol.calls.driver_actions import (
    AskApproval,
    Close,
    Dial,
    EndSession,
    Hangup,
    Outcome,
    RunTool,
    StopAsking,
    StopTool,
)
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input.input_queue import FATAL
from livetools.protocol.input.resend import OutFrame, Receipt
from livetools.protocol.session_machine import Machine
from livetools.protocol.transcript.transcript import Transcript
from livetools.protocol.turns.exchange import Exchange
from livetools.setup.plan_fields import Plan

from .world import responses

POLICY = ReconnectPolicy(attempts=6, initial=0.25, maximum=1.0, jitter=0.0, budget=30)

#: Frames that say nothing that could be owed.
ODD: tuple[object, ...] = (
    {},
    [],
    "{ no json",
    b"\xff\xfe",
    {"brandNewThing": {"x": 1}},
    {"toolCall": None},
    {"toolCall": {"functionCalls": None}},
    {"toolCallCancellation": {"ids": [None, "unheard of"]}},
    {"toolCallCancellation": {"ids": "unheard of"}},
    {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"data": "%%%"}}, {"text": 5}]}}},
    {"serverContent": {"modelTurn": None, "turnComplete": "yes?"}},
    {"sessionResumptionUpdate": {"resumable": True, "newHandle": None}},
    {"sessionResumptionUpdate": {"lastConsumedClientMessageIndex": "-7"}},
    {"usageMetadata": {"totalTokenCount": "many"}},
    {"interactionStatus": "DREAMING"},
    {"setupComplete": {}},
    {"goAway": []},
)


@dataclass
class Debt:
    """One call on one link, as the service sees it."""

    id: str
    name: str
    taken: bool = False  # the last word has left the machine
    read: bool = False  # by the service; a socket that dies may swallow what was written
    cancelled: bool = False
    excuse: bool = (
        False  # asked on an earlier link: it is told here that the call was lost, as the user was then
    )


class Whole:
    """One machine, one shell, one service."""

    def __init__(self, plan: Plan) -> None:
        self.machine = Machine(plan, reconnect=POLICY, random=lambda: 0.5, transcript=Transcript())
        self.plan, self.now = plan, 0.0
        # the shell
        self.asleep = False  # it drains nothing
        self.slow = False  # what it takes is not written at once
        self.wire: deque[OutFrame] = deque()
        self.answered: dict[int, int] = {}  # read frames, whose pings were answered
        self.kept: list[dict[str, Any]] = []  # those, so that none has the id of another
        self.alive: dict[int, bool] = {}  # by link: whether it is open
        self.closing: set[int] = set()
        self.running: dict[int, str] = {}
        self.ran: set[int] = set()
        self.stopped: set[int] = set()
        self.consulted: list[int] = []
        self.asked: set[int] = set()  # runs whose approval was ever asked for
        self.ended: list[Exception | None] = []
        # the service
        self.debts: dict[tuple[int, str], Debt] = {}
        self.spoken: dict[int, int | None] = {}  # by link: see listen
        self.setups: dict[int, bool] = {}  # by link: whether it was resumed
        self.epoch = 0
        self.asked_in: dict[str, set[int]] = {}
        self.unnamed: Counter[int] = Counter()  # by link: calls without an id that are still to be answered
        self.unread: dict[int, list[dict[str, Any]]] = {}  # frames that were written, by link
        self.read: list[str] = []  # texts, as they were read
        self.handles = 0
        # the user
        self.exchanges: list[Exchange] = []
        self.said: dict[str, Receipt] = {}
        self.given_up = 0  # texts on which so many connections ended that they are dropped, and told
        # the book
        self.starts: Counter[str] = Counter()
        self.told_lost: Counter[str] = Counter()
        self.owed_lost: Counter[str] = Counter()
        self.machine.connect(self.now)
        self.drain()
        self.establish()

    # The shell

    def drain(self) -> None:
        """After each input, unless it sleeps: what must be done at once, what is told, what is written."""
        if self.asleep:
            return
        while self.machine.actions:
            self.act(self.machine.actions.popleft())
        for event in self.machine.events():
            if isinstance(event, ToolLost):
                self.told_lost[event.call.id] += 1
            elif isinstance(event, InputDropped) and event.reason == FATAL:
                self.given_up += event.count
        self.take()
        if not self.slow:
            self.write(inf)

    def act(self, action: object) -> None:
        match action:
            case Dial(link):
                assert not self.ended, "dialled after the end"
                self.alive[link] = False
            case Hangup(link):
                self.closing.add(link)
            case RunTool(run, call):
                assert not self.ended, "started after the end"
                assert run not in self.ran
                self.ran.add(run)
                self.starts[call.id] += 1
                if not call.id.startswith("unnamed"):
                    epochs = len(self.asked_in[call.id])
                    assert self.starts[call.id] <= epochs, "a handler was started twice for one call"
                self.running[run] = call.id
            case AskApproval(run):
                self.consulted.append(run)
                self.asked.add(run)
            case StopAsking(run):
                assert run in self.asked, "stopped asking what was never asked"
            case StopTool(run):
                assert run in self.ran, "stopped what never ran"
                self.stopped.add(run)
            case EndSession(error):
                self.ended.append(error)

    def take(self) -> None:
        """Take the frames, unless the last ones are still being written."""
        if self.wire:
            return
        for entry in self.machine.frames():
            assert not self.ended, "written after the end"
            self.wire.append(entry)

    def took(self, link: int, frame: dict[str, Any]) -> None:
        """A frame left the machine: its answers must be owed now."""
        for response in answers_in(frame):
            assert isinstance(response["response"], dict)
            last = not response.get("willContinue")
            if "id" not in response:
                self.unnamed[link] -= last
                excused = self.plan.answers_lost and self.setups[link] and "error" in response["response"]
                assert self.unnamed[link] >= 0 or excused, "an answer that nobody waits for"
                self.unnamed[link] = max(0, self.unnamed[link])
                continue
            debt = self.debts.get((link, response["id"]))
            if debt is None:  # a call that an earlier link took with it
                assert self.plan.answers_lost
                assert self.setups[link], "excused for a call that this session never made"
                asked = [d for (_, id), d in self.debts.items() if id == response["id"]]
                debt = self.debts[link, response["id"]] = Debt(response["id"], asked[0].name, excuse=True)
            assert response["name"] == debt.name
            assert not debt.cancelled, "something was sent after the cancellation"
            assert not debt.taken, "something was sent after the last word"
            debt.taken = last

    def write(self, most: float) -> None:
        """Hand up to ``most`` frames to their sockets, and take what came meanwhile."""
        while self.wire and most > 0:
            most -= 1
            entry = self.wire.popleft()
            link, receipt, write = entry.link, entry.receipt, entry.last_of
            if not self.alive.get(link):
                continue
            data = entry.make()
            frame = json.loads(data) if data is not None else {}  # taken back while it waited
            self.took(link, frame)
            if "setup" in frame:
                self.set_up(link, frame["setup"])
            self.listen(link, frame.get("realtimeInput", {}))
            self.unread.setdefault(link, []).append(frame)
            if receipt is not None:
                receipt.end()
            if write is not None:
                write.handed = True
                if write.asks:
                    write.pong = partial(self.answered.get, id(frame))
            if not self.wire:
                self.take()

    def listen(self, link: int, input: dict[str, Any]) -> None:
        """What closes a session of push-to-talk: sound outside an activity, and an activity without any input."""
        if not self.plan.manual or (self.plan.transparent and self.setups[link]):
            return  # what is replayed begins in the middle
        spoken = self.spoken.get(link)  # inputs of the activity under way
        if "activityStart" in input:
            assert spoken is None, "an activity inside an activity"
            self.spoken[link] = 0
        elif "activityEnd" in input:
            assert spoken, "an activity without input, or without a beginning"
            self.spoken[link] = None
        elif "audio" in input:
            assert spoken is not None, "sound outside an activity"
            self.spoken[link] = spoken + 1
        elif input.get("text", "").strip() and spoken is not None:
            self.spoken[link] = spoken + 1

    def reads(self, link: int) -> None:
        """The service reads what was written on this socket."""
        for frame in self.unread.pop(link, []):
            self.answered[id(frame)] = 1
            self.kept.append(frame)
            self.read += texts_in(frame)
            for response in answers_in(frame):
                if response.get("id") and not response.get("willContinue"):
                    self.debts[link, response["id"]].read = True

    def set_up(self, link: int, setup: dict[str, Any]) -> None:
        assert link not in self.setups, "two setups on one socket"
        resumed = bool(setup.get("sessionResumption", {}).get("handle"))
        self.setups[link] = resumed
        self.epoch += not resumed

    # What can happen

    def open(self) -> None:
        """The newest dial succeeds."""
        link = max(self.alive, default=0)
        if link and not self.alive[link]:
            self.alive[link] = True
            self.machine.opened(link, self.now)
            self.drain()

    def establish(self) -> None:
        """The newest dial succeeds, and its setup is completed."""
        self.open()
        self.server({"setupComplete": {}}, reads=False)

    def server(self, frame: object, link: int | None = None, reads: bool = True) -> None:
        """A frame comes, on the newest socket that was set up, or on another, from a service that has read so far."""
        link = link or max((n for n in self.setups if self.alive.get(n)), default=0)
        if not self.alive.get(link) or link not in self.setups:
            return
        if reads:
            self.reads(link)
        self.machine.receive(link, frame if isinstance(frame, bytes | str) else json.dumps(frame), self.now)
        self.drain()

    @property
    def current(self) -> int:
        """The link that a session stands on, or 0."""
        link = self.machine.connection.current
        return link if self.machine.connection.usable and self.alive.get(link) else 0

    def call(self, *calls: tuple[str | None, str, object], part: bool = False) -> None:
        """The model calls; a hasty server does so before its setup is complete.

        Not on a socket that is hung up, also where the shell sleeps and does not know yet: the machine reads no more
        of it.
        """
        closing = self.closing | {
            action.link for action in self.machine.actions if isinstance(action, Hangup)
        }
        link = max((n for n in self.setups if n in self.alive and n not in closing), default=0)
        if not link or self.ended:
            return
        entries = []
        for id, name, args in calls:
            entries.append({"name": name, "args": args} | ({"id": id} if id is not None else {}))
            if id is None:
                self.unnamed[link] += 1
            else:
                self.debts.setdefault((link, str(id)), Debt(str(id), name))
                self.asked_in.setdefault(str(id), set()).add(self.epoch)
        if part:
            parts = [{"functionCall": entry} for entry in entries]
            self.server({"serverContent": {"modelTurn": {"parts": parts}}}, link)
        else:
            self.server({"toolCall": {"functionCalls": entries}}, link)

    def cancel(self, *ids: str) -> None:
        if not (link := self.current):
            return
        for id in ids:
            if (debt := self.debts.get((link, id))) is not None:
                debt.cancelled = True
        self.server({"toolCallCancellation": {"ids": list(ids)}}, link)

    def give_handle(self) -> None:
        self.handles += 1
        update = {"newHandle": f"h{self.handles}", "resumable": True}
        self.server({"sessionResumptionUpdate": update}, reads=False)

    def drop(self, code: int, reason: str = "") -> None:
        """The newest socket ends."""
        link = max((n for n in self.alive if n not in self.closing), default=0)
        if link:
            self.gone(link, Close(code, reason))

    def finish_closing(self) -> None:
        """A socket that was hung up is closed."""
        if self.closing & self.alive.keys():
            self.gone(min(self.closing & self.alive.keys()), Close(1000, "", by_us=True))

    def gone(self, link: int, close: Close) -> None:
        del self.alive[link]
        self.unread.pop(link, None)
        stood = link == self.machine.connection.current
        lost = [
            d for (n, _), d in self.debts.items() if n == link and not (d.read or d.cancelled or d.excuse)
        ]
        if not (self.ended or self.machine.closed) and stood:
            self.owed_lost.update(d.id for d in lost)
        self.wire = deque(entry for entry in self.wire if entry.link != link)
        self.machine.disconnected(link, close, self.now)
        if self.machine.closed:
            self.owed_lost.clear()
        self.drain()

    def settle(self, run: int, outcome: Outcome) -> None:
        self.running.pop(run, None)
        self.machine.settled(run, outcome, self.now)
        self.drain()

    def decide(self, run: int, verdict: bool | None) -> None:
        self.machine.judge(run, "no" if verdict is False else not verdict, self.now)
        self.drain()

    def progress(self, run: int) -> None:
        self.machine.progress(run, "part", self.now, Outcome({"output": "part"}))
        self.drain()

    def say(self, ask: bool) -> None:
        text = f"t{len(self.said)}"
        if not ask:
            self.said[text] = self.machine.send_text(text, self.now)
        else:
            try:
                exchange, receipt = self.machine.ask(text, self.now)
            except ConcurrencyError:
                assert self.exchanges
                assert not self.exchanges[-1].done
                return
            except LocalProtocolError:
                assert self.machine.input.in_activity
                return
            self.exchanges.append(exchange)
            self.said[text] = receipt
        self.drain()

    def user(self, what: str) -> None:
        """Something else that the user may do."""
        frame = b'{"realtimeInput":{"audio":{"data":"AAAA"}}}'
        if what == "audio":
            self.machine.send_media(frame, "audio", self.now)
        elif what == "content":
            try:
                self.machine.send_content([{"role": "user", "parts": [{"text": "x"}]}], False, self.now)
            except LocalProtocolError:
                assert self.plan.content_mid_session == "refused"
        elif what == "interrupt":
            self.machine.interrupt(self.now)
        elif what == "update":
            try:
                self.machine.update(self.plan, None, self.now)
            except LocalProtocolError:
                assert self.machine.connection.cannot_move
                assert not self.machine.changes.waiting
        else:
            open_already = self.machine.input.in_activity
            try:
                self.machine.activity(what == "speak", self.now)
            except LocalProtocolError:
                assert what == "speak"
                assert open_already or not self.plan.manual
        self.drain()

    def later(self, seconds: float) -> None:
        """Time passes, and the clock wakes the machine whenever it asked for it."""
        until = self.now + seconds
        while (at := self.machine.wake_at()) <= until:
            self.now = max(self.now, at)
            self.machine.tick(self.now)
            assert self.machine.wake_at() > self.now, "it asks to be woken for ever"
            self.drain()
        self.now = until

    def close(self) -> None:
        self.machine.close(self.now)
        self.owed_lost.clear()
        self.drain()

    # The book

    def check(self) -> None:
        """What must hold after each input."""
        assert len(self.ended) <= 1, "ended twice"
        stats = self.machine.stats()
        if self.machine.closed:
            assert self.machine.wake_at() == inf
            assert all(c["running"] for c in stats["calls"]), "a call outlives the session"
            assert not self.machine.frames(), "something is written after the end"
            assert self.asleep or self.running.keys() <= self.stopped, "a handler was not stopped at the end"
            return
        link = self.current
        if link and not self.asleep and not self.wire:
            named = {c["id"] for c in stats["calls"]}
            owed = {d.id for (n, _), d in self.debts.items() if n == link and not (d.taken or d.cancelled)}
            assert owed <= named, "an answer is owed, and nobody is named for it"
        if not self.asleep:
            for id, times in self.owed_lost.items():
                assert self.told_lost[id] >= times, "a call was lost, and nobody was told"

    def finish(self) -> None:
        """Everybody does his part: what was owed has been paid, and the end is clean."""
        self.asleep = self.slow = False
        self.user("hush")
        for _ in range(40):
            self.finish_closing()
            if self.machine.closed or (self.current and not self.closing & self.alive.keys()):
                break
            self.establish()
            if not self.current:
                self.later(1.0)
        while self.running or self.consulted:
            for run in list(self.running):
                self.settle(run, Outcome({"output": f"late {run}"}))
            while self.consulted:
                self.decide(self.consulted.pop(), False)
        self.later(20.0)
        self.check()
        if not self.machine.closed:
            self.finish_standing()
        self.close()
        self.check()
        assert len(self.ended) == 1
        assert set(self.alive) <= self.closing, "a socket outlives the session"
        assert all(receipt.done for receipt in self.said.values()), "a receipt is never resolved"
        assert not self.running

    def finish_standing(self) -> None:
        """Of a session that stands, and whose handlers have ended."""
        link = self.current
        assert link, "a service that behaves, and no session stands"
        self.later(200.0)
        self.reads(link)
        assert not self.machine.stats()["calls"], "a call is open, and its handler has ended"
        for (n, _), debt in self.debts.items():
            assert n != link or debt.taken or debt.cancelled, "a call was not answered"
        assert not self.unnamed[link], "a call without an id was not answered"
        assert all(receipt.error is None for receipt in self.said.values())
        first = [text for text in dict.fromkeys(self.read) if text in self.said]
        assert first == [text for text in self.said if text in first], "a text overtook another"
        assert len(self.said) - len(first) <= self.given_up, "a text was lost"
        assert all(exchange.done for exchange in self.exchanges), "an exchange without an end"


def answers_in(frame: dict[str, Any]) -> list[dict[str, Any]]:
    """The function responses in any frame."""
    if "toolResponse" in frame:
        return responses(frame)
    parts = [p for t in frame.get("clientContent", {}).get("turns", ()) for p in t["parts"]]
    return [p["functionResponse"] for p in parts if "functionResponse" in p]


def texts_in(frame: dict[str, Any]) -> list[str]:
    """The texts in any frame."""
    if "text" in frame.get("realtimeInput", {}):
        return [frame["realtimeInput"]["text"]]
    return [
        p["text"] for t in frame.get("clientContent", {}).get("turns", ()) for p in t["parts"] if "text" in p
    ]
