"""Turns a server message into events, in the order in which the user must see them.

``Interrupted`` first (and the audio beside it is dropped: it belongs to what was cut off); then when the user
spoke and what was said, what the model says, grounding metadata, unknown fields; then the turn markers, with
the usage between them. ``setupComplete``, calls, cancellations, goAway and handles give nothing here: those
events are the machine's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import livetools.events as events
from livetools.events import AudioChunk, CodeChunk, Event, OutputTranscript, TextChunk, ThoughtChunk, Word

from .field_values import FieldReader, Fields
from .incoming import ServerMessage

#: Hz of the model's speech where the MIME type does not say (Vertex names no rate).
DEFAULT_RATE = 24_000

#: What the model says. It proves that the model has read our input, as the markers do. It is reported before the calls
#: of the same message, and silenced once the user has cut it off.
SPOKEN = frozenset({TextChunk, AudioChunk, events.VideoChunk, OutputTranscript, ThoughtChunk, CodeChunk})
#: What ends something; told after the calls of the same message.
MARKERS = frozenset({events.UsageUpdate, events.GenerationComplete, events.TurnComplete})

# 2.x models write a call as code before they make it, or instead of making it (python-genai#843)
_DISGUISED_CALL = re.compile(r"\bdefault_api\.(\w+)\s*\(")
# A rate of 0 or of many digits is no rate: the player would be given nonsense.
_RATE = re.compile(r";rate=(?!0+;)([0-9]{1,7});")


def events_of(message: ServerMessage) -> list[Event]:
    """The events of one message, in their order. Pure; never raises.

    ``interimInputTranscription`` is an ``InputTranscript`` with ``interim`` true. The result of code that
    ran is a ``CodeChunk`` too, its outcome (``OUTCOME_OK`` …) in the place of the language. A blob that
    is neither PCM nor video is an ``UnknownMessage`` with its bytes. An empty ``usageMetadata`` says nothing.
    """
    content = message.content
    found: list[Event] = []
    if content.get("interrupted"):
        found.append(events.Interrupted())
    if message.voice_activity is not None:
        found.append(message.voice_activity)
    _said(content, found)
    if message.unknown:
        found.extend(map(events.UnknownMessage, message.unknown))
    if content.get("generationComplete"):
        found.append(events.GenerationComplete())
    # Between generationComplete and turnComplete: usage is of the turn that ends here.
    if counts := message.fields.get("usageMetadata"):
        found.append(events.UsageUpdate(usage(counts)))
    if content.get("turnComplete"):
        waiting = content.get("waitingForInput", False)
        found.append(events.TurnComplete(_reason(content), message.status, waiting))
    return found


def usage(raw: Mapping[str, Any]) -> events.Usage:
    """The counts of a ``usageMetadata``; Vertex says ``candidates`` where others say ``response``.

    They are of one turn, and not of the session so far: three turns in a row were counted on 3.1 and on 2.5 native
    (pydantic-ai#7269, 2026-08-07), and 3.8's read alike (discuss.ai.google.dev 188765).
    """
    counts = FieldReader().read(raw, "UsageMetadata")
    return events.Usage(
        prompt_tokens=counts.get("promptTokenCount", 0),
        response_tokens=counts.get("responseTokenCount") or counts.get("candidatesTokenCount", 0),
        total_tokens=counts.get("totalTokenCount", 0),
        thoughts_tokens=counts.get("thoughtsTokenCount", 0),
        tool_use_tokens=counts.get("toolUsePromptTokenCount", 0),
        cached_tokens=counts.get("cachedContentTokenCount", 0),
        raw=raw,
        modalities=dict(_modalities(counts)),
    )


#: The lists of a ``usageMetadata`` that tell its counts apart by kind.
_DETAILS = {
    "promptTokensDetails": "prompt",
    "candidatesTokensDetails": "response",
    "responseTokensDetails": "response",
    "cacheTokensDetails": "cached",
}


def _modalities(counts: Fields) -> Iterator[tuple[str, int]]:
    for name, side in _DETAILS.items():
        for entry in counts.get(name, ()):
            if (kind := entry.get("modality")) and (count := entry.get("tokenCount", 0)) > 0:
                yield f"{side}_{kind.lower()}", count


def _said(content: Fields, found: list[Event]) -> None:
    guess = content.get("interimInputTranscription", {})
    if guess.get("text"):  # before the piece that replaces it
        found.append(events.InputTranscript(**_transcript(guess), interim=True))
    heard, spoken = content.get("inputTranscription", {}), content.get("outputTranscription", {})
    if heard.get("text") or heard.get("finished"):
        found.append(events.InputTranscript(**_transcript(heard)))
    # What the user said comes before what the model says, the transcript of its speech after the sound.
    for part in content.get("modelTurn", {}).get("parts", ()):
        _part(part, content.get("interrupted", False), found)
    if spoken.get("text") or spoken.get("finished"):
        found.append(OutputTranscript(**_transcript(spoken)))
    for name in ("groundingMetadata", "urlContextMetadata"):
        if metadata := content.get(name):
            found.append(events.Grounding(metadata))


def _transcript(told: Fields) -> Fields:
    words = [
        Word(word.get("word", ""), word.get("startOffset"), word.get("endOffset"), word.get("speakerLabel"))
        for word in told.get("words", ())
    ]
    fields = {"text": told.get("text", ""), "finished": told.get("finished", False), "words": tuple(words)}
    speaks = {"language": told.get("languageCode"), "speaker": told.get("speakerLabel")}
    return {**fields, **speaks, "start": told.get("startOffset"), "end": told.get("endOffset")}


def _part(part: Fields, interrupted: bool, found: list[Event]) -> None:
    if text := part.get("text"):
        found.append(ThoughtChunk(text) if part.get("thought") else TextChunk(text))
    # Sound beside interrupted belongs to what was cut off, and was not played yet.
    media = part.get("inlineData", {})
    if media.get("data") and not interrupted:
        found.append(blob(media["data"], media.get("mimeType")))
    if (ran := part.get("executableCode")) is not None:
        code = ran.get("code", "")
        disguised = _DISGUISED_CALL.search(code)
        tool = disguised[1] if disguised else None
        found.append(CodeChunk(code, ran.get("language", ""), tool, ran.get("id")))
    if (result := part.get("codeExecutionResult")) is not None:
        found.append(CodeChunk(result.get("output", ""), result.get("outcome", ""), id=result.get("id")))
    for name in ("toolCall", "toolResponse"):
        if (raw := part.get(name)) is not None:
            found.append(events.Grounding({name: raw}))


def blob(data: bytes, mime_type: str | None) -> Event:
    """The event of media, by its type."""
    # Video is asked for second: nearly every blob is sound.
    rate = _rate(mime_type)
    if rate is None and mime_type is not None and mime_type.lower().startswith("video/"):
        return events.VideoChunk(data, mime_type)
    if rate is None:
        return events.UnknownMessage({"inlineData": {"mimeType": mime_type, "data": data}})
    return AudioChunk(data, rate)


@lru_cache(maxsize=32)
def _rate(mime_type: str | None) -> int | None:
    """Hz of this MIME type; ``None`` if it is not PCM."""
    # Without a type it is audio (3.8). A type may have blanks and capitals.
    kind, _, parameters = (mime_type or "audio/pcm").lower().replace(" ", "").partition(";")
    if kind not in ("audio/pcm", "audio/l16"):
        return None
    told = _RATE.search(f";{parameters};")
    return int(told[1]) if told else DEFAULT_RATE


def _reason(content: Fields) -> str | None:
    reason: str | None = content.get("turnCompleteReason")
    return None if not reason or reason.endswith("_UNSPECIFIED") else reason
