"""From a Python callable to a declaration, a validated call and an encoded result.

``tool`` is ``@tool`` and ``Tool``, ``toolset`` a group of them, ``hooks`` what runs around their calls.
``accepted_tools`` makes tools of all that ``tools=`` takes, ``tool_cache`` makes each once, ``run_offline`` runs one
without a session. These stand on the folders, each of which imports only from those before it: ``interface`` and
``schemas`` (which the others share), ``definition`` (what the user wrote), ``validation`` (arguments), ``results``.

In: functions with their options, declarations of other libraries; the arguments of calls, and what functions return.
Out: declarations and specs for the plan, calls with validated arguments, outcomes for the machine.
"""

from .accepted_tools import as_tools, split_config_tools
from .definition.tool_options import ToolOptions
from .hooks import Hooks
from .interface.accepted_types import ContentOrDict, Instructions, LiveConnectConfigOrDict, ToolLike
from .interface.agent_definition import Agent
from .interface.context import SessionLike, ToolContext
from .results.outcomes import ToolResult
from .tool import Tool, tool
from .toolset import Toolset
from .validation.invalid_arguments import InvalidArguments

__all__ = [
    "Agent",
    "ContentOrDict",
    "Hooks",
    "Instructions",
    "InvalidArguments",
    "LiveConnectConfigOrDict",
    "SessionLike",
    "Tool",
    "ToolContext",
    "ToolLike",
    "ToolOptions",
    "ToolResult",
    "Toolset",
    "as_tools",
    "split_config_tools",
    "tool",
]
