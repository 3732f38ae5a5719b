import asyncio

from forecast import forecast
from livekit.agents import Agent, AgentSession, function_tool
from livekit.plugins.google.realtime import RealtimeModel


@function_tool
async def get_weather(city: str) -> str:
    """Current weather in a city."""
    return await forecast(city)


async def main():
    session = AgentSession(llm=RealtimeModel(model="gemini-3.8-live"))
    await session.start(Agent(instructions="Be brief.", tools=[get_weather]), record=False)
    run = await session.run(user_input="Weather in Oslo?")
    for event in run.events:
        if event.type == "message" and event.item.role == "assistant":
            print(event.item.text_content)
    await session.aclose()


asyncio.run(main())
