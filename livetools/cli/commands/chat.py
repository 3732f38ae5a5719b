"""``livetools chat``: type, read, and see every call.

The terminal belongs to the main thread, the session to an event loop in another: so reading a line needs no
tricks, and Ctrl-C arrives where the line is read.
"""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from anyio.from_thread import BlockingPortal, start_blocking_portal
from rich.console import Console

from livetools.cli.agents import reload
from livetools.cli.agents.common_options import (
    BASE_URL,
    CONFIG,
    INSTRUCTIONS,
    LANGUAGE,
    MODEL_OPTION,
    TARGET,
    THINKING,
    VOICE,
)
from livetools.cli.agents.open_sessions import Choices, sessions
from livetools.cli.agents.service_or_fake import service_or_fake
from livetools.cli.recordings.frame_history import FrameHistory
from livetools.cli.recordings.save_recording import FORCE, SAVE, save, saved
from livetools.cli.terminal.ask_approval import decision
from livetools.cli.terminal.line_input import Lines, lines
from livetools.cli.terminal.printing import ConversationPrinter, short
from livetools.cli.terminal.waiting_events import Sign, WaitingEvents
from livetools.errors import LiveToolsError, ToolError
from livetools.events import ApprovalRequested, Call, Event, ToolStarted
from livetools.session.listening.frame_tap import listen, tap
from livetools.session.session import Session


class _Answered(Sign):
    """The exchange is over."""


_ANSWERED = _Answered()


class _CtrlC(Sign):
    """The user wants this answer to end."""


@contextlib.contextmanager
def ctrl_c(told: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C calls ``told``; as an exception it would interrupt any code that the main thread runs at that moment."""
    before = signal.signal(signal.SIGINT, lambda *_: told())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def chat(
    target: Annotated[str | None, TARGET] = None,
    model: Annotated[str | None, MODEL_OPTION] = None,
    instructions: Annotated[str | None, INSTRUCTIONS] = None,
    voice: Annotated[str | None, VOICE] = None,
    language: Annotated[str | None, LANGUAGE] = None,
    config: Annotated[Path | None, CONFIG] = None,
    thinking: Annotated[str | None, THINKING] = None,
    fake: Annotated[bool, typer.Option("--fake", help="Talk to a pretend model, offline.")] = False,
    base_url: Annotated[str | None, BASE_URL] = None,
    file: Annotated[Path | None, SAVE] = None,
    force: Annotated[bool, FORCE] = False,
    follow: Annotated[
        bool,
        typer.Option("--reload", help="Reload the tools whenever a file of the target's folder is saved."),
    ] = False,
) -> None:
    """Type to an agent, and see its answers and every call with arguments, result and time.

    With a key in the environment (GEMINI_API_KEY) it talks to the service; without one, or with --fake, to a
    pretend model on this machine. From a pipe it reads one question per line. Ctrl-C interrupts an answer. A
    second Ctrl-C or Ctrl-D ends the conversation.
    """
    choices = Choices(model, instructions, voice, language, thinking, config)
    if follow and target is None:
        raise typer.BadParameter("--reload follows a file: name one")
    with service_or_fake(fake, base_url) as endpoint:
        session = sessions(target, choices, endpoint.options)()
        view = ConversationPrinter(
            Console(highlight=False), "pretend model" if endpoint.fake else short(session.model)
        )
        if endpoint.notice:
            view.notice(endpoint.notice)
        view.notice(f"tools: {', '.join(session.tools) or 'none'}")
        typed = lines(list(COMMANDS))
        if typed.typed:
            view.notice("/help shows the commands. Ctrl-C interrupts an answer, Ctrl-D ends it.")
        history = FrameHistory()
        tap(session, history)
        talk = _Talk(session, view, typed, history)
        with saved(session, file, force), contextlib.suppress(KeyboardInterrupt):
            with start_blocking_portal() as portal, portal.wrap_async_context_manager(session):
                talk.run(portal, target if follow else None)
        view.end()


class _Talk:
    """The conversation, seen from the terminal."""

    portal: BlockingPortal

    def __init__(
        self, session: Session, view: ConversationPrinter, typed: Lines, history: FrameHistory
    ) -> None:
        self.session, self.view, self.typed = session, view, typed
        self.history = history
        self.heard = WaitingEvents(self._waits)
        self.over = False
        # a listener hears each event before the method that waits for it returns
        listen(session, self.heard.event)

    def run(self, portal: BlockingPortal, followed: str | None) -> None:
        """Ask what is typed, a line at a time, to the end of input. Raises what ended the session.

        ``followed``: the target whose changes the session takes on.
        """
        self.portal = portal
        self.portal.start_task_soon(self._read)
        if followed is not None:
            self.portal.start_task_soon(reload.follow, followed, self.session, self.view.notice)
        for line in self._said():
            if line.startswith("/"):
                self._command(line)
            else:
                if line.lower() in GOODBYES:
                    self.view.notice(f"{line!r} goes to the model; /quit or Ctrl-D ends the conversation.")
                self._ask(line)
            if self.over:
                return

    # -- in the session's loop

    async def _read(self) -> None:
        """Read the events, as the session expects of somebody: they have been heard already."""
        with contextlib.suppress(LiveToolsError):  # the next method that is called raises it, too
            async for _ in self.session:
                pass

    async def _exchange(self, text: str) -> None:
        try:
            await self.session.ask(text)
        finally:
            self.heard.put(_ANSWERED)

    async def _cut(self, answered: Future[None]) -> None:
        try:
            await self.session.interrupt()
        finally:
            answered.cancel()  # a call that is open runs on; nobody waits for it

    # -- at the terminal

    def _said(self) -> Iterator[str]:
        """Returns the user's next line, typed or from a pipe (then it is shown). Two Ctrl-C in a row end the chat."""
        warned = False
        while True:
            try:
                line = self.typed.read("> ")
            except KeyboardInterrupt:
                if warned:
                    return
                warned = True
                self.view.notice("Ctrl-C once more, or Ctrl-D, ends the conversation.")
                continue
            if line is None:
                return
            warned = False
            if line.strip():
                if not self.typed.typed:
                    self.view.notice(f"> {line.strip()}", "")
                yield line.strip()

    def _ask(self, line: str) -> None:
        """Ask one question and wait for the end of its answer. Ctrl-C stops the answer, a second one ends the chat."""
        cut: Future[None] | None = None
        pressed = _CtrlC()
        with ctrl_c(partial(self.heard.put, pressed)):
            answered = self.portal.start_task_soon(self._exchange, line)
            while not isinstance(event := self.heard.get(), _Answered):
                if not isinstance(event, Sign):
                    try:
                        self._show(event)
                    except KeyboardInterrupt:  # where a question of ours was to be answered
                        self.heard.put(pressed)
                elif event is pressed:
                    if cut is not None:
                        raise KeyboardInterrupt
                    self.view.notice("Ctrl-C: you interrupted. Once more ends the conversation.")
                    cut = self.portal.start_task_soon(self._cut, answered)
        self._tell_dropped()
        self.view.end()
        with contextlib.suppress(CancelledError):
            answered.result()

    def _show(self, event: Event) -> None:
        self._tell_dropped()
        self.view.show(event)
        match event:
            case ApprovalRequested(call):
                self._settle(self._decide(call))
            case ToolStarted(call) if self._waits(event):
                self._settle(self._answer(call))

    def _tell_dropped(self) -> None:
        if dropped := self.heard.dropped():
            what = "1 event is" if dropped == 1 else f"{dropped} events are"
            self.view.notice(f"  {what} not shown: more came than the terminal could show", "yellow")

    def _waits(self, event: Event) -> bool:
        """Whether the user has to answer it."""
        if isinstance(event, ToolStarted):
            return not self.session.tools.get(event.call.name, True)
        return isinstance(event, ApprovalRequested)

    def _decide(self, call: Call) -> Callable[[], Awaitable[None]]:
        """Whether it may run: in a pipe, or past the end of input, there is nobody to ask, which is a refusal."""
        interrupted = partial(self.session.refuse, call, "the user interrupted")

        def reply(prompt: str) -> str | None:
            self.typed.forget()
            return self._reply(prompt, interrupted)

        refusal = decision(call, self.view.notice, reply)
        return (
            partial(self.session.approve, call)
            if refusal is None
            else partial(self.session.refuse, call, refusal)
        )

    def _answer(self, call: Call) -> Callable[[], Awaitable[None]]:
        """What a function without a handler returns."""
        interrupted = partial(self.session.respond, call, ToolError("the user interrupted"))
        said = self._reply(f"    {call.name} returns: ", interrupted)
        value = ToolError("nobody was there to answer") if said is None else value_of(said)
        return partial(self.session.respond, call, value)

    def _reply(self, prompt: str, interrupted: Callable[[], Awaitable[None]]) -> str | None:
        """What the user replies, ``None`` if the input has ended. Ctrl-C settles the call by ``interrupted``."""
        try:
            return self.typed.read(prompt) if self.typed.typed else None
        except KeyboardInterrupt:
            self._settle(interrupted)
            raise

    def _settle(self, deed: Callable[[], Awaitable[None]]) -> None:
        try:
            self.portal.call(deed)
        except LiveToolsError as error:  # timed out, or cancelled meanwhile
            self.view.notice(f"  {error}", "yellow")

    # -- commands

    def _command(self, line: str) -> None:
        name, _, said = line.partition(" ")
        if name == "/save":
            self._save(said)
        elif name in COMMANDS:
            COMMANDS[name][0](self)
        else:
            self.view.notice(f"there is no {name}; there are {', '.join(COMMANDS)}", "yellow")

    def _help(self) -> None:
        """Say what each command does."""
        for name, (_, does) in COMMANDS.items():
            self.view.notice(f"  {name:<12}{does}", "")

    def _tools(self) -> None:
        for name, handled in self.session.tools.items():
            self.view.notice(f"  {name}{'' if handled else ' (you answer)'}", "")

    def _usage(self) -> None:
        usage = self.session.usage
        self.view.notice(
            f"  {usage.total_tokens} tokens: {usage.prompt_tokens} of the prompt, {usage.response_tokens} of the "
            f"answers, {usage.thoughts_tokens} of thoughts",
            "",
        )

    def _stats(self) -> None:
        self.view.notice(json.dumps(_rounded(self.session.stats()), indent=2, default=str), "")

    def _save(self, said: str = "") -> None:
        try:
            self.view.notice(f"  {save(self.history.frames(), said)}", "")
        except LiveToolsError as error:
            self.view.notice(f"  {error}", "yellow")

    def _interrupt(self) -> None:
        self._settle(self.session.interrupt)

    def _quit(self) -> None:
        self.over = True


def value_of(typed: str) -> object:
    """What is typed for a result: JSON where it is JSON, as in the page of ``livetools web``; else the text itself."""
    try:
        return json.loads(typed, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return typed


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _rounded(value: object) -> object:
    """Plain values with three significant digits, because a person reads the seconds here."""
    match value:
        case float():
            return float(f"{value:.3g}")
        case Mapping():
            return {key: _rounded(each) for key, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value


#: What people type to leave other programs; here it would be sent to the model.
GOODBYES = frozenset({"exit", "quit", "exit()", "quit()", ":q"})

#: What a line may say in place of a question, and what that does, in words.
COMMANDS: Mapping[str, tuple[Callable[[_Talk], None], str]] = {
    "/help": (_Talk._help, "show these commands"),
    "/tools": (_Talk._tools, "the functions that the model may call"),
    "/usage": (_Talk._usage, "the tokens so far"),
    "/stats": (_Talk._stats, "the state of the session: line, calls, latency in seconds"),
    "/save": (_Talk._save, "write the frames so far to a file: /save FILE"),
    "/interrupt": (_Talk._interrupt, "cut the model off"),
    "/quit": (_Talk._quit, "end the conversation"),
}
