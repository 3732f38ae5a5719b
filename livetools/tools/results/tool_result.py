"""``ToolResult``: a return value with more than the value."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from dataclasses import dataclass

from livetools.setup.did_you_mean import explains_keywords
from livetools.tools.definition.tool_options import scheduling_of
from livetools.tools.interface.agent_definition import Agent

from .media import parts


@explains_keywords(
    **dict.fromkeys(("result", "output", "response", "content", "data"), "value="),
    **dict.fromkeys(("final", "hang_up", "close", "ends"), "ends_session="),
    **dict.fromkeys(("images", "image", "media", "files"), "parts="),
    **dict.fromkeys(("agent", "transfer", "transfer_to", "next_agent"), "handoff="),
    **dict.fromkeys(("error", "is_error"), "raise ToolError(...)"),
)
@dataclass(frozen=True, slots=True)
class ToolResult:
    """A return value with more than the value: scheduling, media, a hand-off, the end of the session.

    ``scheduling``: ``"interrupt"``, ``"when_idle"`` or ``"silent"``, for this answer only (left out if the model
    refuses it). ``ends_session``: the session closes after the model's last words. ``parts``: images or text for models
    that read media in function responses, each the bytes of an image, ``(data, mime_type)``, ``{"inlineData": {...}}``,
    a ``PIL.Image``, or google-genai's ``Part``, ``Blob``, ``FunctionResponsePart``. ``handoff``: the
    :class:`~livetools.Agent` with which the conversation continues.

    Raises ``ToolDefinitionError`` for another scheduling, ``TypeError`` for another kind of part or of agent.

    ::

        def hang_up() -> ToolResult:
            \"\"\"End the conversation.\"\"\"
            return ToolResult("Goodbye.", ends_session=True)

        print(await Tool(hang_up).call({}))
    """

    value: object = None
    _: dataclasses.KW_ONLY
    scheduling: str | enum.Enum | None = None
    ends_session: bool = False
    parts: Sequence[object] = ()
    handoff: Agent | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheduling", scheduling_of(self.scheduling))
        object.__setattr__(self, "parts", parts(self.parts))
        if self.handoff is not None and not isinstance(self.handoff, Agent):
            raise TypeError(f"handoff is a {type(self.handoff).__name__}: an Agent(...) is expected")
