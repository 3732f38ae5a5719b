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
    Call,
)
from livetools.integrations.drain import Drain
from livetools.integrations.shared.closing import SERVER_STOPS, TRY_AGAIN
from livetools.integrations.shared.last_handle import LastHandle
from livetools.integrations.shared.option_checks import checked_seconds, checked_text
from livetools.log import get_logger
from livetools.session.agents import adjust
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock, SystemClock
from livetools.session.running.task_host import Host
from livetools.session.session import Session
from livetools.tools import Hooks
from livetools.transport.loop.race import race
from livetools.transport.loop.wake import on_trio

from .input import PageInput, Rejected
from .messages import (
    Approve,
    ErrorCode,
    Ping,
    Text,
    closing,
    shows_whole,
)
from .page import REPLACED_BY_PAGE, Page
from .page_output import Outgoing

log = get_logger("livetools.relay")

#: Seconds that the end of a session may take.
GRACE = 10.0


@dataclass(frozen=True)
class RelayOptions:
    """What the conversations of a relay have in common; see :func:`~livetools.integrations.starlette.relay`."""

    linger: float = 30.0
    greeting: str | None = None
    idle: float | None = None
    debug: bool = False
    clock: Clock = field(default_factory=SystemClock)
    drain: Drain = field(default_factory=Drain)

    def __post_init__(self) -> None:
        checked_seconds(self.linger, "linger", zero=True)
        checked_seconds(self.idle, "idle", optional=True)
        checked_text(self.greeting, "greeting")


class _Allowed(Hooks):
    """Notes the calls that a tool's own rule lets run: a page that runs the function waits for that."""

    def __init__(self, tell: Callable[[Call], None]) -> None:
        self._tell = tell

    def on_allowed(self, call: Call) -> None:
        """The tool's ``approval`` function lets the call run without asking a person."""
        self._tell(call)


class RelayedSession:
    """A session in a host of its own: ``await open()``, then :meth:`serve` one page after the other.

    It is ``over`` when the session has ended: by itself, by a page's ``end``, by :meth:`stop` or :meth:`park`, because
    no page came back in time, or because nobody spoke. ``on_over`` is called as soon as no page can come back,
    ``on_closed`` when the session that was opened is closed.
    """

    def __init__(
        self,
        session: Session,
        token: str,
        options: RelayOptions,
        *,
        on_over: Callable[[], object] = lambda: None,
        on_closed: Callable[[], object] = lambda: None,
    ) -> None:
        self.token = token
        self.over = anyio.Event()
        self._kept: LastHandle | None = None  # if the session has a store
        allowed = _Allowed(lambda call: self._outgoing.allowed(call))
        self._session = adjust(session, hooks=[allowed], keeper=self._keep)
        self._options = options
        self._clock = options.clock
        self._on_over, self._on_closed = on_over, on_closed
        self._host = Host("livetools relay")
        self._stands = anyio.Event()
        self._input = PageInput(session, self._refuse, options.clock)
        self._outgoing = Outgoing(session, options.clock, options.debug, self._wake)
        self._page: Page | None = None
        self._left: float | None = None  # when the last page did
        self._moved = anyio.Event()  # a page came or went
        self._park_by: float | None = None  # it is to continue in another process
        self._to_park = anyio.Event()
        self._farewell = TRY_AGAIN, "the session ended just now"  # to a page that comes when it is over

    async def open(self) -> None:
        """Open the session. Raises what ``connect`` raises on entering; cancelling leaves nothing behind."""
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
            self._page.close(REPLACED_BY_PAGE, "another page has taken over this session")
        self._page, self._left = page, None
        self._input.spoke = self._input.spoke or resumed
        self._moved.set()
        after = min(after, self._outgoing.log.last)
        manual, linger = self._input.manual, self._options.linger
        page.tell(self._outgoing.ready(self.token, after, resumed, manual, linger))
        if self.over.is_set():
            page.close(*self._farewell)
        try:
            await race(
                lambda: page.write(self._outgoing.log, after),
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
            message = self._outgoing.event(event)
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
        ended = self._outgoing.ended(error)
        if self._page is not None:
            self._page.close(*closing(ended))

    # The page

    def _wake(self) -> None:
        if self._page is not None:
            self._page.wake()

    def _refuse(self, code: ErrorCode, message: str, ref: str | None = None) -> None:
        if self._page is not None:
            self._page.refuse(code, message, ref)

    async def _read(self, page: Page) -> None:
        while (message := await page.receive()) is not None:
            try:
                taken = await self._input.take(message)
            except Rejected as error:
                page.refuse(error.code, str(error), error.ref)
                continue
            except LiveToolsError:
                await anyio.sleep_forever()  # the session is over: the end is being written
            if isinstance(taken, Text):
                self._outgoing.typed(taken)
            elif isinstance(taken, Ping):
                page.tell({"type": "pong", "id": taken.id})
            elif isinstance(taken, Approve):
                self._outgoing.approved(taken.id)
