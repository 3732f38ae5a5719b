"""A voice agent. Run `python examples/voice_agent.py question.wav answer.wav`, or without files for a microphone."""

import sys
from collections.abc import AsyncIterable

import anyio
from offline import service

from livetools import Event, Interrupted, LiveToolsError, OutputTranscript, ToolFinished, connect, tool
from livetools.audio import FileSpeaker, Microphone, Output, Speaker, pace, read_wav, talk


@tool(timeout=5)
async def get_weather(city: str) -> str:
    """Current weather in a city: temperature, rain, sun."""
    return {"Oslo": "12 °C, rain", "Cairo": "31 °C, sun"}.get(city, "20 °C, clouds")


def show(event: Event) -> None:
    match event:
        case OutputTranscript(text=text):
            print(text, end="", flush=True)
        case ToolFinished(call=call, response=response):
            print(f"[{call.name} {dict(call.args)} → {dict(response)}]")
        case Interrupted():
            print(" … [interrupted]")


async def converse(source: AsyncIterable[bytes], output: Output) -> None:
    with service():
        async with connect("gemini-3.8-live", tools=[get_weather]) as session:
            await talk(session, source, output, tell=show)  # who cuts in silences it
    print()


async def main(files: list[str]) -> None:
    if files:
        question, answer = files
        speech = pace(read_wav(question))  # as fast as it was spoken, and then silence
        with FileSpeaker(answer) as output:
            await converse(speech, output)
    else:
        with Microphone() as microphone, Speaker() as speaker:
            print("Speak, with headphones: else it hears itself and stops. Ctrl-C ends.")
            await converse(microphone, speaker)


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit(f"usage: {sys.argv[0]} [QUESTION.wav ANSWER.wav]")
    try:
        anyio.run(main, sys.argv[1:])
    except (LiveToolsError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass
