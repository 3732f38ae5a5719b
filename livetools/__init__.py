"""Tool calling over the Gemini Live API: give a live voice or text model Python functions for hands."""

from importlib import import_module
from typing import TYPE_CHECKING

from .protocol.errors import (
    AuthenticationError,
    ConcurrencyError,
    ConfigError,
    ConnectFailed,
    InvalidRequest,
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
from .protocol.events import (
    ApprovalRequested,
    AudioChunk,
    Call,
    CodeChunk,
    Event,
    GenerationComplete,
    GoAway,
    Grounding,
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
    Usage,
    UsageUpdate,
    VideoChunk,
    VoiceActivity,
)
from .protocol.link import ReconnectPolicy
from .protocol.profiles import ModelProfile
from .tools import Hooks, Tool, ToolContext, ToolResult, Toolset, tool

if TYPE_CHECKING:
    from .session.attach import attach
    from .session.connect import connect
    from .session.declare import declare
    from .session.exchange import Reply
    from .session.session import Session
    from .session.websocket import WebSocket

# What opens sessions comes with its first use: a module of tools that is imported elsewhere need not pay for it.
_LATER = {
    "Reply": ".session.exchange",
    "Session": ".session.session",
    "WebSocket": ".session.websocket",
    "attach": ".session.attach",
    "connect": ".session.connect",
    "declare": ".session.declare",
}

__all__ = [
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
    "HandleUpdate",
    "Hooks",
    "InputDropped",
    "InputTranscript",
    "Interrupted",
    "InvalidRequest",
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
    "Usage",
    "UsageUpdate",
    "VideoChunk",
    "VoiceActivity",
    "WebSocket",
    "attach",
    "connect",
    "declare",
    "tool",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
