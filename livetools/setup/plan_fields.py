"""``Plan``, ``CallPolicy`` and ``ToolSpec``: what a session sends and how it serves calls. ``plan`` makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from livetools.errors import ConfigError

from . import defaults
from .model_profiles import CLOSING_SILENCE, ModelProfile, SessionFacts

#: What an option must be: a test of its value, and what messages call it.
ValueCheck: TypeAlias = tuple[Callable[[Any], bool], str]


def check(given: Mapping[str, object], expected: Mapping[str, ValueCheck]) -> None:
    """Raise :class:`ConfigError` for an option whose value is not what is expected of it."""
    for name, (right, wanted) in expected.items():
        if not right(value := given[name]):
            raise ConfigError(f"{name}={value!r:.60}: expected {wanted}")


def _one_of(*words: str) -> ValueCheck:
    return lambda value: value in words, " or ".join(map(repr, words))


def is_seconds(value: object) -> bool:
    """Whether this is a number of seconds above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


_SECONDS: ValueCheck = is_seconds, "a number of seconds above 0"


def _or_none(right: Callable[[Any], bool], wanted: str) -> ValueCheck:
    return lambda value: value is None or right(value), f"{wanted}, or None for no limit"


def _count(least: int) -> ValueCheck:
    return _or_none(lambda value: type(value) is int and value >= least, f"a whole number from {least}")


#: The options of ``connect`` that a plan takes as they are: fields of :class:`Plan`, which checks them.
OPTIONS: Mapping[str, ValueCheck] = {
    "reply_format": _one_of("tool_response", "client_content"),
    "reply_batching": _one_of("each", "batch"),
    "response_key": _one_of("output", "result", "content"),
    "lost_results": _one_of("deliver", "drop"),
    **dict.fromkeys(("setup_timeout", "stall_timeout"), _SECONDS),
    **dict.fromkeys(("tool_timeout", "max_seconds", "idle"), _or_none(*_SECONDS)),
    "max_concurrency": _count(1),
    "max_calls": _count(0),
    "handle": (lambda value: value is None or isinstance(value, str), "a string"),
}


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
    timeout: float | None = defaults.TOOL_TIMEOUT
    concurrency: int | None = None
    takes_slot: bool = True  # counts against max_concurrency; not what was declared as background work
    cancellable: bool = True
    undo: bool = False
    approval: bool = False  # its arguments are checked and its approval is asked before it runs
    approval_timeout: float = defaults.APPROVAL_TIMEOUT
    takes_more: bool = False  # the model reads willContinue for it
    join: bool = False  # duplicates="join"
    tool: object = field(default=None, compare=False, repr=False)  # what runs its calls; opaque here


#: How a call to what was not declared is served: it is refused. Only this policy has no name.
UNDECLARED = CallPolicy("", handled=False)


@dataclass(frozen=True, slots=True)
class Plan(SessionFacts):
    """Everything the machine needs to know of a session, with the facts of its model. Built by ``plan.make_plan``."""

    model: str  # as on the wire: models/… or projects/…
    setup: Mapping[str, Any]  # the setup object, without a handle
    policies: Mapping[str, CallPolicy] = field(default_factory=dict)

    # answers
    reply_format: defaults.ReplyFormat = defaults.REPLY_FORMAT
    reply_batching: defaults.ReplyBatching = defaults.REPLY_BATCHING
    response_key: str = defaults.RESPONSE_KEY
    max_concurrency: int | None = defaults.MAX_CONCURRENCY
    max_calls: int | None = None
    max_seconds: float | None = None  # of the session, at most
    idle: float | None = None  # seconds of silence after which the model asks, and then the session ends
    allowed: frozenset[str] | None = None

    # what the model is sent, and when
    input_block: bool = False  # drop audio and video, hold text, while a blocking call is open
    undeclared: CallPolicy = UNDECLARED  # of a call to what was not declared
    hears_user: bool = True  # the config does not turn the transcript of the user's words off

    # the line
    resumption: bool = True  # ask for handles
    transparent: bool = False  # Vertex: replay by lastConsumedClientMessageIndex
    handle: str | None = None
    history: tuple[Mapping[str, Any], ...] = ()
    lost_results: defaults.LostResults = defaults.LOST_RESULTS
    setup_timeout: float = defaults.SETUP_TIMEOUT
    stall_timeout: float = defaults.STALL_TIMEOUT
    warnings: tuple[str, ...] = ()  # said in the log when the session opens

    # for replan, and for `session.profile`
    profile: ModelProfile = field(default_factory=ModelProfile)
    tool_timeout: float | None = defaults.TOOL_TIMEOUT

    def __post_init__(self) -> None:
        check({name: getattr(self, name) for name in OPTIONS}, OPTIONS)

    @property
    def manual(self) -> bool:
        """Whether the user marks speech (``session.activity``), and the service does not detect it."""
        return bool(self._detection.get("disabled"))

    @property
    def closing_silence(self) -> float:
        """Seconds of silence that have to follow audioStreamEnd, so that what was said before it is answered."""
        if self.stream_end_ends_turn:
            return 0.0
        asked = (self._detection.get("silenceDurationMs") or 0) / 1000
        return max(CLOSING_SILENCE, asked + CLOSING_SILENCE / 2)

    @property
    def _detection(self) -> Mapping[str, Any]:
        """What the setup says of the service's detection of speech."""
        return (self.setup.get("realtimeInputConfig") or {}).get("automaticActivityDetection") or {}

    @property
    def transcribed(self) -> bool:
        """Whether the model speaks, and the setup asks for a transcript of that."""
        speaks = self.setup.get("generationConfig", {}).get("responseModalities") != ["TEXT"]
        return speaks and self.setup.get("outputAudioTranscription") is not None

    def setup_message(self, handle: str | None, *, fresh: bool) -> dict[str, Any]:
        """The first frame of a connection, with ``handle`` put in.

        ``fresh``: a seed follows it (``history``, or the conversation so far, on a new session).
        It is announced where the model wants that, which then waits for it; on a resumed session it never is.
        """
        setup = dict(self.setup)
        if handle:
            setup["sessionResumption"] = {**setup.get("sessionResumption", {}), "handle": handle}
            setup.pop("historyConfig", None)
        elif fresh and self.seed == "initial_history":
            setup["historyConfig"] = {"initialHistoryInClientContent": True}
        return {"setup": setup}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the plan must know of a tool: its declaration, its options, and its kind. A tool has checked them."""

    declaration: Mapping[str, Any]  # as the wire writes it, without ``behavior``
    options: Mapping[str, Any] = field(default_factory=dict)  # as the wire spells them
    generator: bool = False
    handled: bool = True

    @property
    def name(self) -> str:
        """The name that the model calls."""
        return str(self.declaration["name"])


class Specified(Protocol):
    """A :class:`~livetools.Tool`, as far as a plan knows it."""

    def spec(self) -> ToolSpec: ...
