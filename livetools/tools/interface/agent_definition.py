"""An agent: the instructions and the tools of one part of a conversation, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import explains_keywords

from .accepted_types import Instructions, ToolLike


@explains_keywords(
    **dict.fromkeys(
        ("system_instruction", "system_instructions", "system_prompt", "system_message", "prompt"),
        "instructions=",
    ),
    **dict.fromkeys(("functions", "function_declarations", "toolsets"), "tools="),
    **dict.fromkeys(
        ("model", "voice", "language", "config", "deps", "hooks"), "connect(...), for the whole session"
    ),
)
@dataclass(frozen=True, slots=True)
class Agent:
    """New instructions and tools for the model, in the same conversation and with the same voice.

    ``instructions``: the system instruction. ``tools``: what ``connect(tools=)`` takes; they replace all tools of the
    model. ``None`` leaves either as it is. ``name`` is for you: :class:`~livetools.HandedOff` has it.
    ``session.update(agent)`` hands the conversation over, and so does a tool that returns ``ToolResult("…",
    handoff=agent)``. Raises ``ConfigError`` if ``tools`` is not a list or ``name`` is not a string.

    ::

        billing = Agent("You answer questions about bills.", [find_bill, refund], name="billing")

        def to_billing() -> ToolResult:
            \"\"\"Hand over to billing.\"\"\"
            return ToolResult("You are with billing now.", handoff=billing)

        async with connect(MODEL, tools=[to_billing], instructions="You are the desk.") as session:
            await session.update(billing)  # or wait until the model calls to_billing
            print(list(session.tools))
    """

    instructions: Instructions | None = None
    tools: Iterable[ToolLike] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        tools, name = self.tools, self.name
        if tools is not None:
            if callable(tools) or isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
                raise ConfigError(f"tools= takes a list, not a {type(tools).__name__}: tools=[...]")
            object.__setattr__(self, "tools", tuple(tools))
        if name is not None and not isinstance(name, str):
            raise ConfigError(f"name is a {type(name).__name__}, {name!r:.40}: a string is expected")
