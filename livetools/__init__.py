"""Tool calling over the Gemini Live API: give a live voice or text model Python functions for hands."""

from .protocol.errors import (
    AuthenticationError,
    ConcurrencyError,
    ConfigError,
    ConnectFailed,
    InvalidRequest,
    LiveToolsError,
    LocalProtocolError,
    ModelNotFound,
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
    VoiceActivity,
)
from .protocol.link import ReconnectPolicy
from .protocol.profiles import ModelProfile
from .session.connect import connect
from .session.exchange import Reply
from .session.session import Session
from .session.websocket import WebSocket
from .tools import Hooks, Tool, ToolContext, ToolResult, Toolset, tool
