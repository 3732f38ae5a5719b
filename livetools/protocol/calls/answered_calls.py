"""Remembers calls that were answered, as bytes: the server may ask for the same id again on a later connection.

A session keeps hundreds of them, and hardly one is ever asked again. So nothing of them is left that the garbage
collector would visit.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from livetools.events import Call
from livetools.protocol.messages.outgoing import encode
from livetools.setup.plan_fields import Plan

from .actions import Outcome
from .call_states import CallState, Record

#: Finished calls that are remembered, in case their id is asked again on a later link.
REMEMBERED = 512
_PAID = CallState.PAID  # every call passes it: asked of its class, a member costs ten times as much


class AnsweredCall(Struct, frozen=True, gc=False):
    """A call whose answer was read. ``response`` is JSON."""

    run: int
    link: int
    response: bytes
    scheduling: str | None


def packed(record: Record) -> AnsweredCall | None:
    """What needs to be remembered of a call; ``None`` where its record itself must be kept.

    That is so while its handler runs, where the result may have to be undone, and where the answer had parts.
    """
    outcome, policy = record.outcome, record.policy
    # Bytes cannot hold these: the result for undo, yields for a late text, or the handler itself.
    keeps = record.running or record.kept or policy.undo or policy.background
    if record.state is not _PAID or outcome is None or outcome.parts or keeps:
        return None
    response = outcome.encoded or encode(outcome.response)
    return AnsweredCall(record.run, record.link, response, outcome.scheduling)


def unpacked(call: Call, paid: AnsweredCall, plan: Plan) -> Record:
    """The record of this call, which is asked again, as it was."""
    # Its time does not matter any more: nothing is measured for an answer from memory.
    policy = plan.policies.get(call.name, plan.undeclared)
    record = Record(paid.run, call, policy, paid.link, 0.0)
    record.state = CallState.PAID
    record.outcome = Outcome(msgspec.json.decode(paid.response), scheduling=paid.scheduling)
    return record
