"""``ask`` and ``stream``: one question and its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from livetools.errors import NoAnswer
from livetools.events import REPLACED, AudioChunk, Call, Event, ToolStarted, TurnComplete, Usage, UsageUpdate
from livetools.log import get_logger
from livetools.protocol.transcript.spoken_text import Words
from livetools.protocol.turns.exchange import MAX_ASK_AUDIO
from livetools.session.running.session_driver import SessionDriver
from livetools.transport.loop.timeslice import TimeSlice
from livetools.transport.loop.wake import make_wake

log = get_logger("livetools.session")

NEARLY = 0.9  # a line is blamed where it was silent for so much of the time since the question


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one ``ask``.

    ``text``: the model's text, or the transcript of what it said; ``str(reply)`` is the same. ``audio``: 16-bit
    little-endian mono PCM at ``rate`` Hz. ``calls``: the function calls that the model made, in order. ``usage``:
    tokens. ``cost``: their price in US dollars, ``None`` if unknown. ``interrupted``: the answer was cut off.
    ``stalled``: the model fell silent in the middle of it. ``reason``: why the service ended the turn
    (``RESPONSE_REJECTED``, ``MALFORMED_FUNCTION_CALL`` …), ``None`` for an ordinary end; for an empty answer also
    ``NEED_MORE_INPUT``.

    ::

        reply = await session.ask("Weather in Oslo?")
        print(reply, [call.name for call in reply.calls], len(reply.audio))
    """

    text: str = ""
    audio: bytes = b""
    rate: int = 24000
    calls: tuple[Call, ...] = ()
    usage: Usage = field(default_factory=Usage)
    interrupted: bool = False
    stalled: bool = False
    reason: str | None = None

    @property
    def cost(self) -> float | None:
        """The price of the tokens in US dollars (:attr:`Usage.cost`); ``None`` if unknown."""
        return self.usage.cost

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        spoken = f", audio=<{len(self.audio)} bytes>" if self.audio else ""
        why = f", reason={self.reason!r}" if self.reason else ""
        return f"Reply({self.text!r}{spoken}, calls={len(self.calls)}, interrupted={self.interrupted}{why})"


def reply_of(
    events: Sequence[Event], interrupted: bool = False, stalled: bool = False, transcribed: bool = False
) -> Reply:
    """The events of an exchange as one reply: a turn that a call divides is one answer."""
    words = Words(transcribed)
    usage, turn = Usage(), Usage()
    rate = 24000
    reason: str | None = None
    audio: list[bytes] = []
    calls: list[Call] = []
    text: list[str] = []
    for event in events:
        text.append(words.take(event))
        match event:
            case AudioChunk(data, its_rate):
                audio.append(data)
                rate = its_rate
            case ToolStarted(call):
                calls.append(call)
            case UsageUpdate(counted):
                turn = counted  # the last count of a turn holds
            case TurnComplete(reason=reason):
                # A turn is counted several times while it runs; of these counts the last one is added.
                usage, turn = usage + turn, Usage()
    said = "".join([*text, words.rest()])
    if reason == REPLACED or (reason == "NEED_MORE_INPUT" and (said or audio or calls)):
        reason = None  # `interrupted` tells of the former, and the answer itself asks for more
    return Reply(said, b"".join(audio), rate, tuple(calls), usage + turn, interrupted, stalled, reason)


class Asking:
    """An exchange under way, seen from the user's task."""

    def __init__(self, driver: SessionDriver, text: str) -> None:
        self._driver = driver
        self._wake = make_wake()
        self.words = Words(driver.machine.plan.transcribed)
        self._slice = TimeSlice()
        self._mark = driver.inbox.count
        self._asked_at = driver.clock.now()
        self.exchange, self._receipt = driver.machine.ask(text, self._asked_at)
        self.exchange.watch(self._wake.set)
        self._receipt.watch(self._wake.set)
        driver.step()

    async def next(self) -> Event | None:
        """The next event of this exchange; ``None`` at its end. Raises what ended the session in the middle of it."""
        exchange, receipt = self.exchange, self._receipt
        while True:
            self._driver.check(receipt)
            # What came before an end is handed out first, so each of these is looked at again after every wait.
            if (event := exchange.next()) is not None:
                await self._slice.share()
                return event
            if self._driver.over.is_set() and (exchange.interrupted or not exchange.done):
                raise self._driver.why_over()
            if (error := exchange.error) is not None:
                raise self._explained(error)
            if exchange.done:
                self._returned()
                return None
            # Before each wait: a call that began since may be one that waits for the tool that asks here.
            self._driver.check_answerable(exchange.calls)
            await self._driver.flush()
            await self._driver.woken(self._wake)
            self._slice.rested()

    def _explained(self, error: Exception) -> Exception:
        """With what is known of the line: a model that is silent on a line that is dead was not asked."""
        silent = self._driver.sockets.silent_for() if isinstance(error, NoAnswer) else 0.0
        if not silent or silent < NEARLY * (self._driver.clock.now() - self._asked_at):
            return error
        return NoAnswer(
            f"{error}. The connection has given no sign of life for {silent:.3g} s either, not even a pong: another one"
            " is dialled after WebSocket(dead_after=...) seconds"
        )

    async def reply(self) -> Reply:
        """Wait for the end."""
        while await self.next() is not None:
            pass
        exchange, stalled = self.exchange, self.exchange.stalled is not None
        return reply_of(exchange.events, exchange.interrupted, stalled, self.words.transcribed)

    def _returned(self) -> None:
        """The caller has the answer: it is not kept for an iterator that never existed."""
        self._driver.inbox.forget(self._mark)
        if self.exchange.emptied:
            most = MAX_ASK_AUDIO >> 20
            log.warning("an answer of more than %d MiB: the oldest of its audio was dropped", most)

    def leave(self) -> None:
        """Nobody waits for it any more: the next exchange may begin."""
        # A stream may be collected when even the loop has ended.
        if not self._driver.over.is_set():
            self._driver.machine.leave(self.exchange, self._driver.clock.now())


async def settled(driver: SessionDriver) -> Reply:
    """Wait until nothing is pending; what was said outside of exchanges. Raises what ended the session."""
    machine, wake = driver.machine, make_wake()
    said = machine.said
    said.keep_sound()
    with machine.watched(wake.set):
        while machine.pending and not driver.over.is_set():
            await wake.wait()
    if driver.error is not None:
        raise driver.why_over()
    return reply_of(said.events, *said.ending(), machine.plan.transcribed)


class Stream:
    """The model's words as they come: ``async for``. Not a generator: a loop that is broken off gives the
    exchange up at once, and needs no ``aclosing``."""

    def __init__(self, ask: Callable[[], Asking], check: Callable[[], None]) -> None:
        self._ask, self._check = ask, check
        self._asking: Asking | None = None
        self._over = False

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> str:
        self._check()
        if self._over:
            raise StopAsyncIteration
        try:
            self._asking = asking = self._asking or self._ask()
            while (event := await asking.next()) is not None:
                if word := asking.words.take(event):
                    return word
            # Text that was held back, in case a transcript would follow.
            if word := asking.words.rest():
                return word  # the next time there is nothing left
            raise StopAsyncIteration
        except BaseException:  # the end of the words too
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Give the answer up, as breaking off the loop does: the model speaks on, in the events."""
        self._over = True
        if self._asking is not None:
            self._asking.leave()

    def __del__(self) -> None:
        if self._asking is not None:
            self._asking.leave()
