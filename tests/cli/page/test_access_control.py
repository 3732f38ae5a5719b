"""Who may come to the page of ``livetools web``."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from livetools.cli.page.access_control import AccessControl, Door

TOKEN = "correct horse"


def client(door: Door, base: str = "http://127.0.0.1:8000") -> TestClient:
    async def hello(request: object) -> PlainTextResponse:
        return PlainTextResponse("hello")

    async def live(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(websocket.scope["scheme"])
        await websocket.close()

    routes = [Route(path, hello) for path in ("/", "/web/page/page.css", "/live/client.js", "/facts.json")]
    app = Starlette(
        routes=[*routes, WebSocketRoute("/live/", live)], middleware=[Middleware(AccessControl, door=door)]
    )
    return TestClient(app, base_url=base, follow_redirects=False)


def scheme(page: TestClient, host: str, origin: str) -> str:
    cookies = "; ".join(f"{name}={value}" for name, value in page.cookies.items())
    headers = {
        "host": host,
        "origin": origin,
        "cookie": cookies,
    }  # the client would send them to its own base alone
    with page.websocket_connect("/live/", headers=headers) as socket:
        return socket.receive_text()


def test_on_loopback_nobody_needs_a_token_and_other_names_are_not_answered():
    page = client(Door.to("127.0.0.1", [], TOKEN))
    assert page.get("/facts.json").text == "hello"
    for host in ("localhost:8000", "[::1]:8000", "127.0.0.1"):
        assert page.get("/facts.json", headers={"host": host}).status_code == 200
    for host in ("evil.example", "192.168.1.5:8000", ""):
        assert page.get("/", headers={"host": host}).status_code == 400


def test_other_machines_get_the_empty_page_and_nothing_else_without_the_token():
    page = client(Door.to("0.0.0.0", [], TOKEN), "http://192.168.1.5:8000")
    for path in ("/", "/web/page/page.css", "/live/client.js"):
        assert page.get(path).status_code == 200
    assert page.get("/facts.json").status_code == 401
    with pytest.raises(WebSocketDisconnect):
        scheme(page, "192.168.1.5:8000", "http://192.168.1.5:8000")
    assert page.get("/", params={"token": "wrong"}).status_code == 401
    assert page.get("/", headers={"host": "evil.example"}).status_code == 400


def test_the_token_is_kept_in_a_cookie_and_leaves_the_address():
    page = client(Door.to("0.0.0.0", [], TOKEN), "http://192.168.1.5:8000")
    first = page.get("/", params={"token": TOKEN})
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert "httponly" in first.headers["set-cookie"].lower()
    assert "samesite=strict" in first.headers["set-cookie"].lower()
    assert page.get("/facts.json").text == "hello"
    assert scheme(page, "192.168.1.5:8000", "http://192.168.1.5:8000") == "ws"


def test_a_tunnel_has_a_token_too_and_its_tls_is_known():
    page = client(Door.to("127.0.0.1", ["Phone.Example"], TOKEN), "http://phone.example")
    assert page.get("/facts.json").status_code == 401
    page.get("/", params={"token": TOKEN})
    assert scheme(page, "phone.example", "https://phone.example") == "wss"
    assert scheme(page, "phone.example", "https://elsewhere.example") == "ws"  # which the relay refuses then


def test_only_a_browser_opens_a_websocket():
    with pytest.raises(WebSocketDisconnect), client(Door()).websocket_connect("/live/"):
        pass


def test_the_address_to_open_has_the_token():
    assert Door().url("127.0.0.1", 8000) == "http://127.0.0.1:8000/"
    assert Door.to("::", [], TOKEN).url("fe80::1", 8000) == "http://[fe80::1]:8000/?token=correct+horse"
