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
    """Base class for code that runs around every call. Override the methods you need.

    Hooks run in the order of ``hooks=``, and may be sync or async. A check that fails lets nothing pass: if
    :meth:`before` raises, the call is refused; if :meth:`after` raises, the result is withheld; if :meth:`on_input` or
    :meth:`on_output` raises, the model is cut off. What the others raise is logged.

    ::

        class Limit(Hooks):
            def before(self, call):
                if call.name == "pay" and call.args["amount"] > 100:
                    raise ToolError("the limit is 100 euros")

        async with connect(MODEL, tools=[pay], hooks=[Limit()]) as session:
            await session.ask("Pay 500 euros")
    """

    def before(self, call: Call) -> Awaitable[Mapping[str, Any] | None] | Mapping[str, Any] | None:
        """Decide about a call, before a person is asked to approve it and before it runs.

        ``call.args`` is as the model sent it. Return ``None`` to let the call go on, or a mapping: the arguments to run
        it with, which are validated, shown for approval and given to ``undo`` in place of the model's. Raise
        ``ToolError`` (also inside an exception group) to refuse the call with a text for the model. Any other
        exception, and any other return value, refuses it as well: the model reads ``NAME was refused: its check
        failed``, and the log says why.

        Calls of tools that are only declared do not pass here: ``session.respond`` answers them.
        """
        return None

    def after(self, call: Call, response: Mapping[str, Any]) -> Awaitable[object] | object:
        """The tool has returned; ``response`` is the JSON object that the model gets. ``call`` has the arguments that
        it ran with.

        Return ``None`` to leave the response, or another value in its place, encoded as a tool's own; media beside the
        response stay. If this raises, the model is told that the tool has run and that its result is withheld, and
        ``undo`` is not called. What a generator has yielded so far was sent already, on models that take it.
        """
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

    def replaced(self, call: Call, by: Call) -> None:
        """A hook behind this one has replaced the arguments: what was ``call`` is ``by`` from now on."""
        return

    def on_input(self, event: InputTranscript) -> Awaitable[None] | None:
        """The user has typed or said ``event.text``; speech comes in pieces, as the service transcribes it.

        If it has a second parameter ``session``, it gets the session: it can interrupt the model, make it say something
        else, or end the conversation. The model does not wait for this hook and may already speak. Called only for a
        session's own hooks, not for a toolset's or those of ``attach``::

            class Guard(Hooks):
                async def on_input(self, event, session=None):
                    if "password" in event.text:
                        await session.interrupt()
                        await session.generate_reply("Ask the user not to tell passwords.")

        If it raises, or returns anything but ``None``, what the model answers is withheld: the model is interrupted
        (3.1 cannot be, and speaks to nobody), events and replies hold no more of this turn, and the log names the hook.

        Speech is transcribed if the config asks for ``input_audio_transcription``.
        """
        return None

    def on_output(self, event: OutputTranscript) -> Awaitable[None] | None:
        """The model says ``event.text``, a few words at a time. Otherwise like :meth:`on_input`.

        This is not a filter: you get the words when the model generates them, and an interruption can only remove audio
        that has not been played. Words after an interruption are not passed.
        """
        return None
