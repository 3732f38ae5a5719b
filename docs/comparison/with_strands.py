import asyncio

from forecast import forecast
from strands import tool
from strands.bidi import BidiAgent
from strands.bidi.models.google import GoogleGeminiLiveModel


@tool
async def get_weather(city: str) -> str:
    """Current weather in a city."""
    return await forecast(city)


async def main():
    model = GoogleGeminiLiveModel(model_id="gemini-3.8-live")
    agent = BidiAgent(model=model, tools=[get_weather])
    await agent.start()
    await agent.send("Weather in Oslo?")
    async for event in agent.receive():
        if event.get("type") == "bidi_transcript_block" and event.role == "assistant":
            print(event.transcript)
            break
    await agent.stop()


asyncio.run(main())
