"""Hooks: run before and after every call of a session or a toolset, and on what is said in a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from livetools.protocol.events import Call, Event, InputTranscript, OutputTranscript

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
    """Base class of hooks: override the methods you need. Several run in the order of ``hooks=``.

    Each may be sync or async (what it returns is awaited if it can be). A hook that raises is logged and
    loses no call, with one exception: a :class:`~livetools.ToolError` raised in :meth:`before` refuses the
    call, and its text is the model's answer.

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
        """The call was taken back; nothing is sent for it."""
        return None

    def on_session(self, session: SessionLike) -> Observer | None:
        """The session is about to be dialled. What is returned follows it to its end.

        Context variables that are set here are seen by the session's handlers. Only a session's own hooks are asked.
        """
        return None

    def elsewhere(self, call: Call, function: Callable[..., Any]) -> Callable[..., Any]:
        """The tool runs on an executor of its own, perhaps in another process, which inherits no context variables.

        What is returned runs in the place of ``function``, with its arguments; it must be picklable where the executor
        pickles.
        """
        return function

    def on_input(self, transcript: InputTranscript) -> Awaitable[None] | None:
        """The user has said (or typed) this: of speech each piece, as the service transcribes it.

        With a parameter ``session`` behind the transcript it gets the session, and may cut the model off, let it say
        something else, or end the conversation. The model does not wait for it: it may speak already. Only of a
        session's own hooks, not of a toolset's::

            class Guard(Hooks):
                async def on_input(self, transcript, session=None):
                    if "password" in transcript.text:
                        await session.interrupt()
                        await session.generate_reply("Ask the user not to tell passwords.")

        Speech is transcribed where the config asks for ``input_audio_transcription``.
        """
        return None

    def on_output(self, transcript: OutputTranscript) -> Awaitable[None] | None:
        """The model says this: a few words at a time, as they come. As :meth:`on_input`.

        This is not a filter: words reach you when the model makes them, and ``session.interrupt()`` takes back the
        sound that was not played yet, and nothing that was heard. Words behind an interruption are not told.
        """
        return None
