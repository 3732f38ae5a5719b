import asyncio
import os

from forecast import forecast
from pipecat.frames.frames import EndFrame, LLMContextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService, HttpOptions
from pipecat.services.llm_service import FunctionCallParams
from pipecat.workers.runner import WorkerRunner


async def get_weather(params: FunctionCallParams, city: str):
    """Current weather in a city.

    Args:
        city: The city.
    """
    await params.result_callback({"output": await forecast(city)})


async def main():
    llm = GeminiLiveLLMService(
        api_key=os.environ["GOOGLE_API_KEY"],
        settings=GeminiLiveLLMService.Settings(model="gemini-3.8-live"),
        tools=[get_weather],
        http_options=HttpOptions(base_url=os.environ["GOOGLE_GEMINI_BASE_URL"]),
    )
    context = LLMContext([{"role": "user", "content": "Weather in Oslo?"}])
    pair = LLMContextAggregatorPair(context)
    worker = PipelineWorker(Pipeline([pair.user(), llm, pair.assistant()]))

    @pair.assistant().event_handler("on_assistant_turn_stopped")
    async def stopped(aggregator, message):
        print(message.content)
        if message.content:
            await worker.queue_frames([EndFrame()])

    runner = WorkerRunner()
    await runner.add_workers(worker)
    await worker.queue_frames([LLMContextFrame(context)])
    await runner.run()


asyncio.run(main())
