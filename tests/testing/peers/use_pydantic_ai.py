"""pydantic-ai's realtime agent against a fake server: a call and its answer. Prints what was said and called."""

import asyncio
import json

from pydantic_ai import Agent

agent = Agent()
called = []


@agent.tool_plain
def work(n: int) -> str:
    """Do the work."""
    called.append(n)
    return "done"


async def main():
    said = ""
    async with agent.realtime("google:gemini-3.8-live").session() as session:
        await session.send("work")
        await session.wait_for_reply()
        await session.send("again")
        await session.wait_for_reply()
        for message in session.all_messages():
            for part in message.parts:
                if type(part).__name__ == "SpeechPart" and message.kind == "response":
                    said += part.transcript or ""
    print(json.dumps({"said": said, "called": called}))


asyncio.run(main())
