"""generateContent on the same pretend model: the official SDK, raw requests, and the service's own refusals."""

from __future__ import annotations

import json

import anyio
import pytest

from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

MODEL = "gemini-2.5-flash"
TOOLS = [{"functionDeclarations": [{"name": "get_weather", "description": "The weather."}]}]


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"12 °C in {city}"


async def pretend(turn):
    if turn.text == "Weather?":
        await turn.say("Let me see. ")
        first = await turn.call("get_weather", city="Oslo")
        second = await turn.call("get_weather", city="Rome")
        await turn.say(f"{first['result']}, {second['result']}.")
    elif turn.text == "Both?":
        both = await turn.calls(("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"}))
        await turn.say(" and ".join(each["result"] for each in both))
    else:
        await turn.say(f"You said: {turn.text}")


async def request(server, body, path=f"/v1beta/models/{MODEL}:generateContent", headers="", method="POST"):
    """A request without a library: the status, and the body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {len(data)}\r\n\r\n"
        await stream.send(head.encode() + data[:5])
        await stream.send(data[5:] or b"")
        answer = b""
        with anyio.fail_after(30):
            try:
                while True:
                    answer += await stream.receive()
            except anyio.EndOfStream:
                pass
    top, _, rest = answer.partition(b"\r\n\r\n")
    return int(top.split()[1]), rest


def user(text):
    return {"role": "user", "parts": [{"text": text}]}


@pytest.fixture
def sdk():
    """The official client over a server that runs in a thread."""
    from google import genai
    from google.genai import types

    server = FakeLiveServer(pretend).start()
    yield genai.Client(api_key="fake", http_options=types.HttpOptions(base_url=server.http_url))
    server.stop()


def test_the_sdk_gets_an_answer_and_a_stream_of_pieces(sdk):
    answer = sdk.models.generate_content(model=MODEL, contents="hello")
    assert answer.text == "You said: hello"
    assert answer.candidates[0].finish_reason.name == "STOP"
    assert answer.usage_metadata.total_token_count > 0
    chunks = list(
        sdk.models.generate_content_stream(model=MODEL, contents="a sentence that is cut in pieces")
    )
    assert len(chunks) > 1
    assert "".join(chunk.text for chunk in chunks) == "You said: a sentence that is cut in pieces"
    assert [bool(chunk.candidates[0].finish_reason) for chunk in chunks] == [False] * (len(chunks) - 1) + [
        True
    ]


@pytest.mark.parametrize("model", [MODEL, "gemini-3-pro-preview"])
def test_the_sdk_calls_functions_by_itself_one_after_the_other_and_several_at_once(sdk, model):
    config = {"tools": [get_weather]}
    answer = sdk.models.generate_content(model=model, contents="Weather?", config=config)
    assert answer.text == "12 °C in Oslo, 12 °C in Rome."
    answer = sdk.models.generate_content(model=model, contents="Both?", config=config)
    assert answer.text == "12 °C in Oslo and 12 °C in Rome"
    chunks = sdk.models.generate_content_stream(model=model, contents="Weather?", config=config)
    assert "".join(chunk.text or "" for chunk in chunks).endswith("12 °C in Oslo, 12 °C in Rome.")
    chunks = sdk.models.generate_content_stream(model=model, contents="Both?", config=config)
    assert "".join(chunk.text or "" for chunk in chunks) == "12 °C in Oslo and 12 °C in Rome"


def test_a_chat_goes_on_after_a_function_was_called(sdk):
    chat = sdk.chats.create(model=MODEL, config={"tools": [get_weather]})
    assert chat.send_message("Weather?").text == "12 °C in Oslo, 12 °C in Rome."
    assert chat.send_message("Thanks").text == "You said: Thanks"


def test_the_sdk_raises_what_the_service_answers(sdk):
    from google.genai import errors

    with pytest.raises(
        errors.ClientError, match=r"404 NOT_FOUND.*models/nope is not found for API version v1"
    ):
        sdk.models.generate_content(model="nope", contents="hello")


@pytest.mark.parametrize(
    "path",
    [
        f"/v1/models/{MODEL}:generateContent",
        f"//v1beta//models/{MODEL}/generateContent",
        f"/v1beta1/projects/p/locations/l/publishers/google/models/{MODEL}:generateContent",
    ],
)
async def test_each_spelling_of_the_path_is_served(path):
    async with FakeLiveServer(pretend) as server:
        status, body = await request(server, {"contents": [user("hi")]}, path)
    assert status == 200
    answer = json.loads(body)
    assert answer["candidates"] == [
        {
            "content": {"parts": [{"text": "You said: hi"}], "role": "model"},
            "index": 0,
            "finishReason": "STOP",
        }
    ]
    assert set(answer) == {"candidates", "usageMetadata", "modelVersion", "responseId"}


async def test_a_stream_is_events_where_they_are_asked_for_and_an_array_otherwise():
    path = f"/v1beta/models/{MODEL}:streamGenerateContent"
    body = {"contents": [user("a sentence that is cut in pieces")]}
    async with FakeLiveServer(pretend) as server:
        _, events = await request(server, body, path + "?alt=sse")
        _, array = await request(server, body, path)
    said = [json.loads(line[6:]) for line in _unchunked(events).split("\r\n\r\n") if line]
    assert len(said) == len(json.loads(_unchunked(array))) > 1


def _unchunked(data):
    text = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        text, data = text + data[: int(size, 16)], data[int(size, 16) + 2 :]
    return text.decode()


async def test_calls_without_their_answers_are_nobodys_debt():
    async with FakeLiveServer(pretend) as server:
        _, body = await request(server, {"contents": [user("Weather?")], "tools": TOOLS})
        parts = json.loads(body)["candidates"][0]["content"]["parts"]
        assert parts[0] == {"text": "Let me see. "}
        assert parts[1]["functionCall"]["args"] == {"city": "Oslo"}
        none = {"functionCallingConfig": {"mode": "NONE"}}
        _, body = await request(server, {"contents": [user("Weather?")], "tools": TOOLS, "toolConfig": none})
        assert json.loads(body)["candidates"][0]["finishReason"] == "UNEXPECTED_TOOL_CALL"


def call(id="1", name="get_weather"):
    return {"functionCall": {"id": id, "name": name, "args": {}}}


def answer(id="1", **response):
    return {"functionResponse": {"id": id, "name": "get_weather", "response": response or {"result": "sun"}}}


def of(role, *parts):
    return {"role": role, "parts": list(parts)}


AS_MANY = (
    "Please ensure that the number of function response parts is equal to the number of function call parts"
)
CONVERSATIONS = [
    ([], "contents is not specified"),
    ([of("assistant", {"text": "x"})], "Please use a valid role: user, model."),
    ([of("user")], "parts must not be empty"),
    (
        [of("model", call())],
        "Please ensure that function call turn comes immediately after a user turn or after a",
    ),
    (
        [user("a"), of("user", answer())],
        "Please ensure that function response turn comes immediately after a function",
    ),
    ([user("a"), of("model", call()), user("b")], AS_MANY),
    ([user("a"), of("model", call(), call("2")), of("user", answer())], AS_MANY),
    ([user("a"), of("model", call())], AS_MANY),
    (
        [user("a"), of("model", call()), of("user", answer("other"))],
        "functionResponse.id does not match functionCall.id",
    ),
    (
        [user("a"), of("model", call()), of("model", answer())],
        "Content with role 'model' can't contain 'functionResponse'",
    ),
    ([of("user", call())], "Content with role 'user' can't contain 'functionCall' part"),
]


@pytest.mark.parametrize(("contents", "message"), CONVERSATIONS)
async def test_a_conversation_that_breaks_the_rules_is_refused_in_the_services_words(contents, message):
    async with FakeLiveServer(pretend) as server:
        status, body = await request(server, {"contents": contents})
        error = json.loads(body)["error"]
        assert (status, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
        assert message in error["message"]
    async with FakeLiveServer(pretend, strict=False) as server:
        assert (await request(server, {"contents": contents}))[0] == 200


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"contents": [user("a")], "bogus": 1}, 'Unknown name "bogus": Cannot find field.'),
        (
            {"contents": [of("user", {"functionResponse": {"name": "f", "response": "text"}})]},
            "Invalid value at 'contents[0].parts[0].function_response.response' "
            "(type.googleapis.com/google.protobuf.Struct)",
        ),
        (
            {
                "contents": [user("a")],
                "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"const": 1}}]}],
            },
            "Unknown name \"const\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
        ),
        (
            {"contents": [user("a")], "tools": [{"functionDeclarations": [{"name": "9"}]}]},
            "Invalid function name.",
        ),
        (
            {
                "contents": [user("a")],
                "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "ARRAY"}}]}],
            },
            "parameters.items: missing field.",
        ),
        (b"{nonsense", "Invalid JSON payload received."),
    ],
)
async def test_a_request_that_does_not_parse_is_refused(body, message):
    async with FakeLiveServer(pretend) as server:
        status, answer = await request(server, body)
    assert status == 400
    assert message in json.loads(answer)["error"]["message"]


async def test_gemini_3_wants_its_thought_signature_back():
    path = "/v1beta/models/gemini-3-pro-preview:generateContent"
    contents = [user("Weather?"), of("model", call()), of("user", answer())]
    async with FakeLiveServer(pretend) as server:
        status, body = await request(server, {"contents": contents}, path)
    assert status == 400
    assert "missing a thought_signature" in json.loads(body)["error"]["message"]


async def test_keys_are_checked_as_the_service_does_and_tokens_are_minted():
    async with FakeLiveServer(pretend, api_keys=["right"]) as server:
        body = {"contents": [user("a")]}
        assert (await request(server, body))[0] == 403
        status, answer = await request(server, body, headers="x-goog-api-key: wrong\r\n")
        assert (status, json.loads(answer)["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
        assert (await request(server, body, f"/v1beta/models/{MODEL}:generateContent?key=right"))[0] == 200
        setup = {"bidiGenerateContentSetup": {"model": "models/gemini-3.8-live"}, "uses": 2}
        _, answer = await request(server, setup, "/v1alpha/auth_tokens?key=right")
        token = server.tokens.known[json.loads(answer)["name"]]
        assert (token.uses, token.setup) == (2, {"model": "models/gemini-3.8-live"})
        wrong = {"liveConnectConstraints": {}}
        assert (await request(server, wrong, "/v1alpha/auth_tokens?key=right"))[0] == 400


async def test_models_are_listed_with_what_they_can_do():
    async with FakeLiveServer() as server:
        _, listed = await request(server, b"", "/v1beta/models", method="GET")
        _, one = await request(server, b"", "/v1beta/models/gemini-3.8-live", method="GET")
    methods = {each["name"]: each["supportedGenerationMethods"] for each in json.loads(listed)["models"]}
    assert methods["models/gemini-3.8-live"] == ["bidiGenerateContent"]
    assert json.loads(one)["name"] == "models/gemini-3.8-live"


async def test_a_model_that_raises_is_an_internal_error():
    async def scenario():
        async def broken(turn):
            raise ZeroDivisionError

        async with FakeLiveServer(broken) as server:
            status, body = await request(server, {"contents": [user("a")]})
            assert (status, json.loads(body)["error"]["status"]) == (500, "INTERNAL")

    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        await scenario()


async def test_a_body_in_chunks_is_read_and_continue_is_said():
    async with FakeLiveServer(pretend) as server, await anyio.connect_tcp("127.0.0.1", server.port) as stream:
        head = f"POST /v1beta/models/{MODEL}:generateContent HTTP/1.1\r\nExpect: 100-continue\r\n"
        await stream.send(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        assert await stream.receive() == b"HTTP/1.1 100 Continue\r\n\r\n"
        body = json.dumps({"contents": [user("hi")]}).encode()
        for piece in (body[:7], body[7:], b""):
            await stream.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 OK")
