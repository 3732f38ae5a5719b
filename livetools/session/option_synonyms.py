"""Says what was meant by a keyword that ``connect`` or ``attach`` does not have.

Users of google-genai pass ``system_instruction=``; somebody mistypes ``tool=``. Python alone would say
"unexpected keyword argument". Each name that is known somewhere has a place: another parameter, a field of the config,
an option of a tool, of the transport or of the reconnection. What is unknown is compared with all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields

from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.did_you_mean import UnexpectedKeyword, keywords, unexpected_keywords
from livetools.setup.sdk.generated_tables import tables
from livetools.tools import ToolOptions
from livetools.transport.websocket import WebSocket

#: What other libraries call a parameter of ours. Fields of google-genai's config are here too.
_CALLED = {
    "instructions": "system_instruction system_instructions system_prompt system_message system prompt",
    "model": "model_name model_id",
    "tools": "functions function_declarations tool_list",
    "voice": "voice_name voice_config prebuilt_voice_config",
    "language": "language_code lang",
    "history": "messages contents chat_history initial_history",
    "deps": "dependencies context state userdata",
    "api_key": "key token google_api_key gemini_api_key",
    "base_url": "url endpoint host uri",
    "vertexai": "vertex use_vertex use_vertexai",
    "location": "region",
    "handle": "session_resumption resume resume_handle session_handle",
    "tool_timeout": "timeout function_timeout",
    "max_seconds": "max_duration max_session_seconds session_timeout time_limit",
    "idle": "idle_timeout silence_timeout inactivity_timeout",
    "setup_timeout": "connect_timeout open_timeout",
    "reconnect": "retry retries auto_reconnect reconnect_policy",
    "hooks": "callbacks guardrails",
    "allowed": "allowed_tools allowed_function_names",
    "config": "live_connect_config generate_content_config session_config",
    "max_concurrency": "max_concurrent parallelism max_parallel",
}
ALIASES = {alias: ours for ours, aliases in _CALLED.items() for alias in aliases.split()}


def unexpected(
    function: Callable[..., object], names: Iterable[str], elsewhere: str = ""
) -> UnexpectedKeyword:
    """The error for keywords that ``function`` does not have; it says what was meant by each.

    ``elsewhere``: where everything goes that is neither a parameter of the function nor an option of a tool; without
    it each name is looked for in the config, the transport and the reconnection.
    """
    own = keywords(function)
    known = {name: f"@tool({name}=...), on the function itself" for name in ToolOptions.__annotations__}
    if not elsewhere:  # of several places the last holds
        known |= {f.name: f"reconnect=ReconnectPolicy({f.name}=...)" for f in fields(ReconnectPolicy)}
        known |= tables().written
        known |= {f.name: f"transport=WebSocket({f.name}=...)" for f in fields(WebSocket)}
    known |= {name: f"{ours}=" for name, ours in ALIASES.items() if ours in own}
    return unexpected_keywords(function, names, known, elsewhere or "no similar argument exists")
