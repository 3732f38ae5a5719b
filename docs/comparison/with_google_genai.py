import asyncio

from forecast import forecast
from google import genai
from google.genai import types


async def get_weather(city: str) -> str:
    """Current weather in a city."""
    return await forecast(city)


TOOLS = {"get_weather": get_weather}
CONFIG = {"response_modalities": ["AUDIO"], "output_audio_transcription": {}, "tools": [get_weather]}


async def main():
    client = genai.Client()
    async with client.aio.live.connect(model="gemini-3.8-live", config=CONFIG) as session:
        question = types.Content(role="user", parts=[types.Part(text="Weather in Oslo?")])
        await session.send_client_content(turns=question)
        answer = ""
        while not answer:  # receive() ends with each turn, also with one that has no words
            async for message in session.receive():
                for call in message.tool_call.function_calls if message.tool_call else ():
                    result = await TOOLS[call.name](**call.args)
                    response = types.FunctionResponse(id=call.id, name=call.name, response={"output": result})
                    await session.send_tool_response(function_responses=[response])
                content = message.server_content
                if content and content.output_transcription:
                    answer += content.output_transcription.text or ""
        print(answer)


asyncio.run(main())
