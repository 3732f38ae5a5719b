"""Hooks: run before and after every call of a session or a toolset, and on what is said in a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from livetools.events import Call, Event, InputTranscript, OutputTranscript

if TYPE_CHECKING:
    from .context import SessionLike


class Observer(Protocol):
    """Follows one session from its first dial to its end: what :meth:`Hooks.on_session` returns.

    Each is called in the session's loop, before the session goes on: it must not wait.
    """

    def event(self, event: Event) -> None:
        """Something has happened; the user is told next."""
        ...

    def typed(self, text: str) -> None:
        """The user has sent a text."""
        ...

    def ended(self, error: Exception | None) -> None:
        """The session is over, by itself or for this error. Nothing follows."""
        ...


class Hooks(Protocol):
    """Base class for code that runs around every call. Override the methods you need.

    Hooks run in the order of ``hooks=``, and may be sync or async. A hook that raises is logged, and the call goes on,
    with one exception: a :class:`~livetools.ToolError` in :meth:`before` refuses the call, and the model gets its text.

    ::

        class Audit(Hooks):
            def before(self, call):
                print("calls", call.name, dict(call.args))

        async with connect(MODEL, tools=[get_weather], hooks=[Audit()]) as session:
            await session.ask("Weather in Oslo?")
    """

    def before(self, call: Call) -> Awaitable[None] | None:
        """The tool is about to run."""
        return None

    def after(self, call: Call, response: Mapping[str, Any]) -> Awaitable[None] | None:
        """The tool has returned; ``response`` is the JSON object that the model gets."""
        return None

    def on_error(self, call: Call, error: Exception) -> Awaitable[None] | None:
        """The tool raised, took too long, or its arguments were invalid."""
        return None

    def on_cancel(self, call: Call) -> Awaitable[None] | None:
        """The call was cancelled; nothing is sent for it."""
        return None

    def on_session(self, session: SessionLike) -> Observer | None:
        """The session is about to connect. The observer that is returned follows it to its end.

        The session's handlers see context variables that are set here. Called only for a session's own hooks.
        """
        return None

    def elsewhere(self, call: Call, function: Callable[..., Any]) -> Callable[..., Any]:
        """The tool runs on its own executor, perhaps in another process, which inherits no context variables.

        The function that is returned runs instead of ``function``, with its arguments. If the executor pickles, it must
        be picklable.
        """
        return function

    def on_input(self, transcript: InputTranscript) -> Awaitable[None] | None:
        """The user has typed or said this; speech comes in pieces, as the service transcribes it.

        If it has a second parameter ``session``, it gets the session: it can interrupt the model, make it say something
        else, or end the conversation. The model does not wait for this hook and may already speak. Called only for a
        session's own hooks, not for a toolset's::

            class Guard(Hooks):
                async def on_input(self, transcript, session=None):
                    if "password" in transcript.text:
                        await session.interrupt()
                        await session.generate_reply("Ask the user not to tell passwords.")

        Speech is transcribed if the config asks for ``input_audio_transcription``.
        """
        return None

    def on_output(self, transcript: OutputTranscript) -> Awaitable[None] | None:
        """The model says this, a few words at a time. Otherwise like :meth:`on_input`.

        This is not a filter: you get the words when the model generates them, and ``session.interrupt()`` can only
        remove audio that has not been played. Words after an interruption are not passed.
        """
        return None
