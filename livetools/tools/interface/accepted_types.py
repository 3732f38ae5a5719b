"""Types of what ``connect`` takes, so that a type checker and an editor refuse what it would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from livetools.setup.plan_fields import Specified


class DeclarationLike(Protocol):
    """google-genai's ``FunctionDeclaration``."""

    @property
    def name(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def parameters(self) -> object: ...


class ToolEntryLike(Protocol):
    """google-genai's ``Tool``: an entry of ``config.tools``."""

    @property
    def function_declarations(self) -> object: ...


class ContentLike(Protocol):
    """google-genai's ``Content``."""

    @property
    def role(self) -> str | None: ...
    @property
    def parts(self) -> object: ...


class ConfigLike(Protocol):
    """google-genai's ``LiveConnectConfig``."""

    @property
    def response_modalities(self) -> object: ...
    @property
    def system_instruction(self) -> object: ...


_One: TypeAlias = (
    Callable[..., object]
    | Specified  # livetools.Tool; as a protocol, so that what a tool refers to may refer to it
    | DeclarationLike
    | ToolEntryLike
    | Mapping[str, Any]  # Gemini's, OpenAI's, Anthropic's or MCP's shape: any JSON value
)

#: An item of ``tools=``: a function, a tool, a toolset or a list of them, or a declaration of somebody else's.
ToolLike: TypeAlias = _One | Iterable[_One]

#: What ``config=`` takes, and an entry of ``history=``: google-genai's type, or its dict.
LiveConnectConfigOrDict: TypeAlias = ConfigLike | Mapping[str, object]
ContentOrDict: TypeAlias = ContentLike | Mapping[str, object]

#: What ``instructions=`` takes: text, a content, a part, or a list of text and parts.
Instructions: TypeAlias = str | ContentOrDict | list[str] | list[Mapping[str, object]]
