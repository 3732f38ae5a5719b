"""The error answers of calls that no handler answers, worded so that a model can act on them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from copy import copy
from typing import TYPE_CHECKING

from livetools.errors import LimitReached, ToolError, ToolTimeout
from livetools.protocol.messages import outgoing
from livetools.setup.did_you_mean import near_names

from .actions import Outcome
from .call_states import Phase

if TYPE_CHECKING:
    from livetools.setup.plan_fields import Plan

    from .call_states import Record


#: Calls beyond ``max_calls`` that are answered with an error. Then the session ends: such a model does not stop.
BEYOND = 10


#: The key of a remark beside a result.
NOTE = "note"


def lost(follows: bool) -> str:
    """What a resumed session is answered for a call of the last connection."""
    after = "its result follows as a message" if follows else "its result is lost"
    return f"the connection was replaced while this call was open; {after}"


def refused(text: str, error: type[ToolError] = ToolError, began: bool = False) -> Outcome:
    """An error that the model may read. ``began``: the handler was started all the same."""
    return Outcome(outgoing.failure(text), error(text), began=began)


CANCELLED = refused("the call was cancelled")


def by_plan(plan: Plan, record: Record) -> Outcome | None:
    """What the plan has against this call, if anything: no such tool, not allowed, too many."""
    name = record.call.name
    if record.policy is None:
        return refused(unknown(name, plan.policies))
    # Live has no tool_choice, so the model may call what it must not: refused calls are answered, never dropped, since
    # an unanswered call blocks the session (livekit#6569).
    if plan.allowed is not None and name not in plan.allowed:
        return refused(f"{name} may not be called now; {listed('allowed', sorted(plan.allowed))}")
    # Runs are counted from 1 over the whole session, reconnects included.
    if plan.max_calls is not None and record.run > plan.max_calls:
        return refused(f"no more calls: this session allows {plan.max_calls}. Answer with what you know")
    return None


def too_many(limit: int) -> LimitReached:
    """The error that ends the session: the model kept calling, although every call was answered with an error."""
    return LimitReached(
        "max_calls",
        f"max_calls={limit}, and the model made {BEYOND} more calls, though each was answered with an error",
        "tool",
        "Raise max_calls, or tell the model in the instructions when to stop calling",
    )


def unknown(name: str, names: Iterable[str]) -> str:
    """No such function: the real ones are listed, near misses first."""
    known = list(names)
    # All names are listed: the one that was meant may not resemble what the model wrote.
    near = near_names(name, known, count=len(known) or 1)
    ordered = near + [n for n in known if n not in near]
    return f"there is no function {name!r}; {listed('available', ordered)}"


def listed(what: str, names: list[str]) -> str:
    """``available: a, b``, or that nothing is available."""
    return f"{what}: {', '.join(names)}" if names else f"none is {what}"


def not_approved(why: str) -> Outcome:
    """A person, or the tool's policy, said no."""
    return refused(f"the call was not approved: {why}" if why else "the call was not approved")


def expired(record: Record) -> Outcome:
    """Its time is up."""
    policy = record.policy
    assert policy is not None
    if record.phase is Phase.APPROVAL:
        return refused(f"the call was not approved: nobody decided within {policy.approval_timeout:g} s")
    return refused(f"timed out after {policy.timeout:g} s", ToolTimeout, began=record.started)


def without_unread(outcome: Outcome, media: Container[str]) -> Outcome:
    """The outcome without the media that this model does not read: a note beside the result says so."""
    if not outcome.parts:
        return outcome
    kinds = [str((p.get("inlineData") or p.get("fileData") or {}).get("mimeType", "")) for p in outcome.parts]
    unread = sorted({kind for kind in kinds if kind not in media})
    if not unread:
        return outcome
    # What a model does not read closes the connection (PDF on 3.1 and 3.8: 1007, 2026-09-28) or is guessed at (2.5).
    note = f"this model does not read {', '.join(unread)} in a function response: it was left out"
    read = tuple(part for part, kind in zip(outcome.parts, kinds, strict=True) if kind in media)
    # A copy: calls that share a run share its outcome.
    made = copy(outcome)
    made.response, made.parts, made.encoded = {**outcome.response, NOTE: note}, read, None
    return made
