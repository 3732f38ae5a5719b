import asyncio

from forecast import forecast
from google.adk.agents import Agent
from google.adk.agents.live_request_queue import LiveRequestQueue
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types


async def get_weather(city: str) -> str:
    """Current weather in a city."""
    return await forecast(city)


async def main():
    agent = Agent(name="agent", model="gemini-3.8-live", tools=[get_weather])
    runner = InMemoryRunner(agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    queue = LiveRequestQueue()
    queue.send_content(types.Content(role="user", parts=[types.Part(text="Weather in Oslo?")]))
    config = RunConfig(
        response_modalities=["AUDIO"],
        streaming_mode=StreamingMode.BIDI,
        session_resumption=types.SessionResumptionConfig(),
    )
    answer = ""
    async for event in runner.run_live(
        user_id="user", session_id=session.id, live_request_queue=queue, run_config=config
    ):
        if event.output_transcription and event.partial:
            answer += event.output_transcription.text or ""
        if event.turn_complete and answer:  # a turn may end without words
            break
    queue.close()
    print(answer)


asyncio.run(main())
