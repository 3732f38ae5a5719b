"""Every exception that livetools raises, in one tree, split by whose fault it is.

::

    LiveToolsError
    ├── ConfigError (ValueError)            what you passed cannot work
    │   └── ToolDefinitionError             a function that cannot be declared as a tool
    ├── NoAnswer (TimeoutError)             a question of which nothing came until the stall timeout
    ├── ConnectFailed                       no session came to be
    │   ├── SetupTimeout                    the service did not complete the setup in time
    │   └── SetupRejected                   it refused, for a reason that no class below fits
    ├── SessionClosed                       the connection ended (1006, 1001 and the like: this class itself)
    │   ├── AuthenticationError             the key, the token, the project
    │   ├── QuotaExceeded                   quota, billing
    │   ├── InvalidRequest                  what was sent is not accepted
    │   ├── ModelNotFound                   no such model, or none that is live
    │   └── ServerError                     the service failed
    ├── LocalProtocolError                  you sent what the protocol forbids at this moment
    ├── RemoteProtocolError                 the other end does not speak the protocol
    ├── ToolError                           raise it in a tool: its text goes to the model
    │   └── ToolTimeout
    └── ConcurrencyError (RuntimeError)     two exchanges at once, the wrong event loop

No text of these holds an API key, a token or a header.
"""

from __future__ import annotations


class LiveToolsError(Exception):
    """The root of every exception in livetools."""


class ConfigError(LiveToolsError, ValueError):
    """What was passed cannot work; raised before anything is dialled."""


class ToolDefinitionError(ConfigError):
    """A function that cannot be declared as a tool; the text names the file, the function and the parameter."""


class NoAnswer(LiveToolsError, TimeoutError):
    """Nothing was said and no call was made in answer to a question, until ``stall_timeout``."""


class ConnectFailed(LiveToolsError):
    """No session came to be: nobody listens, the name does not resolve, TLS fails, the proxy refuses."""


class SetupTimeout(ConnectFailed):
    """``setup_timeout`` passed between the first TCP packet and ``setupComplete``."""


class SetupRejected(ConnectFailed):
    """The service refused the session for a reason that no narrower class names (an HTTP status, an unknown text)."""


class SessionClosed(LiveToolsError):
    """The connection ended, and the session with it.

    ``code`` is the websocket close code (1006 when the line broke without one; below 1000, the HTTP status
    that answered in place of an upgrade), ``reason`` the service's own
    text, ``phase`` what was going on (``"connect"``, ``"setup"``, ``"idle"``, ``"turn"``, ``"tool"``),
    ``retryable`` whether another attempt may succeed, ``advice`` what to do next.
    """

    def __init__(
        self,
        code: int = 1006,
        reason: str = "",
        phase: str = "",
        retryable: bool = False,
        advice: str = "",
    ) -> None:
        self.code, self.reason, self.phase = code, reason, phase
        self.retryable, self.advice = retryable, advice
        how = "the connection was closed with" if code >= 1000 else "the service answered with HTTP"
        text = f"{how} {code}{f' during {phase}' if phase else ''}{f': {reason}' if reason else ''}"
        super().__init__(f"{text.rstrip('.')}. {advice}" if advice else text)


class AuthenticationError(SessionClosed):
    """The key, the token or the project is not accepted."""


class QuotaExceeded(SessionClosed):
    """Quota, rate or billing."""


class InvalidRequest(SessionClosed):
    """Something that was sent is not accepted by the service or by this model."""


class ModelNotFound(SessionClosed):
    """The model does not exist, is not live, or this project may not use it."""


class ServerError(SessionClosed):
    """The service failed."""


class LocalProtocolError(LiveToolsError):
    """What you asked for is against the protocol at this moment (another sample rate, content in the middle on 3.1)."""


class RemoteProtocolError(LiveToolsError):
    """The other end does not speak the protocol (no websocket, no setupComplete)."""


class ToolError(LiveToolsError):
    """Raise it in a tool: its text goes to the model, as no other exception's text does."""


class ToolTimeout(ToolError):
    """A tool took longer than its ``timeout``."""


class ConcurrencyError(LiveToolsError, RuntimeError):
    """Two exchanges at once, two readers, or a session used from another event loop than its own."""
