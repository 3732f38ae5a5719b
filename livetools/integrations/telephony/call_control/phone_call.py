"""The phone call that a tool runs in: to press keys, to transfer the caller, to hang up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import anyio

from livetools.errors import ConfigError, LocalProtocolError
from livetools.integrations.telephony.providers.provider import StartFrame
from livetools.integrations.telephony.sound.tones import checked_keys

from .accounts import Account, checked_destination


class PhoneCall:
    """A phone call under way; :func:`current_call` gives it. ``start``: its start frame.

    ::

        async def dial_extension(number: str) -> str:
            "Dial an extension."
            await current_call().press(number)
            return "dialed"

        print(dial_extension.__name__)
    """

    def __init__(
        self,
        start: StartFrame,
        account: Account | None,
        heard: Callable[[], Awaitable[None]],
        press: Callable[[str], Awaitable[None]],
    ) -> None:
        self.start = start
        self.moved = anyio.Event()
        self._account, self._heard, self._press = account, heard, press

    @property
    def transferred(self) -> bool:
        """Whether the caller was connected with somebody else."""
        return self.moved.is_set()

    async def press(self, keys: str) -> None:
        """Press ``keys`` for the other end of the line, behind what was said: 1 to 64 of ``0-9*#A-D``, and ``w`` for a
        pause of half a second.

        Plivo gets a message; elsewhere the tones (DTMF) are played, 0.2 s for each key. Returns when they were
        sent, which is before they are heard. Raises ``ConfigError`` for other keys.
        """
        await self._press(checked_keys(keys))

    async def transfer(self, to: str) -> None:
        """Connect the caller with ``to``, a number such as ``"+4722225555"`` or a ``sip:`` address, once what was said
        has been heard. The session ends soon after (``Ended.reason``: ``"transferred"``).

        Raises ``ConfigError`` if ``to`` is neither, or the bridge has no ``account``, and :class:`AccountError` if the
        provider refuses: the call continues then. If it is cancelled, the caller may or may not be transferred.
        """
        checked_destination(to)
        account = self._require("transferred")
        await self._heard()
        await account.transfer(self.start, to)
        self.moved.set()

    async def hang_up(self) -> None:
        """End the call at once. Raises ``ConfigError`` if the bridge has no ``account``, and :class:`AccountError`."""
        await self._require("hung up").hang_up(self.start)

    def end(self) -> None:
        """The call is over. Contexts that hold this object, as those of timers do for a while, do not keep the session
        in memory."""
        self._heard = self._press = _over

    def _require(self, done: str) -> Account:
        if self._account is None:
            raise ConfigError(f"a call is {done} by the provider's REST API: pass account= to the bridge")
        return self._account


async def _over(*_: object) -> None:
    raise LocalProtocolError("the phone call has ended")


_current: ContextVar[PhoneCall] = ContextVar("livetools.phone_call")


def current_call() -> PhoneCall:
    """The phone call of the conversation in which this tool, hook or listener runs, in threads too.

    Raises ``LocalProtocolError`` outside of one, as on a page or in ``livetools chat``.

    ::

        def callers_number() -> str:
            "The caller's number."
            return current_call().start["from"]

        print(callers_number.__name__)
    """
    try:
        return _current.get()
    except LookupError:
        raise LocalProtocolError(
            "current_call() outside of a phone call: this conversation has none"
        ) from None


def set_current(call: PhoneCall) -> Callable[[], None]:
    """Make it the current call of this task, and of what it starts. Returns what takes that back."""
    token = _current.set(call)
    return lambda: _current.reset(token)
