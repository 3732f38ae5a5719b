"""livekit-agents' realtime model against a fake server, without a room: a call and its answer.

Prints what was said and called.
"""

import asyncio
import json

from livekit.agents import Agent, AgentSession, function_tool
from livekit.plugins.google.realtime import RealtimeModel

called = []


@function_tool
async def work(n: int) -> str:
    """Do the work."""
    called.append(n)
    return "done"


async def main():
    said = ""
    session = AgentSession(llm=RealtimeModel(model="gemini-3.8-live"))
    await session.start(Agent(instructions="Be brief.", tools=[work]), record=False)
    for text in ("work", "again"):
        run = await session.run(user_input=text)
        said += "".join(
            event.item.text_content or ""
            for event in run.events
            if event.type == "message" and event.item.role == "assistant"
        )
    await session.aclose()
    print(json.dumps({"said": said, "called": called}))


asyncio.run(main())
