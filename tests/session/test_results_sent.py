"""What goes out to each model for what a tool returns."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from google.genai import types

from livetools import ToolError, ToolFinished, ToolProgress, ToolResult, tool
from livetools.errors import ConfigError
from livetools.setup.config_fields import history

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]
READS = ["gemini-3.8-live", "gemini-3.1-flash-live-preview"]
READS_NONE = ["gemini-2.5-flash-native-audio-preview-12-2025", "gemini-live-2.5-flash-preview"]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
PART = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PNG).decode()}}
WORDS = "[an image: image/png, 28 bytes]"


async def sent(line: Any, count: int = 1, name: str = "look", **args: object) -> Any:
    line.call({"name": name, "id": "c1", "args": args})
    found = await line.responses(count)
    return found[0] if count == 1 else found


def look() -> bytes:
    """Look."""
    return PNG


@pytest.mark.parametrize("model", READS)
async def test_an_image_is_shown_to_a_model_that_reads_images(opened: Opened, model: str) -> None:
    async with opened([look], model=model) as line:
        found = await sent(line)
    assert found["parts"] == [PART]
    assert found["response"] == {"output": WORDS}


@pytest.mark.parametrize("model", READS_NONE)
async def test_to_a_model_that_reads_none_the_image_is_told(opened: Opened, model: str) -> None:
    async with opened([look], model=model) as line:
        found = await sent(line)
    assert "parts" not in found
    assert found["response"]["output"] == WORDS
    assert "does not read image/png" in found["response"]["note"]


async def test_a_sound_is_told_where_no_model_reads_it_and_the_rest_is_sent(opened: Opened) -> None:
    def look() -> dict[str, Any]:
        """Look."""
        return {"sound": b"RIFF\x24\0\0\0WAVEfmt ", "shot": PNG, "n": 1}

    async with opened([look]) as line:
        found = await sent(line)
        finished = await line.until(ToolFinished)
    assert found["parts"] == [PART]
    assert found["response"]["output"] == {
        "sound": "[a sound: audio/wav, 16 bytes]",
        "shot": WORDS,
        "n": 1,
    }
    assert "does not read audio/wav" in found["response"]["note"]
    assert finished.error is None


async def test_a_scheduling_goes_with_an_image(opened: Opened) -> None:
    @tool(behavior="non_blocking")
    def look() -> ToolResult:
        """Look."""
        return ToolResult({"shot": PNG}, scheduling="silent")

    async with opened([look]) as line:
        found = await sent(line)
    assert (found["scheduling"], found["parts"]) == ("SILENT", [PART])


async def test_the_images_of_a_generator_go_with_the_yields_that_hold_them(opened: Opened) -> None:
    async def look() -> AsyncIterator[object]:
        """Look."""
        yield PNG
        yield ToolResult("again", parts=[PNG])
        yield types.FunctionResponse(
            response={"third": 3}, scheduling=types.FunctionResponseScheduling.SILENT
        )

    async with opened([look]) as line:
        found = await sent(line, 4)
    assert [one.get("parts") for one in found] == [[PART], [PART], None, None]
    assert [one["response"] for one in found[:3]] == [{"output": WORDS}, {"output": "again"}, {"third": 3}]
    assert found[2]["scheduling"] == "SILENT"
    assert [one["willContinue"] for one in found] == [True, True, True, False]


async def test_the_images_of_a_generator_go_together_where_its_yields_do(opened: Opened) -> None:
    def look() -> Iterator[object]:
        """Look."""
        yield PNG
        yield ToolResult("again", parts=[PNG])

    async with opened([look], model="gemini-3.1-flash-live-preview") as line:
        found = await sent(line)
    assert found["response"] == {"output": [WORDS, "again"]}
    assert found["parts"] == [PART, PART]


@pytest.mark.parametrize("more", [True, False])
async def test_a_function_response_says_whether_more_follows_where_the_model_takes_that(
    opened: Opened, more: bool
) -> None:
    @tool(behavior="non_blocking")
    def look() -> types.FunctionResponse:
        """Look."""
        return types.FunctionResponse(name="x", response={"ok": 1}, will_continue=more)

    async with opened([look]) as line:
        assert (await sent(line))["willContinue"] is more
    async with opened([look], model="gemini-3.1-flash-live-preview") as line:
        assert "willContinue" not in await sent(line)


async def steps() -> AsyncIterator[int]:
    yield 0
    yield 1


class Counting:
    """An async iterator that is no generator, and cannot be closed."""

    def __init__(self) -> None:
        self.n = -1

    def __aiter__(self) -> Counting:
        return self

    async def __anext__(self) -> int:
        self.n += 1
        if self.n > 1:
            raise StopAsyncIteration
        return self.n


async def a_coroutine() -> object:
    return steps()


@pytest.mark.parametrize(
    "make", [steps, Counting, lambda: (n for n in range(2)), a_coroutine, lambda: (lambda: [0, 1])()]
)
@pytest.mark.parametrize("in_thread", [True, False])
async def test_what_a_function_hands_on_to_be_awaited_or_iterated_is(
    opened: Opened, make: Callable[[], object], in_thread: bool
) -> None:
    def sync() -> object:
        """Look."""
        return make()

    async def look() -> object:
        """Look."""
        return make()

    from livetools import Tool

    made = Tool(sync if in_thread else look, name="look")
    async with opened([made]) as line:
        assert (await sent(line))["response"] == {"output": [0, 1]}
    assert await made.call({}) == {"output": [0, 1]}


async def test_the_yields_of_an_iterator_that_was_handed_on_are_told_as_they_come(opened: Opened) -> None:
    def look() -> object:
        """Look."""
        return steps()

    async with opened([look]) as line:
        line.call({"name": "look", "id": "c1", "args": {}})
        assert [(await line.until(ToolProgress)).value for _ in range(2)] == [0, 1]


@pytest.mark.parametrize("model", [READS[0], READS_NONE[0]])
async def test_a_generator_without_a_yield_has_the_empty_list_as_its_result_and_is_spoken_of(
    opened: Opened, model: str
) -> None:
    async def look() -> AsyncIterator[str]:
        """Look."""
        for found in ():
            yield found

    async with opened([look], model=model) as line:
        found = await sent(line)
    assert found["response"] == {"output": []}
    assert found["willContinue"] is False
    assert "scheduling" not in found


async def test_a_reference_in_a_result_and_in_a_history_goes_as_text(opened: Opened) -> None:
    schema = {"schema": {"$ref": "#/components/schemas/E"}}

    def look() -> object:
        """Look."""
        return schema

    text = json.dumps(schema["schema"])
    async with opened([look]) as line:
        assert (await sent(line))["response"] == {"output": {"schema": text}}
    answer = {"name": "f", "response": schema}
    turns = [{"role": "user", "parts": [{"functionResponse": answer}]}]
    assert history(turns)[0]["parts"][0]["functionResponse"]["response"] == {"schema": text}
    assert answer["response"] is schema, "what the user passed is not changed"
    with pytest.raises(ConfigError):
        history([{"role": "user"}])


async def test_a_result_that_cannot_be_said_is_an_error_for_the_model_and_in_the_events(
    opened: Opened,
) -> None:
    def look() -> bytes:
        """Look."""
        return b"\xff\xfe"

    async with opened([look]) as line:
        assert "2 bytes that are neither" in (await sent(line))["response"]["error"]
        assert isinstance((await line.until(ToolFinished)).error, ToolError)
