"""Holds what ``connect`` decided before a session is dialled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from livetools.events import Call
from livetools.log import get_logger
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.transcript.transcript import Transcript
from livetools.session.listening.listeners import Listeners
from livetools.session.running.clock import Clock, SystemClock
from livetools.setup.plan_fields import Plan
from livetools.tools import Hooks
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
    transcript: Transcript
    policy: ReconnectPolicy | None = None
    deps: object = None
    hooks: Sequence[Hooks] = ()
    clock: Clock = field(default_factory=SystemClock)
    store: HandleStore | None = None
    listeners: Listeners = field(default_factory=Listeners)
    keeper: Keeper | None = None  # of a session that runs, if it has a store
    make_keeper: KeeperMaker = Keeper

    async def load(self, session: object) -> Sequence[Call]:
        """Log the warnings, and ask the store what ``session``, which is about to open, continues.

        Returns the calls that an earlier process of the conversation has left behind. Raises what the store raises.
        """
        for warning in (*self.plan.warnings, *self.endpoint.warnings):
            log.warning("%s", warning)
        self.transcript.if_full(_full)
        if self.store is not None:
            resumed = None
            if self.plan.handle is None:  # else that one is resumed, and not the one in the store
                resumed = await load_handle(self.store)
                self.plan = replace(self.plan, handle=resumed)
            self.keeper = self.make_keeper(self.store, resumed)
        left: Sequence[Call] = ()
        if isinstance(self.store, ConversationStore):
            left = () if self.plan.handle is None else await self.store.left()
            self.store.follow(session)
        self.transcript.user_content(self.plan.history)
        return left

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


def _full(most: int) -> None:
    log.warning("the transcript is longer than max_history=%d bytes: its oldest exchanges are dropped", most)
