"""``livetools voice``: speak with a model, by microphone and speaker or by WAV files."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import AsyncIterable, Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Annotated

import anyio
import typer
from anyio.streams.memory import MemoryObjectReceiveStream
from rich.console import Console

from livetools.audio import FileSpeaker, Microphone, Output, Speaker, pace, read_wav, talk
from livetools.errors import LocalProtocolError
from livetools.events import (
    ApprovalRequested,
    Call,
    Event,
    InputTranscript,
    OutputTranscript,
    TextChunk,
    ToolStarted,
    TurnComplete,
)
from livetools.integrations.relay.race import race
from livetools.session.handlers.threads import DaemonThreads, result_of
from livetools.session.session import Session

from .agent import Choices, sessions
from .approval import decision
from .endpoint import service_or_fake
from .options import BASE_URL, CONFIG, INSTRUCTIONS, LANGUAGE, MODEL, TARGET, VOICE
from .saving import FORCE, SAVE, saved
from .terminal import forget_typed
from .view import View, short

HEADPHONES = "Speak. Use headphones: the model stops when it hears a voice, also its own. Ctrl-C ends."


def voice(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str | None, MODEL] = None,
    instructions: Annotated[str | None, INSTRUCTIONS] = None,
    voice: Annotated[str | None, VOICE] = None,
    language: Annotated[str | None, LANGUAGE] = None,
    config: Annotated[Path | None, CONFIG] = None,
    question: Annotated[
        Path | None,
        typer.Option(
            "--in",
            help="A WAV file to send instead of the microphone.",
            show_default=False,
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    answer: Annotated[
        Path | None,
        typer.Option("--out", help="A WAV file to write instead of playing.", show_default=False),
    ] = None,
    microphone: Annotated[
        str | None,
        typer.Option(
            help="The number of the microphone, or a part of its name; python -m sounddevice lists them.",
            show_default=False,
        ),
    ] = None,
    speaker: Annotated[
        str | None, typer.Option(help="The number of the speaker, or a part of its name.", show_default=False)
    ] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
    file: Annotated[Path | None, SAVE] = None,
    force: Annotated[bool, FORCE] = False,
) -> None:
    """Talk to an agent, and see the transcript and every call.

    Speak over the model to interrupt it. Calls that need an approval are asked about at the keyboard. With --in it
    sends a WAV file and ends when that is answered; with --out it writes what you would hear. A machine without a
    sound card needs both. Ctrl-C ends it.
    """
    choices = Choices(model, instructions, voice, language, config=config)
    with service_or_fake(fake, base_url) as endpoint, ExitStack() as devices:
        session = sessions(target, choices, endpoint.options, transcribe=True)()
        view = View(Console(highlight=False), "pretend model" if endpoint.fake else short(session.model))
        if endpoint.notice:
            view.notice(endpoint.notice)
        source = _source(question, _device(microphone), devices)
        output = devices.enter_context(_output(answer, _device(speaker)))
        if question is None:
            view.notice(HEADPHONES)
        devices.enter_context(saved(session, file, force))
        try:
            anyio.run(_converse, session, source, output, view)
        except KeyboardInterrupt:
            pass
        finally:
            view.end()


async def _converse(session: Session, source: AsyncIterable[bytes], output: Output, view: View) -> None:
    asks, asked = anyio.create_memory_object_stream[Call](math.inf)  # the calls that wait for an approval
    told = _Told(view, asks.send_nowait)
    async with session, asks, asked:
        await race(lambda: talk(session, source, output, tell=told), lambda: _decide(session, asked, view))


async def _decide(session: Session, calls: MemoryObjectReceiveStream[Call], view: View) -> None:
    """Ask the person at the keyboard about each call that waits for an approval, one after the other."""
    keyboard = DaemonThreads()  # a thread that waits for a line keeps no process alive
    async for call in calls:
        refusal = await result_of(keyboard.submit(decision, call, view.notice, _typed))
        with contextlib.suppress(LocalProtocolError):  # it timed out, or was cancelled
            await (session.approve(call) if refusal is None else session.refuse(call, refusal))


def _typed(prompt: str) -> str | None:
    """A line from the keyboard; ``None`` where nobody sits at one."""
    if not sys.stdin.isatty():
        return None
    forget_typed()
    typer.echo(prompt, nl=False)
    return sys.stdin.readline() or None


def _source(question: Path | None, device: int | str | None, devices: ExitStack) -> AsyncIterable[bytes]:
    if question is not None:
        return pace(read_wav(question))
    return devices.enter_context(Microphone(device=device))


def _output(answer: Path | None, device: int | str | None) -> AbstractContextManager[Output]:
    return Speaker(device=device) if answer is None else FileSpeaker(answer)


def _device(name: str | None) -> int | str | None:
    return int(name) if name is not None and name.isdigit() else name


class _Told:
    """Shows events; what the user said, which comes in pieces, as one line before the model's first word.

    ``ask`` gets the calls that wait for an approval.
    """

    def __init__(self, view: View, ask: Callable[[Call], None]) -> None:
        self._view, self._ask = view, ask
        self._heard = ""

    def __call__(self, event: Event) -> None:
        match event:
            case InputTranscript(text=text, interim=False):
                self._heard += text
            case TextChunk() | OutputTranscript() | ToolStarted() | TurnComplete() if self._heard.strip():
                self._view.notice(f"> {self._heard.strip()}", "")
                self._heard = ""
        self._view.show(event)
        if isinstance(event, ApprovalRequested):
            self._ask(event.call)
        if isinstance(event, TurnComplete):
            self._view.end()
