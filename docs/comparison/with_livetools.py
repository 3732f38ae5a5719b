import asyncio

from forecast import forecast

import livetools


async def get_weather(city: str) -> str:
    """Current weather in a city."""
    return await forecast(city)


async def main():
    async with livetools.connect("gemini-3.8-live", tools=[get_weather]) as session:
        await session.send_text("Weather in Oslo?")
        print(await session.wait_until_settled())


asyncio.run(main())
