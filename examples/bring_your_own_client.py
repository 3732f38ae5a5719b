"""Keep your google-genai session: livetools declares the tools and answers the calls.

`python examples/bring_your_own_client.py "Weather in Oslo?"`
"""

import asyncio
import sys

from google import genai
from google.genai import types
from offline import service

import livetools

MODEL = "gemini-3.8-live"


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


# A declaration of your own, and a handler for it.
LAMP = types.FunctionDeclaration(
    name="get_lamp",
    description="Whether the lamp of a room is on.",
    parameters=types.Schema(
        type=types.Type.OBJECT, properties={"room": types.Schema(type=types.Type.STRING)}, required=["room"]
    ),
)
TOOLS = [get_weather, livetools.Tool(LAMP, handler=lambda room: "on" if room == "kitchen" else "off")]


async def main(question: str) -> None:
    config = types.LiveConnectConfig(
        response_modalities=[types.Modality.AUDIO],
        output_audio_transcription=types.AudioTranscriptionConfig(),
    )
    with service():
        client = genai.Client()
        async with client.aio.live.connect(
            model=MODEL, config=livetools.declare(TOOLS, into=config)
        ) as session:
            async with livetools.attach(session, TOOLS, model=MODEL) as live:
                await session.send_client_content(
                    turns=types.Content(role="user", parts=[types.Part(text=question)])
                )
                heard = False
                async for message in live:  # the SDK's own messages; calls are answered for you
                    content = message.server_content
                    if content and content.output_transcription:
                        print(content.output_transcription.text, end="", flush=True)
                        heard = True
                    if content and content.turn_complete and heard:
                        break  # a turn without a word is the one that made the call


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "Is the lamp on in the kitchen?"))
