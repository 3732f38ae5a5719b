"""The checks and the fake server say the same, though neither was written from the other."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import sniffio
from websockets.exceptions import ConnectionClosed

from livetools.formats import check
from livetools.testing import FakeLiveServer, Turn
from livetools.testing.messages.client_schema import read

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "testing" / "messages" / "client_frames.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def response(**changes: Any) -> dict[str, Any]:
    whole = {"id": "1", "name": "f", "response": {"output": 1}, **changes}
    return {"toolResponse": {"functionResponses": [whole]}}


def turn(**changes: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": "1", "name": "f", "response": {"output": 1}}}
    return {"clientContent": {"turns": [{"role": "user", "parts": [part], **changes}], "turnComplete": True}}


def declared(**schema: Any) -> dict[str, Any]:
    tool = {"name": "f", "description": "F.", "parameters": {"type": "OBJECT", "properties": {"x": schema}}}
    return {"setup": {"model": "models/gemini-3.8-live", "tools": [{"functionDeclarations": [tool]}]}}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "refused" not in row], ids=lambda row: str(row["frame"])[:60]
)
def test_no_text_of_the_service_is_found_for_frames_that_it_took(row: dict[str, Any]):
    assert [finding for finding in check(row["frame"]).faults if finding.service_text] == []


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if "refused" in row and row["frame"].keys() & {"toolResponse", "clientContent"}],
    ids=lambda row: str(row["frame"])[:60],
)
def test_frames_that_the_service_refused_are_found_with_its_text(row: dict[str, Any]):
    assert any(row["refused"][1] in finding.service_text for finding in check(row["frame"]).faults)


@pytest.mark.parametrize("frame", [response(), turn(), declared(type="string")], ids=str)
def test_what_both_take(frame: dict[str, Any]):
    assert read(frame)[1] == []
    assert check(frame).ok


@pytest.mark.parametrize(
    "frame",
    [
        response(response="text"),
        response(response=5),
        response(response=[{"status": "sent"}]),
        response(scheduling="SOON"),
        response(functionCallId="1"),
        {"toolResponse": {"functionResponse": {}}},
        {"toolResponse": {"functionResponses": {}}},
        {"functionResponses": []},
        {"functionResponse": {}},
        {"BidiGenerateContentToolResponse": {"functionResponses": []}},
        turn(parts=[{"functionResponse": {"id": "1", "name": "f", "response": "text"}}]),
        turn(functionResponse={}),
        turn(content="hi"),
        {"clientContent": {"contents": []}},
        {"clientContent": {"turns": ["hi"]}},
        declared(type="STRING", const="x"),
        declared(type="OBJECT", properties={"y": {"$ref": "#/x"}}),
        declared(type="text"),
    ],
    ids=str,
)
def test_what_both_refuse_with_the_same_words(frame: dict[str, Any]):
    reason = read(frame)[1][0].reason
    texts = [finding.service_text for finding in check(frame).faults]
    assert any(text and reason.startswith(text.split(" (")[0]) for text in texts), (reason, texts)


# the table of verdicts, against the server itself


def connect(server: FakeLiveServer) -> Any:
    if sniffio.current_async_library() == "trio":
        from websockets.trio.client import connect
    else:
        from websockets.asyncio.client import connect
    path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
    return connect(server.url + path)


async def verdict(frame: Callable[[dict[str, Any]], dict[str, Any]]) -> tuple[int, str] | dict[str, Any]:
    """What the server does when a call is answered with ``frame(call)``: its close, or the answer it heard."""
    async with FakeLiveServer() as server:
        heard: dict[str, Any] = {}

        @server.model
        async def model(turn: Turn) -> None:
            heard.update(await turn.call("weather", city="Oslo"))
            await turn.say("Done.")

        setup = {"model": "models/gemini-live-2.5-flash-preview"}
        question = {"turns": [{"role": "user", "parts": [{"text": "Weather?"}]}], "turnComplete": True}
        with anyio.fail_after(30):
            async with connect(server) as socket:
                await socket.send(json.dumps({"setup": setup}))
                await socket.send(json.dumps({"clientContent": question}))
                with contextlib.suppress(ConnectionClosed):
                    while True:
                        message = json.loads(await socket.recv())
                        if "toolCall" in message:
                            call = message["toolCall"]["functionCalls"][0]
                            await socket.send(json.dumps(frame(call)))
                        if message.get("serverContent", {}).get("turnComplete"):
                            rows = [dataclasses.asdict(each) for each in server.frames]
                            assert check(rows, "recording").faults == ()
                            return heard
                closed = server.frames[-1].message["_close"]
                return closed["code"], closed["reason"]


def replied(call: dict[str, Any], response: Any, role: str = "user") -> dict[str, Any]:
    part = {"functionResponse": {"id": call["id"], "name": call["name"], "response": response}}
    return {"clientContent": {"turns": [{"role": role, "parts": [part]}], "turnComplete": True}}


def told(call: dict[str, Any], response: Any) -> dict[str, Any]:
    return {
        "toolResponse": {
            "functionResponses": [{"id": call["id"], "name": call["name"], "response": response}]
        }
    }


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [replied, told])
@pytest.mark.parametrize("response", [{"output": 1}, {"result": 1}, {"content": 1}, {"error": "no"}], ids=str)
async def test_what_works_is_heard_by_the_model(answer: Any, response: dict[str, Any]):
    assert await verdict(lambda call: answer(call, response)) == response
    assert check(answer({"id": "1", "name": "weather"}, response)).ok


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer",
    [
        lambda call: told(call, "text"),
        lambda call: told(call, [1]),
        lambda call: replied(call, "text"),
        lambda call: replied(call, {"output": 1}, role="model"),
        lambda call: replied(call, {"output": 1}, role="assistant"),
        lambda call: {"clientContent": {"turns": [{"role": "user", "functionResponse": {}}]}},
        lambda call: told(call, {})["toolResponse"],
        lambda call: {"BidiGenerateContentToolResponse": told(call, {})["toolResponse"]},
    ],
)
async def test_what_is_refused_is_refused_by_both_with_the_same_text(answer: Any):
    closed = await verdict(answer)
    texts = [finding.service_text for finding in check(answer({"id": "1", "name": "weather"})).faults]
    assert closed[0] == 1007
    assert any(text.startswith(closed[1]) for text in texts if text), (closed, texts)


# the same table over REST


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def answered(response: Any = None, *, name: str = "weather", id: str = "1") -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": name, "response": response or {"output": 1}}}


ASKED = said("user", {"text": "Weather?"})
CALL = {"functionCall": {"id": "1", "name": "weather", "args": {"city": "Oslo"}}}
SECOND = {"functionCall": {"id": "2", "name": "weather", "args": {"city": "Rome"}}}
CALLED = said("model", CALL)


async def post(contents: list[dict[str, Any]]) -> tuple[int, str]:
    """The status and the error of a ``generateContent`` with this conversation."""
    body = json.dumps({"contents": contents}).encode()
    async with FakeLiveServer(strict=True) as server:

        @server.model
        async def model(turn: Turn) -> None:
            await turn.say("Done.")

        host, port = server.http_url.removeprefix("http://").split(":")
        head = (
            f"POST /v1beta/models/gemini-2.5-flash:generateContent HTTP/1.1\r\nHost: {host}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        with anyio.fail_after(30):
            async with await anyio.connect_tcp(host, int(port)) as stream:
                await stream.send(head.encode() + body)
                reply = b""
                with contextlib.suppress(anyio.EndOfStream):
                    while True:
                        reply += await stream.receive()
    status, document = reply.split(b" ", 2)[1], reply.split(b"\r\n\r\n", 1)[1]
    return int(status), json.loads(document).get("error", {}).get("message", "")


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["output", "result", "content", "error"])
async def test_a_function_response_that_works_over_rest_is_found_in_order(key: str):
    contents = [ASKED, CALLED, said("user", answered({key: 1}))]
    assert await post(contents) == (200, "")
    assert check(contents).ok


@pytest.mark.anyio
@pytest.mark.parametrize(
    "contents",
    [
        [ASKED, CALLED, said("user", answered("text"))],
        [ASKED, CALLED, said("model", answered())],
        [ASKED, CALLED, {"role": "user", "functionResponse": answered()["functionResponse"]}],
        [ASKED, said("model", CALL, SECOND), said("user", answered())],
        [ASKED, said("user", answered())],
        [ASKED, CALLED, said("assistant", answered())],
        [ASKED, CALLED, said("user", {"text": "So?"})],
    ],
    ids=["text", "role model", "no parts", "one of two", "no call", "role assistant", "no response"],
)
async def test_what_rest_refuses_is_found_with_the_same_text(contents: list[dict[str, Any]]):
    status, message = await post(contents)
    texts = [finding.service_text.split(" (")[0].strip() for finding in check(contents).faults]
    assert status == 400
    assert any(text and text in message for text in texts), (message, texts)
