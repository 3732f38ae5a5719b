"""Whether the model may make a call: no such function, not among ``allowed``, past ``max_calls``."""

from __future__ import annotations

from livetools.errors import LimitReached
from livetools.setup.plan_fields import Plan

from .call_states import Record
from .driver_actions import EndSession, Outcome
from .wording import listed, refused, unknown

#: Calls beyond ``max_calls`` that are answered with an error. Then the session ends: such a model does not stop.
BEYOND = 10


def by_plan(plan: Plan, record: Record) -> Outcome | None:
    """What the plan has against this call, if anything: no such tool, not allowed, too many."""
    name = record.call.name
    if not record.policy.name:
        return refused(unknown(name, plan.policies))
    # Live has no tool_choice, so the model may call what it must not: refused calls are answered, never dropped, since
    # an unanswered call blocks the session (livekit#6569).
    if plan.allowed is not None and name not in plan.allowed:
        return refused(f"{name} may not be called now; {listed('allowed', sorted(plan.allowed))}")
    # Runs are counted from 1 over the whole session, reconnects included.
    if plan.max_calls is not None and record.run > plan.max_calls:
        return refused(f"no more calls: this session allows {plan.max_calls}. Answer with what you know")
    return None


def too_many(plan: Plan, record: Record) -> EndSession | None:
    """The end of the session: the model kept calling, although every call was answered with an error."""
    limit = plan.max_calls
    if limit is None or record.run < limit + BEYOND:
        return None
    happened = f"max_calls={limit}, and the model made {BEYOND} more, though each was answered with an error"
    advice = "Raise max_calls, or tell the model in the instructions when to stop calling"
    return EndSession(LimitReached("max_calls", happened, "tool", advice))
