"""Ready tools of a phone call: hang up, press keys, transfer the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from livetools.errors import ConfigError, ToolError
from livetools.log import get_logger
from livetools.tools import Tool, ToolResult

from .accounts import AccountError, checked_destination
from .phone_call import current_call

log = get_logger("livetools.telephony")


def hang_up() -> ToolResult:
    """End the phone call, once the caller needs nothing more. Say goodbye afterwards."""
    return ToolResult("The call ends after your goodbye.", ends_session=True)


async def press_keys(keys: str) -> str:
    """Press keys of the phone, for a menu that asks for them: 0-9, * and #; w waits for half a second."""
    try:
        await current_call().press(keys)
    except ConfigError as error:
        raise ToolError(str(error)) from None
    return "pressed"


def transfer_to(places: Mapping[str, str]) -> Tool:
    """A tool ``transfer_call`` that connects the caller with one of ``places``: name → number, such as
    ``"+4722225555"``, or ``sip:`` address.

    The model chooses a name, and never sees a number. What it has said is heard to its end before the caller is
    transferred; if the provider refuses, the model reads that, and the call continues. The bridge needs ``account=``.
    Raises ``ConfigError`` for an empty mapping, and for a place that is neither a number nor an address.

    ::

        tool = transfer_to({"front desk": "+4722225555", "kitchen": "sip:kitchen@example.org"})
        print(tool.name)
    """
    if not places:
        raise ConfigError("transfer_to: name at least one place")
    numbers = {name: checked_destination(to) for name, to in places.items()}

    async def transfer_call(to: str) -> str:
        """Connect the caller with somebody else, and leave the call. Tell the caller before."""
        try:
            await current_call().transfer(numbers[to])
        except AccountError as error:
            log.warning("a call was not transferred: %s", error)
            raise ToolError("The caller could not be transferred. The call continues here.") from None
        return "The caller was transferred."

    transfer_call.__annotations__["to"] = Literal[tuple(numbers)]
    return Tool(transfer_call)
