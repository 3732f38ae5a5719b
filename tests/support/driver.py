"""A shell without a loop: drives the machine by hand, keeps what it did, and holds it to its invariants."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from livetools.events import Call, Event
from livetools.protocol.calls.driver_actions import (
    Close,
    Dial,
    EndSession,
    Hangup,
    Outcome,
    RunTool,
    StopTool,
)
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.session_machine import Machine
from livetools.setup.plan_fields import CallPolicy, Plan

GEMINI = "models/gemini-2.5-flash-native-audio-latest"


def plan(*policies: CallPolicy, **fields: Any) -> Plan:
    """A plan with these tools, for a model that reads no media and wants to hear nothing of lost calls."""
    fields = {
        "model": GEMINI,
        "setup": {"model": GEMINI},
        "answers_lost": False,
        "media": frozenset(),
        **fields,
    }
    return Plan(policies={p.name: p for p in policies}, **fields)


class Conversation:
    """What a new session begins with, in place of a transcript."""

    def __init__(self, contents: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        self.contents = contents

    def seed(self, functions: bool = True, ends_with_user: bool = False) -> list[Mapping[str, Any]]:
        return list(self.contents())


class Driver:
    """One machine, its clock, and everything that came out of it."""

    def __init__(
        self,
        plan: Plan,
        reconnect: ReconnectPolicy | None = None,
        seed: Sequence[Mapping[str, Any]] = (),
        left: Sequence[Call] = (),
    ) -> None:

        def so_far() -> Sequence[Mapping[str, Any]]:  # the conversation, which begins with its history
            return seed if self.machine.connection.stood else plan.history

        told: Any = Conversation(so_far)
        self.machine = Machine(plan, reconnect=reconnect, random=lambda: 0.5, transcript=told, left=left)
        self.now = 0.0
        self.actions: list[Any] = []
        self.events: list[Event] = []
        self.frames: list[tuple[int, dict[str, Any]]] = []
        self.pings = 0
        self.heard = 0  # messages of the server's
        self.deaf: set[int] = set()  # links on which nothing arrives, and no ping is answered
        self.slow: set[int] = set()  # links on which the pongs have not come yet
        self.ponged: dict[
            int, int
        ] = {}  # by link: messages that had been heard when the first pong came, if late

    # What happens

    def live(self) -> Driver:
        """Through the first setup."""
        self.machine.connect(self.now)
        self.drain()
        return self.establish()

    def establish(self) -> Driver:
        """The socket that was dialled last opens, and the setup completes."""
        link = self.dialled[-1]
        self.machine.opened(link, self.now)
        self.drain()
        return self.server({"setupComplete": {}}, link)

    def server(self, frame: object, link: int | None = None) -> Driver:
        """A frame comes."""
        data = json.dumps(frame) if not isinstance(frame, (str, bytes)) else frame
        self.heard += 1
        self.machine.receive(link or self.machine.connection.current, data, self.now)
        return self.drain()

    def call(self, *calls: tuple[str | None, str] | tuple[str | None, str, dict[str, Any]]) -> Driver:
        """The model calls: (id, name[, args])."""
        entries = []
        for id, name, *args in calls:
            entry: dict[str, Any] = {"name": name, "args": args[0] if args else {}}
            if id is not None:
                entry["id"] = id
            entries.append(entry)
        return self.server({"toolCall": {"functionCalls": entries}})

    def say(self, text: str) -> Driver:
        return self.server({"serverContent": {"outputTranscription": {"text": text}}})

    def turn_complete(self, **more: object) -> Driver:
        return self.server({"serverContent": {"turnComplete": True, **more}})

    def settle(self, id: str, value: object = "ok", **more: Any) -> Driver:
        """The handler that was last started for this id ends."""
        run = [s.run for s in self.actions if isinstance(s, RunTool) and s.call.id == id][-1]
        self.machine.settled(run, Outcome({"output": value}, result=value, **more), self.now)
        return self.drain()

    def drop(self, code: int = 1006, reason: str = "", link: int | None = None) -> Driver:
        """The socket ends."""
        self.machine.disconnected(link or self.machine.connection.current, Close(code, reason), self.now)
        return self.drain()

    def later(self, seconds: float) -> Driver:
        """Time passes; the clock wakes the machine whenever it asked for it."""
        until = self.now + seconds
        while (at := self.machine.wake_at()) <= until:
            self.now = max(self.now, at)
            self.machine.tick(self.now)
            assert self.machine.wake_at() > self.now, "the machine asks to be woken for ever"
            self.drain()
        self.now = until
        return self

    def drain(self) -> Driver:
        """What the shell does after each input."""
        self.actions += self.machine.actions
        self.machine.actions.clear()
        frames = self.machine.frames()
        self.events += self.machine.events()
        for frame in frames:
            if (data := frame.make()) is not None:
                self.frames.append((frame.link, json.loads(data)))
            if frame.receipt is not None:
                frame.receipt.end()
            if frame.last_of is not None:
                frame.last_of.handed = True
                if frame.last_of.asks:
                    self.pings += 1
                    frame.last_of.pong = partial(self._pong, frame.link, self.heard, frame.link in self.deaf)
        return self

    def _pong(self, link: int, before: int, lost: bool) -> int | None:
        return None if lost or link in self.slow else self.heard - max(before, self.ponged.get(link, 0))

    # What was seen

    @property
    def dialled(self) -> list[int]:
        return [a.link for a in self.actions if isinstance(a, Dial)]

    @property
    def hung_up(self) -> list[int]:
        return [a.link for a in self.actions if isinstance(a, Hangup)]

    @property
    def started(self) -> list[str]:
        return [a.call.id for a in self.actions if isinstance(a, RunTool)]

    @property
    def stopped(self) -> list[str]:
        return [a.call.id for a in self.actions if isinstance(a, StopTool)]

    @property
    def ended(self) -> list[Exception | None]:
        return [a.error for a in self.actions if isinstance(a, EndSession)]

    @property
    def names(self) -> list[str]:
        return [type(e).__name__ for e in self.events]

    def sent(self, kind: str) -> list[Any]:
        """The payloads of all frames of this kind."""
        return [frame[kind] for _, frame in self.frames if kind in frame]

    def answers(self) -> list[tuple[str | None, dict[str, Any]]]:
        """(id, response) of each answer, whichever format carries it."""
        return [(r.get("id"), r["response"]) for r in self.responses()]

    def responses(self) -> list[dict[str, Any]]:
        """Every function response, in order."""
        found = [r for t in self.sent("toolResponse") for r in t["functionResponses"]]
        for content in self.sent("clientContent"):
            parts = [p for t in content.get("turns", []) for p in t["parts"]]
            found += [p["functionResponse"] for p in parts if "functionResponse" in p]
        return found

    def texts(self) -> list[str]:
        """Every text that went to the model."""
        found = []
        for _, frame in self.frames:
            found += [f["text"] for k, f in frame.items() if k == "realtimeInput" and "text" in f]
            turns = frame.get("clientContent", {}).get("turns", [])
            found += [p["text"] for t in turns for p in t["parts"] if "text" in p]
        return found
