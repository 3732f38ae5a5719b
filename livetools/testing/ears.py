"""What the client says, gathered until a user turn is complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .schema import decode_base64
from .turn import Turn
from .wire import Message

if TYPE_CHECKING:
    from .session import FakeSession

AUDIO_KEPT = 16000 * 2 * 300  # bytes of one user turn: five minutes at 16 kHz


class Ears:
    """Hears one conversation. What it gathers becomes a :class:`Turn`."""

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.texts: list[str] = []
        self.audio = bytearray()
        self.heard = 0  # messages on this connection, the setup being 0
        self.in_activity = False
        self.rate: int | None = None
        detection = (session.setup.get("realtimeInputConfig") or {}).get("automaticActivityDetection")
        self.manual = bool((detection or {}).get("disabled"))
        self.seeding = bool((session.setup.get("historyConfig") or {}).get("initialHistoryInClientContent"))

    @property
    def empty(self) -> bool:
        """Whether nothing was said since the last turn."""
        return not self.audio and not self.texts

    @staticmethod
    def rate_of(mime: str) -> int:
        """The sample rate that a MIME type names; 16 kHz where it names none."""
        found = re.search(r"rate=(\d+)", mime)
        return int(found[1]) if found else 16000

    async def content(self, body: Message) -> None:
        """``clientContent``: turns are history at once; a turn begins when they say it is complete."""
        responses: list[Message] = []
        for content in body.get("turns") or []:
            self.session.history.append(content)
            parts = [part for part in content.get("parts") or [] if isinstance(part, dict)]
            responses += [part["functionResponse"] for part in parts if "functionResponse" in part]
            if content.get("role") == "model":
                self.texts.clear()
            else:
                self.texts += [part["text"] for part in parts if part.get("text")]
        if responses:
            await self.session.take_responses(responses)
        if not body.get("turnComplete"):
            return
        if self.seeding:
            self.seeding = (
                False  # a seed is never answered by itself: the next realtime input begins the turn
            )
        elif self.texts:
            await self._begin(interrupts=self.session.profile.text_interrupts)

    async def realtime(self, body: Message) -> None:
        """``realtimeInput``: text is a turn, sound waits for its end."""
        if "activityStart" in body:
            self.in_activity = True
            await self._cut_in()
        if (blob := body.get("audio")) is not None:
            self._listen(blob)
        for blob in (body.get("mediaChunks") or [])[:1]:
            self._listen(blob)
        if "text" in body:
            await self._realtime_text(str(body["text"]))
        if body.get("audioStreamEnd") or "activityEnd" in body:
            self.in_activity = False
            if self.audio or self.texts:
                await self._begin(interrupts=True)

    async def _realtime_text(self, text: str) -> None:
        if text.strip():
            self.texts.append(text)
        if self.texts and not self.in_activity:  # " " says nothing itself, but sets a seed going
            await self._begin(interrupts=self.session.profile.text_interrupts)

    def _listen(self, blob: dict[str, Any]) -> None:  # a Blob in camelCase
        mime = str(blob.get("mimeType", ""))
        if mime.startswith("audio/"):
            self.rate = self.rate_of(mime)
            self.audio += decode_base64(str(blob.get("data", "")))
            del self.audio[:-AUDIO_KEPT]

    async def _cut_in(self) -> None:
        handling = (self.session.setup.get("realtimeInputConfig") or {}).get("activityHandling")
        if handling != "NO_INTERRUPTION" and self.session.floor.user is None:
            await self.session.interrupt_floor()

    async def _begin(self, *, interrupts: bool) -> None:
        if len(self.texts) > 1 and self.texts[-1].strip() == ".":
            self.texts.pop()  # some clients end their turns with a lone full stop
        text, sound = "\n".join(self.texts), bytes(self.audio)
        self.texts.clear()
        self.audio.clear()
        if not text.strip() and not sound:
            return
        await self.session.floor.user_spoke(Turn(self.session, text, sound), interrupts=interrupts)
