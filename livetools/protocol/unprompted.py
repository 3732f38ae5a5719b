"""Holds what the model is to say without being asked, until nobody is cut off: late results, greetings, reminders.

They go out one at a time, at a quiet moment, when no turn of the model is expected and no text of the user's waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from livetools.events import Call
from livetools.protocol.calls.calls import Calls
from livetools.protocol.input.input_queue import InputQueue, Item
from livetools.protocol.input.resend import Receipt
from livetools.protocol.turns.exchange import Exchange
from livetools.protocol.turns.expected_turns import Turns
from livetools.protocol.turns.quiet_and_latency import SpeechTimes

from .messages import outgoing


@dataclass(eq=False, repr=False, slots=True)  # no repr: it would show the plan, the handle and texts
class Unprompted:
    """The texts that wait for a quiet moment, and what makes texts of them."""

    calls: Calls
    turns: Turns
    input: InputQueue
    speech: SpeechTimes
    unasked: tuple[Item, ...] = field(default=(), init=False)  # what the model is to say, in its order
    since: float = field(default=inf, init=False)  # something waits for a quiet moment; inf: nothing

    def speak(self, item: Item) -> None:
        """The model is to say this unasked, at the next quiet moment."""
        self.unasked = (*self.unasked, item)

    def text(
        self, text: str, exchange: Exchange | None, *, shown: bool = True, results: tuple[Call, ...] = ()
    ) -> Item:
        """A user turn, on the channel that the model takes; ``shown``: it is a part of the conversation."""
        # 3.1 takes clientContent only before the first turn (1007 later, adk#5018); 2.5 and 3.8 take a turn with a
        # role.
        build = outgoing.realtime_text if self.calls.plan.text_channel == "realtime" else outgoing.user_turn
        said = ({"role": "user", "parts": [{"text": text}]},) if shown else ()
        return Item(
            "text", build(text), Receipt(), exchange, True, not text.strip(), contents=said, results=results
        )

    def reply(self, instructions: str | None) -> Item:
        """A turn of nobody's, which the model answers. It does not stand in the conversation."""
        # turnComplete without turns makes 3.8 speak unprompted; other models need a user turn with words in it.
        if instructions is None and self.calls.plan.empty_turn:
            return Item("content", outgoing.your_turn(), Receipt(), prompts=True)
        return self.text(outgoing.SPEAK_NOW if instructions is None else instructions, None, shown=False)

    def unprompted(self, instructions: str) -> None:
        """The model is to speak by these instructions, at the next quiet moment. Nobody waits for it."""
        self.speak(self.reply(instructions))

    def take_back(self, receipt: Receipt) -> None:
        """The caller that asked for this reply no longer wants it; it may be too late."""
        self.unasked = tuple(item for item in self.unasked if item.receipt is not receipt)

    def wake_at(self, now: float) -> float:
        """When it will be quiet, for what waits for that; what waits for the model's turn is not woken by a clock."""
        at = self.speech.quiet_at(self.since) if self.since < inf else inf
        return at if at > now else inf

    def fail(self, error: Exception) -> None:
        """The session is over: nothing more will be said."""
        for item in self.unasked:
            if item.receipt is not None:
                item.receipt.fail(error)
        self.unasked = ()

    def speaks(self, now: float) -> bool:
        """Queue a late result or a reply that nobody has asked for, one at a time: whether there is one for now."""
        if not (self.calls.texts or self.unasked):
            self.since = inf
            return False
        self.since = min(self.since, now)
        # 3.1 and 3.8 cut their reply for any text (pydantic-ai 2.68): it waits for the end of the turn.
        prompted = any(item.prompts for item in self.input.queue)
        if not self.turns.idle or prompted or self.input.in_activity:
            return False  # it would cut somebody off
        # A lost call: somebody waits for it.
        awaited = any(not record.policy.background for record in self.calls.texts)
        if not awaited and self.speech.quiet_at(self.since) > now:
            return False
        self.since = inf
        # Late results go before unasked replies, all in one text: each text would be a turn of its own.
        if late := self.calls.late():
            results = tuple(call for call, _ in late)
            self.input.put(self.text("\n".join(text for _, text in late), None, results=results))
        else:
            self.input.put(self.unasked[0])
            self.unasked = self.unasked[1:]
        return bool(self.input)
