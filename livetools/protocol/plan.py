"""From a model, its options and its declarations to a plan: what will be sent, and how each call is served.

The only reader of profiles: whatever a model family takes or refuses is decided here, before anything is dialled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How the calls of one tool are served."""

    name: str
    handled: bool = True  # False: only declared; session.respond answers
    behavior: Literal["BLOCKING", "NON_BLOCKING"] = "BLOCKING"  # as the server sees it
    background: bool = False  # answered at once that it is under way; the result follows as text
    ends_turn: bool = False  # the model ends its turn at the call, and begins another at the answer
    scheduling: str | None = None  # sent beside each final response, where the model takes it
    takes_scheduling: bool = False  # a ToolResult may say its own
    streams: bool = False  # a yield is a response with willContinue; else the yields are gathered into one
    media: frozenset[str] = frozenset()  # MIME types that the model reads in FunctionResponse.parts
    timeout: float | None = 60.0
    concurrency: int | None = None
    cancellable: bool = True
    undo: bool = False
    approval: Literal["none", "ask", "consult"] = "none"
    approval_timeout: float = 60.0
    interim: bool = False  # a waiting call may say so with a willContinue response
    join: bool = False  # duplicates="join"
    max_result_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything the machine needs to know of a session. Built by :func:`make_plan`."""

    model: str  # as on the wire: models/… or projects/…
    setup: Mapping[str, Any]  # the setup object, without a handle
    policies: Mapping[str, CallPolicy] = field(default_factory=dict)

    # answers
    reply_format: Literal["tool_response", "client_content"] = "tool_response"
    reply_batching: Literal["each", "batch"] = "each"
    response_key: str = "output"
    max_concurrency: int | None = None
    max_calls: int | None = None
    allowed: frozenset[str] | None = None

    # what the model is sent, and when
    text_channel: Literal["client_content", "realtime"] = "client_content"
    content_mid_session: bool = True  # False (3.1): clientContent only before the first turn
    gate: bool = False  # drop audio and video, hold text, while a blocking call is open
    takes_update: bool = False  # contextUpdate
    seed: Literal["client_content", "initial_history", "none"] = "client_content"  # history's channel
    seed_functions: bool = False  # function parts in a seed are remembered; elsewhere only its texts go
    seed_ends_with_user: bool = False  # 2.5
    status_signal: bool = False  # a turn ends with interactionStatus IDLE
    answer_lost: bool = False  # a resumed session wants an error for each call that was lost
    speaks: bool = True  # the reply is audio with a transcript; False: text

    # the line
    resumption: bool = True  # ask for handles
    transparent: bool = False  # Vertex: replay by lastConsumedClientMessageIndex
    handle: str | None = None
    history: tuple[Mapping[str, Any], ...] = ()
    lost_results: Literal["deliver", "drop"] = "deliver"
    setup_timeout: float = 10.0
    stall_timeout: float = 20.0
    warnings: tuple[str, ...] = ()  # said in the log when the session opens


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the plan must know of a tool: its declaration, its options, and what it is made of."""

    declaration: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    generator: bool = False
    handled: bool = True
