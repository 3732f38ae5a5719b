"""A voice agent in a browser. Run `python examples/web_agent.py`, and open http://127.0.0.1:8000."""

from functools import partial
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from offline import service
from text_agent import convert_units, get_time, get_weather

from livetools import connect, tool
from livetools.integrations.starlette import relay


@tool(approval=True)
def order_taxi(place: str, passengers: int = 1) -> str:
    """Order a taxi to a place. The user is asked first."""
    return f"a taxi for {passengers} comes to {place} in 5 minutes"


agent = partial(
    connect,
    "gemini-3.8-live",
    tools=[get_weather, get_time, convert_units, order_taxi],
    instructions="You are the voice of a travel agency. Be brief.",
    config={"input_audio_transcription": {}, "output_audio_transcription": {}},
)
app = FastAPI()
app.mount("/live", relay(agent, linger=60, idle=120))  # /live/client.js is the page's side of it


@app.get("/")
def page() -> FileResponse:
    """The one page."""
    return FileResponse(Path(__file__).with_suffix(".html"))


if __name__ == "__main__":
    import uvicorn

    with service():
        uvicorn.run(app, host="127.0.0.1", port=8000, ws_max_size=2**22)
