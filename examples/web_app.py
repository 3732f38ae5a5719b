"""One session for each websocket, without the relay. Run `python examples/web_app.py`, and open http://127.0.0.1:8000."""

from offline import service
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from text_agent import convert_units, get_time, get_weather

from livetools import LiveToolsError, connect

PAGE = """<!doctype html><meta charset="utf-8"><title>livetools</title>
<form><input autofocus size="60" placeholder="Weather in Oslo?"></form><pre></pre>
<script>
const socket = new WebSocket(`ws://${location.host}/chat`), box = document.querySelector("input"),
      log = document.querySelector("pre");
socket.onmessage = event => log.append(JSON.parse(event.data).text ?? "\\n");
document.querySelector("form").onsubmit = event => {
  event.preventDefault(); log.append(`> ${box.value}\\n`); socket.send(box.value); box.value = "";
};
</script>"""


async def page(request: object) -> HTMLResponse:
    return HTMLResponse(PAGE)


async def chat(browser: WebSocket) -> None:
    """Gets questions as text, sends the answer piece by piece, then {"done": true}."""
    await browser.accept()
    try:
        async with connect("gemini-3.8-live", tools=[get_weather, get_time, convert_units]) as session:
            async for question in browser.iter_text():
                async for piece in session.stream(question):
                    await browser.send_json({"text": piece})
                await browser.send_json({"done": True})
    except WebSocketDisconnect:
        pass  # the page was closed in the middle of an answer; the session has ended with it
    except LiveToolsError as error:
        await browser.send_json({"text": f"{error}\n", "done": True})
        await browser.close(1011)


app = Starlette(routes=[Route("/", page), WebSocketRoute("/chat", chat)])

if __name__ == "__main__":
    import uvicorn

    with service():
        uvicorn.run(app, host="127.0.0.1", port=8000)
