"""google-adk's live runner against a fake server: a call and its answer. Prints what was said and called."""

import asyncio
import json

from google.adk.agents import Agent
from google.adk.agents.live_request_queue import LiveRequestQueue
from google.adk.agents.run_config import RunConfig
from google.adk.runners import InMemoryRunner
from google.genai import types

called = []


def work(n: int) -> str:
    """Do the work."""
    called.append(n)
    return "done"


async def main():
    agent = Agent(name="a", model="gemini-3.8-live", tools=[work])
    runner = InMemoryRunner(agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    queue, said, told = LiveRequestQueue(), "", False
    config = RunConfig(
        response_modalities=["AUDIO"], output_audio_transcription=types.AudioTranscriptionConfig()
    )
    queue.send_content(types.Content(role="user", parts=[types.Part(text="work")]))
    async for event in runner.run_live(
        user_id="u", session_id=session.id, live_request_queue=queue, run_config=config
    ):
        if event.output_transcription and event.partial:
            said += event.output_transcription.text or ""
        if event.turn_complete and said.endswith("again."):
            break
        if event.turn_complete and said and not told:
            told = True
            queue.send_content(types.Content(role="user", parts=[types.Part(text="again")]))
    queue.close()
    print(json.dumps({"said": said, "called": called}))


asyncio.run(main())
