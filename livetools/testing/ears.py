"""What the client says, gathered until a user turn is complete."""

from __future__ import annotations

import re
from typing import Any

from .roles import Session
from .schema import decode_base64
from .turn import Turn
from .vad import Edge
from .wire import Message, Refused, seconds

AUDIO_KEPT = 16000 * 2 * 300  # bytes of one user turn: five minutes at 16 kHz
LEAD_IN = 16000  # bytes of sound kept before speech is heard: half a second at 16 kHz


class Ears:
    """Hears one conversation. What it gathers becomes a :class:`Turn`.

    A turn by voice begins when the detector hears the end of speech, at ``activityEnd``, and at
    ``audioStreamEnd`` where no turn has come of the stream yet.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.texts: list[str] = []
        self.audio = bytearray()
        self.heard = 0  # messages on this connection, the setup being 0
        self.rate: int | None = None
        self.in_activity = False
        self._in_speech = False
        self._stream_had_turn = False
        config = session.setup.get("realtimeInputConfig") or {}
        detection = config.get("automaticActivityDetection") or {}
        self.manual = bool(detection.get("disabled"))
        self._detector = session.server.detector(detection)
        self.seeding = bool((session.setup.get("historyConfig") or {}).get("initialHistoryInClientContent"))

    @property
    def empty(self) -> bool:
        """Whether nothing was said since the last turn."""
        return not self.audio and not self.texts

    @property
    def user_speaks(self) -> bool:
        """Whether the user is speaking now."""
        return self.in_activity or self._in_speech

    @staticmethod
    def rate_of(mime: str) -> int:
        """The sample rate that a MIME type names; 16 kHz where it names none."""
        found = re.search(r"rate=([1-9][0-9]{0,5})(?![0-9])", mime)
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
            await self._speech_begins(None)
        for blob in [body["audio"]] if "audio" in body else (body.get("mediaChunks") or [])[:1]:
            await self._listen(blob)
        if "text" in body:
            await self._realtime_text(str(body["text"]))
        if "activityEnd" in body:
            self.in_activity = False
            await self._speech_ends(None)
        if body.get("audioStreamEnd"):
            await self._stream_ends()

    async def _realtime_text(self, text: str) -> None:
        if text.strip():
            self.texts.append(text)
            self.session.history.append({"role": "user", "parts": [{"text": text}]})
        if self.texts and not self.in_activity:  # " " says nothing itself, but sets a seed going
            self.seeding = False
            await self._begin(interrupts=self.session.profile.text_interrupts)

    async def _listen(self, blob: dict[str, Any]) -> None:  # a Blob in camelCase
        mime = str(blob.get("mimeType", ""))
        if not mime.startswith("audio/"):
            return
        self.seeding = False
        self.rate = self.rate_of(mime)
        pcm = decode_base64(str(blob.get("data", "")))
        self.audio += pcm
        del self.audio[:-AUDIO_KEPT]
        if self.manual:
            return
        for edge in self._detector.feed(pcm, self.rate):
            await self._edge(edge)
        if self._stream_had_turn and not self._in_speech:
            del self.audio[:-LEAD_IN]  # the silence between two turns belongs to neither

    async def _edge(self, edge: Edge) -> None:
        self._in_speech = edge.kind == "start"
        if self._in_speech:
            await self._speech_begins(edge.offset)
        else:
            self._stream_had_turn = True
            await self._speech_ends(edge.offset)

    async def _speech_begins(self, offset: float | None) -> None:
        await self._acknowledge("START", offset)
        handling = (self.session.setup.get("realtimeInputConfig") or {}).get("activityHandling")
        if handling != "NO_INTERRUPTION" and self.session.floor.user is None:
            await self.session.interrupt_floor()

    async def _speech_ends(self, offset: float | None) -> None:
        if self.session.profile.turn_complete:
            await self._acknowledge("END", offset)
            await self._begin(interrupts=True)
            return
        # a model that only transcribes: the words, generationComplete, and then the end (2026-09-10)
        if self.manual and self.empty and self.session.server.strict:
            await self.session.send({"serverContent": {"turnComplete": True}, "usageMetadata": {}})
            raise Refused(1007, "Precondition check failed.", "an activity without sound")
        await self._transcribe()
        await self.session.send({"serverContent": {"generationComplete": True}})
        await self._acknowledge("END", offset)
        self.texts.clear()
        self.audio.clear()

    async def _acknowledge(self, kind: str, offset: float | None) -> None:
        """``voiceActivity``, and the older signal where it was asked for."""
        activity = {"type": f"ACTIVITY_{kind}"} | ({} if offset is None else {"audioOffset": seconds(offset)})
        await self.session.send({"serverContent": {}, "voiceActivity": activity})
        if self.session.setup.get("explicitVadSignal"):
            signal = "VAD_SIGNAL_TYPE_SOS" if kind == "START" else "VAD_SIGNAL_TYPE_EOS"
            await self.session.send({"voiceActivityDetectionSignal": {"vadSignalType": signal}})

    async def _stream_ends(self) -> None:
        pending = self._in_speech or not self._stream_had_turn
        self._in_speech = self._stream_had_turn = False
        self._detector = self.session.server.detector(
            (self.session.setup.get("realtimeInputConfig") or {}).get("automaticActivityDetection") or {}
        )
        if not pending or self.empty:
            self.audio.clear()
            return
        if not self.session.profile.stream_end_ends_turn:
            self.session.server.note(
                "audioStreamEnd began a turn; the service's 3.8 ends one by silence alone (openclaw#152830)"
            )
        await self._speech_ends(None)

    async def _transcribe(self) -> str:
        """What the sound says, by the server's hook; told to a client that asked for it."""
        hook = self.session.server.transcriber
        text = hook(bytes(self.audio), self.rate or 16000) if hook is not None and self.audio else ""
        if text and "inputAudioTranscription" in self.session.setup:
            await self.session.send({"serverContent": {"inputTranscription": {"text": text}}})
        return text

    async def _begin(self, *, interrupts: bool) -> None:
        if len(self.texts) > 1 and self.texts[-1].strip() == ".":
            self.texts.pop()  # some clients end their turns with a lone full stop
        if words := await self._transcribe():
            self.texts.append(words)
            self.session.history.append({"role": "user", "parts": [{"text": words}]})
        text, sound = "\n".join(self.texts), bytes(self.audio)
        self.texts.clear()
        self.audio.clear()
        if not text.strip() and not sound:
            return
        await self.session.floor.user_spoke(Turn(self.session, text, sound), interrupts=interrupts)
