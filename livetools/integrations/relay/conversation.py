"""One session and the page that is attached to it. A page may leave and come back; the session stays."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio.abc import TaskGroup

from livetools.errors import LiveToolsError, LocalProtocolError
from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Call,
    Event,
    HandedOff,
    Interrupted,
    ToolCancelled,
    ToolFinished,
    ToolStarted,
    TurnComplete,
    VideoChunk,
)
from livetools.integrations.drain import Drain
from livetools.integrations.shared.closing import SERVER_STOPS, TRY_AGAIN
from livetools.integrations.shared.option_checks import checked_seconds, checked_text
from livetools.integrations.shared.race import race
from livetools.log import get_logger
from livetools.session.agents import adjust
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock, SystemClock
from livetools.session.running.task_host import Host
from livetools.session.session import Session
from livetools.setup.plan_fields import Plan
from livetools.tools import Hooks
from livetools.transport.loop.wake import on_trio

from .input import Input, Rejected
from .last_handle import LastHandle
from .limits import HEARTBEAT
from .log import EventLog
from .messages import (
    INPUT_RATE,
    OUTPUT_RATE,
    AgentNow,
    Approve,
    ErrorCode,
    Ping,
    Ready,
    Text,
    UserText,
    closing,
    encode,
    encode_event,
    encode_video,
    ending,
    shows_whole,
)
from .page import REPLACED, Page

log = get_logger("livetools.relay")

#: Seconds that the end of a session may take.
GRACE = 10.0


@dataclass(frozen=True)
class Options:
    """What the conversations of a relay have in common; see :func:`~livetools.integrations.starlette.relay`."""

    linger: float = 30.0
    greeting: str | None = None
    idle: float | None = None
    debug: bool = False
    clock: Clock = field(default_factory=SystemClock)
    drain: Drain = field(default_factory=Drain)

    def __post_init__(self) -> None:
        checked_seconds(self.linger, "linger", zero=True)
        checked_seconds(self.idle, "idle")
        checked_text(self.greeting, "greeting")


class _Allowed(Hooks):
    """Notes the calls that a tool's own rule lets run: a page that runs the function waits for that."""

    def __init__(self, tell: Callable[[Call], None]) -> None:
        self._tell = tell

    def on_allowed(self, call: Call) -> None:
        """The tool's ``approval`` function lets the call run without asking a person."""
        self._tell(call)


class Conversation:
    """A session in a host of its own: ``await open()``, then :meth:`serve` one page after the other.

    It is ``over`` when the session has ended: by itself, by a page's ``end``, by :meth:`stop` or :meth:`park`, because
    no page came back in time, or because nobody spoke. ``on_over`` is called as soon as no page can come back,
    ``on_closed`` when the session that was opened is closed.
    """

    def __init__(
        self,
        session: Session,
        token: str,
        options: Options,
        *,
        on_over: Callable[[], object] = lambda: None,
        on_closed: Callable[[], object] = lambda: None,
    ) -> None:
        self.token = token
        self.over = anyio.Event()
        self._kept: LastHandle | None = None  # if the session has a store
        self._session = adjust(session, hooks=[_Allowed(self._allow)], keeper=self._keep)
        self._undecided: set[str] = set()  # calls that pages know of, and that nobody has let run yet
        self._allowed: set[str] = set()  # calls that may run, and that no page knows of yet
        self._options = options
        self._clock = options.clock
        self._on_over, self._on_closed = on_over, on_closed
        self._host = Host("livetools relay")
        self._stands = anyio.Event()
        self._input = Input(session, self._refuse, options.clock)
        self._log = EventLog()
        self._rate = OUTPUT_RATE
        self._plan = session.plan  # that was last sent to pages
        self._agent: str | None = None
        self._page: Page | None = None
        self._left: float | None = None  # when the last page did
        self._moved = anyio.Event()  # a page came or went
        self._park_by: float | None = None  # it is to continue in another process
        self._to_park = anyio.Event()
        self._farewell = TRY_AGAIN, "the session ended just now"  # to a page that comes when it is over

    async def open(self) -> None:
        """Open the session. Raises what ``connect`` raises on entering; cancelling leaves nothing behind."""
        self._began = self._clock.now()
        try:
            await self._host.start(self._live)
        except BaseException:
            self._on_over()
            raise

    def _keep(self, store: HandleStore, resumed: str | None) -> LastHandle:
        self._kept = LastHandle(store, resumed)
        return self._kept

    async def overtaken(self) -> bool:
        """Whether another process has saved a newer handle since this session was resumed. Then it saves no more, and
        must be opened again. Raises what the store raises."""
        return self._kept is not None and await self._kept.withdraw()

    async def join(self) -> None:
        """Wait until the session and its tasks have ended, also if cancelled. On trio: only in the task that opened
        it."""
        try:
            await self.over.wait()
        finally:
            await self._host.stop(GRACE)

    def stop(self) -> None:
        """End the session now."""
        self._input.ended.set()

    async def park(self, within: float) -> None:
        """End the session at the next quiet moment, its handle kept, and tell the page to come again elsewhere.

        From now on no text is taken: a page sends it again where it continues. Returns when it is over.
        """
        self._wish_to_park(within)
        await self.over.wait()

    def _wish_to_park(self, within: float) -> None:
        until = self._clock.now() + within
        self._park_by = until if self._park_by is None else min(until, self._park_by)
        self._input.parking = True
        self._to_park.set()

    async def serve(self, page: Page, after: int, *, resumed: bool) -> None:
        """Attach a page, in place of the one before. Returns when the page has left or the session is over."""
        await race(self._stands.wait, self.over.wait)
        if self._page is not None:
            self._page.close(REPLACED, "another page has taken over this session")
        self._page, self._left = page, None
        self._input.spoke = self._input.spoke or resumed
        self._moved.set()
        after = min(after, self._log.last)
        page.tell(self._ready(after, resumed))
        if self.over.is_set():
            page.close(*self._farewell)
        try:
            await race(
                lambda: page.write(self._log, after),
                lambda: self._read(page),
                lambda: page.beat(self._clock),
            )
        finally:
            if self._page is page:
                await self._leave(page)
            if self.over.is_set():
                self._on_over()

    @property
    def _awaited(self) -> bool:
        """Whether the session was parked while its page was away: that one may come, once. It is sent what it has
        missed, and then where to continue."""
        return self._stands.is_set() and self._session.parked and self._page is None

    def _forget(self) -> None:
        """Accept no other page, unless one is awaited."""
        if not self._awaited:
            self._on_over()

    def forget_late(self) -> None:
        """Forget the missed events of a page that did not come back within ``linger`` seconds."""
        if self.over.is_set() and self._awaited and self._clock.now() >= self._until():
            self._on_over()

    async def _expire(self) -> None:
        """Keep what an awaited page has missed until it comes, or is too late."""
        if self._awaited:
            moved = self._moved = anyio.Event()
            await race(moved.wait, partial(self._clock.sleep_until, self._until()))
            self.forget_late()

    def _until(self) -> float:
        """Until when the page may come back."""
        return math.inf if self._left is None else self._left + self._options.linger

    async def _leave(self, page: Page) -> None:
        self._page, self._left = None, self._clock.now()
        self._moved.set()
        with anyio.CancelScope(shield=True):
            with contextlib.suppress(LiveToolsError):  # the session is over, and has told why
                await self._input.page_left()
        if page.server_stops:  # which waits for this task
            await self.park(self._options.drain.within)
        elif not self._input.spoke:  # there is nothing that a page could come back to
            self.stop()

    # The life of the session, in the host

    async def _live(self, group: TaskGroup, ready: Callable[[], None]) -> None:
        try:
            with self._options.drain.holds(self):
                await self._hold(ready)
            self._end(None)
        except Exception as error:
            if not self._stands.is_set():
                raise
            self._end(error)
        finally:
            self.over.set()
            if self._stands.is_set():
                self._on_closed()
            self._forget()
        if not on_trio():  # there the page's own task would have to wait: the next page releases it instead
            await self._expire()

    async def _hold(self, ready: Callable[[], None]) -> None:
        async with self._session:
            self._stands.set()
            ready()
            ways = [self._listen, self._input.send_texts, self._input.ended.wait, self._watch, self._park]
            await race(*ways, self._greet)
            self._forget()

    async def _listen(self) -> None:
        async for event in self._session:
            self._input.tap(event)
            message = self._tell(event)
            self._follow_agent(event)
            if isinstance(event, ToolFinished | ToolCancelled):
                self._undecided.discard(event.call.id)
                self._allowed.discard(event.call.id)
            if isinstance(event, ApprovalRequested) and not (message and shows_whole(message, event.call)):
                await self._refuse_unseen(event.call)

    async def _refuse_unseen(self, call: Call) -> None:
        """Refuse a call whose arguments no page could show whole: a person would approve something else."""
        log.warning(
            "%s was refused: its arguments are too long to be shown whole for the approval", call.name
        )
        with contextlib.suppress(LocalProtocolError):  # it was cancelled meanwhile
            await self._session.refuse(call, "its arguments are too large to be shown to the user")

    async def _greet(self) -> None:
        if self._options.greeting is not None:
            await self._session.generate_reply(self._options.greeting)
        await anyio.sleep_forever()

    async def _park(self) -> None:
        """Park the session when that is wanted. Returns when it is over."""
        await self._to_park.wait()
        assert self._park_by is not None
        late = partial(self._clock.sleep_until, self._park_by)
        await race(self._input.texts_sent, late)  # what was taken is the session's to send
        try:
            await self._session.park(max(0.0, self._park_by - self._clock.now()))
        except LocalProtocolError as error:
            log.warning("a conversation cannot continue elsewhere: %s", error)
        else:
            await anyio.sleep_forever()  # the listener knows when everything was sent

    async def _watch(self) -> None:
        """Return when no page has come back within ``linger`` seconds."""
        while True:
            moved = self._moved = anyio.Event()
            until = self._until()
            if self._clock.now() >= until:
                self._on_over()  # at once: who comes now is too late, though closing takes a while
                return
            await race(moved.wait, partial(self._clock.sleep_until, until))

    def _end(self, error: Exception | None) -> None:
        """Tell the page how the session ended, and close it after that."""
        if isinstance(error, LiveToolsError):
            log.warning("a relayed session ended with %s: %s", type(error).__name__, error)
        elif error is not None:
            log.error("a relayed session failed", exc_info=error)
        elif self._session.parked:
            self._farewell = SERVER_STOPS, "the server restarts: come again"
            if self._page is not None:
                self._page.close(*self._farewell)
            return
        ended = ending(error, self._options.debug)
        ended["seq"], ended["at"] = self._stamp()
        self._add(encode(ended))
        if self._page is not None:
            self._page.close(*closing(ended))

    # What a page receives

    def _tell(self, event: Event) -> str | None:
        """Add an event to the log. Returns the message that a page reads, if it is a text message."""
        message = None
        if isinstance(event, AudioChunk):
            self._speak(event)
        elif isinstance(event, VideoChunk):
            self._log.add_media(encode_video(event))
            self._wake()
        elif (
            message := encode_event(event, *self._stamp(), self._more(event), self._options.debug)
        ) is not None:
            if isinstance(event, Interrupted):
                self._log.drop_media()
            self._add(message)
        return message

    def _more(self, event: Event) -> dict[str, object]:
        """Fields that a page gets in addition to those of an event."""
        if not isinstance(event, ApprovalRequested | ToolStarted):
            return {}
        policy = self._session.plan.policies.get(event.call.name)
        if isinstance(event, ToolStarted):
            return {"approval": policy is not None and policy.approval and self._waits(event.call)}
        return {"timeout": None if policy is None else policy.approval_timeout}

    def _waits(self, call: Call) -> bool:
        """Whether a call is still to be let run when pages hear of it: the tool's rule may have been quicker."""
        if call.id in self._allowed:
            self._allowed.discard(call.id)
            return False
        self._undecided.add(call.id)
        return True

    def _allow(self, call: Call) -> None:
        """The tool's own rule lets this call run."""
        if call.id not in self._undecided:
            self._allowed.add(call.id)
            return
        self._undecided.discard(call.id)
        seq, at = self._stamp()
        self._add(encode({"type": "approved", "seq": seq, "at": at, "id": call.id}))

    def _speak(self, chunk: AudioChunk) -> None:
        if chunk.rate != self._rate:
            self._rate = chunk.rate
            seq, at = self._stamp()
            self._add(encode({"type": "audio_format", "seq": seq, "at": at, "rate": chunk.rate}))
        dropped = self._log.add_media(chunk.data)
        if dropped:
            seq, at = self._stamp()
            seconds = dropped / 2 / self._rate
            self._add(encode({"type": "dropped", "seq": seq, "at": at, "seconds": seconds}))
        self._wake()

    def _add(self, message: str) -> None:
        self._log.add(message)
        self._wake()

    def _wake(self) -> None:
        if self._page is not None:
            self._page.wake()

    def _stamp(self) -> tuple[int, float]:
        """The number of the next event, and the seconds since the session was opened."""
        return self._log.last + 1, round(self._clock.now() - self._began, 3)

    def _refuse(self, code: ErrorCode, message: str, ref: str | None = None) -> None:
        if self._page is not None:
            self._page.refuse(code, message, ref)

    def _follow_agent(self, event: Event) -> None:
        """Tell pages of other tools: after a hand-off, or, at the end of a turn, of a change that the program made."""
        if isinstance(event, HandedOff):
            self._agent = event.name
        elif not isinstance(event, TurnComplete) or self._plan is self._session.plan:
            return
        self._plan = self._session.plan
        seq, at = self._stamp()
        now: AgentNow = {
            "type": "agent",
            "seq": seq,
            "at": at,
            "name": self._agent,
            "tools": list(self._plan.policies),
            "declared_only": declared_only(self._plan),
        }
        self._add(encode(now))

    def _ready(self, after: int, resumed: bool) -> Ready:
        plan = self._session.plan
        return {
            "type": "ready",
            "token": self.token,
            "resumed": resumed,
            "seq": self._log.last,
            "at": self._stamp()[1],
            "missed": max(0, self._log.first - 1 - after),
            "model": plan.model.rpartition("/")[2],
            "tools": list(plan.policies),
            "declared_only": declared_only(plan),
            "activity": "manual" if self._input.manual else "automatic",
            "input_rate": INPUT_RATE,
            "output_rate": OUTPUT_RATE,
            "linger": self._options.linger,
            "agent": self._agent,
            "heartbeat": HEARTBEAT,
        }

    async def _read(self, page: Page) -> None:
        while (message := await page.receive()) is not None:
            try:
                taken = await self._input.take(message)
            except Rejected as error:
                page.refuse(error.code, str(error), error.ref)
                continue
            except LiveToolsError:
                await anyio.sleep_forever()  # the session is over: the end is being written
            seq, at = self._stamp()
            if isinstance(taken, Text):
                told: UserText = {"type": "user_text", "seq": seq, "at": at, "text": taken.text}
                if taken.ref is not None:
                    told["ref"] = taken.ref
                self._add(encode(told))
            elif isinstance(taken, Ping):
                page.tell({"type": "pong", "id": taken.id})
            elif isinstance(taken, Approve):
                self._add(encode({"type": "approved", "seq": seq, "at": at, "id": taken.id}))


def declared_only(plan: Plan) -> list[str]:
    """The functions without a handler, which a page answers."""
    return [name for name, policy in plan.policies.items() if not policy.handled]
