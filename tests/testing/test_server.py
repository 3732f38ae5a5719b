"""The fake Live server's life, its urls, its endpoints, and the official SDK as its client."""

from __future__ import annotations

import functools
import json
import ssl
from contextlib import AsyncExitStack

import anyio
import pytest

from livetools import ConfigError
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

GEMINI = "/ws/google.ai.generativelanguage.{}.GenerativeService.BidiGenerateContent"


async def test_a_server_without_a_model_says_what_it_hears(dial, text_of):
    async with FakeLiveServer() as server, dial(server) as client:
        await client.say("Good morning, and what a long sentence this is.")
        assert (
            text_of(await client.until("turnComplete")) == "Good morning, and what a long sentence this is."
        )


def test_one_key_in_the_place_of_a_list_is_an_error():
    with pytest.raises(ConfigError, match="pass a list"):
        FakeLiveServer(api_keys="secret")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("profile", 5, "a ModelProfile, the name of a model, or None"),
        ("profile", "", "a ModelProfile, the name of a model, or None"),
        ("strict", "no", "True or False"),
        ("clock", 5, "a Clock"),
        ("host", "", "an address"),
        ("port", "80", "a whole number from 0 to 65535"),
        ("port", 65536, "a whole number from 0 to 65535"),
    ],
)
def test_an_option_that_cannot_be_is_refused_when_the_server_is_made(name, value, expected):
    with pytest.raises(ConfigError, match=f"{name}={value!r}: expected {expected}"):
        FakeLiveServer(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("profile", 5, "a ModelProfile"),
        ("limits", {"go_away": 60}, "a Limits, such as"),
        ("faults", 0.1, "a Faults, such as"),
        ("pace", float("nan"), "a number from 0 on"),
        ("hold", "1", "a number from 0 on"),
        ("detector", 5, "a class such as EnergyDetector"),
        ("transcriber", "whisper", "a function of PCM and a rate, or None"),
        ("recording", "file.json", "a Recording, or None"),
        ("patience", -1, "a number of seconds, or None for no limit"),
    ],
)
def test_a_switch_that_cannot_be_is_refused_when_it_is_set(name, value, expected):
    server = FakeLiveServer()
    before = getattr(server, name)
    with pytest.raises(ConfigError, match=f"{name}=.*: expected {expected}"):
        setattr(server, name, value)
    assert getattr(server, name) is before


async def test_a_server_that_was_left_may_be_entered_again_at_the_same_address(dial, text_of):
    server = FakeLiveServer()
    async with server, dial(server) as client:
        url = server.url
        await client.say("One.")
        assert text_of(await client.until("turnComplete")) == "One."
    async with server, dial(server) as client:
        await client.say("Two.")
        assert text_of(await client.until("turnComplete")) == "Two."
    assert server.url == url


def say(turn):
    """A plain function."""


class Plain:
    """A callable that is not async."""

    def __call__(self, turn):
        """Say nothing."""


@pytest.mark.parametrize("model", [say, Plain(), functools.partial(say)])
async def test_a_model_without_async_is_refused_where_it_is_given(model):
    server = FakeLiveServer()
    for give in (server.model, server.conversation, FakeLiveServer):
        with pytest.raises(ConfigError, match="is not a coroutine function"):
            give(model)


class Polite:
    """A model that is an object."""

    async def __call__(self, turn):
        """Answer."""
        await turn.say("Hello.")

    async def method(self, turn, text="Hello."):
        """Answer."""
        await turn.say(text)


@pytest.mark.parametrize(
    "model",
    [
        Polite(),
        Polite().method,
        functools.partial(Polite().method, text="Hello."),
        lambda turn: turn.say("Hello."),
    ],
)
async def test_whatever_can_be_awaited_may_be_a_model(dial, text_of, model):
    async with FakeLiveServer(model) as server, dial(server) as client:
        await client.say("hi")
        assert text_of(await client.until("turnComplete")) == "Hello."


async def test_a_model_calls_a_function_and_speaks_of_the_answer(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            assert turn.text == "Weather?"
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']}.")

        async with dial(server) as client:
            await client.say("Weather?")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            assert call == {"name": "get_weather", "args": {"city": "Oslo"}, "id": call["id"]}
            await client.answer(call, output="12 °C")
            assert text_of(await client.until("turnComplete")) == "It is 12 °C."
    assert [(each.name, each.args, each.response) for each in server.calls] == [
        ("get_weather", {"city": "Oslo"}, {"output": "12 °C"})
    ]


async def test_frames_are_binary_pretty_printed_and_camel_case(dial):
    async with FakeLiveServer() as server, dial(server, model=None) as client:
        await client.send({"setup": {"model": "models/gemini-live-2.5-flash-preview"}})
        assert await client.socket.recv() == b'{\n  "setupComplete": {}\n}\n'


@pytest.mark.parametrize(
    "path",
    [
        GEMINI.format("v1"),
        GEMINI.format("v1alpha"),
        "/" + GEMINI.format("v1beta") + "?key=fake",
        "/a/proxy's/prefix" + GEMINI.format("v1beta"),
        GEMINI.format("v1beta") + "Constrained?access_token=auth_tokens/x",
        "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent",
        "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent",
        "/",
    ],
)
async def test_each_spelling_of_the_endpoint_is_served(dial, text_of, path):
    async with FakeLiveServer() as server, dial(server, path=path) as client:
        await client.say("hello")
        assert text_of(await client.until("turnComplete")) == "hello"


async def test_both_casings_are_read_at_any_depth_and_mixed(dial, text_of):
    async with FakeLiveServer() as server, dial(server, model=None) as client:
        config = {"response_modalities": ["TEXT"], "speechConfig": {"voice_config": {}}}
        await client.send({"setup": {"model": "models/gemini-live-2.5-flash", "generation_config": config}})
        await client.recv()
        await client.send({"client_content": {"turns": [{"role": "user", "parts": [{"text": "a"}]}]}})
        await client.send({"client_content": {"turn_complete": True}})
        assert text_of(await client.until("turnComplete")) == "a"


async def test_a_plain_http_request_is_told_where_it_is(dial):
    async with FakeLiveServer() as server:
        stream = await anyio.connect_tcp("127.0.0.1", server.port)
        async with stream:
            await stream.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = await stream.receive()
    assert answer.startswith(b"HTTP/1.1 404")
    assert b"fake Live server" in answer


async def test_another_websocket_path_is_closed_with_a_word_in_the_log(dial):
    async with FakeLiveServer() as server, dial(server, model=None, path="/elsewhere") as client:
        assert await client.closed() == (1008, "Requested entity was not found.")
    assert "not a Live endpoint: /elsewhere" in server.log


async def test_leaving_raises_when_a_call_was_left_unanswered(dial):
    server = FakeLiveServer()

    async def scenario():
        async with server:

            @server.model
            async def model(turn):
                await turn.call("get_weather")

            async with dial(server) as client:
                await client.say("Weather?")
                await client.until("toolCall")

    with pytest.raises(AssertionError, match="never answered: get_weather") as caught:
        await scenario()
    assert '#1 ← {"toolCall"' in str(caught.value)
    assert [call.name for call in server.unanswered()] == ["get_weather"]


async def test_leaving_raises_when_the_model_raised_and_the_client_sees_1011(dial):
    async def scenario():
        async with FakeLiveServer() as server:

            @server.model
            async def model(turn):
                raise ZeroDivisionError

            async with dial(server) as client:
                await client.say("Weather?")
                assert await client.closed() == (1011, "Internal error encountered.")
            async with dial(server, model=None) as client:  # a client that reconnects would do so for ever
                await client.send({"setup": {"model": "models/gemini-3.8-live"}})
                assert await client.closed() == (4000, "the pretend model raised ZeroDivisionError: ")

    with pytest.raises(AssertionError, match="the pretend model raised ZeroDivisionError") as caught:
        await scenario()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def test_leaving_is_silent_about_all_that_when_the_body_raised(dial):
    async def scenario():
        async with FakeLiveServer() as server:

            @server.model
            async def model(turn):
                raise ZeroDivisionError

            async with dial(server) as client:
                await client.say("Weather?")
                await client.closed()
            raise KeyError("the body's own")

    with pytest.raises(KeyError, match="the body's own"):
        await scenario()


async def test_leaving_raises_when_an_answer_came_after_its_cancellation(dial):
    async def scenario():
        async with FakeLiveServer() as server:

            @server.model
            async def model(turn):
                await turn.cancel(await turn.start_call("slow"))
                await turn.say("Never mind.")

            async with dial(server) as client:
                await client.say("Begin.")
                (call,) = (await client.recv())["toolCall"]["functionCalls"]
                for _ in range(10):  # a few times round the loop, that nobody may call it a crossing
                    await client.until("turnComplete")
                    await client.say("And?")
                await client.answer(call, output="too late")
                await client.say("hello")
                await client.until("turnComplete")

    with pytest.raises(AssertionError, match="answered after its cancellation: slow"):
        await scenario()


async def test_the_certificate_names_localhost_and_the_ca_file_vouches_for_it(dial, text_of):
    async with FakeLiveServer(tls=True) as server, dial(server) as client:
        assert server.url.startswith("wss://localhost:")
        assert server.ca_file is not None
        ssl.create_default_context(cafile=server.ca_file)
        await client.say("secret")
        assert text_of(await client.until("turnComplete")) == "secret"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio's nurseries are left in order
async def test_it_is_entered_in_one_exit_stack_and_closed_with_others_still_open(dial):
    first, second = AsyncExitStack(), AsyncExitStack()
    one = await first.enter_async_context(FakeLiveServer())
    two = await second.enter_async_context(FakeLiveServer())
    await first.aclose()
    assert one.port != two.port
    async with dial(two) as client:
        await client.say("still here")
        await client.until("turnComplete")
    await second.aclose()


async def test_a_cancelled_body_leaves_nothing_behind(dial):
    with anyio.move_on_after(0.05):
        async with FakeLiveServer() as server, dial(server) as client:
            await client.say("hi")
            await anyio.sleep_forever()
    with pytest.raises(OSError, match=r"."):
        await anyio.connect_tcp("127.0.0.1", server.port)


async def test_it_runs_in_a_thread_for_whoever_has_no_loop(dial, text_of):
    server = FakeLiveServer().start()
    try:
        async with dial(server) as client:
            await client.say("from another loop")
            assert text_of(await client.until("turnComplete")) == "from another loop"
    finally:
        server.stop()
    server.stop()


async def test_every_frame_is_kept_with_its_direction_connection_and_time(dial):
    async with FakeLiveServer() as server:
        for _ in range(2):
            async with dial(server) as client:
                await client.say("hi")
                await client.until("turnComplete")
    assert [each.connection for each in server.frames] == sorted(each.connection for each in server.frames)
    assert {each.direction for each in server.frames} == {"client", "server"}
    assert "setup" in server.frames[0].message
    assert server.frames[0].time <= server.frames[-1].time


async def test_a_close_frame_without_a_code_is_answered_with_1000(dial):
    async with FakeLiveServer() as server:
        stream = await anyio.connect_tcp("127.0.0.1", server.port)
        async with stream:
            head = f"GET {GEMINI.format('v1beta')} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
            head += "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            head += "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            await stream.send(head.encode())
            assert b"101" in await stream.receive()
            await stream.send(b"\x88\x80\0\0\0\0")
            assert await stream.receive() == b"\x88\x02\x03\xe8"


async def _ask_with_sdk(client, model, types):
    config = {
        "response_modalities": ["AUDIO"],
        "output_audio_transcription": {},
        "tools": [{"function_declarations": [{"name": "get_weather"}]}],
    }
    spoken, sound = "", b""
    async with client.aio.live.connect(model=model, config=config) as session:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "Weather in Oslo?"}]})
        async for message in session.receive():
            for call in message.tool_call.function_calls if message.tool_call else []:
                reply = types.FunctionResponse(id=call.id, name=call.name, response={"output": "12 °C"})
                await session.send_tool_response(function_responses=[reply])
            content = message.server_content
            if content and content.output_transcription:
                spoken += content.output_transcription.text
            sound += message.data or b""
    return spoken, sound


@pytest.mark.parametrize("vertex", [False, True])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # google-genai knows no other
async def test_the_official_sdk_calls_a_tool_over_tls_and_hears_the_answer(monkeypatch, vertex):
    from google import genai
    from google.auth.credentials import AnonymousCredentials
    from google.genai import types

    async with FakeLiveServer(tls=True) as server:

        @server.model
        async def model(turn):
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']} in Oslo.")

        monkeypatch.setenv("SSL_CERT_FILE", server.ca_file)
        options = types.HttpOptions(base_url=server.http_url)
        if vertex:
            credentials = AnonymousCredentials()
            credentials.token = "token"
            where = {"vertexai": True, "project": "p", "location": "us-central1", "credentials": credentials}
            client = genai.Client(http_options=options, **where)
        else:
            client = genai.Client(api_key="fake", http_options=options)
        name = "gemini-live-2.5-flash-native-audio" if vertex else "gemini-2.5-flash-native-audio-latest"
        spoken, sound = await _ask_with_sdk(client, name, types)
    assert spoken == "It is 12 °C in Oslo."
    assert 0.5 < len(sound) / 2 / 24000 < 5
    setup = json.dumps(server.frames[0].message)
    assert ("projects/p/locations/us-central1" in setup) is vertex
