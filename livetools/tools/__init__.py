"""From a Python callable to a declaration, a validated call and an encoded result."""

from .adapt import as_tools, split_config_tools
from .agent import Agent
from .arguments import InvalidArguments
from .context import SessionLike, ToolContext
from .hooks import Hooks
from .likes import ContentOrDict, Instructions, LiveConnectConfigOrDict, ToolLike
from .options import ToolOptions
from .results import ToolResult
from .tool import Tool, tool
from .toolset import Toolset

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
