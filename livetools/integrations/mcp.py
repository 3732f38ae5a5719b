"""The tools of an MCP server as tools of a session.

::

    from livetools.integrations import mcp

    async with Client("https://example.com/mcp") as client:  # of the package mcp, or fastmcp's
        async with livetools.connect(model, tools=[await mcp.toolset(client), own_function]) as session: ...

You open and close the client yourself: it must be open while the session calls tools. Both run in one
event loop, asyncio's or trio's (fastmcp's client: asyncio's). A client is recognized by its methods, so neither
package is imported.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from livetools.errors import ConfigError, ToolError
from livetools.setup.model_profiles import MEDIA_TYPES
from livetools.tools import Tool, ToolContext, ToolResult, Toolset

_LONGEST = 64  # characters in the name of a function; MCP takes 128
PROGRESS = ("progress_callback", "progress_handler")  # mcp's parameter, and fastmcp's

_MCPObject = Mapping[str, Any]  # an object of MCP as it is on the wire, in camelCase


class MCPClient(Protocol):
    """What is needed of ``mcp.ClientSession``, ``mcp.Client`` and ``fastmcp.Client``.

    The three differ in what these take and give, so no narrower type is possible.
    """

    @property
    def list_tools(self) -> Callable[..., Awaitable[Any]]: ...

    @property
    def call_tool(self) -> Callable[..., Awaitable[Any]]: ...


async def toolset(
    client: MCPClient,
    *,
    prefix: str | None = None,
    filter: Callable[[Any], bool] | None = None,  # the Tool of the client's own package
) -> Toolset:
    """The server's tools as they are now, each with a handler that calls it through ``client``.

    ``filter`` is called with each tool that the client lists (``tool.name``, ``tool.annotations`` …). If it returns
    true, the tool is kept. ``prefix`` goes before each name, for two servers with a tool of one name. Characters that a
    function's name cannot have become ``_``. A name that is too long is cut, and a hash keeps it unique. Schemas are
    converted to the subset that Live models read (python-genai#1147); ``Tool.lint`` lists what was lost.

    A result is the server's ``structuredContent`` (of ``{"result": x}``, in which servers wrap what is not an object,
    the ``x``), else its text, or a list of texts. Beside ``structuredContent`` only text that repeats it is left out:
    links with their descriptions, embedded text and warnings stay, under ``content``. Images that the session's model
    reads go as media beside it; of other media the model gets the type and the size. An error of the server, in a
    result, in place of one or in an exception group, goes to the model in the server's words, as a ``ToolError``.

    Arguments are read by the server's schema (``"5"`` for an integer is 5, ``null`` for what is optional is left out).
    One that does not fit is an error, and the server is not asked. The server's progress is a ``ToolProgress``:
    ``{"progress": 1}``, with ``total`` and ``message`` if given. A call that is cancelled or out of time is cancelled
    at the server.

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


async def _listed(client: MCPClient) -> list[Any]:
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


def _from(client: MCPClient, cursor: str) -> dict[str, Any]:
    """How this client is asked for the page at ``cursor``."""
    if "cursor" in inspect.signature(client.list_tools).parameters:
        return {"cursor": cursor}
    from mcp.types import PaginatedRequestParams

    return {"params": PaginatedRequestParams(cursor=cursor)}


def _tool(client: MCPClient, listed: _MCPObject, prefix: str) -> Tool:
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
    if len(plain) <= _LONGEST:
        return plain
    return f"{plain[: _LONGEST - 7]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


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
            if not (told := list(_told(error))):
                raise
            raise ToolError("; ".join(told)) from error
        return _result(_plain(result), _media(livetools_context))


def _plain(model: Any) -> _MCPObject:
    """A pydantic model of MCP as it is on the wire."""
    plain: _MCPObject = model.model_dump(mode="json", by_alias=True)
    return plain


def _media(context: ToolContext) -> frozenset[str]:
    """The types that the session's model reads in a response; offline and in ``attach``, those that most models do."""
    profile = getattr(context.session, "profile", None)
    media: frozenset[str] = getattr(profile, "media", MEDIA_TYPES)
    return media


def _told(error: BaseException) -> Iterator[str]:
    """What the server said in an error of JSON-RPC's, or in those of a group; of errors of the client's own nothing."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _told(inner)
    elif isinstance(error, ToolError):
        yield str(error)
    elif isinstance(said := getattr(getattr(error, "error", None), "message", None), str):  # mcp's MCPError
        yield said


def _result(result: _MCPObject, media: frozenset[str]) -> object:
    """What a tool returned. Raises ``ToolError`` for an error."""
    structure = result.get("structuredContent")
    blocks = [block for block in result.get("content") or [] if not _repeats(block, structure)]
    images = [part for block in blocks if (part := _image(block, media)) is not None]
    texts = [text for block in blocks if _image(block, media) is None for text in _texts(block)]
    if result.get("isError"):
        if structure is not None:
            texts.append(json.dumps(structure, ensure_ascii=False))
        raise ToolError("\n".join(texts) or "the server reports an error without a text")
    value: object = texts[0] if len(texts) == 1 else texts or None
    if structure is not None:
        wrapped = isinstance(structure, dict) and structure.keys() == {"result"}
        plain = structure["result"] if wrapped else structure
        value = {"output": plain, "content": value} if texts else plain
    return ToolResult(value, parts=images) if images else value


def _repeats(block: _MCPObject, structure: object) -> bool:
    """Whether a text says only what ``structuredContent`` says: all of it, or one of the items of a list."""
    if structure is None or block.get("type") != "text":
        return False
    text = str(block.get("text")).strip()
    inner = (
        structure["result"] if isinstance(structure, dict) and structure.keys() == {"result"} else structure
    )
    said = [structure, inner, *(inner if isinstance(inner, list) else ())]
    if text in [str(one).strip() for one in said]:
        return True
    try:
        held = _bare(json.loads(text))
    except (ValueError, RecursionError):
        return False
    return held in [_bare(one) for one in said]


def _bare(value: Any) -> Any:
    """A value without the fields that are null, which many servers leave out of the text."""
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if inner is not None}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


def _image(block: _MCPObject, media: frozenset[str]) -> dict[str, Any] | None:
    """An image that the model reads, on its own or as an embedded resource, as a part."""
    held, data = (
        (block, block.get("data")) if block.get("type") == "image" else (block.get("resource") or {}, None)
    )
    data = data or held.get("blob")
    kind = held.get("mimeType")
    if not data or kind not in media or not str(kind).startswith("image/"):
        return None
    return {"inlineData": {"mimeType": kind, "data": data}}


def _texts(block: _MCPObject) -> Iterator[str]:
    """A block in words."""
    match block:
        case {"type": "text", "text": text} | {"type": "resource", "resource": {"text": text}}:
            yield text
        case {"type": "resource_link", "uri": uri, **rest}:
            about = [rest.get("description"), rest.get("mimeType")]
            more = ", ".join(str(one) for one in about if one)
            yield f"{rest.get('title') or rest.get('name') or uri}: {uri}{f' ({more})' if more else ''}"
        case {"type": "resource", "resource": {"blob": data, **rest}}:
            yield f"[{rest.get('uri')}: {rest.get('mimeType') or 'bytes'}, {_size(data)}]"
        case {"data": data, "mimeType": kind}:
            yield f"[{kind}, {_size(data)}]"
        case _:
            yield json.dumps(
                {key: value for key, value in block.items() if value is not None}, ensure_ascii=False
            )


def _size(data: str) -> str:
    """Of base64 text."""
    return f"{len(data.rstrip('=')) * 3 // 4} bytes"
