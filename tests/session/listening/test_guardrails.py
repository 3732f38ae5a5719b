"""Hooks on what is said: they may cut the model off, and the model never waits for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from livetools import Hooks, InputTranscript, Interrupted, OutputTranscript, TurnComplete
from livetools.session.listening import guardrails
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


def greet() -> str:
    """Greet."""
    return "hello"


class Ears(Hooks):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def on_input(self, transcript: InputTranscript) -> None:
        self.heard.append(("user", transcript.text))

    async def on_output(self, transcript: OutputTranscript) -> None:
        self.heard.append(("model", transcript.text))


async def test_hooks_are_told_what_is_typed_said_and_answered_in_its_order(opened: Opened) -> None:
    ears = Ears()
    async with opened(hooks=[ears]) as line:
        await line.session.send_text("typed")
        line.server.send({"serverContent": {"inputTranscription": {"text": "said"}}})
        line.server.send({"serverContent": {"outputTranscription": {"text": "It is "}}})
        line.says("12.")
        await line.until(TurnComplete)
    assert ears.heard == [("user", "typed"), ("user", "said"), ("model", "It is "), ("model", "12.")]


async def test_the_text_of_a_model_that_writes_is_output(opened: Opened) -> None:
    ears = Ears()
    model, config = "gemini-live-2.5-flash-preview", {"response_modalities": ["TEXT"]}
    async with opened(hooks=[ears], model=model, config=config) as line:
        line.server.send({"serverContent": {"modelTurn": {"parts": [{"text": "12."}]}}})
        line.server.send({"serverContent": {"turnComplete": True}})
        await line.until(TurnComplete)
    assert ears.heard == [("model", "12.")]


async def test_a_hook_cuts_the_model_off_and_lets_it_say_something_else(opened: Opened) -> None:
    class Guard(Hooks):
        async def on_output(self, transcript: OutputTranscript, session: Any = None) -> None:
            if "secret" in transcript.text:
                await session.interrupt()
                await session.generate_reply("Say that you cannot tell.")

    clock = FakeClock()
    async with opened(hooks=[Guard()], clock=clock) as line:
        line.server.send({"serverContent": {"outputTranscription": {"text": "The secret "}}})
        await line.until(Interrupted)
        line.server.send({"serverContent": {"outputTranscription": {"text": "is 42."}}})
        line.server.send({"serverContent": {"interrupted": True}})
        line.server.send({"serverContent": {"turnComplete": True}})
        await line.until(TurnComplete)
        await line.quiet()
        clock.advance(2)  # nobody speaks: the hook's words go out
        while "Say that you cannot tell." not in str(await line.receive("clientContent")):
            pass
        line.says("I cannot tell.")
        await line.until(TurnComplete)
        told = str(line.session.transcript.contents)
    assert "42" not in told
    assert "I cannot tell." in told


async def test_a_hook_ends_the_conversation(opened: Opened) -> None:
    class Guard(Hooks):
        async def on_input(self, transcript: InputTranscript, session: Any = None) -> None:
            await session.aclose()

    async with opened(hooks=[Guard()]) as line:
        await line.session.send_text("rude words")
        with anyio.fail_after(5):
            assert [event async for event in line.session if isinstance(event, OutputTranscript)] == []


async def test_a_hook_that_raises_is_logged_and_the_next_ones_are_told_all(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Hooks):
        def on_input(self, transcript: InputTranscript) -> None:
            raise RuntimeError("broken")

        async def on_output(self, transcript: OutputTranscript) -> None:
            raise RuntimeError("broken")

    ears = Ears()
    async with opened([greet], hooks=[Broken(), ears]) as line:
        await line.session.send_text("hi")
        line.call({"name": "greet", "id": "c1", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "hello"}
        line.says("Hello.")
        await line.until(TurnComplete)
    assert ears.heard == [("user", "hi"), ("model", "Hello.")]
    assert "the hook Broken.on_input failed" in caplog.text
    assert "the hook Broken.on_output failed" in caplog.text


async def test_neither_the_model_nor_the_user_waits_for_a_hook(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guardrails, "LAST_WORDS", 0.01)
    cancelled: list[str] = []

    class Slow(Hooks):
        async def on_input(self, transcript: InputTranscript) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.append(transcript.text)

    async with opened([greet], hooks=[Slow()]) as line:
        await line.session.send_text("one")
        await line.session.send_text("two")
        line.call({"name": "greet", "id": "c1", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "hello"}
        line.says("Hello.")
        await line.until(TurnComplete)
    assert cancelled == ["one"]


async def test_what_waits_for_a_hook_is_bounded(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    go = anyio.Event()
    heard: list[str] = []

    class Slow(Hooks):
        async def on_output(self, transcript: OutputTranscript) -> None:
            await go.wait()
            heard.append(transcript.text)

    async with opened(hooks=[Slow()]) as line:
        for n in range(guardrails.WAITING + 10):
            line.server.send({"serverContent": {"outputTranscription": {"text": f"{n} "}}})
        line.says("end")
        await line.until(TurnComplete)
        go.set()
    assert heard[-1] == "end"
    assert len(heard) <= guardrails.WAITING + 1
    assert "is behind by 1000 transcripts" in caplog.text


async def test_a_session_whose_hooks_look_at_calls_alone_has_no_task_for_them(opened: Opened) -> None:
    class Calls(Hooks):
        pass

    async with opened(hooks=[Calls()]) as line:
        assert line.session._assembly.guardrails is None
