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

    def on_input(self, event: InputTranscript) -> None:
        self.heard.append(("user", event.text))

    async def on_output(self, event: OutputTranscript) -> None:
        self.heard.append(("model", event.text))


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
        async def on_output(self, event: OutputTranscript, session: Any = None) -> None:
            if "secret" in event.text:
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
        async def on_input(self, event: InputTranscript, session: Any = None) -> None:
            await session.aclose()

    async with opened(hooks=[Guard()]) as line:
        await line.session.send_text("rude words")
        with anyio.fail_after(30):
            assert [event async for event in line.session if isinstance(event, OutputTranscript)] == []


async def test_a_hook_that_raises_is_logged_and_the_next_ones_are_told_all(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Hooks):
        def on_input(self, event: InputTranscript) -> None:
            raise RuntimeError("hunter2")

        async def on_output(self, event: OutputTranscript) -> None:
            raise RuntimeError("hunter2")

    ears = Ears()
    async with opened([greet], hooks=[Broken(), ears]) as line:
        line.server.send({"serverContent": {"outputTranscription": {"text": "Hello."}}})
        await line.until(OutputTranscript)
        await line.session.send_text("hi")
        line.call({"name": "greet", "id": "c1", "args": {}})
        assert (await line.responses(1))[0]["response"] == {"output": "hello"}
        await line.quiet()
    assert ears.heard == [("model", "Hello."), ("user", "hi")]
    assert "the hook Broken.on_input failed" in caplog.text
    assert "the hook Broken.on_output failed" in caplog.text
    assert "hunter2" not in caplog.text


def fails(self: Hooks, event: object) -> None:
    raise ConnectionError("the moderation service is down")


def disapproves(self: Hooks, event: object) -> bool:
    return False


async def disapproves_later(self: Hooks, event: object) -> str:
    return "[redacted]"


@pytest.mark.parametrize("hook", [fails, disapproves, disapproves_later])
@pytest.mark.parametrize("model", ["gemini-3.8-live", "gemini-3.1-flash-live-preview"])
async def test_what_the_model_says_is_withheld_where_on_output_fails_to_the_end_of_its_turn(
    opened: Opened, caplog: pytest.LogCaptureFixture, hook: Callable[..., object], model: str
) -> None:
    guard = type("Guard", (Hooks,), {"on_output": hook})()
    async with opened(hooks=[guard], model=model) as line:
        line.server.send({"serverContent": {"outputTranscription": {"text": "The secret "}}})
        await line.until(Interrupted)
        cut_off = "3.1" not in model  # which has no way to be told
        if cut_off:
            assert await line.receive("clientContent") == {"clientContent": {"turnComplete": False}}
        line.says("is 42.")
        await line.until(TurnComplete)
        line.says("Something else.")
        await line.until(TurnComplete)
        said = str(line.session.transcript.contents)
    assert "42" not in said
    assert "Something else." in said
    assert "Guard.on_output" in caplog.text


async def test_the_answer_to_an_input_that_was_not_checked_is_withheld_though_it_has_not_begun(
    opened: Opened,
) -> None:
    class Guard(Hooks):
        def on_input(self, event: InputTranscript) -> None:
            if "fine" not in event.text:
                raise KeyError("policy")

    async with opened(hooks=[Guard()]) as line:
        line.server.send({"serverContent": {"inputTranscription": {"text": "tell me"}}})
        await line.until(InputTranscript)
        await line.quiet()
        line.server.send({"serverContent": {"outputTranscription": {"text": "The secret "}}})
        await line.until(Interrupted)
        assert await line.receive("clientContent") == {"clientContent": {"turnComplete": False}}
        line.says("is 42.")
        await line.until(TurnComplete)
        line.server.send({"serverContent": {"inputTranscription": {"text": "fine"}}})
        line.says("It is 12.")
        await line.until(TurnComplete)
        said = str(line.session.transcript.contents)
    assert "secret" not in said
    assert "42" not in said
    assert "It is 12." in said


async def test_a_whole_answer_in_one_message_is_withheld_and_only_that_one(opened: Opened) -> None:
    class Guard(Hooks):
        def on_input(self, event: InputTranscript) -> None:
            if "fine" not in event.text:
                raise KeyError("policy")

    async with opened(hooks=[Guard()]) as line:
        line.server.send({"serverContent": {"inputTranscription": {"text": "tell me"}}})
        await line.until(InputTranscript)
        await line.quiet()
        line.server.send({"serverContent": {"outputTranscription": {"text": "42"}, "turnComplete": True}})
        await line.until(TurnComplete)
        line.says("It is 12.")
        assert (await line.until(OutputTranscript)).text == "It is 12."
        assert "42" not in str(line.session.transcript.contents)


async def test_a_method_that_was_set_on_a_hook_is_called_too(opened: Opened) -> None:
    heard: list[str] = []
    hook = type("Guard", (Hooks,), {})()
    hook.on_output = lambda event: heard.append(event.text)
    async with opened(hooks=[hook]) as line:
        line.says("Hello.")
        await line.until(TurnComplete)
    assert heard == ["Hello."]


async def test_neither_the_model_nor_the_user_waits_for_a_hook(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livetools.session.running.leaving.HANDLERS_END", 0.01)
    cancelled: list[str] = []

    class Slow(Hooks):
        async def on_input(self, event: InputTranscript) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.append(event.text)

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
        async def on_output(self, event: OutputTranscript) -> None:
            await go.wait()
            heard.append(event.text)

    async with opened(hooks=[Slow()]) as line:
        for n in range(guardrails.MAX_WAITING + 10):
            line.server.send({"serverContent": {"outputTranscription": {"text": f"{n} "}}})
        line.says("end")
        await line.until(TurnComplete)
        go.set()
        await line.quiet()
    assert heard[-1] == "end"
    assert len(heard) <= guardrails.MAX_WAITING + 1
    assert "is behind by 1000 transcripts" in caplog.text


async def test_a_session_whose_hooks_look_at_calls_alone_has_no_task_for_them(opened: Opened) -> None:
    class Calls(Hooks):
        pass

    async with opened(hooks=[Calls()]) as line:
        assert line.session._assembly.listeners.all == ()
