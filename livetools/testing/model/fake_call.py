"""The calls that a pretend model made, and the result of each."""

from __future__ import annotations

import random
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from livetools.setup.model_profiles import ModelProfile
from livetools.testing.wire import Message, readable

_ROUNDS = 3  # pongs after which an answer to a cancelled call is too late

State = Literal["open", "answered", "cancelled", "lost"]


@dataclass(slots=True, eq=False)
class FakeCall:
    """One function call: what was asked, and what came back.

    ``responses`` are the ``functionResponse`` objects in the order they came (several for a generator,
    which ends with the first that does not say ``willContinue``). ``connection`` is the number of the
    socket that asked.
    """

    id: str | None
    name: str
    args: dict[str, Any]  # any JSON value
    connection: int
    blocking: bool = True
    state: State = "open"
    responses: list[Message] = field(default_factory=list)
    done: anyio.Event = field(default_factory=anyio.Event, repr=False)
    crossing: bool = False  # cancelled a moment ago: an answer may have been sent already

    @property
    def response(self) -> Message:
        """The ``response`` object of the answer; of a generator's, the last that says anything."""
        return self._telling().get("response") or {}

    @property
    def scheduling(self) -> str:
        """When the model is to speak of it: said beside the response, or inside, as Google's samples do."""
        last = self._telling()
        inside = last.get("response") or {}
        return str(last.get("scheduling") or inside.get("scheduling") or "WHEN_IDLE").upper()

    def _telling(self) -> Message:
        """The last answer that says anything; a generator's very last one ends it in silence."""
        said = [each for each in self.responses if each.get("response")]
        return (said or self.responses or [{}])[-1]

    def end(self, state: State) -> None:
        """Move an open call to its end, and wake the tasks that wait for it."""
        if self.state == "open":
            self.state = state
            self.done.set()

    def cancel(self) -> None:
        """Cancel an open call. An answer that was sent already is not a fault of the client."""
        if self.state == "open":
            self.crossing = True
            self.end("cancelled")

    def __str__(self) -> str:
        shown = f"{self.name}({readable(self.args, 200)}) id={self.id!r}"
        return f"{shown} {self.state} on connection {self.connection}"


def declarations(setup: Message) -> dict[str, Message]:
    """The functions that a setup, or a request, declares, by name."""
    tools = [tool for tool in setup.get("tools") or [] if isinstance(tool, dict)]
    return {each.get("name", ""): each for tool in tools for each in tool.get("functionDeclarations") or []}


def blocks(setup: Message, profile: ModelProfile, name: str) -> bool:
    """Whether the model waits in silence for this function's answer."""
    behavior = declarations(setup).get(name, {}).get("behavior")
    if behavior not in ("BLOCKING", "NON_BLOCKING"):
        behavior = profile.default_behavior
    if behavior == "NON_BLOCKING":
        return profile.non_blocking != "honoured"
    return profile.blocking == "honoured"


class CallRegistry:
    """The calls of one conversation, over its connections.

    ``lost`` are those whose connection went before their answer, until the client tells the model of it.
    """

    def __init__(self) -> None:
        self.lost: list[FakeCall] = []
        self._by_id: dict[str | None, list[FakeCall]] = {}
        self._open: list[FakeCall] = []

    def add(self, call: FakeCall) -> None:
        self._by_id.setdefault(call.id, []).append(call)
        self._open.append(call)

    def open(self, connection: int) -> list[FakeCall]:
        """The calls of this connection that wait for an answer."""
        self._open = [call for call in self._open if call.state == "open"]
        return [call for call in self._open if call.connection == connection]

    def with_id(self, id: str) -> list[FakeCall]:
        """The calls of this id, or, where calls have none, of this name; the newest last."""
        return self._by_id.get(id) or [call for call in self._by_id.get(None, ()) if call.name == id]

    def newest(self, id: str) -> FakeCall:
        """The newest call of this id, or of this name where calls have no ids; else ``LookupError``."""
        if not (known := self.with_id(id)):
            raise LookupError(f"the pretend model made no call with the id {id!r}")
        return known[-1]

    def find(self, response: Message, connection: int) -> FakeCall | None:
        """The call that a response answers: by its id; without one, the oldest open call of that name.

        With an id, the name does not matter: one client sends the id as the name, another sends no name at all.
        """
        if response.get("id"):
            known = self._by_id.get(response["id"], [])
            here = [call for call in known if call.connection == connection]
            return next(reversed(here or known), None)
        named = (call for call in self.open(connection) if call.name == response.get("name"))
        return next(named, None)

    def answers(
        self, responses: Iterable[Message], restored: Collection[str], connection: int
    ) -> Iterator[Message]:
        """The responses without those of a history: ``restored`` are the calls, by id or name, that came with them.

        A client that repeats an open call beside its answer answers that call.
        """
        for response in responses:
            if restored and key_of(response) in restored:
                call = self.find(response, connection)
                if call is None or call.state != "open":
                    continue
            yield response


def key_of(entry: Message) -> str:
    """What a call and its response have in common: the id; without one, the name."""
    return str(entry.get("id") or entry.get("name") or "")


def new_id(style: str, chance: random.Random, number: int) -> str | None:
    """The id of a call as a model family writes it (``ModelProfile.call_ids``); ``number`` calls were made before."""
    digits = chance.getrandbits(63)
    styles = {
        "function-call": f"function-call-{digits}",
        "uuid": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        "call": f"call_{digits % 10**6:06d}{number}",
        "none": None,
    }
    return styles[style]


async def until_read(ping: Callable[[], Awaitable[bool]], calls: Iterable[FakeCall]) -> None:
    """Wait until the client has read the cancellation of these calls: an answer to one of them is then a mistake.

    The first pong proves that its library has read so far; the next ones prove that its event loop has run since.
    """
    for _ in range(_ROUNDS):
        if not await ping():
            return
    for call in calls:
        call.crossing = False
