"""Tool calling for the Gemini Live API: a voice or text agent calls your Python functions.

::

    async with livetools.connect("gemini-3.8-live", tools=[get_weather]) as session:
        print(await session.ask("Weather in Oslo?"))

Sessions
    connect         open a session with a model that can call your functions
    Session         methods to send, events by ``async for``;  Reply: what ``session.ask`` returns
    declare, attach answer the calls of a google-genai session that you have
    ReconnectPolicy how a lost connection is restored;  WebSocket: TLS, proxy and limits of a connection
    ModelProfile    what a model supports, and how it behaves

Tools
    tool, Tool      sets options on a function; anything that a model can call
    Toolset         a group of tools: filter, rename, merge
    ToolContext     a parameter that gives a tool its dependencies, its call and its session
    ToolResult      a result with media, scheduling, a hand-off or the end of the session
    Agent           instructions and tools to continue a conversation with
    Hooks           code that runs before and after every call

Events (``Event`` is any of them)
    SessionStarted, Reconnecting, Reconnected, GoAway, HandleUpdate     the connection
    TextChunk, AudioChunk, VideoChunk, ThoughtChunk, CodeChunk          what the model produces
    InputTranscript, OutputTranscript                                   what was said, as text
    ToolStarted, ToolProgress, ToolFinished, ToolCancelled, ToolLost    what happens to a function call (``Call``)
    HandedOff                                                           the model continues as another ``Agent``
    ApprovalRequested                                                   a call waits for ``session.approve``
    Interrupted, GenerationComplete, TurnComplete, VoiceActivity        whose turn it is
    UsageUpdate                                                         tokens
    Grounding                                                           the sources of the answer
    Stalled, InputDropped, UnknownMessage                               what went wrong, or is unknown

Errors (each is a ``LiveToolsError``)
    ConfigError, ToolDefinitionError    what you passed cannot work
    ConnectFailed, SetupTimeout, SetupRejected      the session could not be opened
    SessionClosed   it ended: AuthenticationError, QuotaExceeded, InvalidRequest, ModelNotFound, ServerError
    LimitReached    it ended by a limit of its own
    NoAnswer        the model did not answer a question
    LocalProtocolError, RemoteProtocolError         you, or the other end, broke the protocol
    ToolError, ToolTimeout              raise it in a tool to tell the model; a tool took too long
    ConcurrencyError                    two questions at once, or the wrong event loop

Import these yourself: ``livetools.testing`` (a fake Live API for tests), ``livetools.audio``,
``livetools.evals``, ``livetools.formats``, ``livetools.integrations``, ``livetools.session``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import (
    AuthenticationError,
    ConcurrencyError,
    ConfigError,
    ConnectFailed,
    InvalidRequest,
    LimitReached,
    LiveToolsError,
    LocalProtocolError,
    ModelNotFound,
    NoAnswer,
    QuotaExceeded,
    RemoteProtocolError,
    ServerError,
    SessionClosed,
    SetupRejected,
    SetupTimeout,
    ToolDefinitionError,
    ToolError,
    ToolTimeout,
)
from .events import (
    ApprovalRequested,
    AudioChunk,
    Call,
    CodeChunk,
    Event,
    GenerationComplete,
    GoAway,
    Grounding,
    HandedOff,
    HandleUpdate,
    InputDropped,
    InputTranscript,
    Interrupted,
    OutputTranscript,
    Reconnected,
    Reconnecting,
    SessionStarted,
    Stalled,
    TextChunk,
    ThoughtChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolProgress,
    ToolStarted,
    TurnComplete,
    UnknownMessage,
    UsageUpdate,
    VideoChunk,
    VoiceActivity,
)
from .protocol.connection.reconnect_policy import ReconnectPolicy
from .setup.model_profiles import ModelProfile
from .tools import Agent, Hooks, Tool, ToolContext, ToolResult, Toolset, tool

if TYPE_CHECKING:
    from .attach.attach import attach
    from .attach.declare import declare
    from .session.ask_and_reply import Reply
    from .session.connect import connect
    from .session.session import Session
    from .transport.websocket import WebSocket

# What opens sessions comes with its first use: a module of tools that is imported elsewhere need not pay for it.
_LATER = {
    "Reply": ".session.ask_and_reply",
    "Session": ".session.session",
    "WebSocket": ".transport.websocket",
    "attach": ".attach.attach",
    "connect": ".session.connect",
    "declare": ".attach.declare",
}

__all__ = [
    "Agent",
    "ApprovalRequested",
    "AudioChunk",
    "AuthenticationError",
    "Call",
    "CodeChunk",
    "ConcurrencyError",
    "ConfigError",
    "ConnectFailed",
    "Event",
    "GenerationComplete",
    "GoAway",
    "Grounding",
    "HandedOff",
    "HandleUpdate",
    "Hooks",
    "InputDropped",
    "InputTranscript",
    "Interrupted",
    "InvalidRequest",
    "LimitReached",
    "LiveToolsError",
    "LocalProtocolError",
    "ModelNotFound",
    "ModelProfile",
    "NoAnswer",
    "OutputTranscript",
    "QuotaExceeded",
    "ReconnectPolicy",
    "Reconnected",
    "Reconnecting",
    "RemoteProtocolError",
    "Reply",
    "ServerError",
    "Session",
    "SessionClosed",
    "SessionStarted",
    "SetupRejected",
    "SetupTimeout",
    "Stalled",
    "TextChunk",
    "ThoughtChunk",
    "Tool",
    "ToolCancelled",
    "ToolContext",
    "ToolDefinitionError",
    "ToolError",
    "ToolFinished",
    "ToolLost",
    "ToolProgress",
    "ToolResult",
    "ToolStarted",
    "ToolTimeout",
    "Toolset",
    "TurnComplete",
    "UnknownMessage",
    "UsageUpdate",
    "VideoChunk",
    "VoiceActivity",
    "WebSocket",
    "attach",
    "connect",
    "declare",
    "tool",
]


# The folder `attach` is bound to its name once, when it is first imported. From then on the name means the function.
import_module(".attach", __name__)
del globals()["attach"]

__version__: str  # of the distribution that is installed


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
