"""How a turn looks on the wire: pieces of text or sound, transcripts, and the endings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from livetools.protocol.profiles import ModelProfile

from . import audio as sound
from .roles import Session
from .said import compression, modality
from .wire import Message

PIECE = 24  # characters of text a message, about what the service streams


def pieces(text: str) -> list[str]:
    """The text in pieces of about 24 characters, cut after spaces; joined they are the text again."""
    words, result = re.findall(r"\S*\s*", text), [""]
    for word in words:
        if result[-1] and len(result[-1]) + len(word) > PIECE:
            result.append("")
        result[-1] += word
    return [piece for piece in result if piece]


def messages(setup: Message, facts: ModelProfile, text: str, audio: bytes | None) -> Iterator[Message]:
    """The ``serverContent`` messages of one utterance."""
    if modality(setup, facts) == "TEXT":
        for piece in pieces(text):
            yield _content(facts, {"text": piece})
        return
    transcripts = pieces(text) if "outputAudioTranscription" in setup else []
    chunks = _tones(text) if audio is None else sound.chunks(audio)
    mime = "audio/pcm" if facts.vertex else sound.OUT_MIME
    for n, chunk in enumerate(chunks):
        yield _content(facts, {"inlineData": {"mimeType": mime, "data": chunk}})
        if n < len(transcripts):
            yield {"serverContent": {"outputTranscription": {"text": transcripts[n]}}}
    for piece in transcripts[len(chunks) :]:
        yield {"serverContent": {"outputTranscription": {"text": piece}}}


def seconds_of(message: Message) -> float:
    """How long it takes to play this message."""
    parts = (message["serverContent"].get("modelTurn") or {}).get("parts") or [{}]
    data = (parts[0].get("inlineData") or {}).get("data", "")
    return sound.duration_of_base64(len(data))


def _tones(text: str) -> list[str]:
    return [sound.tone_chunk()] * round(sound.spoken_seconds(text) / sound.CHUNK_SECONDS)


def _content(facts: ModelProfile, part: Message) -> Message:
    # js-genai's recordings: no role from 2.x on the Gemini API, "model" from Vertex; 3.8 says it (2026-09-17)
    role = {"role": "model"} if facts.vertex or facts.empty_frames else {}
    return {"serverContent": {"modelTurn": {"parts": [part]} | role}}


def status(session: Session) -> Message:
    """``interactionStatus``, from models that send it: IDLE comes once nothing is left to be spoken of."""
    if not session.profile.idle_signal:
        return {}
    session.floor.thinking = session.floor.busy
    return {"interactionStatus": "IN_PROGRESS" if session.floor.busy else "IDLE"}


def endings(session: Session) -> Iterator[Message]:
    """What ends a turn: generationComplete, where something was said, and turnComplete with the usage.

    Nothing, where an interruption was the last word: it has ended the turn.
    """
    if session.said.closed:
        return
    if session.said.text or session.said.seconds or session.open_calls():
        yield {"serverContent": {"generationComplete": True}}
    if session.profile.turn_complete:
        yield turn_complete(session)


def turn_complete(session: Session) -> Message:
    content: Message = {"turnComplete": True} | status(session)
    return {"serverContent": content, "usageMetadata": usage(session)}


def usage(session: Session) -> Message:
    """Tokens as counted: the history, in its window, is the prompt, this turn the response; 25 a second of sound."""
    if bounds := compression(session.setup, session.profile):
        session.history.slide(*bounds)
    spoken = modality(session.setup, session.profile) == "AUDIO"
    prompt = session.history.tokens()
    response = round(session.said.seconds * 25) if spoken else -(-len(session.said.text) // 4)
    kind = "AUDIO" if spoken else "TEXT"
    name = "candidates" if session.profile.vertex else "response"
    counted: Message = {
        "promptTokenCount": prompt,
        f"{name}TokenCount": response,
        "totalTokenCount": prompt + response,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
        f"{name}TokensDetails": [{"modality": kind, "tokenCount": response}],
    }
    return counted if response else {key: counted[key] for key in list(counted) if not key.startswith(name)}
