"""Real MCP servers, in memory and in another process, and the calls of a session that go to them."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError as ServersToolError

import livetools
from livetools.integrations import mcp
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio
MODEL = "gemini-3.8-live"
PNG = b"\x89PNG of a cat"


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> str:
    """How client and server meet: JSON-RPC over streams, or the calls of 2026-07-28, in one process."""
    return str(request.param)


def server_of(*functions: Callable[..., Any]) -> MCPServer:
    server = MCPServer("tests", log_level="CRITICAL")
    for function in functions:
        server.add_tool(function)
    return server


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def returning(*content: types.ContentBlock, structured: Any = None, is_error: bool = False) -> MCPServer:
    """A server with one tool, ``it``, that returns this."""

    def it() -> types.CallToolResult:
        return types.CallToolResult(content=list(content), structured_content=structured, is_error=is_error)

    return server_of(it)


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


async def response_of(server: MCPServer | Server[Any], args: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the model gets from the only tool of this server."""
    async with Client(server) as client:
        (tool,) = await mcp.toolset(client)
        return await tool.call(args or {})


# What is declared


async def test_a_tool_is_declared_in_the_subset_that_live_models_read(mode: str) -> None:
    async with Client(server_of(add), mode=mode) as client:
        (tool,) = await mcp.toolset(client)
    declared = tool.declaration()
    assert (declared["name"], declared["description"]) == ("add", "Add two numbers.")
    assert declared["parameters"]["properties"]["a"] == {"type": "INTEGER"}
    assert declared["parameters"]["required"] == ["a"]


async def test_lint_tells_what_the_schema_lost() -> None:
    schema = {"type": "object", "properties": {"tag": {"type": "string", "not": {"const": "x"}}}}
    async with Client(
        listing([types.Tool(name="label", description="Label it.", input_schema=schema)])
    ) as client:
        (tool,) = await mcp.toolset(client)
    assert tool.declaration()["parameters"]["properties"]["tag"]["type"] == "STRING"
    assert [line for line in tool.lint() if "tag" in line and "not cannot be declared" in line]


async def test_a_tool_without_a_description_is_told_by_its_title_or_by_lint() -> None:
    titled = types.Tool(name="a", title="Say a", input_schema={"type": "object"})
    bare = types.Tool(name="b", input_schema={"type": "object"})
    async with Client(listing([titled, bare])) as client:
        tools = await mcp.toolset(client)
    assert tools["a"].declaration() == {"name": "a", "description": "Say a"}
    assert tools["b"].declaration() == {"name": "b"}
    assert "no description" in tools["b"].lint()[0]


async def test_a_name_that_no_function_can_have_is_changed_and_still_called() -> None:
    def rooms(name: str) -> str:
        return "found"

    server = MCPServer("tests", log_level="CRITICAL")
    server.add_tool(rooms, name="2/rooms of the.house")
    server.add_tool(rooms, name="x" * 100)
    server.add_tool(rooms, name="x" * 101)
    async with Client(server) as client:
        tools = await mcp.toolset(client, prefix="hotel-")
        first, second, third = tools
        assert first.name == "hotel-2_rooms_of_the.house"
        assert len(second.name) == len(third.name) == 64
        assert second.name != third.name
        assert [(await tool.call({"name": "a"}))["output"] for tool in tools] == ["found"] * 3
        assert (await mcp.toolset(client)).filter(lambda t: t.name == "_2_rooms_of_the.house")


async def test_a_filter_sees_what_the_server_says_of_a_tool() -> None:
    def wipe() -> None: ...

    server = server_of(add)
    server.add_tool(wipe, annotations=types.ToolAnnotations(destructive_hint=True))
    async with Client(server) as client:
        harmless = await mcp.toolset(client, filter=lambda tool: not tool.annotations)
    assert [tool.name for tool in harmless] == ["add"]


async def test_two_servers_with_a_tool_of_one_name_need_a_prefix() -> None:
    async with Client(server_of(add)) as one, Client(server_of(add)) as other:
        first, second = await mcp.toolset(one), await mcp.toolset(other)
        with pytest.raises(livetools.ConfigError, match="two tools are called 'add'"):
            first + second
        assert len(first + await mcp.toolset(other, prefix="other_")) == 2
        assert len(first + await mcp.toolset(one)) == 1


def listing(tools: list[types.Tool], *, turns_for_ever: bool = False) -> Server[Any]:
    """A server that lists these, one a page."""

    async def list_tools(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        at = int((params and params.cursor) or 0)
        following = str((at + 1) % len(tools)) if turns_for_ever or at + 1 < len(tools) else None
        return types.ListToolsResult(tools=[tools[at]], next_cursor=following)

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        raise MCPError(types.INVALID_PARAMS, f"{params.name} wants a city")

    return Server("pages", on_list_tools=list_tools, on_call_tool=call_tool)


THREE = [types.Tool(name=name, input_schema={"type": "object"}) for name in ("a", "b", "c")]


@pytest.mark.parametrize("turns_for_ever", [False, True])
async def test_every_page_is_read_once(turns_for_ever: bool) -> None:
    async with Client(listing(THREE, turns_for_ever=turns_for_ever)) as client:
        for one in (client, client.session):
            with anyio.fail_after(30):
                assert [tool.name for tool in await mcp.toolset(one)] == ["a", "b", "c"]


async def test_what_is_no_client_is_refused_with_advice() -> None:
    with pytest.raises(livetools.ConfigError, match="a str is not an MCP client: pass an open"):
        await mcp.toolset("http://localhost/mcp")  # type: ignore[arg-type]


# What is answered


@pytest.mark.parametrize("args", [{"a": 1, "b": 2}, {"a": 2}])
async def test_a_wrapped_value_comes_as_itself(args: dict[str, Any]) -> None:
    assert await response_of(server_of(add), args) == {"output": 3}


async def test_structured_content_goes_before_the_text_that_repeats_it() -> None:
    got = await response_of(returning(text('{"deg": 12}'), structured={"deg": 12, "sky": None}))
    assert got == {"output": {"deg": 12, "sky": None}}


LINK = types.ResourceLink(uri="file:///r.csv", name="r.csv", description="the rows", mime_type="text/csv")


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (LINK, "r.csv: file:///r.csv (the rows, text/csv)"),
        (text("warning: 2 rows were skipped"), "warning: 2 rows were skipped"),
        (
            types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///a", text="soup")),
            "soup",
        ),
        (types.AudioContent(data="AAAA", mime_type="audio/wav"), "[audio/wav, 3 bytes]"),
    ],
)
async def test_what_says_more_than_the_structure_stays_beside_it(block: Any, said: str) -> None:
    got = await response_of(returning(text('{"n": 3}'), block, structured={"n": 3}))
    assert got == {"output": {"n": 3}, "content": said}
    wrapped = await response_of(returning(text("3"), block, structured={"result": 3}))
    assert wrapped == {"output": 3, "content": said}


async def test_an_image_in_a_resource_is_shown_as_well() -> None:
    data = base64.b64encode(PNG).decode()
    blob = types.BlobResourceContents(uri="file:///a.png", blob=data, mime_type="image/png")
    async with Client(returning(types.EmbeddedResource(resource=blob))) as client:
        (one,) = await mcp.toolset(client)
        context: Any = one.context(call=livetools.Call("c1", "it", {}))
        assert one.handler is not None
        found = await one.handler(context)
    assert found.parts == ({"inlineData": {"mimeType": "image/png", "data": data}},)


@pytest.mark.parametrize(
    ("content", "structured", "said"),
    [
        ([text("no quota")], {"retry_after": 30}, 'no quota\n{"retry_after": 30}'),
        ([], {"retry_after": 30}, '{"retry_after": 30}'),
        ([LINK], None, "r.csv: file:///r.csv (the rows, text/csv)"),
        ([], None, "the server reports an error without a text"),
        ([text('{"retry_after": 30}')], {"retry_after": 30}, '{"retry_after": 30}'),
    ],
)
async def test_an_error_has_the_text_and_the_structure(content: Any, structured: Any, said: str) -> None:
    server = returning(*content, structured=structured, is_error=True)
    assert await response_of(server) == {"error": said}


class Failing:
    """A client whose calls raise this."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def list_tools(self) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[THREE[0]])

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> None:
        raise self.error


async def test_the_servers_words_are_told_out_of_a_group_and_no_others() -> None:
    def quota(said: str) -> MCPError:
        return MCPError(-32000, said)

    async def error_of(error: BaseException) -> Any:
        (one,) = await mcp.toolset(Failing(error))  # type: ignore[arg-type]
        return (await one.call({}))["error"]

    assert await error_of(quota("quota exceeded")) == "quota exceeded"
    nested = ExceptionGroup("g", [KeyError("hunter2"), quota("a"), ExceptionGroup("h", [quota("b")])])
    assert await error_of(nested) == "a; b"
    assert await error_of(ExceptionGroup("g", [KeyError("hunter2")])) == "a failed"


async def test_texts_are_one_value_or_a_list() -> None:
    assert await response_of(returning(text("12 °C"))) == {"output": "12 °C"}
    assert await response_of(returning(text("a"), text("b"))) == {"output": ["a", "b"]}
    assert await response_of(returning()) == {"output": None}


async def test_what_a_model_cannot_be_shown_is_described() -> None:
    data = base64.b64encode(b"12345").decode()
    got = await response_of(
        returning(
            types.AudioContent(data=data, mime_type="audio/wav"),
            types.ImageContent(data=data, mime_type="image/gif"),
            types.ResourceLink(name="menu", uri="file:///menu.pdf"),
            types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///a", text="soup")),
            types.EmbeddedResource(resource=types.BlobResourceContents(uri="file:///b", blob=data)),
        )
    )
    assert got["output"] == [
        "[audio/wav, 5 bytes]",
        "[image/gif, 5 bytes]",
        "menu: file:///menu.pdf",
        "soup",
        "[file:///b: bytes, 5 bytes]",
    ]


async def test_the_servers_words_for_an_error_reach_the_model() -> None:
    def book(table: int) -> str:
        raise ServersToolError(f"table {table} is taken")

    assert (await response_of(server_of(book), {"table": 4}))["error"].endswith("table 4 is taken")
    assert "table" in (await response_of(server_of(book), {"table": "x"}))["error"]


async def test_an_error_in_place_of_a_result_reaches_the_model_too(mode: str) -> None:
    async with Client(listing(THREE[:1]), mode=mode) as client:
        (tool,) = await mcp.toolset(client)
        assert await tool.call({}) == {"error": "a wants a city"}


async def test_what_breaks_on_this_side_is_not_told() -> None:
    class Broken(FastClient):
        async def call_tool_mcp(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
            raise RuntimeError("password")

    async with Client(server_of(add)) as client:
        (tool,) = await mcp.toolset(Broken(client))
        assert await tool.call({"a": 1}) == {"error": "add failed"}


async def test_an_argument_may_have_any_name() -> None:
    def it(context: str, name: str, call: str) -> list[str]:
        return [context, name, call]

    assert await response_of(server_of(it), {"context": "a", "name": "b", "call": "c"}) == {
        "output": ["a", "b", "c"]
    }


class FastClient:
    """fastmcp's client, as of 4.2, in what is used of it: no pages, and another call for the result as it came."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list_tools(self) -> list[types.Tool]:
        return (await self._client.list_tools()).tools

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, **_: Any) -> Any:
        raise AssertionError("it raises for what the server calls an error")

    async def call_tool_mcp(
        self, name: str, arguments: dict[str, Any], progress_handler: Any = None
    ) -> types.CallToolResult:
        return await self._client.call_tool(name, arguments, progress_callback=progress_handler)


# In a session


@asynccontextmanager
async def talking(tools: Any, model: Any, **options: Any) -> AsyncIterator[livetools.Session]:
    async with FakeLiveServer() as server:
        server.model(model)
        async with livetools.connect(MODEL, tools=[tools], **server.options, **options) as session:
            yield session


async def copy(files: int, ctx: Context) -> str:
    """Copy files."""
    for done in range(files):
        await ctx.report_progress(done + 1, files, "copied")
    return "all copied"


@pytest.mark.parametrize("dress", [lambda c: c, lambda c: c.session, FastClient])
async def test_a_session_calls_the_server_and_tells_its_progress(
    mode: str, dress: Callable[[Client], Any]
) -> None:
    async def model(turn: Any) -> None:
        response = await turn.call("copy", files=2)
        await turn.say(response["output"])

    async with Client(server_of(copy), mode=mode) as client:
        async with talking(await mcp.toolset(dress(client)), model) as session:
            await session.send_text("copy")
            told = []
            async for event in session:
                match event:
                    case livetools.ToolProgress(value=value):
                        told.append(value)
                    case livetools.ToolFinished(response=response):
                        answered = response
                    case livetools.TurnComplete():
                        break
    assert answered == {"output": "all copied"}
    assert told == [{"progress": n, "total": 2, "message": "copied"} for n in (1, 2)]


@pytest.mark.parametrize("end", ["cancel", "timeout"])
async def test_a_call_that_is_over_is_cancelled_at_the_server(mode: str, end: str) -> None:
    began, ended, clock = anyio.Event(), anyio.Event(), FakeClock()

    async def wait() -> None:
        """Wait for ever."""
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async def model(turn: Any) -> None:
        id = await turn.start_call("wait")
        await began.wait()
        if end == "cancel":
            await turn.cancel(id)
        else:
            clock.advance(61)
            assert (await turn.answer(id))["error"] == "timed out after 60 s"
        await turn.say("never mind")

    async with Client(server_of(wait), mode=mode) as client:
        async with talking(await mcp.toolset(client), model, clock=clock) as session:
            assert str(await session.ask("wait")) == "never mind"
            with anyio.fail_after(30):
                await ended.wait()


async def answered(model: str) -> dict[str, Any]:
    """The function response that a picture and a text become for this model."""

    def screenshot() -> list[str | Image]:
        return ["a cat", Image(data=PNG, format="png")]

    async def calls(turn: Any) -> None:
        await turn.call("screenshot")
        await turn.say("a cat")

    async with Client(server_of(screenshot)) as client, FakeLiveServer() as server:
        server.model(calls)
        async with livetools.connect(model, tools=[await mcp.toolset(client)], **server.options) as session:
            await session.ask("what do you see?", timeout=30)
    (answer,) = [f.message["toolResponse"] for f in server.frames if "toolResponse" in f.message]
    return dict(answer["functionResponses"][0])


async def test_an_image_goes_beside_the_text_as_media() -> None:
    response = await answered("gemini-3.8-live")
    assert response["response"] == {"output": "a cat"}
    data = base64.b64encode(PNG).decode()
    assert response["parts"] == [{"inlineData": {"mimeType": "image/png", "data": data}}]


async def test_a_model_that_reads_no_images_is_told_that_there_was_one() -> None:
    response = await answered("gemini-2.5-flash-native-audio-preview-12-2025")
    assert response["response"] == {"output": ["a cat", f"[image/png, {len(PNG)} bytes]"]}
    assert "parts" not in response


PROGRAM = """
import os
from mcp.server.mcpserver import MCPServer

server = MCPServer("elsewhere", log_level="CRITICAL")

@server.tool()
def where(city: str) -> str:
    "Where a city lies."
    return f"{city} is far away"

@server.tool()
def die() -> None:
    "Die."
    os._exit(1)

server.run("stdio")
"""


async def test_a_server_in_another_process_answers_and_its_death_is_an_answer_too(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(PROGRAM)

    async def model(turn: Any) -> None:
        where = await turn.call("where", city="Oslo")
        death, silence = await turn.call("die"), await turn.call("where", city="Rome")
        await turn.say(" / ".join([where["output"], death["error"], silence["error"]]))

    elsewhere = stdio_client(StdioServerParameters(command=sys.executable, args=[str(program)]))
    async with Client(elsewhere) as client, talking(await mcp.toolset(client), model) as session:
        reply = str(await session.ask("Where is Oslo?", timeout=20))
    assert reply == "Oslo is far away / Connection closed / Connection closed"


def test_the_integration_itself_loads_no_mcp() -> None:
    code = (
        "import sys, livetools.integrations.mcp; print([m for m in sys.modules if m.split('.')[0] == 'mcp'])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
