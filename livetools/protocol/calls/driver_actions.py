"""The actions that a machine asks for, and the outcome of a handler, which it gets back.

The machine decides, the shell performs: it dials, hangs up, starts and stops handlers, and reports each outcome
with ``Machine.settled``. Every ``RunTool`` is followed by exactly one ``settled`` with its run, however the handler
ends.

A *run* is one execution of a handler, numbered by the machine. It is not the call's id: a fresh session may use an
id again while the handler of the old call is still at work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec import Struct

from livetools.events import Call


class LinkAction(Struct, frozen=True, gc=False):
    """Something to be done with a socket."""

    link: int


class Dial(LinkAction, frozen=True, gc=False):
    """Open a socket (TCP, TLS, upgrade), then ``opened(link)``; a failure is ``disconnected(link, close)``."""


class Hangup(LinkAction, frozen=True, gc=False):
    """Close this socket (or give up its dial); its end is reported as ``disconnected(link, close)``."""


class Hurry(LinkAction, frozen=True, gc=False):
    """The machine waits for the pongs of this socket: send the ping that was put off, if there is one."""


class CallAction(Struct, frozen=True):
    """Something to be done for a call."""

    run: int
    call: Call


class ToolAction(CallAction, frozen=True):
    """Something to be done with a tool. ``tool`` is the one that the model knew when it called: a hand-off may have put
    another of that name in its place."""

    tool: Any  # the shell's, which the machine does not look into


class RunTool(ToolAction, frozen=True):
    """Run the handler of this call; then ``settled(run, outcome)``. ``streams``: each yield is its own response."""

    streams: bool = False


class AskApproval(ToolAction, frozen=True):
    """Check the arguments and ask the tool's ``approval``; then ``judge(run, verdict)``, or ``settled(run, outcome)``
    where the arguments do not fit."""


class StopAsking(CallAction, frozen=True):
    """Whether this call may run is decided, or no longer matters: cancel the tool's ``approval``, if it still
    runs. ``over``: the call will not run. Nothing follows."""

    over: bool = True


class StopTool(CallAction, frozen=True):
    """Stop this handler: cancel it, or set ``context.cancelled`` in a thread. It still settles."""


class Undo(ToolAction, frozen=True):
    """Run the tool's ``undo(call, result)``, once. ``result`` is what the handler returned, or ``None``."""

    result: object


class EndSession(Struct, frozen=True):
    """The session is over: cleanly (``None``), or for this reason."""

    error: Exception | None


Action: TypeAlias = Dial | Hangup | Hurry | RunTool | AskApproval | StopAsking | StopTool | Undo | EndSession


class Outcome(Struct):
    """How a handler ended.

    ``response`` is the JSON object that the model gets (already under its key); ``error`` is what was raised;
    ``result`` what the handler returned, for ``undo``; ``began`` is false where it never ran: its arguments did not
    fit, a hook refused it, no thread had taken it up yet; ``handoff`` the agent that continues the conversation,
    which is for the shell to plan; ``will_continue`` whether the response says that more follows, where the model
    takes that; ``encoded`` is ``response`` as JSON, where that was made already: code that changes ``response``
    resets it.
    """

    response: Mapping[str, Any]
    error: Exception | None = None
    scheduling: str | None = None
    ends_session: bool = False
    parts: tuple[Mapping[str, Any], ...] = ()
    result: object = None
    began: bool = True
    handoff: object = None
    will_continue: bool | None = None
    encoded: bytes | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """How a socket ended: ``code`` 1006 for a line that broke; ``by_us`` when we hung up.

    ``error`` is set when there never was a websocket (refused, TLS, an HTTP status): it says so in words. ``note`` is
    what this side knows of the cause: told, never judged by.
    """

    code: int = 1006
    reason: str = ""
    by_us: bool = False
    error: Exception | None = field(default=None, compare=False)
    note: str = ""
