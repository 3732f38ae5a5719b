"""``livetools voice``: speak with a model, by microphone and speaker or by WAV files."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import typer
from anyio.streams.memory import MemoryObjectReceiveStream
from rich.console import Console

from livetools.audio import FileSpeaker, Microphone, Output, Speaker, pace, read_wav, talk
from livetools.audio.activity_detection import DetectorOutput
from livetools.audio.devices import names_of
from livetools.cli.agents.common_options import (
    BASE_URL,
    CONFIG,
    INSTRUCTIONS,
    LANGUAGE,
    MODEL_OPTION,
    TARGET,
    VOICE,
)
from livetools.cli.agents.open_sessions import Choices, sessions
from livetools.cli.agents.service_or_fake import service_or_fake
from livetools.cli.process.errors_and_signals import refuse, usable
from livetools.cli.recordings.save_recording import FORCE, SAVE, saved
from livetools.cli.terminal.ask_approval import decision
from livetools.cli.terminal.keyboard import Keyboard
from livetools.cli.terminal.meter_and_push_to_talk import PushToTalk, metered, while_pressed
from livetools.cli.terminal.printing import ConversationPrinter, harmless, short
from livetools.errors import LocalProtocolError, ToolError
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
from livetools.session.handlers.threads import DaemonThreads, result_of
from livetools.session.session import Session
from livetools.transport.loop.race import race

from .chat import value_of

HEADPHONES = "Speak. Use headphones: the model stops when it hears a voice, also its own. Ctrl-C ends."
PRESS = "Press the space bar, speak, and press it again. Ctrl-C ends."


def _list(asked: bool) -> None:
    if asked:
        typer.echo("\n  ".join(["microphones:", *(names_of("input") or ["none"])]))
        typer.echo("\n  ".join(["speakers:", *(names_of("output") or ["none"])]))
        raise typer.Exit


def voice(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str | None, MODEL_OPTION] = None,
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
            help="The number of the microphone, or a part of its name; --devices lists them.",
            show_default=False,
        ),
    ] = None,
    speaker: Annotated[
        str | None, typer.Option(help="The number of the speaker, or a part of its name.", show_default=False)
    ] = None,
    devices: Annotated[
        bool,
        typer.Option(
            "--devices", help="List the microphones and speakers, and exit.", is_eager=True, callback=_list
        ),
    ] = False,
    push_to_talk: Annotated[
        bool,
        typer.Option(
            "--push-to-talk", help="The microphone is off until you press the space bar, and then again."
        ),
    ] = False,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
    file: Annotated[Path | None, SAVE] = None,
    force: Annotated[bool, FORCE] = False,
) -> None:
    """Talk to an agent, and see the transcript and every call.

    Speak over the model to interrupt it, or decide with --push-to-talk when it hears you. Calls that need an approval
    are asked about at the keyboard; so are the answers of functions without a handler. With --in it sends a WAV file
    and ends when that is answered; with --out it writes what you would hear. A machine without a sound card needs
    both. Ctrl-C ends it.
    """
    if push_to_talk:
        _check_keys(question)
    choices = Choices(model, instructions, voice, language, config=config, manual=push_to_talk)
    with service_or_fake(fake, base_url) as endpoint, ExitStack() as stack:
        session = sessions(target, choices, endpoint.options, transcribe=True)()
        view = ConversationPrinter(
            Console(highlight=False), "pretend model" if endpoint.fake else short(session.model)
        )
        if endpoint.notice:
            view.notice(endpoint.notice)
        pressed = PushToTalk() if push_to_talk else None
        keyboard = Keyboard(None if pressed is None else pressed.press)
        source = _source(question, microphone, stack, view, pressed, session.plan.manual)
        output = stack.enter_context(_output(answer, speaker))
        if question is None:
            view.notice(HEADPHONES if pressed is None else PRESS)
        stack.enter_context(saved(session, file, force))
        stack.enter_context(keyboard.listening())
        try:
            anyio.run(_converse, session, source, output, view, keyboard)
        except KeyboardInterrupt:
            view.notice("Ctrl-C: you ended the conversation.")
        finally:
            view.end()


def _check_keys(question: Path | None) -> None:
    """Refuse push-to-talk where there are no keys to press, or no microphone to open."""
    if question is not None:
        refuse("--push-to-talk is for a microphone, and --in sends a file: pass only one of them")
    if sys.platform == "win32" or not sys.stdin.isatty():
        refuse("--push-to-talk needs the keyboard of a Unix terminal")


async def _converse(
    session: Session,
    source: AsyncIterable[DetectorOutput],
    output: Output,
    view: ConversationPrinter,
    keyboard: Keyboard,
) -> None:
    asks, asked = anyio.create_memory_object_stream[_Question](math.inf)
    told = _Told(view, session.tools, asks.send_nowait)
    async with session, asks, asked:
        await race(
            lambda: talk(session, source, output, tell=told),
            lambda: _decide(session, asked, view, keyboard),
        )


async def _decide(
    session: Session,
    questions: MemoryObjectReceiveStream[_Question],
    view: ConversationPrinter,
    keyboard: Keyboard,
) -> None:
    """Ask the person at the keyboard, one question after the other."""
    threads = DaemonThreads()  # a thread that waits for a line keeps no process alive
    async for question in questions:
        call = question.call
        with view.question(), contextlib.suppress(LocalProtocolError):  # it timed out, or was cancelled
            if question.approval:
                refusal = await result_of(threads.submit(decision, call, view.notice, keyboard.ask))
                await (session.approve(call) if refusal is None else session.refuse(call, refusal))
            else:
                said = await result_of(threads.submit(keyboard.ask, f"    {harmless(call.name)} returns: "))
                value = (
                    ToolError("nobody was there to answer") if said is None else value_of(said.rstrip("\n"))
                )
                await session.respond(call, value)


def _source(
    question: Path | None,
    device: str | None,
    stack: ExitStack,
    view: ConversationPrinter,
    pressed: PushToTalk | None,
    marks: bool,
) -> AsyncIterable[DetectorOutput]:
    if question is not None:
        with usable("--in"):
            return pace(read_wav(question))
    with usable("--microphone") if device is not None else contextlib.nullcontext():
        microphone = stack.enter_context(Microphone(device=_device(device)))
    width = view.console.width
    if pressed is None:
        return metered(microphone, view.status, width)
    return while_pressed(microphone, view.status, width, pressed, marks)


def _output(answer: Path | None, device: str | None) -> AbstractContextManager[Output]:
    if answer is not None:
        with usable("--out"):
            answer.open("ab").close()  # a path that cannot be written fails before anything is said
        return FileSpeaker(answer)
    with usable("--speaker") if device is not None else contextlib.nullcontext():
        return Speaker(device=_device(device))


def _device(name: str | None) -> int | str | None:
    return int(name) if name is not None and name.isdigit() else name


@dataclass(frozen=True, slots=True)
class _Question:
    """A call that waits for a person: for an approval, or for an answer."""

    call: Call
    approval: bool


class _Told:
    """Shows events; what the user said, which comes in pieces, as one line before the model's first word.

    ``ask`` gets the calls that wait for an approval, and those of ``tools`` that nobody handles.
    """

    def __init__(
        self, view: ConversationPrinter, tools: Mapping[str, bool], ask: Callable[[_Question], None]
    ) -> None:
        self._view, self._tools, self._ask = view, tools, ask
        self._heard = ""

    def __call__(self, event: Event) -> None:
        match event:
            case InputTranscript(text=text, interim=False):
                self._heard += text
            case TextChunk() | OutputTranscript() | ToolStarted() | TurnComplete() if self._heard.strip():
                self._view.notice(f"> {self._heard.strip()}", "")
                self._heard = ""
        self._view.show(event)
        match event:
            case ApprovalRequested(call):
                self._ask(_Question(call, approval=True))
            case ToolStarted(call) if not self._tools.get(call.name, True):
                self._ask(_Question(call, approval=False))
            case TurnComplete():
                self._view.end()
