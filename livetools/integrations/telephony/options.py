"""What the user of a bridge says of its calls, and what they are told when one is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

from livetools.integrations.drain import Drain
from livetools.integrations.relay.limits import MAX_SESSIONS
from livetools.integrations.relay.places import checked_bound
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock, SystemClock

#: The start frame of a call, with the fields of its ``start`` object beside it.
StartFrame: TypeAlias = Mapping[str, Any]
Reason: TypeAlias = Literal["hangup", "ended", "idle", "parked", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that is over.

    ``start``: its start frame (ids for the provider's REST API). ``reason``: ``"hangup"`` (the caller, or the
    provider, ended the stream), ``"ended"`` (the session did: a tool said ``ends_session``), ``"idle"``, ``"parked"``
    (the process ends; the conversation goes on with the next stream of this call), ``"stopped"`` (the process ends,
    and the call has not ended in time), or ``"failed"`` with the ``error``. ``heard``: seconds of the model's speech
    that the caller has heard. ``contents``: the conversation.
    """

    start: StartFrame
    reason: Reason
    error: Exception | None = None
    heard: float = 0.0
    contents: list[dict[str, Any]] = field(default_factory=list)


class CallOptions(TypedDict, total=False):
    """The options that all bridges take.

    ``deps(start)``, sync or async, gets the start frame (Twilio: ``start["callSid"]``, ``start["customParameters"]`` …)
    and returns the tools' ``context.deps`` (``None``: the agent's own). If it raises ``PermissionError``, the websocket
    is closed with 1008.

    ``greeting``: instructions that make the model speak first; without them it waits. ``idle``: after this many seconds
    of silence the model asks whether anybody is there; after as many again the call ends. ``on_end(ended)``, sync or
    async, is called once for each accepted call, when it is over (:class:`Ended`).

    ``drain``: a process that ends (:class:`~livetools.integrations.drain.Drain`) waits for the call, at most
    ``drain.within`` seconds. With ``stores(start)``, which returns the store for the call's handle (by
    ``start["callSid"]``), the call is parked at the next quiet moment instead. The ``action`` of Twilio's ``<Connect>``
    then makes it open another stream, which continues the conversation in another process
    (``examples/phone_fleet.py``).

    ``max_sessions``: calls of one provider that this process has at once; one more is closed with 1013. ``None``: no
    bound.
    """

    deps: Callable[[StartFrame], object] | None
    greeting: str | None
    idle: float | None
    on_end: Callable[[Ended], object] | None
    stores: Callable[[StartFrame], HandleStore] | None
    drain: Drain | None
    max_sessions: int | None
    clock: Clock | None


@dataclass(frozen=True, slots=True)
class Options:
    """:class:`CallOptions`, with what they are by themselves."""

    deps: Callable[[StartFrame], object] | None = None
    greeting: str | None = None
    idle: float | None = None
    on_end: Callable[[Ended], object] | None = None
    stores: Callable[[StartFrame], HandleStore] | None = None
    drain: Drain = field(default_factory=Drain)
    max_sessions: int | None = MAX_SESSIONS
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        checked_bound(self.max_sessions, "max_sessions")


def options_of(given: CallOptions) -> Options:
    """The options. Raises ``TypeError`` for one that there is not."""
    kept: dict[str, Any] = dict(given)
    for name in ("drain", "clock"):
        if kept.get(name) is None:
            kept.pop(name, None)
    if unknown := kept.keys() - CallOptions.__annotations__.keys():
        raise TypeError(
            f"no option {', '.join(sorted(unknown))}: there are {', '.join(CallOptions.__annotations__)}"
        )
    return Options(**kept)
