"""What one conversation has shown: the messages of each step, and how the connection ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]  # any JSON object


def inner(message: JsonObject, name: str) -> JsonObject:
    """The object in this field; empty if the field is absent."""
    found = message.get(name)
    return found if isinstance(found, dict) else {}


def calls_in(message: JsonObject) -> list[JsonObject]:
    """The function calls of a message."""
    return inner(message, "toolCall").get("functionCalls") or []


@dataclass(slots=True)
class StepResult:
    """What came while one step was played: messages, each with the time of its arrival in seconds."""

    began: float
    messages: list[tuple[float, JsonObject]] = field(default_factory=list)

    def contents(self) -> Iterator[JsonObject]:
        """Each ``serverContent`` that holds something."""
        for _, message in self.messages:
            if isinstance(content := message.get("serverContent"), dict):
                yield content

    def parts(self) -> Iterator[JsonObject]:
        """The parts of the model's turns, without thoughts."""
        for content in self.contents():
            for part in inner(content, "modelTurn").get("parts") or []:
                if not part.get("thought"):
                    yield part

    @property
    def calls(self) -> list[JsonObject]:
        """The function calls."""
        return [call for _, message in self.messages for call in calls_in(message)]

    @property
    def words(self) -> str:
        """What was said: the transcript and the text, in lower case."""
        said = [inner(content, "outputTranscription").get("text", "") for content in self.contents()]
        return "".join([*said, *(part.get("text", "") for part in self.parts())]).lower()

    @property
    def spoke(self) -> bool:
        """Whether the model answered: with words, sound or pictures."""
        return bool(self.words.strip()) or any("inlineData" in part for part in self.parts())

    @property
    def cancelled(self) -> bool:
        return any("toolCallCancellation" in message for _, message in self.messages)

    @property
    def interrupted(self) -> bool:
        return any(content.get("interrupted") for content in self.contents())

    @property
    def turn_over(self) -> bool:
        """Whether a turn ended, and the service does not say that it continues."""
        return any(
            status == "IDLE" or (content.get("turnComplete") and status != "IN_PROGRESS")
            for content in self.contents()
            for status in [content.get("interactionStatus")]
        )

    @property
    def handles(self) -> list[float]:
        """When each handle came, in seconds since the step began."""
        return [
            time - self.began
            for time, message in self.messages
            if inner(message, "sessionResumptionUpdate").get("newHandle")
        ]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the service closed the connection; the reason is without secrets."""

    code: int
    reason: str

    def __str__(self) -> str:
        return f"{self.code} {' '.join(self.reason.split())}".rstrip()


@dataclass(slots=True)
class TalkOutcome:
    """One conversation. ``parts`` has an entry for each step that was played, as far as it came.

    ``opened``: ``setupComplete`` came. ``ending``: the service closed the connection.
    """

    opened: bool = False
    parts: list[StepResult] = field(default_factory=list)
    ending: Ending | None = None

    @property
    def refused(self) -> bool:
        """Whether the service closed the connection, or never completed the setup."""
        return self.ending is not None or not self.opened

    @property
    def why(self) -> str:
        """What was seen of a refusal."""
        return str(self.ending) if self.ending is not None else "setupComplete never came"

    def part(self, number: int) -> StepResult:
        """What came in a step; nothing, if the conversation ended before it."""
        return self.parts[number] if number < len(self.parts) else StepResult(0.0)

    def reached(self, number: int) -> bool:
        """Whether this step was played."""
        return number < len(self.parts)
