"""The tools of an MCP server as tools of a session.

::

    from livetools.integrations import mcp

    async with Client("https://example.com/mcp") as client:  # of the package mcp, or fastmcp's
        async with livetools.connect(model, tools=[await mcp.toolset(client), own_function]) as session: ...

The client stays its owner's to open and to close: it must be open for as long as the session calls. Both live in one
event loop, asyncio's or trio's (fastmcp's client: asyncio's). A client is known by what it can do, so nothing of
either package is imported for it.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from livetools.errors import ConfigError, ToolError
from livetools.setup.profiles import MEDIA_TYPES
from livetools.tools import Tool, ToolContext, ToolResult, Toolset

LONGEST = 64  # characters in the name of a function; MCP takes 128
PROGRESS = ("progress_callback", "progress_handler")  # mcp's parameter, and fastmcp's

Json = Mapping[str, Any]  # an object of MCP as it is on the wire, in camelCase


class Client(Protocol):
    """What is needed of ``mcp.ClientSession``, ``mcp.Client`` and ``fastmcp.Client``.

    The three differ in what these take and give, hence no narrower types.
    """

    @property
    def list_tools(self) -> Callable[..., Awaitable[Any]]: ...

    @property
    def call_tool(self) -> Callable[..., Awaitable[Any]]: ...


async def toolset(
    client: Client,
    *,
    prefix: str | None = None,
    filter: Callable[[Any], bool] | None = None,  # the Tool of the client's own package
) -> Toolset:
    """The server's tools as they are now, each with a handler that calls it through ``client``.

    ``filter`` is asked with each tool as the client lists it (``tool.name``, ``tool.annotations`` …): true, and it is
    taken. ``prefix`` goes before every name, for two servers with a tool of one name. What a function's name cannot
    hold becomes ``_``, and a name that is too long is cut and told apart by its hash. Schemas are said in the subset
    that Live models read (python-genai#1147); ``Tool.lint`` tells what was lost.

    A result is the server's ``structuredContent`` (of ``{"result": x}``, in which servers wrap what is not an object,
    the ``x``), else its text, or a list of texts. Images that the session's model reads go as media beside it; of other
    media the type and size are told. What the server calls an error, in a result or in place of one, goes to the model
    in the server's words, as a ``ToolError``. The server's progress is a ``ToolProgress``: ``{"progress": 1}``, with
    ``total`` and ``message`` if given. A call that is cancelled or out of time is cancelled at the server.

    Raises ``ConfigError`` for what is not a client, and for two tools of one name; what the client raises is passed on.

    ::

        tools = await toolset(client, filter=lambda tool: not tool.name.startswith("delete"))
        async with connect(MODEL, tools=[tools, get_weather]) as session:
            print(list(session.tools))
    """
    if not (hasattr(client, "list_tools") and hasattr(client, "call_tool")):
        raise ConfigError(
            f"a {type(client).__name__} is not an MCP client: "
            "pass an open mcp.Client, mcp.ClientSession or fastmcp.Client"
        )
    listed = [tool for tool in await _listed(client) if filter is None or filter(tool)]
    return Toolset(*(_tool(client, _plain(tool), prefix or "") for tool in listed))


async def _listed(client: Client) -> list[Any]:
    """Every tool, over all pages. A cursor that comes again ends it: that server would never end."""
    page = await client.list_tools()
    if isinstance(page, list):  # fastmcp turns the pages itself
        return page
    tools, seen = list(page.tools), set[str]()
    while (cursor := _plain(page).get("nextCursor")) and cursor not in seen:
        seen.add(cursor)
        page = await client.list_tools(**_from(client, cursor))
        tools.extend(page.tools)
    return tools


def _from(client: Client, cursor: str) -> dict[str, Any]:
    """How this client is asked for the page at ``cursor``."""
    if "cursor" in inspect.signature(client.list_tools).parameters:
        return {"cursor": cursor}
    from mcp.types import PaginatedRequestParams

    return {"params": PaginatedRequestParams(cursor=cursor)}


def _tool(client: Client, listed: Json, prefix: str) -> Tool:
    call = getattr(client, "call_tool_mcp", client.call_tool)  # fastmcp's own call_tool remakes what came
    takes = inspect.signature(call).parameters
    handler = _Remote(call, listed["name"], next((name for name in PROGRESS if name in takes), None))
    declaration = {
        "name": _name(prefix + listed["name"]),
        "description": listed.get("description") or listed.get("title") or "",
        "parameters": listed["inputSchema"],
    }
    return Tool(declaration, handler=handler)


def _name(name: str) -> str:
    """A function's name made of an MCP tool's."""
    plain = re.sub(r"^(?![A-Za-z_])", "_", re.sub(r"[^A-Za-z0-9_.:-]", "_", name))
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - 7]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


@dataclass(frozen=True)
class _Remote:
    """The handler of one tool. Equal to another of the same client and name, so that a tool may be given twice."""

    call: Callable[..., Awaitable[Any]]
    name: str
    progress: str | None

    async def __call__(self, livetools_context: ToolContext, /, **arguments: Any) -> object:
        async def report(progress: float, total: float | None = None, message: str | None = None) -> None:
            told = {"progress": progress, "total": total, "message": message}
            await livetools_context.progress({key: value for key, value in told.items() if value is not None})

        listener = {self.progress: report} if self.progress else {}
        try:
            result = await self.call(self.name, arguments, **listener)
        except Exception as error:
            said = getattr(getattr(error, "error", None), "message", None)  # JSON-RPC's, in mcp's MCPError
            if not isinstance(said, str):
                raise
            raise ToolError(said) from error
        return _result(_plain(result), _media(livetools_context))


def _plain(model: Any) -> Json:
    """A pydantic model of MCP as it is on the wire."""
    plain: Json = model.model_dump(mode="json", by_alias=True)
    return plain


def _media(context: ToolContext) -> frozenset[str]:
    """The types that the session's model reads in a response; offline and in ``attach``, those that most models do."""
    profile = getattr(context.session, "profile", None)
    media: frozenset[str] = getattr(profile, "media", MEDIA_TYPES)
    return media


def _result(result: Json, media: frozenset[str]) -> object:
    """What a tool returned. Raises ``ToolError`` for an error."""
    blocks = result.get("content") or []
    images = [block for block in blocks if block["type"] == "image" and block["mimeType"] in media]
    texts = list(_texts([block for block in blocks if block not in images]))
    if result.get("isError"):
        raise ToolError("\n".join(texts))
    value = result.get("structuredContent")
    if value is None:
        value = texts[0] if len(texts) == 1 else texts or None
    elif isinstance(value, dict) and value.keys() == {"result"}:
        value = value["result"]
    return ToolResult(value, parts=images) if images else value


def _texts(blocks: list[Json]) -> Iterator[str]:
    """Each of these in words."""
    for block in blocks:
        match block:
            case {"type": "text", "text": text} | {"type": "resource", "resource": {"text": text}}:
                yield text
            case {"type": "resource_link", "name": name, "uri": uri}:
                yield f"{name}: {uri}"
            case {"type": "resource", "resource": {"blob": data, "uri": uri, **rest}}:
                yield f"[{uri}: {rest.get('mimeType') or 'bytes'}, {_size(data)}]"
            case {"data": data, "mimeType": kind}:
                yield f"[{kind}, {_size(data)}]"


def _size(data: str) -> str:
    """Of base64 text."""
    return f"{len(data.rstrip('=')) * 3 // 4} bytes"
