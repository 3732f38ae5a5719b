"""The client of a page before a relay that means no good, in a real browser: nothing is thrown, the page lives on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect
from support.browser import serving

from livetools.web import BUILT

READY = {
    "type": "ready", "token": "t", "resumed": False, "seq": 0, "at": 0.0, "missed": 0, "model": "m", "tools": [],
    "declared_only": ["show"], "activity": "automatic", "input_rate": 16000, "output_rate": 24000, "linger": 30.0,
}  # fmt: skip
CALL = {"id": "c1", "name": "show", "args": {}}
SOUND = b"\x00\x10" * 480
DEEP = '{"type": "TextChunk", "text": ' + "[" * 5000 + "]" * 5000 + "}"
ATTACKS: dict[str, list[str | bytes]] = {
    "no JSON": ["", "{", "\x00", "ready", "NaN", '{"type": "ready"'],
    "JSON that is no message": ["null", "7", '"ready"', "[]", "{}", '{"type": null}', '{"type": ["ready"]}', DEEP],
    "types nobody knows": ['{"type": "__proto__"}', '{"type": "constructor"}', '{"type": "toString", "seq": 1}'],
    "a prototype": ['{"type": "TextChunk", "seq": 1, "at": 0, "text": "x", "__proto__": {"hacked": true}}',
                    json.dumps({**READY, "constructor": {"prototype": {"hacked": True}}})],
    "odd numbers": [json.dumps({"type": "TextChunk", "seq": seq, "at": -1e308, "text": "x"})
                    for seq in (-1, 2**80, "x")],
    "odd rates": [each for rate in (0, -1, 1e9, None, "24000", {}, 1e-9) for each in
                  (json.dumps({"type": "audio_format", "seq": 1, "at": 0, "rate": rate}), SOUND)],
    "odd beginnings": [json.dumps({**READY, "output_rate": rate, "heartbeat": beat, "seq": seq})
                       for rate, beat, seq in ((0, -1, 0), ("x", "x", 0), (24000, 1e-9, 0), (24000, None, -5))],
    "odd sound": [b"", b"\x00", b"\x00\x01\x02", bytes(2_000_001)],
    "a flood": [json.dumps({"type": "TextChunk", "seq": n, "at": 0, "text": "x" * 100}) for n in range(3000)],
    "answers to nothing": ['{"type": "pong", "id": 99}', '{"type": "approved", "seq": 1, "at": 0, "id": "never"}',
                           '{"type": "error", "code": "busy", "message": "no", "ref": 5}',
                           json.dumps({"type": "ToolFinished", "seq": 1, "at": 0, "call": CALL, "response": None})],
}  # fmt: skip
PAGE = (
    '<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/page.js"></script>'
)
SCRIPT = """
import { LiveClient } from "/live/client.js";
window.live = new LiveClient();
window.ran = [];
live.tool("show", (args) => void ran.push(args));
"""


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[str, list[str | bytes], list[Any]]]:
    """An address, what the relay sends behind its ``ready``, and what pages have sent."""
    sends: list[str | bytes] = []
    heard: list[Any] = []

    async def live(websocket: WebSocket) -> None:
        await websocket.accept("livetools.v1")
        await websocket.send_text(json.dumps(READY))
        try:
            for message in sends:
                await (websocket.send_text if isinstance(message, str) else websocket.send_bytes)(message)
            await websocket.send_text(
                json.dumps({"type": "TextChunk", "seq": 9999, "at": 1, "text": "the last"})
            )
            while True:
                message = await websocket.receive_json()
                heard.append(message)
                if message["type"] == "text":
                    told = {
                        "type": "user_text",
                        "seq": 10_000,
                        "at": 2,
                        "text": message["text"],
                        "ref": message["ref"],
                    }
                    await websocket.send_text(json.dumps(told))
        except (WebSocketDisconnect, RuntimeError):
            pass

    async def page(request: object) -> HTMLResponse:
        return HTMLResponse(PAGE)

    async def script(request: object) -> HTMLResponse:
        return HTMLResponse(SCRIPT, media_type="text/javascript")

    files = Mount("/live", StaticFiles(directory=BUILT))
    routes = [Route("/", page), Route("/page.js", script), WebSocketRoute("/live/", live), files]
    with serving(Starlette(routes=routes)) as address:
        yield address, sends, heard


@pytest.fixture
def relay(place: tuple[str, list[str | bytes], list[Any]]) -> tuple[str, list[str | bytes], list[Any]]:
    """The same, before anybody has come."""
    _, sends, heard = place
    sends.clear()
    heard.clear()
    return place


@pytest.fixture
def met(chromium: Any, relay: Any) -> Iterator[Any]:
    """From what the relay sends to the page that has met it, which must not have thrown anything."""
    address, sends, _ = relay
    context = chromium.new_context()
    faults: list[str] = []

    def meet(messages: list[str | bytes]) -> Any:
        sends[:] = messages
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"http://{address}/")
        page.wait_for_function("window.live !== undefined")
        page.evaluate(
            "void live.on('TextChunk', ({ text }) => { if (text === 'the last') window.over = true; })"
        )
        page.evaluate("void live.on('user_text', ({ text }) => { window.taken = text; })")
        page.evaluate("void live.connect().catch((error) => { window.refused = String(error); })")
        page.wait_for_function("window.over === true")
        return page

    yield meet
    context.close()
    assert not faults


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_message_of_a_relay_breaks_the_page(met: Any, attack: str) -> None:
    page = met(ATTACKS[attack])
    page.evaluate("live.sendText('still here')")
    page.wait_for_function("window.taken === 'still here'")
    assert page.evaluate("({}).hacked === undefined")
    assert page.evaluate("live.state") == "ready"


def test_a_function_of_the_page_never_runs_with_arguments_that_were_left_out(met: Any, relay: Any) -> None:
    started = {"type": "ToolStarted", "seq": 1, "at": 0, "call": CALL, "approval": False}
    page = met(
        [json.dumps({**started, "truncated": True}), json.dumps({**started, "call": {**CALL, "id": "c2"}})]
    )
    page.wait_for_function("ran.length === 1")
    page.evaluate("live.sendText('still here')")
    page.wait_for_function("window.taken === 'still here'")
    answers = {each["id"]: each for each in relay[2] if each["type"] == "respond"}
    assert "too large" in answers["c1"]["error"]
    assert "error" not in answers["c2"] or answers["c2"]["error"] is None
