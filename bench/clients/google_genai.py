"""google-genai: its session, and the loop that its documentation shows."""

from __future__ import annotations

from typing import Any

from google import genai
from google.genai import types
from worker import MICROPHONE, MODEL, Conversation, Tool, request, serve, without_tls, work

DECLARED = types.FunctionDeclaration(
    name="work",
    description="Works.",
    parameters=types.Schema(
        type=types.Type.OBJECT, properties={"i": types.Schema(type=types.Type.INTEGER)}, required=["i"]
    ),
)
CONFIG = types.LiveConnectConfig(tools=[types.Tool(function_declarations=[DECLARED])])
clients: dict[str, genai.Client] = {}  # a program has one


def opened(url: str, tool: Tool = work, config: types.LiveConnectConfig = CONFIG) -> Any:
    client = clients.get(url)
    if client is None:
        client = clients[url] = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
    return client.aio.live.connect(model=MODEL, config=config)


async def say(session: Any, job: str, n: int = 1, p: int = 1) -> None:
    content = types.Content(role="user", parts=[types.Part(text=request(job, n, p))])
    await session.send_client_content(turns=content)


async def listen(session: Any, tool: Tool = work) -> None:
    """Until the turn ends."""
    async for message in session.receive():
        if message.tool_call:
            for call in message.tool_call.function_calls:
                result = {"output": await tool(**call.args)}
                response = types.FunctionResponse(id=call.id, name=call.name, response=result)
                await session.send_tool_response(function_responses=[response])


async def speak(session: Any) -> None:
    await session.send_realtime_input(audio=types.Blob(data=MICROPHONE, mime_type="audio/pcm;rate=16000"))


if __name__ == "__main__":
    without_tls()
    serve("google-genai", Conversation(opened, say, listen, speak).jobs())
