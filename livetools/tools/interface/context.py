"""``ToolContext``: what a tool may know of the call that it serves.

A parameter annotated with :class:`ToolContext` (plain, ``ToolContext[Deps]``, in ``Annotated``, with
``| None``, as a string) is filled by the session and hidden from the model::

    @tool
    async def book(table: int, context: ToolContext[Restaurant]) -> str:
        await context.progress("asking the kitchen")
        return await context.deps.book(table)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Protocol

from typing_extensions import TypeVar

from livetools.events import Call

Deps = TypeVar("Deps", default=Any)  # without an argument the dependencies are not checked


class SessionLike(Protocol):
    """The part of a session that a tool may use."""

    async def send_text(self, text: str) -> None: ...

    async def send_content(
        self, turns: Any, turn_complete: bool = True
    ) -> None: ...  # contents, as google-genai

    async def send_audio(self, pcm: bytes, rate: int = 16000) -> None: ...

    async def send_video(self, jpeg: bytes) -> None: ...

    async def interrupt(self) -> None: ...

    async def generate_reply(self, instructions: str | None = None) -> None: ...

    async def aclose(self) -> None: ...


async def _nobody_listens(value: object) -> None:
    """The report of a call that runs outside a session."""


class ToolContext(Generic[Deps]):
    """What a tool may know about the call that it serves. The session makes it; annotate a parameter with it to get it.

    ``call``: the function call as the model made it. ``deps``: the value of ``connect(deps=...)``. ``session``: the
    session (``None`` in ``Tool.call``, which runs offline).

    ::

        async def free_seats(context: ToolContext[dict]) -> int:
            \"\"\"Seats that are free now.\"\"\"
            await context.progress("counting")
            return context.deps["free"]

        print(await Tool(free_seats).call({}, deps={"free": 8}))  # {'output': 8}
    """

    __slots__ = ("_cancelled", "_report", "call", "deps", "session")

    def __init__(
        self,
        *,
        call: Call,
        deps: Deps = None,  # type: ignore[assignment]  # without dependencies there is nothing to check
        session: SessionLike | None = None,
        report: Callable[[object], Awaitable[None]] = _nobody_listens,
    ) -> None:
        self.call, self.deps, self.session = call, deps, session
        self._report = report
        self._cancelled = False

    async def progress(self, value: object) -> None:
        """Emit a ``ToolProgress`` event that says how far the tool is.

        It is not a part of the result. After the end of the call it does nothing.
        """
        await self._report(value)

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled or timed out, or the session ended. Safe in any thread.

        An async tool need not check it, because it is cancelled. A sync tool that runs long should check it now and
        then, and return.
        """
        return self._cancelled

    def mark_cancelled(self) -> None:
        """Set :attr:`cancelled` to true, permanently. Called by what runs the tool; safe from any thread."""
        self._cancelled = True

    def __repr__(self) -> str:
        return f"ToolContext({self.call.name!r}, id={self.call.id!r}, cancelled={self._cancelled})"
