"""Runs the hooks ``on_input`` and ``on_output``, one after the other, beside the session.

Neither the reader nor the model waits for a hook. What one hook takes long over the next words wait for, and no more
than so many of them: a hook that hangs costs no memory. A hook that fails has not let the words pass: what the model
says is withheld from then on, to the end of its turn.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

import anyio

from livetools.events import Event, InputTranscript, OutputTranscript, TextChunk
from livetools.log import get_logger
from livetools.session.handlers.call_hooks import ask_hook, log_return
from livetools.session.handlers.user_code import excuse
from livetools.tools import Hooks, SessionLike
from livetools.tools.definition.callbacks import overrides

log = get_logger("livetools.session")

MAX_WAITING = 1000  # transcripts that wait for a hook; past that the oldest are dropped

NAMES = {InputTranscript: "on_input", OutputTranscript: "on_output"}  # of the hooks that hear these


def check_words(hooks: Iterable[Hooks]) -> bool:
    """Whether one of these hooks wants to see the words of a session."""
    return any(overrides(hook, Hooks, name) for hook in hooks for name in NAMES.values())


class Guardrails:
    """Calls the hooks of one session with its words, in an errand of the session's while there are some.

    ``withhold`` cuts the model off where a hook fails; its argument says whether it is the answer to an input, which
    may not have begun.
    """

    def __init__(
        self,
        hooks: Iterable[Hooks],
        session: SessionLike,
        transcribed: bool,
        errand: Callable[[Coroutine[Any, Any, None]], None],
        withhold: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._session, self._transcribed = session, transcribed
        self._errand, self._withhold = errand, withhold
        self._hooks = {
            name: [hook for hook in hooks if overrides(hook, Hooks, name)] for name in NAMES.values()
        }
        self._waiting: deque[tuple[str, Event]] = deque(maxlen=MAX_WAITING)
        self._runs = False  # an errand calls the hooks

    def event(self, event: Event) -> None:
        """Take note of what was said."""
        if isinstance(event, TextChunk) and not self._transcribed:  # else it is said again, in words
            event = OutputTranscript(event.text)
        name = NAMES.get(type(event))
        if name is None or not self._hooks[name]:
            return
        # The deque drops the oldest by itself, without a word.
        if len(self._waiting) == MAX_WAITING:
            log.warning("%s is behind by %d transcripts: the oldest is dropped", name, MAX_WAITING)
        self._waiting.append((name, event))
        if not self._runs:
            self._runs = True
            self._errand(self._run())

    def typed(self, text: str) -> None:
        """The user's words came as text."""
        self.event(InputTranscript(text, finished=True))

    async def _run(self) -> None:
        """Call the hooks with what waits for them."""
        await anyio.lowlevel.checkpoint()  # neither the reader nor the user waits for its first step
        while self._waiting:
            name, transcript = self._waiting.popleft()
            for hook in self._hooks[name]:
                await self._call(hook, name, transcript)
        self._runs = False

    async def _call(self, hook: Hooks, name: str, transcript: Event) -> None:
        try:
            session = (self._session,) if takes_session(getattr(hook, name)) else ()
            told = await ask_hook(hook, name, transcript, *session)
        except BaseException as error:
            excuse(log, f"the hook {type(hook).__name__}.{name}", error)
        else:
            if told is None:
                return
            # It was meant to change something, and nothing can: better silent than wrong.
            log_return(log, hook, name, told, "None. Raise something to withhold what the model says")
        await self._withhold(name == "on_input")


def takes_session(method: Callable[..., object]) -> bool:
    """Whether a hook wants the session too: it has a parameter ``session`` behind the transcript."""
    try:
        return "session" in inspect.signature(method).parameters
    except (TypeError, ValueError):  # a built-in that says nothing of its parameters
        return False
