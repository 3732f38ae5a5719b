import asyncio

from forecast import forecast
from pydantic_ai import Agent
from pydantic_ai.realtime import RealtimeModelSettings, ReconnectPolicy

agent = Agent()


@agent.tool_plain
async def get_weather(city: str) -> str:
    """Current weather in a city."""
    return await forecast(city)


async def main():
    settings = RealtimeModelSettings(reconnect=ReconnectPolicy(max_attempts=3))
    async with agent.realtime("google:gemini-3.8-live", model_settings=settings).session() as session:
        await session.send("Weather in Oslo?")
        await session.wait_for_reply()
        for message in session.all_messages():
            for part in message.parts:
                if message.kind == "response" and part.part_kind == "speech":
                    print(part.transcript)


asyncio.run(main())
