"""Holds what ``connect`` decided before a session is dialled, and starts the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from anyio.abc import TaskGroup

from livetools.events import Call
from livetools.log import get_logger
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.session_machine import Machine
from livetools.protocol.transcript.transcript import MAX_HISTORY, Transcript
from livetools.session.handlers.run_tool import ToolRunner
from livetools.session.handlers.tasks import Tasks
from livetools.session.listening.guardrails import Guardrails, check_words
from livetools.session.listening.listeners import Listeners
from livetools.session.running.clock import Clock, SystemClock
from livetools.session.running.session_driver import SessionDriver
from livetools.session.running.sockets import Sockets
from livetools.session.running.task_host import Host, Starter
from livetools.setup.plan_fields import Plan
from livetools.tools import Hooks, SessionLike
from livetools.transport.contract import Dialer
from livetools.transport.endpoint import Endpoint

from .handle_store import ConversationStore, HandleStore, Keeper, KeeperMaker, load_handle

log = get_logger("livetools.session")


@dataclass(slots=True)
class Startup:
    """What ``connect`` has made of its arguments."""

    plan: Plan
    endpoint: Endpoint
    dialer: Dialer
    policy: ReconnectPolicy | None = None
    deps: object = None
    hooks: Sequence[Hooks] = ()
    clock: Clock = field(default_factory=SystemClock)
    store: HandleStore | None = None
    max_history: int = MAX_HISTORY
    transcript: Transcript = field(init=False)
    listeners: Listeners = field(default_factory=Listeners)
    keeper: Keeper | None = None  # of a session that runs, if it has a store
    make_keeper: KeeperMaker = Keeper

    def __post_init__(self) -> None:
        self.transcript = Transcript(max_bytes=self.max_history, transcribed=self.plan.transcribed)
        full = "the transcript is longer than max_history=%d bytes: its oldest exchanges are dropped"
        self.transcript.if_full(partial(log.warning, full))

    async def start(self, host: Host, session: SessionLike) -> SessionDriver:
        """Open the session in the host. Returns when it is open, or has ended (``driver.error``)."""
        for warning in (*self.plan.warnings, *self.endpoint.warnings):
            log.warning("%s", warning)
        if self.store is not None:
            resumed = None
            if self.plan.handle is None:  # else that one is resumed, and not the one in the store
                resumed = await load_handle(self.store)
                self.plan = replace(self.plan, handle=resumed)
            self.keeper = self.make_keeper(self.store, resumed)
        left: Sequence[Call] = ()  # by an earlier process of the conversation
        if isinstance(self.store, ConversationStore):
            left = () if self.plan.handle is None else await self.store.left()
            self.store.follow(session)
        self.transcript.user_content(self.plan.history)
        machine = Machine(self.plan, reconnect=self.policy, transcript=self.transcript, left=left)
        driver = SessionDriver(machine, self.clock, self.transcript, self.listeners)
        await host.start(partial(self._run, driver, session))
        return driver

    async def _run(
        self, driver: SessionDriver, session: SessionLike, group: TaskGroup, ready: Callable[[], None]
    ) -> None:
        # Before the handlers are made, which inherit the context variables that a hook sets.
        self.listeners.observe(self.hooks, session)
        if self.keeper is not None:
            self.listeners.add(self.keeper, "the handle store")
            group.start_soon(self.keeper.run)
        async with Starter(group) as starter:
            try:
                key, hooks = self.plan.response_key, self.hooks
                tasks = Tasks(starter, ToolRunner(driver, key, hooks, self.deps, session))
                if check_words(self.hooks):
                    words = Guardrails(
                        self.hooks, session, self.plan.transcribed, tasks.errand, driver.cut_off
                    )
                    self.listeners.add(words, "the check of the words")
                sockets = Sockets(starter, self.dialer, self.endpoint, driver)
                await driver.run(group, tasks, sockets, ready)
                if self.keeper is not None:
                    await self.keeper.finish()
            finally:
                self.listeners.ended(driver.error)

    def parked(self, plan: Plan) -> None:
        """Log what is lost when the conversation continues elsewhere: what ``plan``, the newest one, has changed."""
        changes = {"instructions": "systemInstruction", "tools": "tools"}
        changed = [what for what, key in changes.items() if plan.setup.get(key) != self.plan.setup.get(key)]
        if changed:
            log.warning(
                "parked: the %s that update() or a hand-off has set do not go along with the handle; give them to "
                "the connect(handle=...) that continues it",
                " and ".join(changed),
            )
