"""The official Python SDK, unmodified, in both its modes: tools, cancellation, interruption, resumption, a close."""

from __future__ import annotations

import pytest

from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

MODEL = "gemini-3.8-live"
TOOLS = [{"function_declarations": [{"name": "work"}, {"name": "slow", "behavior": "BLOCKING"}]}]


@pytest.fixture
def anyio_backend():
    return "asyncio"  # the SDK knows no other


async def pretend(turn):
    if turn.text == "fail":
        await turn.close(1011, "Internal error encountered.")
    elif turn.text == "slow":
        await turn.call("slow")
    elif turn.text == "both":
        first, second = await turn.calls(("work", {"n": 1}), ("work", {"n": 2}))
        await turn.say(f"{first['output']} and {second['output']}")
    else:
        await turn.say(f"You said {turn.text}.")


@pytest.fixture(params=[False, True], ids=["gemini", "vertex"])
async def place(request, monkeypatch):
    """A server, and the SDK's client for it."""
    from google import genai
    from google.auth.credentials import AnonymousCredentials
    from google.genai import types

    async with FakeLiveServer(pretend, tls=True) as server:
        monkeypatch.setenv("SSL_CERT_FILE", server.ca_file)
        options = types.HttpOptions(base_url=server.http_url)
        if request.param:
            credentials = AnonymousCredentials()
            credentials.token = "token"
            where = {"vertexai": True, "project": "p", "location": "us-central1", "credentials": credentials}
        else:
            where = {"api_key": "fake"}
        yield server, genai.Client(http_options=options, **where)


def connect(client, handle=None):
    config = {"output_audio_transcription": {}, "session_resumption": {"handle": handle}, "tools": TOOLS}
    return client.aio.live.connect(model=MODEL, config={"response_modalities": ["AUDIO"], **config})


async def say(session, text):
    await session.send_client_content(turns={"role": "user", "parts": [{"text": text}]})


async def turn(session):
    """Hear one turn to its end, answering what is called: the words, and the messages."""
    from google.genai import types

    words, messages = "", []
    async for message in session.receive():
        messages.append(message)
        for call in message.tool_call.function_calls if message.tool_call else []:
            if call.name == "work":
                reply = types.FunctionResponse(
                    id=call.id, name="work", response={"output": f"did {call.args['n']}"}
                )
                await session.send_tool_response(function_responses=[reply])
        content = message.server_content
        if content and content.output_transcription:
            words += content.output_transcription.text
    return words, messages


async def test_calls_in_parallel_are_answered_one_by_one(place):
    _, client = place
    async with connect(client) as session:
        await say(session, "both")
        words = ""
        while not words:
            words, _ = await turn(session)
    assert words == "did 1 and did 2"


async def test_speaking_up_cancels_a_call_that_blocks(place):
    server, client = place
    async with connect(client) as session:
        await say(session, "slow")
        while not server.calls:
            await session._receive()
        await say(session, "never mind")
        seen = []
        while not any("never mind" in str(each) for each in seen):
            _, messages = await turn(session)
            seen += messages
    cancelled = [each.tool_call_cancellation.ids for each in seen if each.tool_call_cancellation]
    assert cancelled == [[server.calls[0].id]]
    assert any(each.server_content and each.server_content.interrupted for each in seen)
    assert server.calls[0].state == "cancelled"


async def test_a_session_is_resumed_with_its_handle(place):
    server, client = place
    handles = []
    async with connect(client) as session:
        await say(session, "one")
        _, messages = await turn(session)
        handles = [m.session_resumption_update.new_handle for m in messages if m.session_resumption_update]
    async with connect(client, handle=handles[-1]) as session:
        await say(session, "two")
        assert (await turn(session))[0] == "You said two."
    assert [each.connections for each in server.sessions] == [[1, 2]]


async def test_a_close_is_an_error_with_its_code_and_reason(place):
    from google.genai import errors

    _, client = place
    async with connect(client) as session:
        await say(session, "fail")
        with pytest.raises(errors.APIError, match=r"1011.*Internal error encountered"):
            await turn(session)
