"""Hooks: run before and after every call of a session or a toolset, and on the words of the user and of the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from livetools.errors import ConfigError
from livetools.events import Call, Event, InputTranscript, OutputTranscript

from .definition.callbacks import misspelt, overrides, own_methods

if TYPE_CHECKING:
    from .interface.context import SessionLike


class Observer(Protocol):
    """Follows one session from its first dial to its end: what :meth:`Hooks.on_session` returns.

    Each is called in the session's loop, before the session continues: it must not wait.
    """

    def event(self, event: Event) -> None:
        """Called for each event, before the user receives it."""
        ...

    def typed(self, text: str) -> None:
        """The user has sent a text."""
        ...

    def ended(self, error: Exception | None) -> None:
        """The session is over, by itself or for this error. Nothing follows."""
        ...


class Hooks(Protocol):
    """Base class for code that runs around every call. Override the methods you need.

    Hooks run in the order of ``hooks=``, and may be sync or async. A check that fails lets nothing pass; what the
    other hooks raise is logged::

        class Check(Hooks):
            def before(self, call):
                print("calls", call.name, dict(call.args))
                if call.args["city"] == "Atlantis":
                    raise ToolError("Atlantis is not on the map")

        async with connect(MODEL, tools=[get_weather], hooks=[Check()]) as session:
            await session.ask("Weather in Oslo?")
    """

    def before(self, call: Call) -> Awaitable[Mapping[str, Any] | None] | Mapping[str, Any] | None:
        """Decide about a call, before it is approved and before it runs; ``call.args`` is as the model sent it.

        ``None`` lets it run; a mapping holds other arguments to run it with, which are validated, shown for approval
        and passed to ``undo``. A ``ToolError``, also in an exception group, refuses it with that text. Whatever else is
        raised or returned refuses it too, and is logged. Calls of tools without a handler do not pass here.
        """
        return None

    def after(self, call: Call, response: Mapping[str, Any]) -> Awaitable[object] | object:
        """The tool has returned; ``response`` is the JSON object that the model gets, ``call`` has the arguments used.

        ``None`` leaves it; another value takes its place, encoded as a tool's own; media beside it stay. If this
        raises, the model learns that the tool has run and its result is withheld; ``undo`` is not called. What a
        generator has yielded was sent before.
        """
        return None

    def on_allowed(self, call: Call) -> Awaitable[None] | None:
        """The tool's ``approval`` function let the call run, so no person is asked. Called as the tool starts."""
        return None

    def on_error(self, call: Call, error: Exception) -> Awaitable[None] | None:
        """The tool raised, took too long, or its arguments were invalid."""
        return None

    def on_cancel(self, call: Call) -> Awaitable[None] | None:
        """The call was cancelled; nothing is sent for it."""
        return None

    def on_session(self, session: SessionLike) -> Observer | None:
        """The session is about to connect. The observer that is returned follows it to its end; handlers see context
        variables that are set here. Called only for a session's own hooks.
        """
        return None

    def elsewhere(self, call: Call, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what the tool's own executor runs instead of ``function``. An executor of processes needs something
        picklable, and its processes inherit no context variables."""
        return function

    def replaced(self, call: Call, by: Call) -> None:
        """A hook behind this one has replaced the arguments: ``call`` is ``by`` from now on."""
        return

    def on_input(self, event: InputTranscript, /) -> Awaitable[None] | None:
        """The user has typed or said ``event.text``; speech comes in pieces, if ``input_audio_transcription`` is on.

        With a second parameter ``session`` it gets the session: it can interrupt the model, make it say something else,
        or end the conversation. The model does not wait for this hook and may already speak. Called only for a
        session's own hooks, not for a toolset's or those of ``attach``.

        If it raises, or returns anything but ``None``, the model is interrupted and the rest of its turn is dropped.
        """
        return None

    def on_output(self, event: OutputTranscript, /) -> Awaitable[None] | None:
        """The model says ``event.text``, a few words at a time. Otherwise like :meth:`on_input`; not a filter: an
        interruption can only remove audio that has not been played."""
        return None


def check_hooks(hooks: object, *, calls_only: str = "") -> tuple[Hooks, ...]:
    """The hooks. Raises ``ConfigError`` for anything but a list of them, and for one that would be asked about nothing,
    so that its check would let everything pass: an object with other methods than those of :class:`Hooks`, such as a
    plain function, or with one whose name is misspelt.

    ``calls_only``: who takes them, if only the methods for calls are called there.
    """
    listed = (
        tuple(hooks) if isinstance(hooks, Iterable) and not isinstance(hooks, str | bytes | Mapping) else None
    )
    if listed is None:
        raise ConfigError(f"hooks: expected a list of Hooks, such as [Check()], not {hooks!r:.60}")
    for hook in listed:
        name = type(hook).__name__
        if meant := misspelt(hook, Hooks, _GUARDS):
            raise ConfigError(
                f"hooks: {name}.{meant} Nothing calls it under this name; the name of a helper begins with _"
            )
        own = {each for each in _METHODS if overrides(hook, Hooks, each)}
        # A subclass without any method is meant to do nothing.
        idle = not own and Hooks in type(hook).__mro__ and own_methods(hook, Hooks)
        if idle or not any(callable(getattr(hook, each, None)) for each in _METHODS):
            expected = f"expected a list of Hooks, such as [Check()], not {hook!r:.60}"
            raise ConfigError(f"hooks: {expected}: it has none of the methods {', '.join(_METHODS)}")
        if calls_only and own and own <= _OF_A_SESSION:
            raise ConfigError(
                f"hooks: {name} has only {', '.join(sorted(own))}, which {calls_only} does not call: give it to "
                "connect(hooks=[...])"
            )
    return listed


_METHODS = [name for name in vars(Hooks) if not name.startswith("_")]
_GUARDS = [name for name in _METHODS if name != "replaced"]  # "replace" is a good name for a helper
_OF_A_SESSION = {"on_session", "on_input", "on_output"}
