"""A voice agent on a Twilio phone number. Set the number's webhook to PUBLIC_URL/incoming."""

import os
from functools import partial
from operator import itemgetter

import uvicorn
from fastapi import FastAPI, Response, WebSocket
from offline import service

from livetools import ToolContext, ToolResult, connect
from livetools.integrations.telephony import Ended, twilio

STREAM_URL = os.environ.get("PUBLIC_URL", "http://127.0.0.1:8000").replace("http", "ws", 1) + "/call"


def book_table(context: ToolContext[str], people: int, time: str) -> str:
    """Book a table. Times are such as 19:30."""
    print(f"{context.deps}: a table for {people} at {time}")
    return f"A table for {people} is booked at {time}."


def say_goodbye() -> ToolResult:
    """End the call, once the caller needs nothing more. Say goodbye afterwards."""
    return ToolResult("The call ends after your goodbye.", ends_session=True)


TOOLS = [book_table, say_goodbye]
agent = partial(connect, "gemini-3.8-live", tools=TOOLS, instructions="You take bookings for a restaurant.")
app = FastAPI()


@app.post("/incoming")
def incoming() -> Response:
    """Twilio's webhook: tells it to stream the call to /call."""
    return Response(
        f'<Response><Connect><Stream url="{STREAM_URL}"/></Connect></Response>', media_type="text/xml"
    )


@app.websocket("/call")
async def call(websocket: WebSocket) -> None:
    """One phone call, from start to end. With TWILIO_AUTH_TOKEN, only Twilio can connect."""
    await websocket.accept()
    whose = itemgetter("callSid")  # of Twilio's start frame: the tools' context.deps
    options = {"auth_token": os.environ.get("TWILIO_AUTH_TOKEN"), "url": STREAM_URL}
    await twilio(
        websocket, agent, deps=whose, greeting="Greet the caller.", idle=10.0, on_end=over, **options
    )


def over(ended: Ended) -> None:
    """The call is over."""
    print(f"{ended.start['callSid']}: {ended.reason}, after {ended.heard:.0f} s of speech")


if __name__ == "__main__":
    with service():
        uvicorn.run(app, port=8000)
