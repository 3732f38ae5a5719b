"""What the model reads that is neither a result nor of the user: refusals, time-outs, "under way", late results."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from copy import copy

from livetools.errors import ToolError, ToolTimeout
from livetools.protocol.messages import outgoing
from livetools.setup.did_you_mean import near_names

from .call_states import Phase, Record
from .driver_actions import Outcome

#: The key of a remark beside a result.
NOTE = "note"
#: The text of a user's turn where the model needs one in order to speak.
SPEAK_NOW = "(The user has said nothing. It is your turn to speak.)"
#: Why a call is not approved where the program has no session that could ask a person.
NOBODY_TO_ASK = "nobody can be asked"


def lost(follows: bool) -> Outcome:
    """What a resumed session is answered for a call of the last connection."""
    after = "its result follows as a message" if follows else "its result is lost"
    return refused(f"the connection was replaced while this call was open; {after}")


def refused(text: str, error: type[ToolError] = ToolError, began: bool = False) -> Outcome:
    """An error that the model may read. ``began``: the handler was started all the same."""
    return Outcome(outgoing.failure(text), error(text), began=began)


CANCELLED = refused("the call was cancelled")


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
    if record.phase is Phase.APPROVAL:
        return refused(f"the call was not approved: nobody decided within {policy.approval_timeout:g} s")
    return refused(f"timed out after {policy.timeout:g} s", ToolTimeout, began=record.started)


def without_unread(outcome: Outcome, media: Container[str]) -> Outcome:
    """The outcome without the media that this model does not read: a note beside the result says so."""
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


#: The first response of a call that a person must allow, where the model takes more than one.
AWAITS_APPROVAL = "waiting for approval"


def under_way(name: str) -> str:
    """The answer to a background call."""
    return f"{name} is under way; its result follows later as a message. Do not call it again for this."


#: The late result of a generator whose yields were all read.
NOTHING_MORE = "it has ended; there is nothing more than what it said before"


def late_result(record: Record, key: str) -> str:
    """A result that can no longer go out as an answer, as a text to the model; ``key`` is that of responses."""
    call, outcome = record.call, record.outcome
    assert outcome is not None
    response = outcome.response
    # A generator: what the model has not read comes first, and how it ended (nothing, or an error) beside it.
    if record.kept:
        response = {key: record.kept, **response}
    elif not response:
        response = {key: [] if record.kept is None else NOTHING_MORE}
    why = "" if record.policy.background else ", asked for before the connection was replaced"
    # default=str: a result that cannot be encoded still goes out in some form.
    told = json.dumps(response, ensure_ascii=False, default=str)
    asked = json.dumps(dict(call.args), ensure_ascii=False, default=str)
    return f"[Result of {call.name}({asked}){why}: {told}]"
