"""Says what was meant by a keyword that ``connect`` or ``attach`` does not have.

Whoever comes from google-genai passes ``system_instruction=``; whoever mistypes, ``tool=``. Python alone would say
"unexpected keyword argument". Each name that is known somewhere has a place: another parameter, a field of the config,
an option of a tool, of the transport or of the reconnection. What is unknown is compared with all of these.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping

from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.configuration import NESTED, NOT_LIVE, PLACES, camel, snake
from livetools.setup.unexpected_keyword import UnexpectedKeyword, keywords, meant, unexpected_keywords
from livetools.tools import ToolOptions
from livetools.transport.websocket import WebSocket

#: What other libraries call a parameter of ours. A field of google-genai's config that has one stands here too.
ALIASES: Mapping[str, str] = {
    **dict.fromkeys(
        ("system_instruction", "system_instructions", "system_prompt", "system_message", "system", "prompt"),
        "instructions",
    ),
    **dict.fromkeys(("model_name", "model_id"), "model"),
    **dict.fromkeys(("functions", "function_declarations", "tool_list"), "tools"),
    **dict.fromkeys(("voice_name", "voice_config", "prebuilt_voice_config"), "voice"),
    **dict.fromkeys(("language_code", "lang"), "language"),
    **dict.fromkeys(("messages", "contents", "chat_history", "initial_history"), "history"),
    **dict.fromkeys(("dependencies", "context", "state", "userdata"), "deps"),
    **dict.fromkeys(("key", "token", "google_api_key", "gemini_api_key"), "api_key"),
    **dict.fromkeys(("url", "endpoint", "host", "uri"), "base_url"),
    **dict.fromkeys(("vertex", "use_vertex", "use_vertexai"), "vertexai"),
    **dict.fromkeys(("region",), "location"),
    **dict.fromkeys(("session_resumption", "resume", "resume_handle", "session_handle"), "handle"),
    **dict.fromkeys(("timeout", "function_timeout"), "tool_timeout"),
    **dict.fromkeys(("connect_timeout", "open_timeout"), "setup_timeout"),
    **dict.fromkeys(("retry", "retries", "auto_reconnect", "reconnect_policy"), "reconnect"),
    **dict.fromkeys(("callbacks", "guardrails"), "hooks"),
    **dict.fromkeys(("allowed_tools", "allowed_function_names", "tool_choice", "tool_config"), "allowed"),
    **dict.fromkeys(("live_connect_config", "generate_content_config", "session_config"), "config"),
    **dict.fromkeys(("max_concurrent", "parallelism", "max_parallel"), "max_concurrency"),
}


def unexpected(
    function: Callable[..., object], names: Iterable[str], elsewhere: str = ""
) -> UnexpectedKeyword:
    """The error for keywords that ``function`` does not have; it says what was meant by each.

    ``elsewhere``: where everything goes that is neither a parameter of the function nor an option of a tool; without
    it each name is looked for in the config, the transport and the reconnection.
    """
    own = keywords(function)
    known = {name: f"@tool({name}=...), on the function itself" for name in ToolOptions.__annotations__}
    known |= {} if elsewhere else _places()
    known |= {name: f"{ours}=" for name, ours in ALIASES.items() if ours in own} | {n: f"{n}=" for n in own}
    nothing = elsewhere or "no name that is known is near it"
    return unexpected_keywords(function.__name__, names, lambda name: _meant(name, known) or nothing)


def _meant(name: str, known: Mapping[str, str]) -> str | None:
    word = (name.lower() if name.isupper() else snake(name)).strip("_")  # API_KEY, responseModalities, tools_
    if camel(word) in NOT_LIVE:  # though the config has it
        return f"the Live API does not support {word}"
    return meant(word, known)


@functools.cache
def _places() -> Mapping[str, str]:
    """Where each field of the reconnection, the config and the transport is set; of several places the last holds."""
    found = {
        field.name: f"reconnect=ReconnectPolicy({field.name}=...)"
        for field in dataclasses.fields(ReconnectPolicy)
    }
    found |= {
        field: f"config={_inside(parent, field)}" for parent in NESTED for field in _snakes(NESTED[parent])
    }
    found |= {field: f"config={{{field!r}: ...}}" for field in _snakes(PLACES)}
    return found | {
        field.name: f"transport=WebSocket({field.name}=...)" for field in dataclasses.fields(WebSocket)
    }


def _snakes(names: Iterable[str]) -> list[str]:
    return [snake(name) for name in sorted(names)]


def _inside(parent: str, field: str) -> str:
    """A field of an object of the config, with everything around it: ``{'thinking_config': {...}}``."""
    written, name = f"{{{field!r}: ...}}", parent
    while True:
        written = f"{{{snake(name)!r}: {written}}}"
        outer = next((p for p, fields in NESTED.items() if name in fields), None)
        if outer is None or name in PLACES:
            return written
        name = outer
