"""``connect``: makes a session from a model and tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, Never

from livetools.errors import ConfigError
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.transcript.transcript import MAX_HISTORY, Transcript
from livetools.session.running.clock import SYSTEM_CLOCK, Clock
from livetools.setup import config_fields, defaults
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan import make_plan
from livetools.setup.plan_fields import OPTIONS, ValueCheck, check
from livetools.setup.sdk.config_values import several
from livetools.setup.secrecy import Sealed, Secrets
from livetools.tools import (
    ContentOrDict,
    Hooks,
    Instructions,
    LiveConnectConfigOrDict,
    Tool,
    ToolLike,
    as_tools,
    split_config_tools,
)
from livetools.tools.definition.callbacks import overrides
from livetools.tools.hooks import check_hooks
from livetools.transport.contract import Dialer
from livetools.transport.credentials import KeySource
from livetools.transport.endpoint import Given, resolve
from livetools.transport.websocket import WebSocket

from .handle_store import HandleStore
from .option_synonyms import unexpected
from .session import Session
from .startup import Startup


def connect(
    model: str,
    *,
    tools: Iterable[ToolLike] = (),
    instructions: Instructions | None = None,
    config: LiveConnectConfigOrDict | None = None,
    history: Iterable[ContentOrDict] | None = None,
    deps: object = None,
    voice: str | None = None,
    language: str | None = None,
    api_key: KeySource | None = None,
    client: object = None,
    vertexai: bool | None = None,
    project: str | None = None,
    location: str | None = None,
    credentials: object = None,
    base_url: str | None = None,
    api_version: str | None = None,
    reply_format: defaults.ReplyFormat = defaults.REPLY_FORMAT,
    reply_batching: defaults.ReplyBatching = defaults.REPLY_BATCHING,
    response_key: str = defaults.RESPONSE_KEY,
    tool_timeout: float | None = defaults.TOOL_TIMEOUT,
    max_concurrency: int | None = defaults.MAX_CONCURRENCY,
    max_calls: int | None = None,
    allowed: Collection[str] | None = None,
    hooks: Sequence[Hooks] = (),
    reconnect: bool | ReconnectPolicy = True,
    handle: str | None = None,
    handle_store: HandleStore | None = None,
    lost_results: defaults.LostResults = defaults.LOST_RESULTS,
    setup_timeout: float = defaults.SETUP_TIMEOUT,
    stall_timeout: float = defaults.STALL_TIMEOUT,
    input_gate: bool | Literal["auto"] = defaults.INPUT_GATE,
    max_history: int = MAX_HISTORY,
    max_seconds: float | None = None,
    idle: float | None = None,
    profile: ModelProfile | None = None,
    transport: Dialer | None = None,
    clock: Clock | None = None,
    **unknown: Never,
) -> Session:
    """A session with a Live model that can call ``tools``. Use it as ``async with connect(...) as session``.

    ``connect`` checks its arguments and opens nothing; entering the ``async with`` block connects.

    The conversation:

    - ``model``: such as ``"gemini-3.8-live"``.
    - ``tools``: functions, :class:`Tool`, :class:`Toolset`, google-genai's ``Tool`` and ``FunctionDeclaration``,
      OpenAI-style dicts. They are joined with ``config.tools``.
    - ``instructions``: the system instruction.
    - ``config``: google-genai's ``LiveConnectConfig`` or its dict.
    - ``history``: contents to begin with, or another session's ``transcript``.
    - ``deps``: the value that tools get as ``context.deps``.
    - ``voice``, ``language``: such as ``"Kore"``, ``"en-US"``; short for ``speech_config``.

    The endpoint, as google-genai reads it, from the environment too: ``api_key`` (a string, or a callable that is
    called for each connection), ``client`` (a ``google.genai.Client``), ``vertexai``, ``project``, ``location``,
    ``credentials``, ``base_url``, ``api_version``.

    The calls:

    - ``reply_format``: ``"tool_response"`` or ``"client_content"``.
    - ``reply_batching``: ``"each"`` answers each call when it is ready, ``"batch"`` all calls of a message together.
    - ``response_key``: the key of a result: ``"output"``, ``"result"`` or ``"content"``.
    - ``tool_timeout``: seconds that a tool may run; ``@tool(timeout=...)`` overrides it.
    - ``max_concurrency``: calls that run at once.
    - ``max_calls``: calls in the whole session. Each further one is answered with an error, and after ten of those the
      session ends with ``LimitReached``.
    - ``allowed``: names of the tools that may be called; calls of others are answered with an error.
    - ``hooks``: :class:`Hooks` around every call.

    The connection:

    - ``reconnect``: ``True``, ``False`` or a :class:`ReconnectPolicy`.
    - ``handle``: of a session to resume. ``handle_store``: where the newest handle is kept.
    - ``lost_results``: results of calls whose connection is lost are sent as text (``"deliver"``) or dropped
      (``"drop"``).
    - ``setup_timeout``: seconds from TCP to an open session. ``stall_timeout``: seconds of silence until a stall.
    - ``input_gate``: drop audio while the model would close the session for it; ``"auto"`` decides by the model.
    - ``max_history``: about how many bytes ``session.transcript`` keeps. Past it the oldest exchanges are dropped,
      which is logged once and counted by ``transcript.dropped``.
    - ``max_seconds``: seconds that the session may last, with its reconnects. At 90 % of them a text tells the model
      between two turns; at the end of the turn in which they are over, at most 10 s later, the session ends with
      ``LimitReached``.
    - ``idle``: seconds without a word from either side, with nothing pending, after which the model asks once whether
      anybody is there. After as many again the session ends. The transcript of what the user says is asked for.
    - ``profile``: what is known of the model. ``transport``, ``clock``: replaced in tests.

    Raises ``ConfigError`` for an argument that cannot work, is given twice, or would be refused by the service. For an
    unknown keyword that error is a ``TypeError`` too, and says what was meant.

    ::

        async with connect("gemini-3.8-live", tools=[get_weather], instructions="Be brief.") as session:
            print(await session.ask("Weather in Oslo?"))
    """
    given = Secrets(**locals())
    # The names only: a key that was passed under a wrong name is not kept.
    misnamed, given.unknown = list(unknown), None
    del api_key, client, credentials, base_url, config, unknown  # tracebacks that print variables print ours
    with Sealed():
        if misnamed:
            raise unexpected(connect, misnamed)
        check(vars(given), _EXPECTED)
        given.config = config_fields.read(given.config)
        made = _joined(given)
        if handle_store is not None:
            given.config.setdefault("sessionResumption", {})  # handles are asked for, reconnect or not
        dialer = transport if transport is not None else WebSocket()
        endpoint = resolve(
            Given(**given.some(_ENDPOINT)),
            client=given.client,
            http_options=config_fields.http_options(given.config),
            v1alpha=config_fields.wants_v1alpha(given.config),
            allow_insecure=getattr(dialer, "allow_insecure", False),
        )
        plan = make_plan(
            model,
            made,
            config=given.config,
            vertexai=bool(endpoint.vertexai),
            project=endpoint.project,
            location=endpoint.location,
            api_version=endpoint.api_version,
            reconnect=bool(reconnect),
            **given.some(_PLAN),
        )
        # A store without handles would stay empty, and the program would believe that it can resume.
        if handle_store is not None and not plan.resumption:
            raise ConfigError(f"handle_store is given, and {model} is asked for no handles: leave one out")
        policy = ReconnectPolicy() if reconnect is True else reconnect or None
        transcript = Transcript(max_bytes=max_history, transcribed=plan.transcribed)
        rest = policy, deps, check_hooks(hooks), clock or SYSTEM_CLOCK, handle_store
        return Session(Startup(plan, endpoint, dialer, transcript, *rest))


#: The arguments that go to the endpoint, and to the plan, as they were given.
_ENDPOINT = ("api_key", "vertexai", "project", "location", "credentials", "base_url", "api_version")
_PLAN = (*OPTIONS, "instructions", "voice", "language", "history", "allowed", "input_gate", "profile")


def _names(value: object) -> bool:
    if not isinstance(value, Collection) or isinstance(value, str | bytes):
        return value is None
    return all(isinstance(name, str) for name in value)


def _has(kind: type, *methods: str) -> Callable[[object], bool]:
    # What a subclass inherits of the protocol does nothing: a store without its own ``save`` would stay empty.
    return lambda value: value is None or all(overrides(value, kind, name) for name in methods)


#: What a type checker would have said, for those who have none: who is wrong, and what is expected.
_EXPECTED: Mapping[str, ValueCheck] = {
    "model": (lambda v: isinstance(v, str), "a name, such as 'gemini-3.8-live'"),
    "tools": (
        lambda v: isinstance(v, Iterable) and not isinstance(v, str | Mapping),
        "a list of functions, such as [get_weather]",
    ),
    "reconnect": (lambda v: isinstance(v, bool | ReconnectPolicy), "True, False, a ReconnectPolicy"),
    "profile": (lambda v: v is None or isinstance(v, ModelProfile), "a ModelProfile"),
    "input_gate": (lambda v: v == "auto" or isinstance(v, bool), "'auto', True, False"),
    "hooks": (lambda v: isinstance(v, list | tuple), "a list of Hooks"),
    "max_history": (lambda v: type(v) is int and v > 0, "a number of bytes above 0"),
    "vertexai": (lambda v: v is None or isinstance(v, bool), "True or False"),
    "allowed": (_names, "a collection of names"),
    "transport": (_has(Dialer, "dial"), "a WebSocket(...), or another Dialer"),
    "handle_store": (_has(HandleStore, "load", "save"), "a HandleStore, with load() and save()"),
    "clock": (_has(Clock, "now", "sleep_until"), "a Clock, with now() and sleep_until()"),
    **dict.fromkeys(
        ("project", "location", "api_version"), (lambda v: v is None or isinstance(v, str), "a string")
    ),
}


def _joined(given: Secrets) -> list[Tool]:
    """The tools, with those of the config, which keeps what the service runs itself. A durable tool needs its store."""
    configured, others = split_config_tools(several(given.config.get("tools")))
    given.config["tools"] = others
    made = as_tools([*given.tools, *configured])
    for tool in made:
        # Tools that outlive a process find their calls again in the store of the conversation.
        if callable(check := getattr(tool.handler, "check_store", None)):
            check(given.handle_store)
    return made
