"""``duplicates="join"``: lets equal calls share one run of a handler."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

from .call_states import SERVED, Phase, Record

#: The calls whose run an equal call can share, by the name and the arguments.
Leaders: TypeAlias = dict[Hashable, Record]


def join(leaders: Leaders, record: Record) -> Record | None:
    """Let the call share the run of an equal one that is served, which is returned.

    ``None``: no such run exists, and later equal calls join this one.
    """
    key = _key(record)
    leader = leaders.get(key)
    # A leader that is itself a follower, or that settles at this moment, has no run to share. In all these cases
    # the newer call takes its place.
    if leader is None or leader.state not in SERVED or leader.phase in (Phase.LEADER, Phase.NOTHING):
        leaders[key] = record
        return None
    record.phase = Phase.LEADER
    record.shared = leader.shared = leader.shared or [leader]
    record.shared.append(record)
    return leader


def forget(leaders: Leaders, record: Record) -> None:
    """Nobody joins the run of this call any more."""
    key = _key(record)
    # A newer call may have taken its place meanwhile.
    if leaders.get(key) is record:
        del leaders[key]


def end(leaders: Leaders, record: Record) -> Sequence[Record]:
    """The run is over. Returns the calls that shared it: from now on they are on their own."""
    forget(leaders, record)
    shared = record.shared
    if shared is None or record.leader is not record:
        return ()
    for one in shared:
        one.shared = None
    return shared[1:]


def leave(record: Record) -> Record:
    """Take a call from the run of another that it shares. Returns the call that runs: that one, or this."""
    leader, shared = record.leader, record.shared
    if shared is not None and leader is not record:
        shared.remove(record)
        record.shared = None
    return leader


def _key(record: Record) -> Hashable:
    return record.call.name, _frozen(record.call.args)


def _frozen(value: object) -> Hashable:
    """A JSON value as something that hashes: equal values are equal, 1 and 1.0 too, 1 and true are not."""
    if isinstance(value, bool):
        return "true" if value else "false", None
    if isinstance(value, dict):
        return frozenset((key, _frozen(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(_frozen(inner) for inner in value), "array"
    return value
