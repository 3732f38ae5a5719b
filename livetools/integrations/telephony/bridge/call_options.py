"""The options of a bridge, and the record of a call that is over."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from livetools.errors import ConfigError
from livetools.integrations.drain import Drain
from livetools.integrations.shared.option_checks import (
    checked_bound,
    checked_function,
    checked_seconds,
    checked_text,
)
from livetools.integrations.shared.places import MAX_SESSIONS
from livetools.integrations.telephony.call_control.accounts import Account
from livetools.integrations.telephony.providers.provider import StartFrame
from livetools.session.handle_store import HandleStore
from livetools.session.running.clock import Clock, SystemClock

from .hold import HoldSound

Reason: TypeAlias = Literal["hangup", "ended", "idle", "transferred", "parked", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that is over.

    ``start``: its start frame (ids for the provider's REST API). ``reason``: ``"hangup"`` (the caller, or the
    provider, ended the stream), ``"ended"`` (the session did: a tool said ``ends_session``), ``"idle"``,
    ``"transferred"``, ``"parked"`` (the process ends; the conversation continues with the next stream of this call),
    ``"stopped"`` (the process ends, and the call has not ended in time), or ``"failed"`` with the ``error``.
    ``heard``: seconds of the model's speech that the caller has heard. ``contents``: the conversation. ``recording``:
    the file, with ``record=``.
    """

    start: StartFrame
    reason: Reason
    error: Exception | None = None
    heard: float = 0.0
    contents: list[dict[str, Any]] = field(default_factory=list)
    recording: Path | None = None


class CallOptions(TypedDict, total=False):
    """The options that all bridges take.

    ``deps(start)``, sync or async, gets the start frame (Twilio: ``start["callSid"]``, ``start["customParameters"]`` …)
    and returns the tools' ``context.deps`` (``None``: the agent's own). If it raises ``PermissionError``, the websocket
    is closed with 1008.

    ``greeting``: instructions that make the model speak first; without them it waits. ``idle``: after this many seconds
    of silence the model asks whether anybody is there; after as many again the call ends. ``on_end(ended)``, sync or
    async, is called once for each accepted call, when it is over (:class:`Ended`).

    ``account``: the provider's (:class:`TwilioAccount`, …), for its REST API. With it, a call that ends on our side
    (``"ended"``, ``"idle"``) is hung up, and :func:`transfer_to` can transfer it. Without it, the provider continues
    after the stream: Twilio and Plivo with the XML that follows, Telnyx with a call that is silent.

    ``hold_sound``: what the caller hears while a tool runs, from 1.5 s after its call on until the model answers: a WAV
    file or the bytes of one, in a loop, or ``True`` for two soft notes. ``record``: a folder, in which each call is
    written to a stereo WAV of its own at the rate of the line: left the caller, right what the caller heard.

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
    account: Account | None
    hold_sound: HoldSound
    record: str | os.PathLike[str] | None
    stores: Callable[[StartFrame], HandleStore] | None
    drain: Drain | None
    max_sessions: int | None
    clock: Clock | None


@dataclass(frozen=True, slots=True)
class Options:
    """:class:`CallOptions` with their defaults, checked."""

    deps: Callable[[StartFrame], object] | None = None
    greeting: str | None = None
    idle: float | None = None
    on_end: Callable[[Ended], object] | None = None
    account: Account | None = None
    hold_sound: HoldSound = False
    record: str | os.PathLike[str] | None = None
    stores: Callable[[StartFrame], HandleStore] | None = None
    drain: Drain = field(default_factory=Drain)
    max_sessions: int | None = MAX_SESSIONS
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        checked_bound(self.max_sessions, "max_sessions")
        checked_seconds(self.idle, "idle", optional=True)
        checked_text(self.greeting, "greeting")
        for name in ("deps", "on_end", "stores"):
            checked_function(getattr(self, name), name)
        if self.account is not None and not isinstance(self.account, Account):
            raise ConfigError(
                f"account is a {type(self.account).__name__}, expected an Account: TwilioAccount(...)"
            )


def options_of(given: CallOptions) -> Options:
    """The options that were given, and defaults for the rest. Raises ``TypeError`` for an unknown option."""
    kept: dict[str, Any] = dict(given)
    for name in ("drain", "clock"):
        if kept.get(name) is None:
            kept.pop(name, None)
    if unknown := kept.keys() - CallOptions.__annotations__.keys():
        raise TypeError(
            f"no option {', '.join(sorted(unknown))}: there are {', '.join(CallOptions.__annotations__)}"
        )
    return Options(**kept)
