"""pipecat-ai: a pipeline with Google's live service between the two halves of a context, without audio devices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from google.genai.types import HttpOptions
from loguru import logger
from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EndFrame,
    InputAudioRawFrame,
    InputTextRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService
from worker import MICROPHONE, MODEL, Meter, open_microphone, pause, request, serve, without_tls, work

TOOLS = ToolsSchema(
    standard_tools=[
        FunctionSchema(
            name="work", description="Works.", properties={"i": {"type": "integer"}}, required=["i"]
        )
    ]
)


class Ears(FrameProcessor):
    """Hears when a turn of the model's has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = asyncio.Event()

    async def process_frame(self, frame: Any, direction: Any) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMFullResponseEndFrame):
            self.ended.set()
        await self.push_frame(frame, direction)

    async def turn(self) -> None:
        await self.ended.wait()
        self.ended.clear()


def job(name: str, tool: Callable[..., Any] = work, day: bool = False) -> Any:
    async def handler(params: Any) -> None:
        await params.result_callback({"output": await tool(**params.arguments)})

    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        options = HttpOptions(base_url=url.replace("ws:", "http:"))
        settings = GeminiLiveLLMService.Settings(model=MODEL)
        llm = GeminiLiveLLMService(api_key="none", http_options=options, settings=settings)
        llm.register_function("work", handler)
        context = LLMContext([{"role": "user", "content": request("say")}], TOOLS)
        pair, ears = LLMContextAggregatorPair(context), Ears()
        task = PipelineTask(Pipeline([pair.user(), llm, ears, pair.assistant()]))
        running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
        await task.queue_frames([LLMContextFrame(context)])
        await ears.turn()  # it stands
        if day:
            await open_microphone(lambda: task.queue_frames([InputAudioRawFrame(MICROPHONE, 16000, 1)]))
        with meter.collecting() if day else meter:
            await task.queue_frames([InputTextRawFrame(text=request(name, n, p))])
            await ears.turn()
        await task.queue_frames([EndFrame()])
        await running

    return run


if __name__ == "__main__":
    logger.remove()
    without_tls()
    jobs = {"calls": job("calls"), "pause": job("calls", pause), "audio": job("audio")}
    serve("pipecat-ai", {**jobs, "day": job("calls", day=True)})
