"""Several processes for one phone number: a call survives the restart of its process.

On SIGTERM a call is parked at its next quiet moment: its websocket is closed, Twilio asks the `action` of the
`<Connect>` what comes next, and is told to stream again, to whichever process the balancer picks.
"""

import os
from functools import partial
from operator import itemgetter
from pathlib import Path
from urllib.parse import parse_qsl

import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket
from offline import service

from livetools import connect
from livetools.integrations.drain import Drain
from livetools.integrations.telephony import Ended, twilio
from livetools.session import FileHandleStore

STREAM_URL = os.environ.get("PUBLIC_URL", "http://127.0.0.1:8000").replace("http", "ws", 1) + "/call"
HANDLES = Path(os.environ.get("HANDLES", "handles"))  # on several machines: a RedisHandleStore


def opening_hours(day: str) -> str:
    """When the restaurant is open on a day of the week."""
    return "17:00 to 23:00"


agent = partial(
    connect, "gemini-3.8-live", tools=[opening_hours], instructions="You answer for a restaurant."
)
drain = Drain(within=60)
app = FastAPI(lifespan=drain.lifespan)


def stream() -> Response:
    """Stream the call here, and ask /next when the stream has ended."""
    connects = f'<Connect action="/next"><Stream url="{STREAM_URL}"/></Connect>'
    return Response(f"<Response>{connects}</Response>", media_type="text/xml")


@app.post("/incoming")
def incoming() -> Response:
    """Twilio's webhook for a new call."""
    HANDLES.mkdir(exist_ok=True)
    return stream()


@app.post("/next")
async def next_stream(request: Request) -> Response:
    """The stream has ended, because the conversation or only the process ended."""
    asked = dict(parse_qsl((await request.body()).decode()))
    if (HANDLES / Path(asked["CallSid"]).name).exists():
        return stream()
    return Response("<Response><Hangup/></Response>", media_type="text/xml")


@app.websocket("/call")
async def call(websocket: WebSocket) -> None:
    """One stream of a call."""
    await websocket.accept()
    options = {
        "auth_token": os.environ.get("TWILIO_AUTH_TOKEN"),
        "url": STREAM_URL,
        "greeting": "Greet the caller.",
    }
    await twilio(
        websocket, agent, deps=itemgetter("callSid"), stores=store, drain=drain, on_end=over, **options
    )


def store(start: dict) -> FileHandleStore:
    """The store of this call's handle."""
    return FileHandleStore(HANDLES / start["callSid"])


def over(ended: Ended) -> None:
    """Forget the conversation, unless it goes on."""
    print(f"{ended.start['callSid']}: {ended.reason}")
    if ended.reason != "parked":
        (HANDLES / ended.start["callSid"]).unlink(missing_ok=True)


if __name__ == "__main__":
    with service():
        uvicorn.run(app, port=8000)
